"""Contexts in which sites sway each other far more than in texts: states filled with one token."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maskov.influence.variation import total_variations
from maskov.protocols import Floats, State, Tokens
from maskov.randomness import generator

# Tokens tried as the filling, half of them the most frequent of the texts; then tokens tried as the substitution.
FILLINGS = 64
SUBSTITUTES = 16
# Chain number of the choices made here; texts are numbered from 0.
_CHAIN = 1 << 33
_ROWS = 64


class Worst(NamedTuple):
    """A filled state, the token that is put at each site in turn ([n]), and the model rows spent to find it."""

    context: State
    new: Tokens
    rows: int


def allowed_tokens(model: Any, context: State) -> Tokens:
    """Tokens that may be written at the first free site: int64 [k]."""
    return np.flatnonzero(np.isfinite(model.logits(context.tokens[None], context.free[:1])[0]))


def site_rows(model: Any, states: Tokens, sites: Tokens) -> Floats:
    """Rows of the model in blocks of 64: [m, V]."""
    parts = [model.logits(states[k : k + _ROWS], sites[k : k + _ROWS]) for k in range(0, len(states), _ROWS)]
    return np.concatenate(parts)


def worst_contexts(
    model: Any, contexts: Sequence[State], temperatures: NDArray[np.float64], count: int, seed: int
) -> list[Worst]:
    """The ``count`` fillings whose middle site sways a few others most, over all temperatures, each with the best of
    several substitutions.

    Texts pin a site from many sides. A state of one repeated token says little, so that the odd token in it tells the
    others what to be: there the supremum over contexts is looked for.
    """
    if count < 1:
        return []
    rng, allowed = generator(seed, _CHAIN), allowed_tokens(model, contexts[0])
    half = FILLINGS // 2
    fillings = np.unique(np.concatenate([_frequent(contexts, allowed, half), _some(rng, allowed, half)]))
    tried = [_probe(model, contexts[0], int(a), int(_other(rng, allowed, a)), temperatures) for a in fillings]
    best = fillings[np.argsort(-_scores(np.array(tried)), kind="stable")[:count]]
    spent = len(fillings) * 2 * len(_watched(len(contexts[0].free)))
    return [_sharpened(model, contexts[0], int(a), allowed, temperatures, rng, spent // count) for a in best]


def filled(context: State, token: int) -> State:
    """The state with ``token`` at every free site."""
    tokens = context.tokens.copy()
    tokens[context.free] = token
    return State(tokens, context.free)


def _sharpened(
    model: Any,
    context: State,
    token: int,
    allowed: Tokens,
    temperatures: NDArray[np.float64],
    rng: np.random.Generator,
    spent: int,
) -> Worst:
    substitutes = _some(rng, allowed[allowed != token], SUBSTITUTES)
    tried = [_probe(model, context, token, int(b), temperatures) for b in substitutes]
    best = substitutes[int(_scores(np.array(tried)).argmax())]
    rows = spent + len(substitutes) * 2 * len(_watched(len(context.free)))
    return Worst(filled(context, token), np.full(len(context.free), best), rows)


def _probe(
    model: Any, context: State, token: int, substitute: int, temperatures: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Mean TV over the watched sites when the middle site of a filled state changes: [T]."""
    before = filled(context, token).tokens
    after = before.copy()
    after[context.free[len(context.free) // 2]] = substitute
    watched = context.free[_watched(len(context.free))]
    rows = model.logits(np.repeat([before, after], len(watched), axis=0), np.tile(watched, 2))
    return np.asarray(total_variations(rows[: len(watched)], rows[len(watched) :], temperatures).mean(axis=1))


def _watched(n: int) -> Tokens:
    """Sites next to the middle one, halfway and at the ends: at most five, never the middle itself."""
    middle = n // 2
    places = {middle - 1, middle + 1, middle // 2, 0, n - 1} - {middle}
    return np.array(sorted(p for p in places if 0 <= p < n), dtype=np.int64)


def _scores(tv: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each temperature counts alike, however small its distances are. tv: [candidates, T]. Result: [candidates]."""
    return np.asarray((tv / np.maximum(tv.max(axis=0), 1e-300)).sum(axis=1))


def _frequent(contexts: Sequence[State], allowed: Tokens, count: int) -> Tokens:
    seen, times = np.unique(np.concatenate([s.tokens[s.free] for s in contexts]), return_counts=True)
    return np.intersect1d(seen[np.argsort(-times, kind="stable")][:count], allowed)


def _some(rng: np.random.Generator, tokens: Tokens, count: int) -> Tokens:
    return np.asarray(rng.choice(tokens, size=min(count, len(tokens)), replace=False))


def _other(rng: np.random.Generator, tokens: Tokens, token: int) -> int:
    return int(rng.choice(tokens[tokens != token]))
