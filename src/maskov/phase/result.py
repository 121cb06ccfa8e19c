"""A phase diagram as a result: its cells, crossovers and growth laws."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskov.phase.crossover import Column
from maskov.phase.fit import TimeLaws, time_laws
from maskov.quantities import Bound, Estimate
from maskov.results import Result
from maskov.survival import median_or_bound, met_fraction, restricted_mean

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Times:
    """Times of one cell, in steps. median_steps, median_sweeps: Kaplan–Meier, a lower bound where fewer than half were
    met; mean_steps: of min(T, max_steps); low, high, met: of each run; low < high where the time was seen on a grid.
    """

    median_steps: Estimate | Bound
    median_sweeps: Estimate | Bound
    mean_steps: Estimate
    met_fraction: Estimate
    low: tuple[float, ...]
    high: tuple[float, ...]
    met: tuple[bool, ...]


@dataclass(frozen=True)
class PhaseCell:
    """One temperature and one n. median_steps … met_fraction: of the meeting times, as in ``meeting``; hitting: None
    where no embedder was asked for; level, plateau: of the drift; joined: starts made of more than one text;
    change_rate, entropy (nats), production (σ, nats per step): of the chains from the first states, their first quarter
    left out; stationary: whether σ had settled; chain_steps: their length; forwards: model rows of the meeting times.
    """

    temperature: float
    sites: int
    n_pairs: int
    max_steps: int
    median_steps: Estimate | Bound
    median_sweeps: Estimate | Bound
    met_fraction: Estimate
    meeting: Times
    hitting: Times | None
    level: float | None
    plateau: Estimate | None
    joined: int
    change_rate: Estimate | None
    entropy: Estimate | None
    production: Estimate | None
    stationary: bool | None
    chain_steps: int | None
    forwards: int


@dataclass(frozen=True)
class PhaseDiagram(Result):
    """Cells over τ × n. multiple: of n log n at the crossover; left_out: default n that the texts do not allow;
    meeting, hitting: what the times say together; forwards: model rows of all meeting times.
    """

    command = "phase"

    coupling: str
    starts: str
    embedder: str | None
    fraction: float
    multiple: float
    temperatures: tuple[float, ...]
    sites: tuple[int, ...]
    left_out: tuple[int, ...]
    cells: tuple[PhaseCell, ...]
    meeting: TimeLaws
    hitting: TimeLaws | None
    forwards: int

    def cell(self, temperature: float, sites: int) -> PhaseCell:
        """The cell at τ and n."""
        return next(c for c in self.cells if (c.temperature, c.sites) == (temperature, sites))

    def _lines(self) -> list[tuple[str, str]]:
        head = [("coupling", self.coupling), ("starts", self.starts), ("embedder", str(self.embedder))]
        grid = [(f"n = {n}", "  ".join(_entry(self.cell(t, n)) for t in self.temperatures)) for n in self.sites]
        ruler = "  ".join(f"{t:>6g}" for t in self.temperatures)
        told = [("sweeps to meet, τ =", ruler), *grid, *_told("meeting", self.meeting, self.multiple)]
        return head + told + (_told("hitting", self.hitting, self.multiple) if self.hitting else [])


def _entry(cell: PhaseCell) -> str:
    q = cell.median_sweeps
    return f"{'≥' if isinstance(q, Bound) else ''}{q.value:.3g}".rjust(6)


def _told(name: str, laws: TimeLaws, multiple: float) -> list[tuple[str, str]]:
    lines = [(f"{name}: τ_c({c.sites})", _crossover(c.value)) for c in laws.crossovers]
    shift, slope = laws.shift.verdict, laws.shift.slope
    if slope is not None:
        shift += f" (dτ_c/d log n = {slope.value:.3g} ± {slope.stderr:.2g}, p = {laws.shift.p_value:.2g})"
    lines.append((f"{name}: crossover", f"at {multiple:g} n log n; {shift}"))
    return [*lines, (f"{name}: above it", laws.above.verdict), (f"{name}: below it", laws.below.verdict)]


def _crossover(value: Estimate | Bound | None) -> str:
    if value is None:
        return "runs too short to tell"
    if isinstance(value, Bound):
        sign, cells = ("≥", "slow") if value.side == "lower" else ("≤", "fast")
        return f"{sign} {value.value:g} (all cells are {cells})"
    low, high = value.interval or (math.nan, math.nan)
    return f"{value.value:.3g} ({low:.3g} to {high:.3g})"


def assemble(
    answers: Sequence[dict[str, Any]],
    asked: dict[str, Any],
    kind: str,
    joined: dict[int, int],
    left_out: tuple[int, ...],
) -> PhaseDiagram:
    """Cells from the answers of their units (JSON), in the order of n, then τ; crossovers and growth from all."""
    cells = tuple(_cell(answer, joined[answer["sites"]], asked["seed"]) for answer in answers)
    sites = tuple(dict.fromkeys(c.sites for c in cells))
    hits = [c.hitting for c in cells]
    laws = {
        name: time_laws(*_columns(cells, name, sites), asked["multiple"], asked["seed"])
        for name in ("meeting", "hitting")
        if name == "meeting" or all(hits)
    }
    return PhaseDiagram(
        **{key: asked[key] for key in ("coupling", "embedder", "fraction", "multiple")},
        starts=kind,
        temperatures=tuple(asked["temperatures"]),
        sites=sites,
        left_out=left_out,
        cells=cells,
        meeting=laws["meeting"],
        hitting=laws.get("hitting"),
        forwards=sum(c.forwards for c in cells),
    )


def _columns(cells: Sequence[PhaseCell], name: str, sites: Sequence[int]) -> tuple[list[Column], list[Column]]:
    """Times of all cells by n: the first ones at the level, and the last ones below it."""
    found: tuple[list[Column], list[Column]] = ([], [])
    for n in sites:
        column = [c for c in cells if c.sites == n]
        tau, rows = np.array([c.temperature for c in column]), [getattr(c, name) for c in column]
        met = np.array([row.met for row in rows])
        for out, end in zip(found, ("high", "low"), strict=True):
            out.append(Column(n, tau, np.array([getattr(row, end) for row in rows]), met))
    return found


def _cell(answer: dict[str, Any], joined: int, seed: int) -> PhaseCell:
    n, longest = answer["sites"], answer["max_steps"]
    steps, hits = answer["meeting"]["steps"], answer["hitting"]
    meeting = _times(steps, steps, answer["meeting"]["met"], n, longest, seed)
    return PhaseCell(
        temperature=answer["temperature"],
        sites=n,
        n_pairs=len(steps),
        max_steps=longest,
        median_steps=meeting.median_steps,
        median_sweeps=meeting.median_sweeps,
        met_fraction=meeting.met_fraction,
        meeting=meeting,
        hitting=_times(hits["low"], hits["high"], hits["met"], n, longest, seed) if hits else None,
        level=hits["level"] if hits else None,
        plateau=_estimate(hits["plateau"]) if hits else None,
        joined=joined,
        **{key: _estimate(answer[key]) for key in ("change_rate", "entropy", "production")},
        stationary=answer["stationary"],
        chain_steps=answer["chain_steps"],
        forwards=answer["forwards"],
    )


def _times(low: list[float], high: list[float], met: list[bool], n: int, longest: int, seed: int) -> Times:
    last, seen = np.array(high, dtype=np.float64), np.array(met, dtype=bool)
    median = median_or_bound(last, seen, float(longest), seed)
    return Times(
        median_steps=median,
        median_sweeps=_scaled(median, n),
        mean_steps=restricted_mean(last, seen, longest),
        met_fraction=met_fraction(seen),
        low=tuple(map(float, low)),
        high=tuple(map(float, high)),
        met=tuple(seen.tolist()),
    )


def _scaled(q: Estimate | Bound, n: int) -> Estimate | Bound:
    if isinstance(q, Bound):
        return Bound(q.value / n, q.side, q.n)
    ends = q.interval and (q.interval[0] / n, q.interval[1] / n)
    return Estimate(q.value / n, q.stderr / n, q.n, ends)


def _estimate(record: dict[str, Any] | None) -> Estimate | None:
    """An estimate from its record."""
    if record is None:
        return None
    low, high = record.get("interval") or (None, None)
    ends = (_end(low, -math.inf), _end(high, math.inf)) if "interval" in record else None
    return Estimate(record["value"], record.get("stderr", math.inf), record["n"], ends)


def _end(value: float | None, missing: float) -> float:
    return missing if value is None else value
