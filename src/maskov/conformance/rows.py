"""The laws of conditionals: what a row may not depend on, and what it may not hold.

Deviations are the largest difference of log-probabilities in nats, tails included, since escapes from traps are tails.
Exact laws agree to 1e-9; float32 networks round by about 1e-4 between batch shapes: pass ``tolerance=1e-3`` there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from maskov.conformance.verdict import Conformance, held, log_gap, normalised
from maskov.errors import ConformanceError
from maskov.protocols import Conditionals, Flags, Floats, MaskedPredictor, Tokens, TokenScores

EXACT = 1e-9


def check_rows(rows: Floats, vocabulary_size: int | None = None) -> Conformance:
    """Rows are usable: [B, V], no NaN, no +inf, at least one allowed token each, and their softmax sums to 1.

    >>> check_rows(np.log([[0.2, 0.8]])).checked
    1
    """
    s = np.asarray(rows)
    if s.ndim != 2 or vocabulary_size not in (None, s.shape[1]):
        raise ConformanceError("rows have shape [B, V]", expected=f"[B, {vocabulary_size or 'V'}]", came=f"{s.shape}")
    total = np.exp(normalised(s)).sum(axis=1)
    return held("the softmax of a row sums to 1", float(np.abs(total - 1).max(initial=0)), EXACT, len(s), "use float64")


def check_normalised(log_rows: Floats, tolerance: float = EXACT) -> Conformance:
    """Rows that claim to be log-probabilities sum to 1: |Σ_v e^{row} − 1|. log_rows: [B, V], nats.

    >>> check_normalised(np.log([[0.2, 0.8]])).deviation < 1e-15
    True
    """
    normalised(log_rows)
    total = np.exp(logsumexp(np.asarray(log_rows, dtype=np.float64), axis=1))
    deviation = float(np.abs(total - 1).max(initial=0))
    return held("log-probabilities sum to 1", deviation, tolerance, len(total), "normalise over the allowed tokens")


def check_ignores_own_token(
    model: Conditionals, states: Tokens, sites: Tokens, tolerance: float = EXACT, tokens: int = 8, seed: int = 0
) -> Conformance:
    """The conditional at i does not depend on x_i: ``tokens`` other values of x_i give the same row.

    states: [B, L]; sites: [B]. The substitutes are drawn among the tokens that the row allows.
    """
    base = normalised(model.logits(states, sites))
    rng, worst = np.random.default_rng(seed), 0.0
    for _ in range(tokens):
        other = states.copy()
        draw = np.where(base > -np.inf, rng.random(base.shape), -1.0)
        other[np.arange(len(states)), sites] = draw.argmax(axis=1)
        worst = max(worst, log_gap(base, normalised(model.logits(other, sites))))
    law = "the conditional at a site ignores the token there"
    return held(law, worst, tolerance, tokens * len(states), "mask the site before the forward pass")


def check_batch_independent(
    model: Conditionals, states: Tokens, sites: Tokens, tolerance: float = EXACT
) -> Conformance:
    """A row is the same alone, in the whole batch and in the reversed batch. states: [B, L]; sites: [B]."""
    whole = normalised(model.logits(states, sites))
    alone = [normalised(model.logits(states[k : k + 1], sites[k : k + 1])) for k in range(len(states))]
    turned = normalised(model.logits(states[::-1].copy(), sites[::-1].copy()))[::-1]
    worst = max(log_gap(whole, np.concatenate(alone)), log_gap(whole, turned))
    law = "a row does not depend on its batch"
    return held(law, worst, tolerance, 2 * len(states), "look for batch statistics, dropout or shared state")


def check_padding_independent(
    model: Any, states: Tokens, sites: Tokens, tolerance: float = EXACT, columns: int = 3
) -> Conformance:
    """Padding after a state changes nothing; skipped where ``pad_token_id`` is absent. states: [B, L]; sites: [B]."""
    law, pad = "a row does not depend on padding", getattr(model, "pad_token_id", None)
    if pad is None:
        return Conformance(law, 0.0, tolerance, 0)
    padded = np.concatenate([states, np.full((len(states), columns), pad, dtype=states.dtype)], axis=1)
    worst = log_gap(normalised(model.logits(states, sites)), normalised(model.logits(padded, sites)))
    return held(law, worst, tolerance, len(states), "pass an attention mask that hides padding")


def check_no_forbidden_mass(model: Conditionals, forbidden: Flags, states: Tokens, sites: Tokens) -> Conformance:
    """No forbidden token has mass, not even a rounded one. forbidden: bool [V]; states: [B, L]; sites: [B]."""
    flags = np.asarray(forbidden)
    if flags.shape != (model.vocabulary_size,) or flags.dtype != np.bool_:
        came = f"{flags.dtype} {flags.shape}"
        raise ConformanceError("forbidden tokens are named", expected=f"bool [{model.vocabulary_size}]", came=came)
    mass = np.exp(normalised(model.logits(states, sites)))[:, flags].sum(axis=1)
    law = "special tokens have no mass"
    return held(law, float(mass.max(initial=0)), 0.0, len(states), "set their logits to −inf before normalisation")


def check_scores_match_logits(
    model: Conditionals, states: Tokens, sites: Tokens, tolerance: float = EXACT, tokens: int = 8, seed: int = 0
) -> Conformance:
    """``score_tokens`` differs from ``logits`` by one constant per row, at the likeliest tokens and at random ones."""
    rows = np.asarray(model.logits(states, sites), dtype=np.float64)
    normalised(rows)
    chosen = _some_tokens(rows, tokens, np.random.default_rng(seed))
    kept = np.take_along_axis(rows, chosen, axis=1)
    shift = np.asarray(model.score_tokens(states, sites, chosen), dtype=np.float64) - kept
    worst = float(np.abs(shift - shift[:, :1]).max(initial=0))
    law = "score_tokens agrees with logits up to a constant per row"
    return held(law, worst, tolerance, chosen.size, "both must mask the same site")


def _some_tokens(rows: NDArray[np.float64], count: int, rng: np.random.Generator) -> Tokens:
    """The ``count`` largest and ``count`` random allowed tokens of each row: int64 [B, ≤ 2·count], −inf avoided."""
    best = np.argsort(rows, axis=1)[:, ::-1][:, :count]
    other = np.argsort(np.where(rows > -np.inf, rng.random(rows.shape), -1.0), axis=1)[:, ::-1][:, :count]
    chosen = np.concatenate([best, other], axis=1)
    allowed = np.take_along_axis(rows, chosen, axis=1) > -np.inf
    return np.where(allowed, chosen, best[:, :1]).astype(np.int64)


def check_scores_ignore_own_token(
    model: TokenScores, states: Tokens, sites: Tokens, tolerance: float = EXACT, seed: int = 0
) -> Conformance:
    """Differences of scores at i do not depend on x_i: the law of models that only score (causal ones). [B, L]; [B]."""
    rng, V = np.random.default_rng(seed), model.vocabulary_size
    tokens = rng.integers(V, size=(len(states), 4))
    other = states.copy()
    other[np.arange(len(states)), sites] = tokens[:, 0]
    base, moved = (np.asarray(model.score_tokens(x, sites, tokens), dtype=np.float64) for x in (states, other))
    finite = np.isfinite(base).all(axis=1)
    worst = log_gap(base[finite] - base[finite, :1], moved[finite] - moved[finite, :1])
    law = "score differences at a site ignore the token there"
    return held(law, worst, tolerance, int(finite.sum()), "score the state with x_i replaced, not beside it")


def check_ignores_hidden(
    model: MaskedPredictor, states: Tokens, hidden: Flags, sites: Tokens, tolerance: float = EXACT, seed: int = 0
) -> Conformance:
    """A prediction depends on the visible set only: other tokens at the hidden sites give the same row.

    states: [B, L]; hidden: bool [B, L] with the site among them; sites: [B].
    """
    base = normalised(model.predict(states, hidden, sites))
    allowed = np.flatnonzero((base > -np.inf).all(axis=0))
    if not len(allowed):
        return Conformance("a prediction ignores hidden tokens", 0.0, tolerance, 0)
    other = np.where(hidden, np.random.default_rng(seed).choice(allowed, size=states.shape), states)
    worst = log_gap(base, normalised(model.predict(other, hidden, sites)))
    return held("a prediction ignores hidden tokens", worst, tolerance, len(states), "mask every hidden site")


def check_predict_matches_logits(
    model: MaskedPredictor, states: Tokens, sites: Tokens, tolerance: float = EXACT
) -> Conformance:
    """With the site alone hidden, ``predict`` is ``logits``. states: [B, L]; sites: [B]."""
    hidden = np.zeros(states.shape, dtype=bool)
    hidden[np.arange(len(states)), sites] = True
    worst = log_gap(normalised(model.predict(states, hidden, sites)), normalised(model.logits(states, sites)))
    law = "predict with the site alone hidden is logits"
    return held(law, worst, tolerance, len(states), "both must mask the same site")
