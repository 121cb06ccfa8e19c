"""Influence of real models: sampled contexts and substitutions, then coordinate ascent. All of it bounds from below."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maskov.glauber.draw import tempered_scores
from maskov.protocols import Floats, State, Tokens
from maskov.randomness import generator

# Substitutions tried at the moving site of a pair that is climbed, half likely ones and half from the whole vocabulary.
CANDIDATES = 16
_ROWS = 64
# Rows per block of float64 work: four of a 30,522-token vocabulary stay within a second-level cache.
_BLOCK = 4


class Found(NamedTuple):
    """What a search saw.

    largest: [T, n, n], the largest TV of each pair at each temperature; total: [T, n, n], sums for the means; pairs:
    number summed; values: [T, m] TVs of sampled pairs; hilbert: [n, n], largest oscillation D (nats at τ = 1);
    by_token: (token that stood at j, mean TV at each temperature); rows: model rows.
    """

    largest: NDArray[np.float64]
    total: NDArray[np.float64]
    pairs: int
    values: NDArray[np.float64]
    hilbert: NDArray[np.float64]
    by_token: list[tuple[int, NDArray[np.float64]]]
    rows: int


def total_variations(p: Floats, q: Floats, temperatures: NDArray[np.float64]) -> NDArray[np.float64]:
    """TV(softmax(p/τ), softmax(q/τ)) of every row at every temperature, from one set of logits. [m, V] ×2 → [T, m]."""
    out = np.empty((len(temperatures), len(p)))
    for k in range(0, len(p), _BLOCK):
        part = slice(k, k + _BLOCK)
        first, second = (tempered_scores(rows[part], np.ones(len(rows[part]))) for rows in (p, q))
        for t, tau in enumerate(temperatures):
            a, b = _softmax(first, tau), _softmax(second, tau)
            out[t, part] = np.abs(np.subtract(a, b, out=a), out=a).sum(axis=1) / 2
    return out


def _softmax(scores: NDArray[np.float64], tau: float) -> NDArray[np.float64]:
    weights = scores / tau
    np.exp(weights, out=weights)
    weights /= weights.sum(axis=1, keepdims=True)
    return weights


def oscillation(p: Floats, q: Floats) -> NDArray[np.float64]:
    """D = max_v − min_v of s(v) − s′(v) over allowed tokens: TV ≤ tanh(D/(4τ)) at every τ (Hilbert metric). [m]."""
    out = np.empty(len(p))
    for k in range(len(p)):
        allowed = np.isfinite(p[k]) & np.isfinite(q[k])
        gap = p[k][allowed].astype(np.float64) - q[k][allowed]
        out[k] = gap.max() - gap.min()
    return out


def search(
    model: Any,
    contexts: Sequence[State],
    temperatures: NDArray[np.float64],
    climbs: int,
    seed: int,
    progress: Callable[[int, int], None] | None = None,
) -> Found:
    """Every pair of sites of every context with one drawn substitution, then ``climbs`` strongest pairs climbed.

    contexts: states of one shape. A substitution at j is drawn from its conditional at τ = 1 without the token that
    stands there.
    """
    n, T = len(contexts[0].free), len(temperatures)
    found = Found(np.zeros((T, n, n)), np.zeros((T, n, n)), len(contexts), np.zeros((T, 0)), np.zeros((n, n)), [], 0)
    sampled, rows, strongest = [], 0, []
    for c, context in enumerate(contexts):
        base = _site_logits(model, context)
        new = _substitutions(base, context, seed, c)
        for j in range(n):
            tv, osc = _moved(model, context, base, j, int(new[j]), temperatures)
            others = np.arange(n) != j
            np.maximum(found.largest[:, :, j], tv, out=found.largest[:, :, j])
            np.maximum(found.hilbert[:, j], osc, out=found.hilbert[:, j])
            found.total[:, :, j] += tv
            sampled.append(tv[:, others])
            found.by_token.append((int(context.tokens[context.free[j]]), tv[:, others].mean(axis=1)))
            strongest.append((float(tv[T // 2].max()), c, int(tv[T // 2].argmax()), j, int(new[j])))
        rows += n + n * (n - 1)
        if progress is not None:
            progress(c + 1, len(contexts) + 1)
    for _, c, i, j, token in sorted(strongest, reverse=True)[:climbs]:
        rows += _climb(model, contexts[c], i, j, token, temperatures, found, generator(seed, c * n + j, 3))
    if progress is not None:
        progress(len(contexts) + 1, len(contexts) + 1)
    return found._replace(values=np.concatenate(sampled, axis=1), rows=rows)


def _site_logits(model: Any, context: State) -> Floats:
    """The row of every free site: [n, V]."""
    return _rows(model, np.tile(context.tokens, (len(context.free), 1)), context.free)


def _rows(model: Any, states: Tokens, sites: Tokens) -> Floats:
    parts = [model.logits(states[k : k + _ROWS], sites[k : k + _ROWS]) for k in range(0, len(states), _ROWS)]
    return np.concatenate(parts)


def _substitutions(base: Floats, context: State, seed: int, number: int) -> Tokens:
    """A token for each site, drawn from its row at τ = 1, never the one that stands there: [n]."""
    scores = base.astype(np.float64)
    scores[np.arange(len(base)), context.tokens[context.free]] = -np.inf
    rng = generator(seed, number)
    return np.array([int((row - np.log(rng.standard_exponential(len(row)))).argmax()) for row in scores])


def _moved(
    model: Any, context: State, base: Floats, j: int, token: int, temperatures: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """TV [T, n] and D [n] of every site when site j becomes ``token``; 0 at j itself."""
    n = len(context.free)
    others = np.flatnonzero(np.arange(n) != j)
    states = np.tile(context.tokens, (n - 1, 1))
    states[:, context.free[j]] = token
    tv, osc = np.zeros((len(temperatures), n)), np.zeros(n)
    for k in range(0, n - 1, _ROWS):
        part = others[k : k + _ROWS]
        rows = model.logits(states[k : k + _ROWS], context.free[part])
        tv[:, part], osc[part] = total_variations(base[part], rows, temperatures), oscillation(base[part], rows)
    return tv, osc


def _climb(
    model: Any,
    context: State,
    i: int,
    j: int,
    token: int,
    temperatures: NDArray[np.float64],
    found: Found,
    rng: np.random.Generator,
) -> int:
    """Coordinate ascent on one pair: the best of several tokens at j, then the best of several contexts elsewhere."""
    x, rows = context.tokens.copy(), 0
    allowed = np.flatnonzero(np.isfinite(model.logits(x[None], context.free[[j]])[0]))
    for site in (j, *rng.permutation([k for k in range(len(context.free)) if k not in (i, j)])[:2], j):
        tried = np.unique(rng.choice(allowed, size=min(CANDIDATES, len(allowed)), replace=False))
        pairs = [_pair(x, context, j, token)] + [_changed(x, context, j, token, site, int(v)) for v in tried]
        a, b = (np.stack([p[side] for p in pairs]) for side in (0, 1))
        p, q = (_rows(model, side, np.full(len(side), context.free[i])) for side in (a, b))
        tv = total_variations(p, q, temperatures)
        rows += 2 * len(pairs)
        np.maximum(found.largest[:, i, j], tv.max(axis=1), out=found.largest[:, i, j])
        found.hilbert[i, j] = max(found.hilbert[i, j], float(oscillation(p, q).max()))
        best = int(tv[len(temperatures) // 2].argmax())
        x, token = a[best].copy(), int(b[best][context.free[j]])
    return rows


def _pair(x: Tokens, context: State, j: int, token: int) -> tuple[Tokens, Tokens]:
    other = x.copy()
    other[context.free[j]] = token
    return x, other


def _changed(x: Tokens, context: State, j: int, token: int, site: int, value: int) -> tuple[Tokens, Tokens]:
    """The pair with another token at j, or in another context."""
    if site == j:
        return _pair(x, context, j, value)
    y = x.copy()
    y[context.free[site]] = value
    return _pair(y, context, j, token)
