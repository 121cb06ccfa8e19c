"""What a diagnosis says, as data."""

from __future__ import annotations

from dataclasses import dataclass

from maskov.quantities import Estimate
from maskov.results import Result


@dataclass(frozen=True)
class ScalarDiagnosis:
    """One scalar summary, in the group of chains where it is worst.

    ess_bulk, ess_tail: effective draws of all chains of the group together; r_hat: the largest rank-normalised split
    R-hat; r_hat_replicas: among replicas of one start; r_hat_starts: among chains of different starts; None where
    there are none; r_hat_noise: what mixed chains of so few effective draws stay below (99 % over all tests of the
    cell); ess_per_sweep: ess_bulk per sweep of one chain; half_shift: second half minus first (the scalar's unit).
    """

    name: str
    ess_bulk: Estimate
    ess_tail: Estimate
    r_hat: Estimate
    r_hat_replicas: Estimate | None
    r_hat_starts: Estimate | None
    r_hat_noise: float
    ess_per_sweep: Estimate
    half_shift: Estimate
    group: int


@dataclass(frozen=True)
class StuckChain:
    """A chain that goes nowhere: its index in the trace, why, since which step, and the text (with a model)."""

    chain: int
    reason: str
    since_step: int
    kind: str
    text: str | None = None


@dataclass(frozen=True)
class DiagnosisGroup:
    """Chains of one law: the same temperature, free sites and held tokens. starts: how many different ones."""

    chains: tuple[int, ...]
    sites: int
    starts: int


@dataclass(frozen=True)
class DiagnosisCell:
    """The chains at one temperature.

    sweeps: of the shortest text's chains; discarded: first steps left out; verdict: "mixed", "too short", "not mixed"
    or "stuck"; reasons: sentences; needed_sweeps, needed_steps: length of each chain, discarded part included, for the
    target; None where no number can be given, and advice says what to do.
    """

    temperature: float
    chains: int
    steps: int
    sweeps: float
    discarded: int
    groups: tuple[DiagnosisGroup, ...]
    scalars: tuple[ScalarDiagnosis, ...]
    stuck: tuple[StuckChain, ...]
    verdict: str
    reasons: tuple[str, ...]
    needed_sweeps: Estimate | None
    needed_steps: Estimate | None
    advice: str


@dataclass(frozen=True)
class Diagnosis(Result):
    """One ``DiagnosisCell`` per temperature. target_ess, target_r_hat: what counts as enough."""

    command = "diagnose"

    cells: tuple[DiagnosisCell, ...]
    target_ess: float
    target_r_hat: float
    scan: str

    def __str__(self) -> str:
        return "\n".join(line for cell in self.cells for line in _lines(cell))


def _lines(cell: DiagnosisCell) -> list[str]:
    size = f"{cell.chains} chain{'s' if cell.chains > 1 else ''} × {cell.steps} steps ({cell.sweeps:.3g} sweeps)"
    head = f"τ = {cell.temperature:g}: {cell.verdict}   ({size})"
    table = [f"  {'scalar':<18}{'R-hat':>8}{'ESS bulk':>10}{'ESS tail':>10}{'ESS/sweep':>11}"]
    table += [
        f"  {s.name:<18}{s.r_hat.value:>8.3f}{s.ess_bulk.value:>10.0f}{s.ess_tail.value:>10.0f}"
        f"{s.ess_per_sweep.value:>11.3g}"
        for s in cell.scalars
    ]
    stuck = [f"  chain {s.chain}: {s.reason}" + (f": {s.text[:90]}" if s.text else "") for s in cell.stuck[:8]]
    if len(cell.stuck) > 8:
        stuck.append(f"  and {len(cell.stuck) - 8} more stuck chains")
    return [head, *(f"  {reason}" for reason in cell.reasons), *stuck, f"  {cell.advice}", *table]
