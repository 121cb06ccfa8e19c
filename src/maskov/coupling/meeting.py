"""Meeting times: how long two chains with shared randomness stay apart."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from maskov.coupling.pairs import choose_pairs
from maskov.coupling.run import Meetings, run_pairs
from maskov.coupling.steps import COUPLINGS
from maskov.coupling.total_variation import LagBound, lag_bound
from maskov.errors import InputError
from maskov.glauber.chains import check_temperatures
from maskov.quantities import Bound, Estimate
from maskov.results import Result
from maskov.survival import median_or_bound, met_fraction, restricted_mean, survival_curve


@dataclass(frozen=True)
class CoupleCell:
    """Pairs at one temperature.

    sites: mean n; max_steps: where runs were cut; censored: pairs that had not met by then; median_steps,
    median_sweeps: Kaplan–Meier, a lower bound where fewer than half met; mean_steps: of min(T, max_steps); survival:
    P(T > t) in steps with 95 % ends, an upper bound on the total variation between the two chains at t; times, met: of
    each pair; tv_bound: from lagged chains, where asked for.
    """

    temperature: float
    sites: float
    n_pairs: int
    max_steps: int
    censored: int
    met_fraction: Estimate
    median_steps: Estimate | Bound
    median_sweeps: Estimate | Bound
    mean_steps: Estimate
    survival: dict[str, list[float]]
    times: tuple[float, ...]
    met: tuple[bool, ...]
    tv_bound: LagBound | None = None


@dataclass(frozen=True)
class CouplingResult(Result):
    """One ``CoupleCell`` per temperature. starts: the kind taken; forwards: model rows of the meeting times."""

    command = "couple"

    coupling: str
    starts: str
    cells: tuple[CoupleCell, ...]
    forwards: int

    def _lines(self) -> list[tuple[str, str]]:
        head = [("coupling", self.coupling), ("starts", self.starts)]
        return head + [(f"τ = {c.temperature:g}", _sentence(c)) for c in self.cells]


def _number(q: Estimate | Bound) -> str:
    if isinstance(q, Bound):
        return f">= {q.value:.4g}"
    return f"{q.value:.4g}" + (f" ({q.interval[0]:.4g} to {q.interval[1]:.4g})" if q.interval else "")


def _sentence(c: CoupleCell) -> str:
    met = c.n_pairs - c.censored
    median = c.median_steps
    value, sweeps = (_number(q) for q in (median, c.median_sweeps))
    return f"{met} of {c.n_pairs} pairs met within {c.max_steps} steps; median {value} steps, {sweeps} sweeps"


def meeting_times(
    model: Any,
    pairs: Sequence[Any] | None = None,
    *,
    temperatures: float | Sequence[float] = (1.0,),
    coupling: str = "maximal",
    n_pairs: int | None = None,
    starts: str = "auto",
    max_steps: int | None = None,
    lag: int | None = None,
    seed: int = 0,
    clamp: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> CouplingResult:
    """First t with x_t = y_t of two Glauber chains that share sites and draws: P(T > t) ≥ TV of their laws at t.

    Kaplan–Meier throughout: pairs that have not met by ``max_steps`` are censored, never dropped. On Curie–Weiss at
    β < 1 the uniform (monotone) coupling from all-plus and all-minus meets after about n log n/(1 − β).

    model: ``Conditionals`` with a codec; pairs: texts or states to pair up, or 2-tuples of them, None for a law's worst
    case; temperatures: > 0, all run together; coupling: "maximal", "uniform" or "gumbel"; n_pairs: how many, each with
    its own stream; starts: see ``choose_pairs``; max_steps: default 20 n log n, at least 1,000; lag: also bound the
    distance to stationarity with lagged chains [Biswas, Jacob & Vanetti 2019]. Raises ``InputError``.

    >>> from maskov.models import load
    >>> r = meeting_times(load("law:curie-weiss?sites=8&beta=0.5"), coupling="uniform", n_pairs=20)
    >>> r.cells[0].censored, r.cells[0].met_fraction.value
    (0, 1.0)
    """
    values = check_temperatures(temperatures)
    if coupling not in COUPLINGS:
        raise InputError("coupling", expected="one of " + ", ".join(COUPLINGS), came=repr(coupling))
    kind, chosen = choose_pairs(model, pairs, n_pairs, starts, clamp, seed)
    n = max(len(pair.first.free) for pair in chosen)
    longest = _check_steps(max_steps, n)
    found = run_pairs(model, chosen, values, coupling, longest, seed, progress)
    bounds = {}
    if lag is not None:
        bounds = lag_bound(model, [p.first for p in chosen], values, coupling, lag, longest, seed, progress)
    cells = tuple(_cell(t, found, longest, seed, bounds.get(t)) for t in values)
    return CouplingResult(coupling, kind, cells, found.forwards)


def _check_steps(max_steps: int | None, n: int) -> int:
    if max_steps is None:
        return max(1000, math.ceil(20 * n * math.log(max(n, 2))))
    if max_steps < 1:
        raise InputError("steps", expected="at least 1", came=str(max_steps))
    return int(max_steps)


def _cell(temperature: float, found: Meetings, longest: int, seed: int, bound: LagBound | None) -> CoupleCell:
    b = found.temperatures == temperature
    times, met, sites = found.steps[b], found.met[b], found.sites[b].astype(np.float64)
    curve = survival_curve(times, met)
    return CoupleCell(
        temperature=float(temperature),
        sites=float(sites.mean()),
        n_pairs=int(b.sum()),
        max_steps=longest,
        censored=int((~met).sum()),
        met_fraction=met_fraction(met),
        median_steps=median_or_bound(times, met, longest, seed),
        median_sweeps=median_or_bound(times / sites, met, float((longest / sites).min()), seed),
        mean_steps=restricted_mean(times, met, longest),
        survival={
            "steps": curve.times.tolist(),
            "survival": curve.survival.tolist(),
            "lower": curve.lower.tolist(),
            "upper": curve.upper.tolist(),
        },
        times=tuple(times.tolist()),
        met=tuple(met.tolist()),
        tv_bound=bound,
    )
