"""Every token of the vocabulary as a basin: how likely is a where every other site holds a?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logsumexp

from maskov.errors import InputError
from maskov.protocols import Conditionals, Floats, State, Tokens
from maskov.quantities import Exact

# 256 rows of a 30,522-token vocabulary: 31 MB of float32, small enough to be used while warm.
_ROWS = 256
# So many of them stay within a second-level cache while they are worked on.
_WARM_ROWS = 8


@dataclass(frozen=True)
class Ranked:
    """One token. probability: p_τ(a | a at every other free site) at the masked site; logit_margin: s_a − max_{v≠a} s_v
    in nats at τ = 1; leave: chance per step to leave the state of a alone, over all sites, whose ends hold least.
    """

    token: int
    text: str
    probability: Exact
    logit_margin: Exact
    leave: Exact


def log_odds(logits: Floats, tokens: Tokens, temperature: float) -> NDArray[np.float64]:
    """log p/(1 − p) of one token per row at temperature τ: [B]; both ends keep their digits through expit(±·).

    logits: [B, V]; tokens: int64 [B]. −∞ for a forbidden token, +∞ where no other is allowed.
    """
    scores = np.asarray(logits, dtype=np.float64) / temperature
    each = np.arange(len(tokens))
    own = scores[each, tokens].copy()
    scores[each, tokens] = -np.inf
    with np.errstate(divide="ignore"):
        return np.asarray(own - logsumexp(scores, axis=1))


def filled(frame: State, tokens: Tokens) -> Tokens:
    """The frame with one token at every free site: int64 [B, L]. tokens: int64 [B]."""
    states = np.tile(frame.tokens, (len(tokens), 1))
    states[:, frame.free] = tokens[:, None]
    return states


def frame_of(state: State, sites: int) -> State:
    """``sites`` free columns between the special tokens that stand around the free sites of ``state``."""
    if sites < 2:
        raise InputError("sites", expected="at least 2", came=str(sites))
    before, after = state.tokens[: state.free[0]], state.tokens[state.free[-1] + 1 :]
    tokens = np.concatenate([before, np.full(sites, state.tokens[state.free[0]]), after])
    return State(tokens, np.arange(len(before), len(before) + sites, dtype=np.int64))


def allowed(model: Any) -> Tokens:
    """Tokens that the chain may write: int64."""
    forbidden = getattr(model, "forbidden", None)
    return np.arange(model.vocabulary_size) if forbidden is None else np.flatnonzero(~np.asarray(forbidden))


def rank_tokens(
    model: Any, frame: State, temperature: float, top: int, progress: Callable[[int], None] | None = None
) -> list[Ranked]:
    """The ``top`` tokens with the largest p_τ(a | every other site holds a), site: the middle free one.

    One row per token. They are ordered by odds in the model's own precision; those of the list are computed in float64.
    """
    candidates, column = allowed(model), int(frame.free[len(frame.free) // 2])
    odds = np.empty(len(candidates))
    for k in range(0, len(candidates), _ROWS):
        tokens = candidates[k : k + _ROWS]
        logits = model.logits(filled(frame, tokens), np.full(len(tokens), column))
        odds[k : k + _ROWS] = _rough_odds(logits, tokens, temperature)
        if progress is not None:
            progress(min(k + _ROWS, len(candidates)))
    # Twice as many are computed again, so that rounding at the end of the list cannot shut one out.
    best = candidates[np.argsort(-odds, kind="stable")[: 2 * top]]
    found = [_ranked(model, frame, column, int(a), temperature) for a in best]
    return [ranked for _, ranked in sorted(found, key=lambda pair: -pair[0])[:top]]


def _rough_odds(logits: Floats, tokens: Tokens, temperature: float) -> NDArray[np.float64]:
    """As ``log_odds``, at a fraction of the cost: exponentials in the type of the logits, a few rows at a time."""
    odds = np.empty(len(tokens))
    for k in range(0, len(tokens), _WARM_ROWS):
        part = slice(k, k + _WARM_ROWS)
        scores, each = logits[part].copy(), np.arange(len(tokens[part]))
        own = scores[each, tokens[part]].astype(np.float64)
        scores[each, tokens[part]] = -np.inf
        best = scores.max(axis=1, keepdims=True)
        best[~np.isfinite(best)] = 0.0
        scores -= best
        if temperature != 1:
            scores /= temperature
        total = np.exp(scores, out=scores).sum(axis=1, dtype=np.float64)
        odds[part] = (own - best[:, 0]) / temperature - np.log(np.maximum(total, 1e-300))
    return odds


def _ranked(model: Any, frame: State, column: int, token: int, temperature: float) -> tuple[float, Ranked]:
    a = np.array([token])
    row = np.asarray(model.logits(filled(frame, a), np.array([column])), dtype=np.float64)
    odds = float(log_odds(row, a, temperature)[0])
    margin = float(row[0, token] - np.delete(row[0], token).max())
    down = float(count_moves(model, filled(frame, a), frame.free, token, temperature)[1][0])
    return odds, Ranked(token, model.token_text(token), Exact(float(expit(odds))), Exact(margin), Exact(down))


def count_moves(
    model: Conditionals, states: Tokens, free: Tokens, token: int, temperature: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Chances per step that N_a grows and shrinks: each [B].

    up = (1/n) Σ_{i: x_i ≠ a} p_i(a | x_{-i}), down = (1/n) Σ_{i: x_i = a} (1 − p_i(a | x_{-i})).

    states: int64 [B, L]; free: int64 [n].

    >>> from maskov.laws import law
    >>> up, down = count_moves(law("curie-weiss?sites=4&beta=0"), np.array([[1, 1, 1, 0]]), np.arange(4), 1, 1.0)
    >>> up.tolist(), down.tolist()
    ([0.125], [0.375])
    """
    B, n = len(states), len(free)
    rows, columns = np.repeat(np.arange(B), n), np.tile(free, B)
    odds = np.empty(B * n)
    for k in range(0, B * n, _ROWS):
        part = slice(k, k + _ROWS)
        logits = model.logits(states[rows[part]], columns[part])
        odds[part] = log_odds(logits, np.full(len(logits), token), temperature)
    held = states[rows, columns].reshape(B, n) == token
    table = odds.reshape(B, n)
    return np.where(held, 0.0, expit(table)).sum(axis=1) / n, np.where(held, expit(-table), 0.0).sum(axis=1) / n
