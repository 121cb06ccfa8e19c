"""How times grow with the number of sites: n log n against n, n² and e^{cn}, censored times included."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from maskov.drift.censored import NormalFit, fit_normal
from maskov.quantities import Estimate
from maskov.survival import RESAMPLES, order_statistic, resamples

Floats = NDArray[np.float64]

# log f(n) of each law of growth; e^{cn} has its c fitted.
_LOG_SHAPES: dict[str, Callable[[Floats], Floats]] = {
    "n log n": lambda n: np.log(n * np.log(n)),
    "n": np.log,
    "n^2": lambda n: 2 * np.log(n),
    "exp(cn)": np.zeros_like,
}
LAWS = tuple(_LOG_SHAPES)
FEWEST_LENGTHS = 3
# Differences of AIC below this leave both laws standing [Burnham & Anderson 2002, §2.6].
DECISIVE = 4.0
_FEWEST_GROUPS = 4


@dataclass(frozen=True)
class GrowthLaw:
    """T = C f(n). C: steps per f(n), of the median; rate: c of e^{cn}, else None; spread: standard deviation of log T
    around it; aic; wins: share of bootstrap resamples in which this law has the least AIC.
    """

    law: str
    C: Estimate
    rate: Estimate | None
    spread: float
    log_likelihood: float
    aic: float
    wins: float


@dataclass(frozen=True)
class Growth:
    """Laws of growth at one temperature. lengths, times, met: distinct n, and times and met times at each; laws: empty
    where they cannot be told; best: least AIC, None then; verdict: in words.
    """

    temperature: float
    lengths: tuple[int, ...]
    times: tuple[int, ...]
    met: tuple[int, ...]
    laws: tuple[GrowthLaw, ...]
    best: str | None
    verdict: str

    def law(self, name: str) -> GrowthLaw:
        """The fit of one law."""
        return next(fit for fit in self.laws if fit.law == name)


def fit_growth(
    temperature: float,
    sites: ArrayLike,
    low: ArrayLike,
    high: ArrayLike,
    met: ArrayLike,
    seed: int = 0,
    groups: ArrayLike | None = None,
) -> Growth:
    """T = C f(n) for f = n log n, n, n² and e^{cn}, by AIC = 2k − 2 log L with bootstrap intervals.

    log T is normal around log C + log f(n) with one spread for all n, so C f(n) is the median. A time adds to the
    likelihood what is known of it: its density where it is exact, the mass of (low, high] where it was seen on a grid,
    P(T > t) where the run ended first. A fit to medians would have no such term for a cell without one, and a fit to
    the met times alone sees slow cells as fast. Resamples are of groups within each n, or of all groups where some n
    has fewer than four of them. AIC takes runs as independent.

    sites, low, high, met: [m] of each run; low = high where the time is exact (censored: the run's end). Times of 0
    count as at most 1 step. groups: [m] runs that belong together (of one passage), default each its own.

    >>> n = np.repeat([8, 16, 32, 64], 10)
    >>> t = 2 * n * np.log(n) * np.tile(np.exp(np.linspace(-0.2, 0.2, 10)), 4)
    >>> fit_growth(1.0, n, t, t, np.ones(40, bool)).verdict
    'n log n'
    """
    n, met = np.asarray(sites, dtype=np.int64), np.asarray(met, dtype=bool)
    y_low, y_high = _log_ends(np.asarray(low, np.float64), np.asarray(high, np.float64), met)
    lengths, counts = np.unique(n, return_counts=True)
    seen = np.array([int(met[n == length].sum()) for length in lengths])
    told = tuple(lengths.tolist()), tuple(counts.tolist()), tuple(seen.tolist())
    reason = _too_little(lengths, seen)
    if reason:
        return Growth(float(temperature), *told, (), None, reason)
    units = np.arange(len(n)) if groups is None else np.asarray(groups)
    weights = np.concatenate([np.ones((1, len(n))), stratified(n, units, seed)])
    laws = _laws(n.astype(np.float64), y_low, y_high, weights)
    best = min(laws, key=lambda fit: fit.aic)
    return Growth(float(temperature), *told, laws, best.law, _verdict(laws, best))


def hitting_growth(
    temperature: float, times: ArrayLike, hits: Sequence[dict[str, Any]], sites: ArrayLike, groups: ArrayLike, seed: int
) -> Growth:
    """``fit_growth`` of the hitting times of one drift curve: each lies after the last grid time below the level.

    times: [K] the grid; hits: [m] ``{"step", "met"}``, none where there is no level; sites: [m] n of each chain;
    groups: [m] its passage.
    """
    if not hits:
        return Growth(float(temperature), (), (), (), (), None, "no level to hit")
    grid, high = np.asarray(times), np.array([h["step"] for h in hits], dtype=np.int64)
    met = np.array([h["met"] for h in hits], dtype=bool)
    low = np.where(met, grid[np.maximum(np.searchsorted(grid, high) - 1, 0)], high)
    return fit_growth(temperature, sites, low, high, met, seed, groups)


def _too_little(lengths: NDArray[np.int64], seen: NDArray[np.int64]) -> str:
    if len(lengths) < FEWEST_LENGTHS:
        return f"not enough lengths: {len(lengths)}, of at least {FEWEST_LENGTHS}"
    if (seen > 0).sum() < 2:
        return f"not enough met: runs of {int((seen > 0).sum())} of {len(lengths)} lengths"
    return ""


def _log_ends(low: Floats, high: Floats, met: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """log of the interval that holds each time; open to the right where censored, to the left within the first step."""
    high, exact = np.maximum(high, 1.0), (low == high) & met
    with np.errstate(divide="ignore"):
        y_low, y_high = np.log(np.where(exact, high, low)), np.where(met, np.log(high), np.inf)
    return np.where((high <= 1.0) & met, -np.inf, y_low), y_high


def stratified(strata: NDArray[np.int64], groups: NDArray[np.int64], seed: int) -> Floats:
    """How often each run counts in each resample of whole groups within its stratum: [RESAMPLES, m]. Strata of fewer
    than four groups would hardly vary: then all groups are one stratum.
    """
    names = np.unique(strata)
    if min(len(np.unique(groups[strata == name])) for name in names) < _FEWEST_GROUPS:
        return resamples(groups, seed).astype(np.float64)
    weights = np.zeros((RESAMPLES, len(groups)))
    for name in names:
        members = np.flatnonzero(strata == name)
        weights[:, members] = resamples(groups[members], seed + int(name))
    return weights


def _laws(n: Floats, low: Floats, high: Floats, weights: Floats) -> tuple[GrowthLaw, ...]:
    fits = {law: _fit(law, n, low, high, weights) for law in LAWS}
    aic = {law: 2.0 * (3 if law == "exp(cn)" else 2) - 2 * fit.log_likelihood for law, fit in fits.items()}
    table = np.array([np.where(np.isfinite(aic[law]), aic[law], np.inf) for law in LAWS])
    wins = np.bincount(table[:, 1:].argmin(axis=0), minlength=len(LAWS)) / (table.shape[1] - 1)
    return tuple(_law(law, fits[law], float(aic[law][0]), float(w), len(n)) for law, w in zip(LAWS, wins, strict=True))


def _fit(law: str, n: Floats, low: Floats, high: Floats, weights: Floats) -> NormalFit:
    shape = _LOG_SHAPES[law](n)
    # Centred: the intercept and the slope are then all but independent, which keeps Newton's steps long.
    x = n - n.mean() if law == "exp(cn)" else None
    fit = fit_normal(low - shape, high - shape, weights, x)
    with np.errstate(invalid="ignore"):  # a resample whose fit ran off to infinity
        return fit if x is None else fit._replace(a=fit.a - fit.b * n.mean())


def _law(law: str, fit: NormalFit, aic: float, wins: float, m: int) -> GrowthLaw:
    rate = _estimate(fit.b, m) if law == "exp(cn)" else None
    with np.errstate(over="ignore"):
        constant = _estimate(np.exp(fit.a), m)
    return GrowthLaw(law, constant, rate, float(fit.width[0]), float(fit.log_likelihood[0]), aic, wins)


def _estimate(values: Floats, m: int) -> Estimate:
    """The first value, of m runs, with error and interval from the others, which are resamples."""
    own, others = float(values[0]), values[1:]
    error = float(others.std(ddof=1)) if np.isfinite(others).all() else math.inf
    return Estimate(own, error, m, (order_statistic(others, 0.025), order_statistic(others, 0.975)))


def _verdict(laws: tuple[GrowthLaw, ...], best: GrowthLaw) -> str:
    near = [fit.law for fit in sorted(laws, key=lambda fit: fit.aic) if fit.aic - best.aic < DECISIVE]
    return near[0] if len(near) == 1 else "cannot tell: " + " or ".join(near)
