"""Implied timescales over lags with intervals over chains, and the lag at which they stop growing."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maskov.basins.microstates import Floats, Labels, chain_counts, decay, transition_matrix
from maskov.quantities import Estimate
from maskov.survival import order_statistic, resamples

PROCESSES = 6
RESAMPLES = 100
# A path of fewer than this many lags tells little about that lag.
_FEWEST_LAGS = 8
_FLAT = math.log(1.1)


class Spectrum(NamedTuple):
    """lags: [J] kept times; values: [J, p] implied timescales in kept times, NaN where there is none; replicas:
    [R, J, p] the same of resampled chains (R = 0 with one chain).
    """

    lags: list[int]
    values: Floats
    replicas: Floats


def lag_grid(times: int) -> list[int]:
    """Lags 1, 2, 4, 8, … kept times, up to an eighth of a path.

    >>> lag_grid(100)
    [1, 2, 4, 8]
    """
    return [1 << k for k in range(max(1, (times - 1) // _FEWEST_LAGS).bit_length())]


def weights_over(chains: int, seed: int, number: int) -> NDArray[np.int64]:
    """How often each chain counts in each bootstrap resample: [R, B]; none with one chain."""
    if chains < 2:
        return np.empty((0, chains), dtype=np.int64)
    return resamples(np.arange(chains), seed)[:number]


def spectrum(labels: Labels, m: int, reversible: bool, weights: NDArray[np.int64]) -> Spectrum:
    """Implied timescales at every lag, on all chains and on resamples of whole chains.

    labels: [K, B] microstates; weights: [R, B]; the same resample serves every lag, so that ratios between lags carry
    little noise.
    """
    lags = lag_grid(len(labels))
    values = np.full((len(lags), PROCESSES), np.nan)
    replicas = np.full((len(weights), len(lags), PROCESSES), np.nan)
    for j, lag in enumerate(lags):
        counts = chain_counts(labels, m, lag)
        values[j] = _timescales(counts.sum(axis=0), lag, reversible)
        for r, w in enumerate(weights):
            replicas[r, j] = _timescales(np.tensordot(w.astype(np.float64), counts, axes=1), lag, reversible)
    return Spectrum(lags, values, replicas)


def _timescales(counts: Floats, lag: int, reversible: bool) -> Floats:
    out = np.full(PROCESSES, np.nan)
    found = transition_matrix(counts, reversible) if counts.any() else None
    if found is not None:
        t = decay(found[0], lag, PROCESSES)
        out[: len(t)] = t
    return out


class Lag(NamedTuple):
    """at: number of the lag in the spectrum; plateau: whether the slowest timescale is flat from there; slow: whether
    it is longer than its lag, at some lag.
    """

    at: int
    plateau: bool
    slow: bool


def choose_lag(found: Spectrum) -> Lag:
    """The plateau rule [after Swope, Pitera & Suits 2004]: the smallest lag whose slowest timescale is above it and
    grows no more over the next two lags.

    A step between lags is flat where the timescale changes by at most a tenth, or where the 95 % bootstrap interval of
    the ratio (over chains, the same resample at both lags) holds 1. Without a flat pair the lag is the largest one that
    is at most a third of its timescale, and ``plateau`` is false: the timescales are then lower bounds in tendency,
    since those of a coarse partition grow towards the true ones.
    """
    t2 = np.nan_to_num(found.values[:, 0])
    slow = t2 > found.lags
    if not slow.any():
        return Lag(0, False, False)
    flat = [_flat_step(found, j) for j in range(len(t2) - 1)]
    for j in np.flatnonzero(slow):
        ahead = flat[j : j + 2]
        if ahead and all(ahead):
            return Lag(int(j), True, True)
    fine = np.flatnonzero(slow & (3 * np.asarray(found.lags) <= t2))
    return Lag(int(fine[-1]) if fine.size else int(np.flatnonzero(slow)[0]), False, True)


def _flat_step(found: Spectrum, j: int) -> bool:
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.log(found.values[j + 1, 0] / found.values[j, 0])
        spread = np.log(found.replicas[:, j + 1, 0] / found.replicas[:, j, 0])
    spread = spread[np.isfinite(spread)]
    if not np.isfinite(ratio):
        return False
    if abs(ratio) <= _FLAT:
        return True
    return bool(len(spread) > 1 and order_statistic(spread, 0.025) <= 0 <= order_statistic(spread, 0.975))


def estimates(value: Floats, replicas: Floats, chains: int, unit: float = 1.0) -> list[Estimate | None]:
    """Estimates with intervals from bootstrap replicas; None where there is no value.

    value: [p]; replicas: [R, p], of which those without a value are left out of the error and count as 0 in the
    interval; unit: factor.
    """
    return [
        estimate_of(float(v) * unit, replicas[:, k] * unit, chains) if np.isfinite(v) else None
        for k, v in enumerate(value)
    ]


def estimate_of(value: float, replicas: Floats, chains: int) -> Estimate:
    """One value with the standard error and the 95 % interval of its replicas over chains; none with one chain."""
    if len(replicas) < 2:
        return Estimate(value, math.inf, chains)
    known = np.where(np.isnan(replicas), 0.0, replicas)
    finite = known[np.isfinite(known)]
    stderr = float(finite.std(ddof=1)) if len(finite) == len(known) else math.inf
    return Estimate(value, stderr, chains, (order_statistic(known, 0.025), order_statistic(known, 0.975)))
