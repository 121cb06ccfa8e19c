"""One token draw per row: float64 softmax, one 53-bit uniform, inverse CDF with the current token first."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maskov.errors import InputError
from maskov.protocols import Floats, Tokens

# exp(−745.2) is 0 in float64: scores below this floor have no mass, and a finite floor keeps 0 · log 0 at 0.
_FLOOR = -1e4
# Rows per block: 16 rows of a 30,522-token vocabulary in float64 stay within a second-level cache of a few MB.
_BLOCK_VALUES = 1 << 19


class Drawn(NamedTuple):
    """What a step drew, and the diagnostics that its row gives for nothing. Each [B].

    tokens: int64, the new tokens; stay: p(x_i | x_{-i}) of the old token; entropy: −Σ p log p (nats);
    log_old, log_new: log p of the old and of the new token (nats).
    """

    tokens: Tokens
    stay: NDArray[np.float64]
    entropy: NDArray[np.float64]
    log_old: NDArray[np.float64]
    log_new: NDArray[np.float64]


def tempered_scores(logits: Floats, temperatures: NDArray[np.float64]) -> NDArray[np.float64]:
    """(s − max s)/τ in float64, floored where exp is 0. logits: [B, V]; temperatures: [B]. Result: [B, V], maximum 0."""
    top = logits.max(axis=1, keepdims=True)
    if not np.isfinite(top).all():
        row = int(np.flatnonzero(~np.isfinite(top[:, 0]))[0])
        raise InputError(
            "conditional row",
            expected="finite logits with at least one allowed token",
            came=f"maximum {top[row, 0]} in row {row}",
        )
    scores = np.subtract(logits, top, dtype=np.float64)
    scores /= temperatures[:, None]
    return np.maximum(scores, _FLOOR, out=scores)


def draw_tokens(logits: Floats, temperatures: NDArray[np.float64], current: Tokens, u: NDArray[np.float64]) -> Drawn:
    """Draw v ~ softmax(s/τ) by inverse CDF, the current token first, then the rest in vocabulary order.

    The chain stays iff u < p(current): one comparison decides, which is what makes waiting times cheap. All sums are
    float64, so a token of probability 1e-12 is drawn as often as it should be (float32 Gumbel draws lose it).

    logits: [B, V] nats, −inf where forbidden; temperatures: [B] > 0; current: int64 [B]; u: [B] in [0, 1).

    >>> d = draw_tokens(np.log([[0.2, 0.8]]), np.ones(1), np.array([1]), np.array([0.9]))
    >>> int(d.tokens[0]), round(float(d.stay[0]), 3)
    (0, 0.8)
    """
    rows = max(1, _BLOCK_VALUES // logits.shape[1])
    blocks = [
        _draw_block(logits[k : k + rows], temperatures[k : k + rows], current[k : k + rows], u[k : k + rows])
        for k in range(0, len(logits), rows)
    ]
    return blocks[0] if len(blocks) == 1 else Drawn(*(np.concatenate(parts) for parts in zip(*blocks, strict=True)))


def _draw_block(logits: Floats, temperatures: NDArray[np.float64], current: Tokens, u: NDArray[np.float64]) -> Drawn:
    each = np.arange(len(logits))
    scores = tempered_scores(logits, temperatures)
    weights = np.exp(scores)
    total = weights.sum(axis=1)
    log_total = np.log(total)
    entropy = log_total - np.einsum("bv,bv->b", weights, scores) / total
    held = weights[each, current]
    tokens = _invert(weights, current, held, u * total)
    return Drawn(tokens, held / total, entropy, scores[each, current] - log_total, scores[each, tokens] - log_total)


def _invert(
    weights: NDArray[np.float64], current: Tokens, held: NDArray[np.float64], target: NDArray[np.float64]
) -> Tokens:
    """Token whose slice of the CDF (current first) holds ``target``; ``weights`` is used up."""
    tokens = current.copy()
    for b in np.flatnonzero(target >= held):
        row = weights[b]
        row[current[b]] = 0.0
        cdf = np.cumsum(row)
        k = int(np.searchsorted(cdf, target[b] - held[b], side="right"))
        # The sum over the row and the running sum round differently: a target beyond the end belongs to the last mass.
        tokens[b] = k if k < len(cdf) else int(np.flatnonzero(row)[-1])
    return tokens
