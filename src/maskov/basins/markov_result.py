"""The results of a basin study: basins, timescales, checks, and the paths for a map."""

from __future__ import annotations

from dataclasses import dataclass

from maskov.basins.exemplars import Exemplar
from maskov.basins.microstates import Floats, Labels
from maskov.quantities import Estimate, Exact
from maskov.results import Result


@dataclass(frozen=True)
class Basin:
    """One basin. Times are in steps, and in sweeps of the cell's mean number of sites.

    number: from 0; kind: "linked" (in the set of microstates that chains went to and from) or "separate" (seen, but no
    way there and back was); population: stationary share inside the linked set; time_share: of the kept states;
    lifetime: mean from the coarse transition matrix; measured: mean from the paths, all time over all exits; median:
    of the stays (Kaplan–Meier); restricted: mean of min(stay, run) (Kaplan–Meier); visits, exits, chains, starts:
    stays, stays that ended, chains seen there, different start texts of those; once: it rests on one stay of one chain;
    place: centre on the map.
    """

    number: int
    kind: str
    population: Estimate | None
    time_share: Exact
    lifetime_steps: Estimate | None
    lifetime_sweeps: Estimate | None
    measured_steps: Estimate
    measured_sweeps: Estimate
    median_steps: Estimate | None
    restricted_steps: Estimate
    visits: int
    exits: int
    chains: int
    starts: int
    once: bool
    microstates: int
    place: tuple[float, float]
    exemplars: tuple[Exemplar, ...]
    words: tuple[str, ...]


@dataclass(frozen=True)
class LagTimescales:
    """lag_steps; timescales: implied timescales in steps, slowest first, None where there are fewer processes."""

    lag_steps: int
    timescales: tuple[Estimate | None, ...]


@dataclass(frozen=True)
class CheckRow:
    """P(in the basin after ``lag_steps`` | started in it): predicted by the chain, and estimated at that lag."""

    lag_steps: int
    basin: int
    predicted: float
    estimated: Estimate


@dataclass(frozen=True)
class StartShares:
    """Where chains of one start text spent their time. shares: [basins] of their kept states; elsewhere: the rest."""

    start: int
    topic: str | None
    chains: int
    shares: tuple[float, ...]
    elsewhere: float


@dataclass(frozen=True)
class BasinPath:
    """One chain on the map: at ``steps`` its coordinates and its basin (None: elsewhere)."""

    chain: int
    steps: Labels
    basin: tuple[int | None, ...]
    x: Floats
    y: Floats


@dataclass(frozen=True)
class BasinCell:
    """The basins at one temperature.

    verdict: in words; chains; kept: states; sites: mean n; microstates; reversible: whether detailed balance was
    imposed; linked_share, linked_chains, pieces: share of the kept states in the linked set, chains seen there, and the
    number of strongly connected sets in all; lag_steps: of the model; plateau: whether timescales are flat from there;
    slowest_steps: t_2; gaps: {n: t_n/t_{n+1}}; min_chi: {n: indicator}; core_share: stationary share of the cores;
    ck_error: largest difference of the Chapman–Kolmogorov check, a probability; transition: [n][n] coarse transition
    matrix at the lag; jumps: [n][n] changes of basin seen on the paths.
    """

    temperature: float
    verdict: str
    chains: int
    kept: int
    sites: float
    microstates: int
    reversible: bool
    linked_share: Exact
    linked_chains: int
    pieces: int
    lag_steps: int
    plateau: bool
    slowest_steps: Estimate | None
    timescales: tuple[LagTimescales, ...]
    gaps: dict[int, float]
    min_chi: dict[int, float]
    core_share: float | None
    ck_error: Estimate | None
    check: tuple[CheckRow, ...]
    basins: tuple[Basin, ...]
    transition: tuple[tuple[Estimate, ...], ...]
    jumps: tuple[tuple[int, ...], ...]
    by_start: tuple[StartShares, ...]
    paths: tuple[BasinPath, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class BasinsResult(Result):
    """Basins of a trace, one cell per temperature. stride: steps between kept states; explained: shares of the variance
    of the components that were clustered; steps: T; seed: of clustering and bootstrap.
    """

    command = "basins"

    embedder: str
    steps: int
    stride: int
    explained: tuple[Exact, ...]
    seed: int
    cells: tuple[BasinCell, ...]

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader should know before he trusts a number, with its temperature."""
        return tuple(f"τ = {c.temperature:g}: {note}" for c in self.cells for note in c.notes)

    def _lines(self) -> list[tuple[str, str]]:
        lines = [
            ("embedder", f"{self.embedder}, {sum(e.value for e in self.explained):.0%} of the variance kept"),
            ("kept", f"one state in {self.stride} of {self.steps} steps"),
        ]
        for c in self.cells:
            lines.append((f"τ = {c.temperature:g}", c.verdict))
            if c.slowest_steps is not None:
                lines.append(("slowest", f"{c.slowest_steps} steps, at lag {c.lag_steps}"))
            if c.ck_error is not None:
                lines.append(("check", f"Chapman–Kolmogorov error at most {c.ck_error.value:.3f}"))
            lines += [(f"basin {b.number}", _about(b)) for b in c.basins]
        return lines


def _about(b: Basin) -> str:
    share = "not linked" if b.population is None else f"population {_with_ends(b.population, '.3f')}"
    life = "" if b.lifetime_sweeps is None else f", lifetime {_with_ends(b.lifetime_sweeps, '.3g')} sweeps"
    text = b.exemplars[0].text[:60] if b.exemplars else ""
    once = ", one stay of one chain" if b.once else ""
    return f"{share}{life}, {b.visits} stays of {b.chains} chains{once}: {text}"


def _with_ends(q: Estimate, form: str) -> str:
    ends = f" [{q.interval[0]:{form}}, {q.interval[1]:{form}}]" if q.interval is not None else ""
    return f"{q.value:{form}}{ends}"
