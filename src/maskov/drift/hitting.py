"""Hitting times seen on a grid: first crossings, Kaplan–Meier medians, intervals over independent passages."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maskov.quantities import Estimate
from maskov.randomness import Stream, generator

RESAMPLES = 499

Floats = NDArray[np.float64]


class Hits(NamedTuple):
    """When each of m chains was first seen at the level or above.

    low, high: float64 [m], last grid time seen below and first seen at the level: the hitting time lies in (low, high],
    since the chain may also have been there between two grid times (``high`` is what the estimators use); met: bool
    [m], false where the run ended first (low = high = its end: right-censored).
    """

    low: Floats
    high: Floats
    met: NDArray[np.bool_]

    def scaled(self, unit: Floats) -> Hits:
        """The same times divided by ``unit`` [m], for example steps per sweep of each chain."""
        return Hits(self.low / unit, self.high / unit, self.met)


class Median(NamedTuple):
    """Kaplan–Meier median. estimate: from first times seen; bracket: from the last times below and the first times
    seen.
    """

    estimate: Estimate
    bracket: tuple[float, float]


def first_hits(times: NDArray[np.int64], drift: Floats, level: float) -> Hits:
    """First grid time with drift ≥ level in each column. times: int64 [K] ascending; drift: [K, m].

    >>> first_hits(np.array([0, 1, 10]), np.array([[0.0, 0.0], [0.9, 0.1], [0.2, 0.3]]), 0.8)
    Hits(low=array([ 0., 10.]), high=array([ 1., 10.]), met=array([ True, False]))
    """
    reached = drift >= level
    met = np.asarray(reached.any(axis=0))
    k = np.where(met, reached.argmax(axis=0), len(times) - 1)
    high = times[k].astype(np.float64)
    low = np.where(met, times[np.maximum(k - 1, 0)], times[-1]).astype(np.float64)
    return Hits(low, high, met)


def survival_median(times: Floats, met: NDArray[np.bool_]) -> float:
    """Smallest time with Kaplan–Meier survival ≤ 1/2, infinite where survival stays above.

    times: [m]; met: bool [m], false where right-censored.

    >>> survival_median(np.array([1.0, 2.0, 3.0, 3.0]), np.array([True, True, True, False]))
    2.0
    """
    if not met.any():
        return math.inf
    from scipy import stats  # half a second of import, which a command that reads no trace should not pay

    curve = stats.ecdf(stats.CensoredData.right_censored(times, ~met)).sf
    below = np.flatnonzero(curve.probabilities <= 0.5 + 1e-12)
    return float(curve.quantiles[below[0]]) if below.size else math.inf


def weighted_medians(times: Floats, met: NDArray[np.bool_], weights: NDArray[np.int64]) -> Floats:
    """``survival_median`` of every resample at once: S(t) = Π_{s ≤ t} (1 − d_s/r_s), d_s of r_s at risk met at s.

    times: [m]; met: bool [m]; weights: int64 [R, m], how often each chain counts. Result: [R].
    """
    order = np.lexsort((~met, times))  # at a tie, those met leave before those censored
    ordered = weights[:, order].astype(np.float64)
    at_risk = ordered[:, ::-1].cumsum(axis=1)[:, ::-1]
    kept = 1 - np.where(met[order], ordered, 0) / np.maximum(at_risk, 1)
    survival = np.cumprod(kept, axis=1)
    below = survival <= 0.5 + 1e-12
    return np.where(below.any(axis=1), times[order][below.argmax(axis=1)], math.inf)


def hitting_median(hits: Hits, groups: NDArray[np.int64], seed: int) -> Median | None:
    """Median hitting time with a bootstrap interval over groups; None where fewer than half are met.

    The interval takes its lower end from the last times below the level and its upper end from the first times seen, so
    it covers the grid's coarseness too; an infinite upper end means that resamples stay below one half.

    hits: of m chains; groups: int64 [m] chains of one passage are resampled together.
    """
    value, before = survival_median(hits.high, hits.met), survival_median(hits.low, hits.met)
    if not math.isfinite(value):
        return None
    units = len(np.unique(groups))
    if units < 2:
        return Median(Estimate(value, math.inf, units), (before, value))
    weights = _resamples(groups, seed)
    early, late = (weighted_medians(side, hits.met, weights) for side in (hits.low, hits.high))
    ends = (_quantile(early, 0.025), _quantile(late, 0.975))
    stderr = float(late.std(ddof=1)) if np.isfinite(late).all() else math.inf
    return Median(Estimate(value, stderr, units, ends), (before, value))


def met_fraction(met: NDArray[np.bool_]) -> Estimate:
    """Share of chains that were met within the run, with Wilson's 95 % interval."""
    from scipy import stats

    test = stats.binomtest(int(met.sum()), len(met))
    interval = test.proportion_ci(method="wilson")
    share = float(met.mean())
    return Estimate(
        share, math.sqrt(share * (1 - share) / len(met)), len(met), (float(interval.low), float(interval.high))
    )


def _resamples(groups: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
    """How often each chain counts in each resample of whole groups: [RESAMPLES, m]."""
    names, which = np.unique(groups, return_inverse=True)
    rng = generator(seed, stream=Stream.BOOTSTRAP)
    counts = rng.multinomial(len(names), np.full(len(names), 1 / len(names)), size=RESAMPLES)
    return np.asarray(counts[:, which.ravel()], dtype=np.int64)


def _quantile(values: Floats, level: float) -> float:
    """An order statistic, so that infinite replicas are never averaged."""
    return float(np.quantile(values, level, method="inverted_cdf"))
