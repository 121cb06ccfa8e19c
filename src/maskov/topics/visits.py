"""Visits of a topic and the times between them, seen on a grid."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maskov.quantities import Estimate
from maskov.survival import order_statistic, resamples, weighted_medians

Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]


class Returns(NamedTuple):
    """Times from leaving a topic to being in it again, one row a spell outside that began with a leave.

    chain: int64 [m]; high: from the last kept time inside to the next one inside, low: between the kept times outside
    next to them (steps): the time outside lies between them; met: false where the run ended first (both are then the
    time from the last kept time inside to the end).
    """

    chain: NDArray[np.int64]
    low: Floats
    high: Floats
    met: Flags


def visit_counts(inside: Flags) -> NDArray[np.int64]:
    """Separate visits of each chain: maximal runs of kept times inside. inside: bool [T, B]. Result: int64 [B].

    Visits between two kept times are not seen, and leaves between them neither: a count is of visits as the grid shows
    them.

    >>> visit_counts(np.array([[True, False], [False, False], [True, True]])).tolist()
    [2, 1]
    """
    entered = inside.copy()
    entered[1:] &= ~inside[:-1]
    return np.asarray(entered.sum(axis=0), dtype=np.int64)


def returns(inside: Flags, times: NDArray[np.int64]) -> Returns:
    """Every spell outside after a visit. inside: bool [T, B]; times: int64 [T].

    >>> returns(np.array([[True], [False], [False], [True], [False]]), np.array([0, 10, 20, 30, 40]))
    Returns(chain=array([0, 0]), low=array([10., 10.]), high=array([30., 10.]), met=array([ True, False]))
    """
    chain, k = np.nonzero(inside.T)
    same = chain[1:] == chain[:-1]
    gap = np.flatnonzero(same & (k[1:] > k[:-1] + 1))
    last = np.flatnonzero(np.append(~same, True)) if len(k) else np.zeros(0, dtype=np.int64)
    last = last[k[last] < len(times) - 1]
    end = (times[-1] - times[k[last]]).astype(np.float64)
    high = (times[k[gap + 1]] - times[k[gap]]).astype(np.float64)
    low = (times[k[gap + 1] - 1] - times[k[gap] + 1]).astype(np.float64)
    met = np.repeat([True, False], [len(gap), len(last)])
    return Returns(
        np.concatenate([chain[gap], chain[last]]), np.concatenate([low, end]), np.concatenate([high, end]), met
    )


def return_median(found: Returns, groups: NDArray[np.int64], seed: int) -> Estimate | None:
    """Kaplan–Meier median return time in steps, with a bootstrap interval over passages; None where it isn't reached.

    Long spells are cut off by the run's end more often than short ones, so a mean of the finished ones would be too
    short. The interval runs from the shortest to the longest durations that the grid allows. groups: int64 [B].
    """
    if not found.met.any():
        return None
    which = np.unique(groups, return_inverse=True)[1].ravel()[found.chain]
    G = len(np.unique(groups))
    value = _medians(found.high, found.met, which, np.ones((1, G), dtype=np.int64))[0]
    if not math.isfinite(value):
        return None
    if G < 2:
        return Estimate(float(value), math.inf, G)
    counts = resamples(np.arange(G), seed)
    early, late = (_medians(side, found.met, which, counts) for side in (found.low, found.high))
    stderr = float(late.std(ddof=1)) if np.isfinite(late).all() else math.inf
    return Estimate(float(value), stderr, G, (order_statistic(early, 0.025), order_statistic(late, 0.975)))


def _medians(durations: Floats, met: Flags, which: NDArray[np.int64], counts: NDArray[np.int64]) -> Floats:
    """Medians under passage weights [R, G]: equal durations are one column, so memory is R times the grid's size."""
    pairs, back = np.unique(np.stack([durations, met.astype(np.float64)]), axis=1, return_inverse=True)
    table = np.zeros((counts.shape[1], pairs.shape[1]), dtype=np.int64)
    np.add.at(table, (which, back.ravel()), 1)
    weights = counts @ table
    found = weighted_medians(pairs[0], pairs[1] > 0, weights)
    return np.where(weights.sum(axis=1) > 0, found, math.inf)
