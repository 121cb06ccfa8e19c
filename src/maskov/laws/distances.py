"""Distances between laws, in float64."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike


def total_variation(p: ArrayLike, q: ArrayLike) -> float:
    """TV(p, q) = ½ Σ |p − q| of probability vectors of one shape.

    >>> total_variation([1.0, 0.0], [0.5, 0.5])
    0.5
    """
    return 0.5 * float(np.abs(np.asarray(p, dtype=np.float64) - np.asarray(q, dtype=np.float64)).sum())


def kullback_leibler(log_p: ArrayLike, log_q: ArrayLike) -> float:
    """KL(p‖q) = Σ p (log p − log q) in nats from log-probabilities; 0 log 0 = 0, +inf where q misses mass of p.

    >>> kullback_leibler(np.log([0.5, 0.5]), np.log([0.5, 0.5]))
    0.0
    """
    a, b = np.asarray(log_p, dtype=np.float64), np.asarray(log_q, dtype=np.float64)
    mass = np.exp(a) > 0
    return float((np.exp(a[mass]) * (a[mass] - b[mass])).sum())
