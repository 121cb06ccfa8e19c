"""How far two conditionals lie apart, at many temperatures from one set of logits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from maskov.glauber.draw import tempered_scores
from maskov.protocols import Floats

# Rows per block of float64 work: four of a 30,522-token vocabulary stay within a second-level cache.
_BLOCK = 4

Vector = NDArray[np.float64]


def total_variations(p: Floats, q: Floats, temperatures: Vector) -> NDArray[np.float64]:
    """TV(softmax(p/τ), softmax(q/τ)) of every row at every temperature. p, q: [m, V] nats. Result: [T, m]."""
    out = np.empty((len(temperatures), len(p)))
    for k in range(0, len(p), _BLOCK):
        part = slice(k, k + _BLOCK)
        first, second = _scores(p[part]), _scores(q[part])
        for t, tau in enumerate(temperatures):
            out[t, part] = _distance(_softmax(second, tau), _softmax(first, tau))
    return out


def tempered_laws(row: Floats, temperatures: Vector) -> NDArray[np.float64]:
    """softmax(s/τ) of one row at every temperature: [T, V]."""
    scores = _scores(row[None])
    return np.concatenate([_softmax(scores, tau) for tau in temperatures])


def variations_from(laws: NDArray[np.float64], rows: Floats, temperatures: Vector) -> NDArray[np.float64]:
    """TV of every row from one row whose laws are at hand: the same numbers at half the work. Result: [T, m].

    laws: [T, V] of ``tempered_laws``; rows: [m, V] nats.
    """
    out = np.empty((len(temperatures), len(rows)))
    for k in range(0, len(rows), _BLOCK):
        scores = _scores(rows[k : k + _BLOCK])
        for t, tau in enumerate(temperatures):
            out[t, k : k + _BLOCK] = _distance(_softmax(scores, tau), laws[t])
    return out


def oscillation(p: Floats, q: Floats) -> NDArray[np.float64]:
    """D = max_v − min_v of s(v) − s′(v) over allowed tokens: TV ≤ tanh(D/(4τ)) at every τ (Hilbert metric). [m]."""
    out = np.empty(len(p))
    for k in range(len(p)):
        allowed = np.isfinite(p[k]) & np.isfinite(q[k])
        gap = p[k][allowed].astype(np.float64) - q[k][allowed]
        out[k] = gap.max() - gap.min()
    return out


def _scores(rows: Floats) -> NDArray[np.float64]:
    return tempered_scores(rows, np.ones(len(rows)))


def _softmax(scores: NDArray[np.float64], tau: float) -> NDArray[np.float64]:
    weights = scores / tau
    np.exp(weights, out=weights)
    weights /= weights.sum(axis=1, keepdims=True)
    return weights


def _distance(a: NDArray[np.float64], b: NDArray[np.float64]) -> Vector:
    """½ Σ |a − b| of each row; ``a`` is overwritten."""
    return np.asarray(np.abs(np.subtract(a, b, out=a), out=a).sum(axis=1) / 2)
