"""One token draw per row: float64 softmax, one 53-bit uniform, inverse CDF with the current token first."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maskov.errors import InputError
from maskov.protocols import Floats, Tokens

# exp(−745.2) is 0 in float64: scores below this floor have no mass, and a finite floor keeps 0 · log 0 at 0.
_FLOOR = -1e4
# One row of a 30,522-token vocabulary at a time: scores and weights stay within a second-level cache of 1 MB.
_BLOCK_VALUES = 1 << 15
# Wide rows have a CDF of two levels, sums of cells of this size and one running sum within a cell.
_CELL, _WIDE = 256, 1024
# Up to this temperature, the floor of a float32 row is a float32 number.
_MOST_FAST = 1e6


class Drawn(NamedTuple):
    """What a step drew, and the diagnostics that its row gives for nothing. Each [B].

    tokens: int64, the new tokens; stay: p(x_i | x_{-i}) of the old token; entropy: −Σ p log p (nats);
    log_old, log_new: log p of the old and of the new token (nats); hold: p of the new token, the next ``stay`` there.
    """

    tokens: Tokens
    stay: NDArray[np.float64]
    entropy: NDArray[np.float64]
    log_old: NDArray[np.float64]
    log_new: NDArray[np.float64]
    hold: NDArray[np.float64]


def tempered_scores(
    logits: Floats, temperatures: NDArray[np.float64], out: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """(s − max s)/τ in float64, floored where exp is 0: [B, V], maximum 0. logits: [B, V]; temperatures: [B]."""
    top = logits.max(axis=1, keepdims=True)
    if not np.isfinite(top).all():
        row = int(np.flatnonzero(~np.isfinite(top[:, 0]))[0])
        raise InputError(
            "conditional row",
            expected="finite logits with at least one allowed token",
            came=f"maximum {top[row, 0]} in row {row}",
        )
    fast = logits.dtype == np.float32 and temperatures.max() <= _MOST_FAST
    if fast:  # the same floor, at a third of the cost of a pass over float64
        logits = np.maximum(logits, (top + _FLOOR * temperatures[:, None]).astype(np.float32))
    scores = np.subtract(logits, top, out=out, dtype=np.float64)
    if (temperatures != 1).any():  # x / 1 is x
        scores /= temperatures[:, None]
    return scores if fast else np.maximum(scores, _FLOOR, out=scores)


def draw_tokens(
    logits: Floats,
    temperatures: NDArray[np.float64],
    current: Tokens,
    u: NDArray[np.float64],
    which: Tokens | None = None,
) -> Drawn:
    """Draw v ~ softmax(s/τ) by inverse CDF, the current token first, then the rest in vocabulary order.

    The chain stays iff u < p(current): one comparison decides, which is what makes waiting times cheap. All sums are
    float64, so a token of probability 1e-12 is drawn as often as it should be (float32 Gumbel draws lose it). A row's
    numbers do not depend on the rows beside it.

    logits: [B, V] nats, −inf where forbidden; temperatures: [B] > 0; current: int64 [B]; u: [B] in [0, 1); which: int64
    [B], the row of each draw where several share one (then logits may have any number of rows).

    >>> d = draw_tokens(np.log([[0.2, 0.8]]), np.ones(1), np.array([1]), np.array([0.9]))
    >>> int(d.tokens[0]), round(float(d.stay[0]), 3)
    (0, 0.8)
    """
    V, B = logits.shape[1], len(current)
    rows = max(1, _BLOCK_VALUES // V)
    columns = V if V <= _WIDE else -(-V // _CELL) * _CELL
    scratch = np.empty((min(rows, B), V)), np.zeros((min(rows, B), columns))
    blocks = [
        _draw_block(logits[b if which is None else which[b]], temperatures[b], current[b], u[b], *scratch)
        for b in _slices(B, rows)
    ]
    return blocks[0] if len(blocks) == 1 else Drawn(*(np.concatenate(parts) for parts in zip(*blocks, strict=True)))


def _slices(total: int, size: int) -> list[slice]:
    return [slice(k, min(k + size, total)) for k in range(0, max(total, 1), size)]


def _draw_block(
    logits: Floats,
    temperatures: NDArray[np.float64],
    current: Tokens,
    u: NDArray[np.float64],
    scores: NDArray[np.float64],
    padded: NDArray[np.float64],
) -> Drawn:
    """One block, on scratch of [≥ B, V] and [≥ B, ≥ V]; the columns of ``padded`` beyond V are 0."""
    B, V = logits.shape
    each, scores, padded = np.arange(B), scores[:B], padded[:B]
    tempered_scores(logits, temperatures, out=scores)
    weights = np.exp(scores, out=padded[:, :V])
    cells = padded.reshape(B, -1, _CELL).sum(axis=2) if V > _WIDE else None
    total = weights.sum(axis=1) if cells is None else cells.sum(axis=1)
    log_total = np.log(total)
    entropy = log_total - np.einsum("bv,bv->b", weights, scores) / total
    held = weights[each, current]
    stay = held / total
    leaving = np.flatnonzero(u >= stay)
    # The quotient and the product round differently: a leaving chain never aims before the end of its own slice.
    target = np.maximum(u * total - held, 0.0)[leaving]
    tokens, now = current.copy(), weights[each, current]
    if leaving.size:
        weights[leaving, current[leaving]] = 0.0
        tokens[leaving] = _narrow(weights[leaving], target) if cells is None else _wide(padded, cells, leaving, target)
        # A token drawn is never the current one, so that its weight is still there.
        now[leaving] = weights[leaving, tokens[leaving]]
    return Drawn(
        tokens, stay, entropy, scores[each, current] - log_total, scores[each, tokens] - log_total, now / total
    )


def _narrow(weights: NDArray[np.float64], target: NDArray[np.float64]) -> Tokens:
    """Token whose slice of the CDF holds ``target``. weights: [B, V], the current token's is 0; target: [B]."""
    tokens = (np.cumsum(weights, axis=1) <= target[:, None]).sum(axis=1)
    # The sum over the row and the running sum round differently: a target beyond the end belongs to the last mass.
    beyond = np.flatnonzero(tokens == weights.shape[1])
    tokens[beyond] = [_last(weights[b]) for b in beyond]
    return tokens


def _wide(
    weights: NDArray[np.float64], cells: NDArray[np.float64], leaving: Tokens, target: NDArray[np.float64]
) -> Tokens:
    """The same for rows of many tokens: first the cell of 256 tokens, then the token within."""
    tokens = np.empty(len(leaving), dtype=np.int64)
    for k, b in enumerate(leaving):
        row = weights[b].reshape(-1, _CELL)
        ends = np.cumsum(row.sum(axis=1))
        cell = int(np.searchsorted(ends, target[k], side="right"))
        if cell == len(ends):
            tokens[k] = _last(weights[b])
            continue
        within = int(np.searchsorted(np.cumsum(row[cell]), target[k] - (ends[cell - 1] if cell else 0.0), side="right"))
        tokens[k] = cell * _CELL + (within if within < _CELL else _last(row[cell]))
    return tokens


def _last(weights: NDArray[np.float64]) -> int:
    """The last token with mass. There is one: a chain whose current token has all the mass stays."""
    return int(np.flatnonzero(weights)[-1])
