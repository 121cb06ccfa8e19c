"""Couplings of one draw: two rows, shared randomness, two tokens; each token alone follows its own row."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from maskov.glauber.draw import tempered_scores
from maskov.protocols import Floats, Tokens
from maskov.randomness import WORDS, Stream, words

Vector = NDArray[np.float64]
COUPLINGS = ("maximal", "uniform", "gumbel")
# Values per block: a pair of float64 rows of a large vocabulary stays within a second-level cache of a few MB.
_BLOCK_VALUES = 1 << 18
# Up to this vocabulary, counting over all rows at once beats a binary search in each.
_FEW = 256
# Rows closer than this are equal up to the rounding of their sums; what one has beyond the other may then be nothing.
_ALIKE = 1e-14


def couple_tokens(
    coupling: str, p: Floats, q: Floats, temperatures: Vector, u: Vector, seed: int, ids: Tokens, steps: Tokens
) -> tuple[Tokens, Tokens]:
    """Tokens of both chains of each pair: x ~ softmax(p/τ), y ~ softmax(q/τ), drawn together.

    maximal: P(x = y) = 1 − TV, the most that is possible; uniform: one uniform through both inverse CDFs in vocabulary
    order (on spins the monotone coupling); gumbel: argmax of score + the same Gumbel noise [Maddison et al. 2014].
    Equal rows give equal tokens in all three, so chains that have met never part.

    p, q: logits [B, V]; temperatures: [B]; u: [B] in [0, 1); ids, steps: int64 [B] name the Gumbel noise. All sums are
    float64.

    >>> row = np.log([[0.5, 0.5]])
    >>> x, y = couple_tokens("maximal", row, row, np.ones(1), np.array([0.7]), 0, np.zeros(1, int), np.zeros(1, int))
    >>> bool(x == y)
    True
    """
    rows = max(1, _BLOCK_VALUES // p.shape[1])
    parts = []
    for k in range(0, len(p), rows):
        part = slice(k, k + rows)
        first, second = (tempered_scores(row[part], temperatures[part]) for row in (p, q))
        if coupling == "gumbel":
            parts.append(shared_gumbel(first, second, seed, ids[part], steps[part]))
        else:
            parts.append(_BY_UNIFORM[coupling](_normalised(first), _normalised(second), u[part]))
    return np.concatenate([x for x, _ in parts]), np.concatenate([y for _, y in parts])


def _normalised(scores: Vector) -> Vector:
    weights = np.exp(scores, out=scores)
    weights /= weights.sum(axis=1, keepdims=True)
    return weights


def invert(masses: Vector, target: Vector) -> Tokens:
    """Smallest v with masses_0 + … + masses_v > target, the last token with mass beyond the end. [B, V], [B] → [B]."""
    cdf = np.cumsum(masses, axis=1)
    if masses.shape[1] <= _FEW:
        tokens = (cdf <= target[:, None]).sum(axis=1).astype(np.int64)
    else:
        tokens = np.array([np.searchsorted(row, t, side="right") for row, t in zip(cdf, target, strict=True)], np.int64)
    for b in np.flatnonzero(tokens >= masses.shape[1]):
        tokens[b] = int(np.flatnonzero(masses[b])[-1])
    return tokens


def shared_uniform(p: Vector, q: Vector, u: Vector) -> tuple[Tokens, Tokens]:
    """F_p⁻¹(u) and F_q⁻¹(u). p, q: probabilities [B, V]; u: [B]."""
    return invert(p, u), invert(q, u)


def maximal(p: Vector, q: Vector, u: Vector) -> tuple[Tokens, Tokens]:
    """With probability Σ min(p, q) one token from the overlap for both; else each from its own excess (disjoint).

    p, q: probabilities [B, V]; u: [B], its position inside the chosen part is the uniform of the draw.
    """
    overlap = np.minimum(p, q)
    shared, total = overlap.sum(axis=1), p.sum(axis=1)
    target = u * total  # of equal rows shared = total to the last bit, so they never part, whatever u < 1
    same = (target < shared) | (shared >= total - _ALIKE)
    x = np.empty(len(u), dtype=np.int64)
    y = np.empty(len(u), dtype=np.int64)
    if same.any():
        x[same] = y[same] = invert(overlap[same], target[same])
    if not same.all():
        apart = ~same
        beyond = target[apart] - shared[apart]
        x[apart] = invert(p[apart] - overlap[apart], beyond)
        y[apart] = invert(q[apart] - overlap[apart], beyond)
    return x, y


_BY_UNIFORM: dict[str, Callable[[Vector, Vector, Vector], tuple[Tokens, Tokens]]] = {
    "maximal": maximal,
    "uniform": shared_uniform,
}


def shared_gumbel(s: Vector, r: Vector, seed: int, ids: Tokens, steps: Tokens) -> tuple[Tokens, Tokens]:
    """argmax of score + Gumbel with the same noise for both, as a race: the smallest E_v e^{−s_v}, E_v exponential.

    A token of probability p wins by an E of about p, so E keeps its relative precision near 0 (64-bit words, down to
    2⁻⁶⁵); float32 Gumbels lose it. s, r: scores [B, V] with maximum 0; noise is a function of (seed, id, step).
    """
    # Pairs of several temperatures read one stream: their noise is made once.
    pairs, which = np.unique(np.stack([ids, steps], axis=1), axis=0, return_inverse=True)
    logs = np.log(np.stack([exponentials(seed, int(c), int(t), s.shape[1]) for c, t in pairs]))[which.ravel()]
    return (s - logs).argmax(axis=1).astype(np.int64), (r - logs).argmax(axis=1).astype(np.int64)


def exponentials(seed: int, chain: int, step: int, size: int) -> Vector:
    """``size`` standard exponentials of (seed, chain, step): −log(1 − u), u = (word + 1/2)/2⁶⁴."""
    counters = -(-size // WORDS)
    raw = words(seed, chain, step * counters, counters, Stream.GUMBEL).ravel()[:size]
    u = (raw.astype(np.float64) + 0.5) * 2.0**-64
    return -np.log1p(-np.minimum(u, 1 - 2.0**-53))
