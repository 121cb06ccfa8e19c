"""Sums and small differences in log space."""

from __future__ import annotations

from functools import reduce

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def log1p_minus(x: ArrayLike) -> Floats:
    """log(1 + x) − x without cancellation near 0; −∞ at −1.

    >>> bool(np.isclose(log1p_minus(1e-9), -5e-19, rtol=1e-8))
    True
    """
    x = np.asarray(x, dtype=np.float64)
    small = np.abs(x) < 0.02
    y = np.where(small, x, 0.0)
    series = np.zeros_like(y)
    for k in range(11, 1, -1):
        series = y * series + (-1) ** (k + 1) / k
    with np.errstate(divide="ignore"):
        return np.where(small, y * y * series, np.log1p(np.where(small, 0.0, x)) - np.where(small, 0.0, x))


def exp_minus(u: ArrayLike) -> Floats:
    """e^u − 1 − u ≥ 0 without cancellation near 0; u is cut at 700.

    >>> bool(np.isclose(exp_minus(1e-9), 5e-19, rtol=1e-8))
    True
    """
    u = np.minimum(np.asarray(u, dtype=np.float64), 700.0)
    small = np.abs(u) < 0.05
    series = np.zeros_like(u)
    for k in range(10, 1, -1):
        series = (1 + series) * np.where(small, u, 0.0) / k
    return np.where(small, series * u, np.expm1(u) - u)


def rowwise_logsumexp(x: Floats) -> Floats:
    """log Σ_k e^{x[:, k]}: [R, K] → [R]; −∞ for rows without mass. Several times faster than the general routine for
    few columns."""
    columns = list(x.T)
    peak = reduce(np.maximum, columns)
    shift = np.where(np.isfinite(peak), peak, 0.0)
    return np.asarray(log_positive(sum(np.exp(column - shift) for column in columns)) + shift)


def log_positive(x: ArrayLike) -> Floats:
    """log max(x, 0): rounding below 0 counts as 0."""
    with np.errstate(divide="ignore"):
        return np.log(np.maximum(x, 0.0))


def log_difference(a: ArrayLike, b: ArrayLike) -> Floats:
    """log(e^a − e^b) for a ≥ b; −∞ where rounding has b ≥ a.

    >>> round(float(log_difference(0.0, -1.0)), 6)
    -0.458675
    """
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        gap = np.where(b == -np.inf, -np.inf, b - a)
        return np.where(gap < 0, a + np.log1p(-np.exp(np.minimum(gap, 0.0))), -np.inf)


def group_logsumexp(values: Floats, starts: NDArray[np.int64]) -> Floats:
    """log Σ e^x within consecutive groups: values [R, …], starts [G] ascending (no empty group) → [G, …]."""
    peak = np.maximum.reduceat(values, starts, axis=0)
    shift = np.where(np.isfinite(peak), peak, 0.0)
    sizes = np.diff(np.append(starts, len(values)))
    total = np.add.reduceat(np.exp(values - np.repeat(shift, sizes, axis=0)), starts, axis=0)
    return log_positive(total) + shift


def log_sum(values: ArrayLike) -> float:
    """log Σ e^x of a vector that may be empty.

    >>> log_sum([])
    -inf
    """
    x = np.asarray(values, dtype=np.float64).ravel()
    if x.size == 0 or x.max() == -np.inf:
        return -np.inf
    return float(x.max() + np.log(np.exp(x - x.max()).sum()))
