"""τ_c(n): the temperature at which the median time is a fixed multiple of n log n, and whether it moves with n."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from maskov.quantities import Bound, Estimate
from maskov.randomness import Stream, generator
from maskov.survival import RESAMPLES, order_statistic

Floats = NDArray[np.float64]

FEWEST_LENGTHS = 3
_LEVEL = 0.05


class Column(NamedTuple):
    """Runs with one n at all temperatures. temperatures: [K], ascending; times, met: [K, m], run c of each row shares
    its start and its randomness with run c of the others.
    """

    sites: int
    temperatures: Floats
    times: Floats
    met: NDArray[np.bool_]


@dataclass(frozen=True)
class Crossover:
    """τ_c of one n. threshold: the steps that count as slow; above: share of runs beyond them at each τ; value: None
    where runs were too short to tell, a lower bound where every cell is slow, an upper bound where none is; bracket:
    the grid temperatures around it; crossings: how often the share crosses 1/2 (1 unless noise or the model makes it
    come back; the hottest counts).
    """

    sites: int
    threshold: float
    above: tuple[float, ...]
    value: Estimate | Bound | None
    bracket: tuple[float, float] | None
    crossings: int


@dataclass(frozen=True)
class Shift:
    """dτ_c/d log n by least squares over the n inside the grid. p_value: two-sided, by bootstrap; verdict: "moves up
    with n", "moves down with n" or "cannot tell", at 5 %; lengths: the n used; outside: n whose crossover lies beyond
    the grid.
    """

    slope: Estimate | None
    p_value: float | None
    verdict: str
    lengths: tuple[int, ...]
    outside: tuple[int, ...]


class Crossings(NamedTuple):
    """A crossover and its bootstrap replicates [R]: −inf below the grid, inf above it."""

    crossover: Crossover
    replicates: Floats


def crossing(column: Column, multiple: float, seed: int) -> Crossings:
    """Where P(T > multiple · n log n) = 1/2, which is where the median is that time.

    The share of runs beyond the threshold is known in every cell whose runs are that long, so no cell without a median
    enters with a stand-in. Between two grid temperatures its probit is taken as linear in log τ: with log T normal and
    of equal spread at both, log median then is. The bootstrap resamples runs, each with all its temperatures.
    """
    n, tau = column.sites, column.temperatures
    threshold = multiple * n * math.log(n)
    above = column.times > threshold
    if (~column.met & (column.times < threshold)).any():
        return Crossings(Crossover(n, threshold, (), None, None, 0), np.full(RESAMPLES, np.nan))
    rng = generator(seed, n, Stream.BOOTSTRAP)
    m = above.shape[1]
    weights = rng.multinomial(m, np.full(m, 1 / m), size=RESAMPLES)
    own = float(_crossings(above.mean(axis=1)[None], tau, m, None)[0])
    replicates = _crossings(weights @ above.T / m, tau, m, rng)
    share = above.mean(axis=1)
    slow = share >= 0.5
    k = int(np.flatnonzero(slow)[-1]) if slow.any() else -1
    bracket = (float(tau[k]), float(tau[k + 1])) if 0 <= k < len(tau) - 1 else None
    value = _value(own, replicates, tau, m)
    changes = int((slow[1:] != slow[:-1]).sum())
    return Crossings(Crossover(n, threshold, tuple(share.tolist()), value, bracket, changes), replicates)


def _crossings(shares: Floats, tau: Floats, m: int, rng: np.random.Generator | None) -> Floats:
    """Crossing of each row of shares [R, K]: that of the hottest slow cell with its hotter neighbour.

    Shares of 0 and 1 stand for half a run. Where a replicate jumps from 1 to 0 it says nothing of the place in between:
    it is put there at random, so that an interval covers the grid's coarseness.
    """
    slow = shares >= 0.5
    k = np.where(slow.any(axis=1), slow.shape[1] - 1 - slow[:, ::-1].argmax(axis=1), -1)
    inside = (k >= 0) & (k < len(tau) - 1)
    j = np.clip(k, 0, max(len(tau) - 2, 0))
    out = np.where(k < 0, -np.inf, np.inf)
    if not inside.any():
        return out
    rows = np.arange(len(shares))
    left, right = shares[rows, j], shares[rows, np.minimum(j + 1, len(tau) - 1)]
    z_left, z_right = (ndtri(np.clip(side, 0.5 / m, 1 - 0.5 / m)) for side in (left, right))
    with np.errstate(divide="ignore", invalid="ignore"):
        part = np.clip(z_left / (z_left - z_right), 0, 1)
    if rng is not None:
        part = np.where((left == 1) & (right == 0), rng.random(len(shares)), part)
    ends = np.log(tau[j]), np.log(tau[np.minimum(j + 1, len(tau) - 1)])
    return np.where(inside, np.exp(ends[0] + part * (ends[1] - ends[0])), out)


def _value(own: float, replicates: Floats, tau: Floats, m: int) -> Estimate | Bound:
    if math.isinf(own):
        return Bound(float(tau[-1]), "lower", m) if own > 0 else Bound(float(tau[0]), "upper", m)
    error = float(replicates.std(ddof=1)) if np.isfinite(replicates).all() else math.inf
    return Estimate(own, error, m, (order_statistic(replicates, 0.025), order_statistic(replicates, 0.975)))


def shift(found: list[Crossings], temperatures: Floats) -> Shift:
    """Does τ_c move with n? The slope on log n, its bootstrap interval, and 2 min(P(slope ≤ 0), P(slope ≥ 0)).

    n are independent: each has its own starts and randomness. A replicate beyond the grid counts as the grid's end,
    which makes the slope smaller, never larger than the data say. The n outside of the grid are left out and named.
    """
    used = [c for c in found if isinstance(c.crossover.value, Estimate)]
    lengths = tuple(c.crossover.sites for c in used)
    outside = tuple(c.crossover.sites for c in found if not isinstance(c.crossover.value, Estimate))
    if len(used) < FEWEST_LENGTHS:
        told = f"cannot tell: a crossover inside the grid at {len(used)} lengths, of at least {FEWEST_LENGTHS}"
        return Shift(None, None, told, lengths, outside)
    x = np.log(np.array(lengths, dtype=np.float64))
    own = np.array([c.crossover.value.value for c in used if c.crossover.value is not None])
    table = np.clip([c.replicates for c in used], temperatures[0], temperatures[-1])
    lever = (x - x.mean()) / ((x - x.mean()) ** 2).sum()
    slope, slopes = float(lever @ own), lever @ table
    tail = min(int((slopes <= 0).sum()), int((slopes >= 0).sum()))
    p = min(1.0, 2 * (tail + 1) / (len(slopes) + 1))
    ends = order_statistic(slopes, 0.025), order_statistic(slopes, 0.975)
    direction = "moves up with n" if slope > 0 else "moves down with n"
    verdict = direction if p < _LEVEL else "cannot tell"
    return Shift(Estimate(slope, float(slopes.std(ddof=1)), len(used), ends), p, verdict, lengths, outside)
