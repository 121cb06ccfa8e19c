"""Shares of time over passages, and their differences: intervals that hold when most passages never visit."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, ndtri, stdtrit

from maskov.quantities import Estimate

Floats = NDArray[np.float64]


def passage_means(values: Floats, groups: NDArray[np.int64]) -> Floats:
    """Mean over the chains of each passage: [G]. values: [B]; groups: int64 [B], any numbers."""
    which = np.unique(groups, return_inverse=True)[1].ravel()
    return np.asarray(np.bincount(which, weights=values) / np.bincount(which))


def clustered_share(means: Floats) -> Estimate:
    """Mean of G independent passages' shares in [0, 1] with Korn and Graubard's 95 % interval.

    The interval of Clopper and Pearson at the effective number n* = p(1−p)/s²·(z/t_{G−1})², s² the variance of the
    mean over passages [Korn & Graubard 1998]; n* = G where no passage differs from 0 or 1. s² is at least what it would
    be with one more passage a quarter beyond the largest share: of rare visitors the heaviest are often not in the
    sample, and without that the interval covers 87 to 90 % (docs/reliability.md). With one passage no error is given.

    >>> [round(end, 3) for end in clustered_share(np.zeros(20)).interval]
    [0.0, 0.168]
    """
    G, p = len(means), float(np.mean(means))
    if G < 2:
        return Estimate(p, math.inf, G)
    variance = float(np.var(means, ddof=1)) / G
    careful = max(variance, float(np.var(np.append(means, min(1.0, 1.25 * float(np.max(means)))), ddof=1)) / G)
    ratio = float(ndtri(0.975) / stdtrit(G - 1, 0.975)) ** 2
    n = G if p <= 0 or p >= 1 else p * (1 - p) / max(careful, 1e-12) * ratio
    x = p * n
    low = float(betaincinv(x, n - x + 1, 0.025)) if p > 0 else 0.0
    high = float(betaincinv(x + 1, n - x, 0.975)) if p < 1 else 1.0
    return Estimate(p, math.sqrt(variance), G, (low, high))


def count_estimate(means: Floats) -> Estimate:
    """Mean of G passages' counts ≥ 0 with Student's interval; where all are 0 it ends at the Poisson limit 3.69/G."""
    G, mean = len(means), float(np.mean(means))
    if G < 2:
        return Estimate(mean, math.inf, G)
    stderr = float(np.std(means, ddof=1)) / math.sqrt(G)
    reach = float(stdtrit(G - 1, 0.975)) * stderr
    high = mean + reach if mean > 0 else -math.log(0.025) / G
    return Estimate(mean, stderr, G, (max(0.0, mean - reach), high))


def difference(a: Estimate, b: Estimate) -> Estimate:
    """a − b of independent estimates, ends squared and added [Newcombe 1998; Zou & Donner 2008].

    >>> d = difference(Estimate(0.5, 0.1, 9, (0.3, 0.7)), Estimate(0.1, 0.0, 9, (0.1, 0.1)))
    >>> d.value, [round(end, 3) for end in d.interval]
    (0.4, [0.2, 0.6])
    """
    value = a.value - b.value
    if a.interval is None or b.interval is None:
        return Estimate(value, math.inf, a.n)
    low = value - math.hypot(a.value - a.interval[0], b.interval[1] - b.value)
    high = value + math.hypot(a.interval[1] - a.value, b.value - b.interval[0])
    return Estimate(value, math.hypot(a.stderr, b.stderr), a.n, (low, high))
