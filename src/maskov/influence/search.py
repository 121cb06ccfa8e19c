"""Influence of real models: sampled contexts and substitutions, then coordinate ascent. All of it bounds from below."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maskov.errors import InputError
from maskov.influence.climb import climb
from maskov.influence.contexts import allowed_tokens, site_rows, worst_contexts
from maskov.influence.variation import oscillation, tempered_laws, variations_from
from maskov.protocols import Floats, State, Tokens
from maskov.randomness import generator

_ROWS = 64
# Chain number of the first climb's choices; texts are numbered from 0.
_CLIMBS = 1 << 32
Progress = Callable[[int, int], None]


class Found(NamedTuple):
    """What a search saw.

    largest: [T, n, n], the largest TV of each pair at each temperature; total: [T, n, n], sums over the texts; pairs:
    how many texts were summed; values: [T, m] TVs of sampled pairs in texts, one text after the other; hilbert: [n, n],
    largest oscillation D (nats at τ = 1); by_token: (token that stood at j, mean TV at each temperature), texts only;
    worst: filled states; rows: model rows.
    """

    largest: NDArray[np.float64]
    total: NDArray[np.float64]
    pairs: int
    values: NDArray[np.float64]
    hilbert: NDArray[np.float64]
    by_token: list[tuple[int, NDArray[np.float64]]]
    worst: int
    rows: int


class _Seen(NamedTuple):
    """One context and what was put into it. new: [n]; tv: [T, n, n]; osc: [n, n]."""

    context: State
    new: Tokens
    tv: NDArray[np.float64]
    osc: NDArray[np.float64]


def search(
    model: Any,
    contexts: Sequence[State],
    temperatures: NDArray[np.float64],
    climbs: int,
    seed: int,
    progress: Progress | None = None,
    worst: int = 0,
) -> Found:
    """Every pair of sites of every text with one drawn substitution, the same in ``worst`` filled states, then
    ``climbs`` strong pairs climbed.

    contexts: states of one shape. In a text the substitution at j is drawn from its conditional at τ = 1 without the
    token that stands there.
    """
    allowed = allowed_tokens(model, contexts[0])
    if len(allowed) < 2:
        raise InputError("influence", expected="at least two tokens that may be written", came=str(len(allowed)))
    tell = _counter(progress, len(contexts) + worst + 1)
    seen = []
    for c, context in enumerate(contexts):
        base = site_rows(model, np.tile(context.tokens, (len(context.free), 1)), context.free)
        seen.append(_all_pairs(model, context, base, _substitutions(base, context, seed, c), temperatures))
        tell()
    texts, rows = len(seen), 0
    for context, new, spent in worst_contexts(model, contexts, temperatures, worst, seed):
        base = site_rows(model, np.tile(context.tokens, (len(context.free), 1)), context.free)
        seen.append(_all_pairs(model, context, base, new, temperatures))
        rows += spent
        tell()
    found = _gathered(seen, texts)
    rows += found.rows + _climb_all(model, seen, climbs, allowed, temperatures, found, seed)
    tell()
    return found._replace(rows=rows)


def _counter(progress: Progress | None, total: int) -> Callable[[], None]:
    done = 0

    def tell() -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, total)

    return tell


def _substitutions(base: Floats, context: State, seed: int, number: int) -> Tokens:
    """A token for each site, drawn from its row at τ = 1, never the one that stands there: [n]."""
    scores = base.astype(np.float64)
    scores[np.arange(len(base)), context.tokens[context.free]] = -np.inf
    rng = generator(seed, number)
    return np.array([int((row - np.log(rng.standard_exponential(len(row)))).argmax()) for row in scores])


def _all_pairs(model: Any, context: State, base: Floats, new: Tokens, temperatures: NDArray[np.float64]) -> _Seen:
    """TV and D of every site i when one site j becomes ``new[j]``; 0 at j itself. base: [n, V], rows of the context."""
    n, free = len(context.free), context.free
    tv, osc = np.zeros((len(temperatures), n, n)), np.zeros((n, n))
    moved, moving = np.nonzero(~np.eye(n, dtype=bool))
    last, laws = -1, np.empty(0)
    for k in range(0, len(moved), _ROWS):
        i, j = moved[k : k + _ROWS], moving[k : k + _ROWS]
        states = np.tile(context.tokens, (len(i), 1))
        states[np.arange(len(i)), free[j]] = new[j]
        rows = model.logits(states, free[i])
        for site in np.unique(i):
            at = np.flatnonzero(i == site)
            if site != last:  # pairs come site by site: the laws of a site serve all its rows
                last, laws = int(site), tempered_laws(base[site], temperatures)
            tv[:, site, j[at]] = variations_from(laws, rows[at], temperatures)
            osc[site, j[at]] = oscillation(np.broadcast_to(base[site], rows[at].shape), rows[at])
    return _Seen(context, new, tv, osc)


def _gathered(seen: list[_Seen], texts: int) -> Found:
    n = len(seen[0].context.free)
    off = ~np.eye(n, dtype=bool)
    by_token = [
        (int(s.context.tokens[s.context.free[j]]), s.tv[:, off[:, j], j].mean(axis=1))
        for s in seen[:texts]
        for j in range(n)
    ]
    return Found(
        largest=np.max([s.tv for s in seen], axis=0),
        total=np.sum([s.tv for s in seen[:texts]], axis=0),
        pairs=texts,
        values=np.concatenate([s.tv[:, off] for s in seen[:texts]], axis=1),
        hilbert=np.max([s.osc for s in seen], axis=0),
        by_token=by_token,
        worst=len(seen) - texts,
        rows=len(seen) * n * n,
    )


def _climb_all(
    model: Any,
    seen: list[_Seen],
    climbs: int,
    allowed: Tokens,
    temperatures: NDArray[np.float64],
    found: Found,
    seed: int,
) -> int:
    """Climb the strongest pair that was not climbed yet, temperature after temperature; ``found`` is raised in place.

    Returns the rows spent.
    """
    rows = 0
    n, T = len(seen[0].context.free), len(temperatures)
    largest = np.array([s.tv for s in seen])
    left = np.where(np.eye(n, dtype=bool), -1.0, largest.max(axis=0))
    for k in range(min(climbs, n * (n - 1))):
        t = k % T
        i, j = (int(v) for v in np.unravel_index(left[t].argmax(), (n, n)))
        left[:, i, j] = -1.0
        c = int(largest[:, t, i, j].argmax())
        s = seen[c]
        rng = generator(seed, _CLIMBS + k)
        tv, most, spent = climb(model, s.context, (i, j), int(s.new[j]), allowed, temperatures, t, rng)
        np.maximum(found.largest[:, i, j], tv, out=found.largest[:, i, j])
        found.hilbert[i, j] = max(found.hilbert[i, j], most)
        rows += spent
    return rows
