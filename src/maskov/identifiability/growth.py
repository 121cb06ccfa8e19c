"""Both sides of the bridge, and the tensorisation constant, over laws and schedules."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from maskov.identifiability.identify import identify
from maskov.identifiability.log_quantities import LogQuantity
from maskov.results import Result


@dataclass(frozen=True)
class BridgeRow:
    """One law under one schedule: ρ_μ ≥ gap, and a lower bound of C_AT(μ)."""

    law: str
    schedule: str
    n_sites: int
    blindness_ratio: LogQuantity | None
    spectral_gap: LogQuantity | None
    tensorization: LogQuantity | None


@dataclass(frozen=True)
class BridgeTable(Result):
    """Rows over laws × schedules."""

    command: ClassVar[str] = "bridge"
    rows: tuple[BridgeRow, ...]

    def __str__(self) -> str:
        head = f"{'sites':>6}  {'schedule':<28}  {'gap':<24}  {'blindness ratio':<24}  C_AT"
        body = [
            f"{r.n_sites:>6}  {r.schedule:<28}  {r.spectral_gap!s:<24}  {r.blindness_ratio!s:<24}  {r.tensorization}"
            for r in self.rows
        ]
        return "\n".join([head, *body])


def bridge_table(laws: Iterable[Any], schedules: Sequence[str]) -> BridgeTable:
    """Blindness ratio, spectral gap and tensorisation of every law under every schedule.

    laws: laws with modes, or their text forms.

    >>> table = bridge_table(["product?sites=8&gap=0.3&weight=0.3"], ["hide:1"])
    >>> f"{table.rows[0].blindness_ratio.value / table.rows[0].spectral_gap.value:.4f}"
    '1.4945'
    """
    found = [identify(law, spec, epsilons=()) for law in laws for spec in schedules]
    rows = [BridgeRow(f.law, f.schedule, f.n_sites, f.blindness_ratio, f.spectral_gap, f.tensorization) for f in found]
    return BridgeTable(tuple(rows))
