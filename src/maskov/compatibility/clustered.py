"""Statistics of rectangles; bootstrap intervals resample whole texts, whose rectangles are not independent."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from maskov.quantities import Estimate, resampled_estimate
from maskov.randomness import Stream, generator

RESAMPLES = 999

# A statistic of weighted values: columns [r, c], weights [r] → number.
Statistic = Callable[[NDArray[np.float64], NDArray[np.float64]], float]


def cluster_weights(clusters: NDArray[np.int64], seed: int, resamples: int = RESAMPLES) -> NDArray[np.float64]:
    """How often each observation counts in each resample of whole clusters: [resamples, r]."""
    names, which = np.unique(clusters, return_inverse=True)
    rng = generator(seed, stream=Stream.BOOTSTRAP)
    counts = rng.multinomial(len(names), np.full(len(names), 1 / len(names)), size=resamples)
    return counts[:, which].astype(np.float64)


def bootstrap(
    statistic: Statistic, columns: NDArray[np.float64], weights: NDArray[np.float64], clusters: int
) -> Estimate:
    """The statistic on all data, with error and 95 % interval from resampled clusters (``resampled_estimate``).

    columns: [r, c]; weights: [resamples, r] from ``cluster_weights``; clusters: number of independent units.
    """
    value = statistic(columns, np.ones(len(columns)))
    if clusters < 2:
        return Estimate(value, np.inf, clusters)
    replicas = np.array([statistic(columns, w) for w in weights])
    return resampled_estimate(value, replicas, clusters, len(columns), positive=True)


def mean(columns: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    """Weighted mean of the first column."""
    return float(columns[:, 0] @ weights / weights.sum())


def root_mean_square(columns: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    """Weighted root mean square of the first column."""
    return float(np.sqrt(columns[:, 0] ** 2 @ weights / weights.sum()))


def ratio_of_sums(columns: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    """Weighted sum of the first column over that of the second; 0 where both vanish."""
    top, bottom = columns[:, 0] @ weights, columns[:, 1] @ weights
    return float(top / bottom) if bottom > 0 else 0.0


def root_ratio(columns: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    """Square root of ``ratio_of_sums``."""
    return float(np.sqrt(ratio_of_sums(columns, weights)))


def median(columns: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    """Weighted median of the first column."""
    order = np.argsort(columns[:, 0], kind="stable")
    running = np.cumsum(weights[order])
    return float(columns[order[np.searchsorted(running, running[-1] / 2)], 0])
