"""Visits of basins along the paths: core to core, with lengths that the end of a run cuts."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maskov.basins.microstates import Floats, Labels
from maskov.basins.timescales import estimate_of
from maskov.quantities import Estimate, resampled_estimate
from maskov.survival import restricted_mean, survival_median, weighted_medians

ELSEWHERE = -1
_BETWEEN = -2


class Stays(NamedTuple):
    """Stays in basins, chain by chain in order of time; each [s]. basin: number or −1 for elsewhere; length: kept
    times; ended: false where the run ended first.
    """

    chain: Labels
    basin: Labels
    length: Labels
    ended: NDArray[np.bool_]


def core_path(region: Labels, core: NDArray[np.bool_]) -> Labels:
    """The last core that a path was in [Buchete & Hummer 2008]: a border crossed to and fro is no change of basin.

    region: int64 [K] basin at each time (−1: elsewhere, which counts as a core of its own); core: bool [K]. Before its
    first core a path is where its memberships are largest.

    >>> core_path(np.array([0, 1, 0, 1, 1]), np.array([True, False, True, False, True])).tolist()
    [0, 0, 0, 0, 1]
    """
    known = core | (region == ELSEWHERE)
    last = np.maximum.accumulate(np.where(known, np.arange(len(region)), _BETWEEN))
    return np.where(last >= 0, region[np.maximum(last, 0)], region)


def stays(paths: Labels) -> Stays:
    """Stays of all chains. paths: int64 [K, B].

    >>> [part.tolist() for part in stays(np.array([[0], [0], [1]]))]
    [[0, 0], [0, 1], [2, 1], [True, False]]
    """
    parts = [_stays_of(b, path) for b, path in enumerate(paths.T)]
    return Stays(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _stays_of(b: int, path: Labels) -> Stays:
    cuts = np.flatnonzero(np.diff(path)) + 1
    first = np.concatenate([[0], cuts])
    length = np.diff(np.append(first, len(path)))
    ended = np.arange(len(first)) < len(first) - 1
    return Stays(np.full(len(first), b), path[first], length, ended)


class Dwelling(NamedTuple):
    """Stays in one basin. mean: all time over all exits; restricted: Kaplan–Meier mean up to the run's length; median:
    Kaplan–Meier (all in kept times); visits, exits, chains: counts.
    """

    mean: Estimate
    restricted: Estimate
    median: Estimate | None
    visits: int
    exits: int
    chains: int


def dwelling(all_stays: Stays, basin: int, weights: NDArray[np.int64], horizon: int) -> Dwelling:
    """How long stays in a basin last, cut ones counted as such.

    mean is the maximum-likelihood mean of exponential stays under censoring, Σ time / exits; without an exit it is
    infinite, and the interval starts at Σ time / 3 (one exit in that time had a chance of 95 %). weights: [R, B] chains
    of bootstrap resamples; horizon: kept times of a run.
    """
    mine = all_stays.basin == basin
    chain, length = all_stays.chain[mine], all_stays.length[mine].astype(np.float64)
    ended = all_stays.ended[mine]
    total, exits = float(length.sum()), int(ended.sum())
    if exits == 0:
        mean = Estimate(math.inf, math.inf, 0, (total / -math.log(0.05), math.inf))
        median = None
    else:
        times = weights[:, chain] @ length
        left = weights[:, chain] @ ended.astype(np.float64)
        replicas = np.divide(times, left, out=np.full(len(times), np.inf), where=left > 0)
        mean = resampled_estimate(total / exits, replicas, weights.shape[1], exits, positive=True)
        median = _median(length, ended, weights[:, chain])
    restricted = _positive(restricted_mean(length, ended, float(horizon)))
    return Dwelling(mean, restricted, median, int(mine.sum()), exits, len(np.unique(chain)))


def _positive(q: Estimate) -> Estimate:
    low, high = q.interval or (0.0, math.inf)
    return Estimate(q.value, q.stderr, q.n, (max(low, 0.0), high) if math.isfinite(q.stderr) else None)


def _median(length: Floats, ended: NDArray[np.bool_], weights: NDArray[np.int64]) -> Estimate | None:
    value = survival_median(length, ended)
    if not math.isfinite(value):
        return None
    seen = weights[weights.sum(axis=1) > 0]
    return estimate_of(value, weighted_medians(length, ended, seen) if len(seen) else np.empty(0), int(ended.sum()))
