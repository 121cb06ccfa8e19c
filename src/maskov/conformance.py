"""The laws that every protocol states, as checks for our implementations and outside ones.

Each check raises ``ConformanceError`` that names the broken law, or returns the largest deviation that it saw. Networks
round: pass a tolerance in nats (1e-4 suits float32).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.special import log_softmax, logsumexp

from maskov.errors import ConformanceError
from maskov.laws.base import enumerate_states
from maskov.protocols import Conditionals, Floats, JointLaw, MaskSchedule, Tokens


def _require(law: str, deviation: float, tolerance: float, remedy: str) -> float:
    if not deviation <= tolerance:
        raise ConformanceError(law, expected=f"a deviation of at most {tolerance:g}", came=f"{deviation:.4g}", remedy=remedy)
    return deviation


def normalised(logits: Floats) -> NDArray[np.float64]:
    """log-softmax in float64, −inf kept; NaN rows are refused."""
    rows = np.asarray(logits, dtype=np.float64)
    if np.isnan(rows).any() or (rows == np.inf).any() or (rows.max(axis=1) == -np.inf).any():
        raise ConformanceError("finite rows", expected="finite logits with at least one allowed token", came="NaN, +inf or an empty row")
    return np.asarray(log_softmax(rows, axis=1))


def _gap(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """Largest TV between rows of log-probabilities: bounded, and blind to the noise of tokens without mass."""
    return 0.5 * float(np.abs(np.exp(a) - np.exp(b)).sum(axis=1).max())


def check_ignores_own_token(model: Conditionals, states: Tokens, sites: Tokens, tolerance: float = 1e-9) -> float:
    """The row at i does not depend on x_i: every x_i among a few tokens gives the same row (largest TV)."""
    rng = np.random.default_rng(0)
    base, worst = normalised(model.logits(states, sites)), 0.0
    allowed = np.flatnonzero(np.isfinite(base[0]))
    for token in rng.choice(allowed, size=min(4, len(allowed)), replace=False):
        other = states.copy()
        other[np.arange(len(states)), sites] = token
        worst = max(worst, _gap(base, normalised(model.logits(other, sites))))
    return _require("the conditional at a site ignores the token there", worst, tolerance, "mask the site before the forward pass")


def check_rows_sum_to_one(log_rows: Floats, tolerance: float = 1e-9) -> float:
    """Rows that claim to be log-probabilities sum to 1. log_rows: [B, V]."""
    total = np.exp(logsumexp(np.asarray(log_rows, dtype=np.float64), axis=1))
    return _require("probability rows sum to 1", float(np.abs(total - 1).max()), tolerance, "normalise over the allowed tokens")


def check_batch_independent(model: Conditionals, states: Tokens, sites: Tokens, tolerance: float = 1e-9) -> float:
    """A row is the same alone, in the whole batch and in the reversed batch (largest TV)."""
    whole = normalised(model.logits(states, sites))
    alone = np.concatenate([normalised(model.logits(states[k : k + 1], sites[k : k + 1])) for k in range(len(states))])
    turned = normalised(model.logits(states[::-1].copy(), sites[::-1].copy()))[::-1]
    worst = max(_gap(whole, alone), _gap(whole, turned))
    return _require("a row does not depend on its batch", worst, tolerance, "look for batch statistics or shared state")


def check_padding_independent(model: Any, states: Tokens, sites: Tokens, tolerance: float = 1e-9) -> float:
    """Padding beside a state changes nothing; 0 for models without ``pad_token_id``."""
    pad = getattr(model, "pad_token_id", None)
    if pad is None:
        return 0.0
    padded = np.concatenate([states, np.full((len(states), 3), pad, dtype=np.int64)], axis=1)
    worst = _gap(normalised(model.logits(states, sites)), normalised(model.logits(padded, sites)))
    return _require("a row does not depend on padding", worst, tolerance, "pass an attention mask that hides padding")


def check_forbidden_tokens(model: Any, states: Tokens, sites: Tokens) -> float:
    """No forbidden token (``model.forbidden``, bool [V]) has mass."""
    forbidden = getattr(model, "forbidden", None)
    if forbidden is None or not forbidden.any():
        return 0.0
    mass = float(np.exp(normalised(model.logits(states, sites))[:, forbidden]).sum(axis=1).max())
    return _require("special tokens have no mass", mass, 0.0, "set their logits to −inf before normalisation")


def check_scores_match_logits(model: Conditionals, states: Tokens, sites: Tokens, tolerance: float = 1e-9) -> float:
    """``score_tokens`` differs from ``logits`` by one constant per row (largest difference of differences, nats)."""
    rows = np.asarray(model.logits(states, sites), dtype=np.float64)
    tokens = np.argsort(rows, axis=1)[:, ::-1][:, : min(8, rows.shape[1])].copy()
    tokens = np.where(np.isfinite(np.take_along_axis(rows, tokens, axis=1)), tokens, tokens[:, :1])
    shift = np.asarray(model.score_tokens(states, sites, tokens), dtype=np.float64) - np.take_along_axis(rows, tokens, axis=1)
    deviation = float(np.abs(shift - shift[:, :1]).max())
    return _require("score_tokens agrees with logits up to a constant", deviation, tolerance, "both must mask the same site")


def check_conditionals(model: Any, states: Tokens, sites: Tokens, tolerance: float = 1e-9) -> dict[str, float]:
    """All laws of ``Conditionals`` that apply to this model: largest deviation by name.

    states: [B, L] of one length; sites: [B] free columns. Raises ``ConformanceError``.

    >>> from maskov.laws import law
    >>> check_conditionals(law("ising-ring?sites=4&beta=0.5"), np.zeros((2, 4), int), np.array([0, 2]))["own_token"]
    0.0
    """
    return {
        "own_token": check_ignores_own_token(model, states, sites, tolerance),
        "batch": check_batch_independent(model, states, sites, tolerance),
        "padding": check_padding_independent(model, states, sites, tolerance),
        "forbidden": check_forbidden_tokens(model, states, sites),
        "scores": check_scores_match_logits(model, states, sites, max(tolerance, 10 * tolerance)),
    }


def check_joint_law(law: JointLaw, tolerance: float = 1e-10) -> float:
    """Total mass 1, and marginals equal to sums over hidden sites, by enumeration (largest deviation)."""
    states = enumerate_states(law.vocabulary_size, law.n_sites)
    p = np.exp(law.log_prob(states))
    worst = abs(float(p.sum()) - 1)
    rng = np.random.default_rng(0)
    for _ in range(6):
        visible = rng.random(law.n_sites) < 0.5
        marginal = np.exp(law.log_marginal(states, np.tile(visible, (len(states), 1))))
        keys = np.unique(states[:, visible], axis=0, return_inverse=True)[1].ravel()
        worst = max(worst, float(np.abs(marginal - np.bincount(keys, weights=p)[keys]).max()))
    return _require("probabilities sum to 1 and marginals are sums", worst, tolerance, "check log_prob against log_marginal")


def check_schedule(schedule: MaskSchedule, length: int, size: int = 4000, seed: int = 0, level: float = 1e-4) -> float:
    """The visible law sums to 1 and samples agree with it (chi-square); returns the p-value."""
    law = np.asarray(schedule.visible_law(length), dtype=np.float64)
    _require("the visible law sums to 1", abs(float(law.sum()) - 1), 1e-9, "normalise it")
    counts = np.bincount(schedule.sample_visible(length, size, np.random.default_rng(seed)).sum(axis=1), minlength=length + 1)
    return check_frequencies(counts, law, level=level)


def check_frequencies(counts: NDArray[np.int64], probabilities: NDArray[np.float64], effective: float | None = None, level: float = 1e-4) -> float:
    """Chi-square goodness of fit of counts to a law; returns the p-value, raises below ``level``.

    counts: [m]; probabilities: [m]; effective: number of independent observations that the counts are worth (a chain's
    counts are scaled down to it), default their sum. Cells with fewer than five expected are pooled.
    """
    total = float(counts.sum())
    scale = 1.0 if effective is None else min(1.0, effective / total)
    observed, expected = counts * scale, probabilities * total * scale
    if (observed[probabilities == 0] > 0).any():
        raise ConformanceError("samples follow the law", expected="no impossible outcome", came="some")
    order = np.argsort(expected)
    pool = np.cumsum(expected[order]) < 5
    cells = np.empty(len(order), dtype=np.int64)
    cells[order] = np.concatenate([np.zeros(pool.sum() + 1), np.arange(1, len(order) - pool.sum())])[: len(order)]
    o, e = np.bincount(cells, weights=observed), np.bincount(cells, weights=expected)
    p_value = float(stats.chi2.sf(((o - e) ** 2 / e).sum(), max(len(e) - 1, 1)))
    if p_value < level:
        raise ConformanceError("samples follow the law", expected=f"a goodness-of-fit p-value of at least {level:g}", came=f"{p_value:.3g}", remedy="look for float32 tails or a wrong conditional")
    return p_value


Sampler = Callable[[NDArray[np.float32], NDArray[np.float64], Tokens, NDArray[np.float64]], Tokens]


def check_tail(sampler: Sampler, gap: float = 18.0, tokens: int = 30_522, draws: int = 40_000, seed: int = 0) -> int:
    """A sampler keeps the tail: one token leads all others by ``gap`` nats; leaving it is rare but must happen.

    sampler(logits float32 [B, V], temperatures [B], current [B], u [B]) → tokens [B]. Expected number of hits
    (V − 1)e^{−gap}·draws/(1 + …), about 18.6 here; float32 Gumbel draws give about 1. The count is held against its
    binomial law at level 1e-4 two-sided; returns the number of hits.
    """
    logits = np.zeros((1, tokens), dtype=np.float32)
    logits[0, 0] = gap
    q = (tokens - 1) * np.exp(-gap)
    chance = q / (1 + q)
    u = np.random.default_rng(seed).random(draws)
    hits = 0
    for k in range(0, draws, 400):
        part = u[k : k + 400]
        drawn = sampler(np.repeat(logits, len(part), axis=0), np.ones(len(part)), np.zeros(len(part), dtype=np.int64), part)
        hits += int((drawn != 0).sum())
    p_value = float(stats.binomtest(hits, draws, chance).pvalue)
    if p_value < 1e-4:
        raise ConformanceError("a sampler keeps the tail", expected=f"about {draws * chance:.1f} rare draws", came=str(hits), remedy="draw by inverse CDF in float64")
    return hits
