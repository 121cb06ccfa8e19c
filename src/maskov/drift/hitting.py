"""Hitting times seen on a grid: first crossings, Kaplan–Meier medians, intervals over independent passages."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maskov.quantities import Estimate
from maskov.survival import met_fraction, order_statistic, resamples, survival_median, weighted_medians

Floats = NDArray[np.float64]

__all__ = ["Hits", "Median", "first_hits", "hitting_median", "met_fraction", "survival_median"]


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
    weights = resamples(groups, seed)
    early, late = (weighted_medians(side, hits.met, weights) for side in (hits.low, hits.high))
    ends = (order_statistic(early, 0.025), order_statistic(late, 0.975))
    stderr = float(late.std(ddof=1)) if np.isfinite(late).all() else math.inf
    return Median(Estimate(value, stderr, units, ends), (before, value))
