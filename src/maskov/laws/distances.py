"""Distances between laws, in float64, from vectors or tables of one shape."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

from maskov.errors import InputError


def _pair(p: ArrayLike, q: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    a, b = np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64)
    if a.shape != b.shape:
        raise InputError("laws", expected="two arrays of one shape", came=f"{a.shape} and {b.shape}")
    if np.isnan(a).any() or np.isnan(b).any():
        raise InputError("laws", expected="numbers", came="NaN")
    return a, b


def total_variation(p: ArrayLike, q: ArrayLike) -> float:
    """TV(p, q) = ½ Σ |p − q| of probabilities, in [0, 1].

    p, q: probabilities of one shape. Raises ``InputError`` on two shapes or NaN.

    >>> total_variation([1.0, 0.0], [0.5, 0.5])
    0.5
    """
    a, b = _pair(p, q)
    return 0.5 * float(np.abs(a - b).sum())


def kullback_leibler(log_p: ArrayLike, log_q: ArrayLike) -> float:
    """KL(p‖q) = Σ p (log p − log q) in nats, from log-probabilities; 0 log 0 = 0, +inf where q misses mass of p.

    log_p, log_q: normalised log-probabilities of one shape. Raises ``InputError`` on two shapes or NaN.

    >>> round(kullback_leibler(np.log([0.5, 0.5]), np.log([0.25, 0.75])), 6)
    0.143841
    """
    a, b = _pair(log_p, log_q)
    mass = a > -np.inf
    p, q, gap = np.exp(a[mass]), np.exp(b[mass]), b[mass] - a[mass]
    if not np.isfinite(gap).all():
        return np.inf
    # q − p − p log(q/p) ≥ 0 term by term (Σ q − p = 0): close laws do not cancel, and the sum is never negative.
    terms = np.where(np.abs(gap) < 1, p * (np.expm1(np.clip(gap, -1, 1)) - gap), q - p - p * gap)
    return float(terms.sum() + np.exp(b[~mass]).sum())


def hellinger(log_p: ArrayLike, log_q: ArrayLike) -> float:
    """Hellinger distance √(1 − Σ √(p q)), in [0, 1], from log-probabilities of one shape.

    >>> hellinger(np.log([0.5, 0.5]), np.log([0.5, 0.5]))
    0.0
    """
    a, b = _pair(log_p, log_q)
    return float(np.sqrt(max(0.0, -np.expm1(min(0.0, float(logsumexp((a + b) / 2)))))))
