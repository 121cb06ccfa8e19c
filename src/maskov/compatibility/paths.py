"""Rectangles: which corners, which proposals, and Δ from four masked evaluations that many rectangles share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maskov.errors import InputError
from maskov.protocols import State, Tokens
from maskov.randomness import Stream, generator

PROPOSALS = ("conditional", "top_k", "uniform")
TOP_K = 10


class Pairs(NamedTuple):
    """Pairs of sites in contexts, with k substitutions at each: m pairs of one length L.

    text: int64 [m] index of the text; states: int64 [m, L]; first, second: int64 [m] columns i ≠ j, distance: int64 [m]
    in free sites; a, b: int64 [m, k + 1] tokens at i and at j, the current one first.
    """

    text: Tokens
    states: Tokens
    first: Tokens
    second: Tokens
    distance: Tokens
    a: Tokens
    b: Tokens


class Rectangles(NamedTuple):
    """One entry a rectangle; each [r]. path1, path2: float64 nats; the rest: int64."""

    text: Tokens
    first: Tokens
    second: Tokens
    distance: Tokens
    a: Tokens
    a_new: Tokens
    b: Tokens
    b_new: Tokens
    path1: NDArray[np.float64]
    path2: NDArray[np.float64]

    @property
    def delta(self) -> NDArray[np.float64]:
        """Δ = path1 − path2 in nats: [r]."""
        return self.path1 - self.path2


def choose_pairs(states: Sequence[State], count: int, seed: int) -> list[tuple[int, int, int]]:
    """(text, i, j) of ``count`` pairs: texts in turn, two different free sites by (seed, pair number)."""
    usable = [t for t, s in enumerate(states) if len(s.free) >= 2]
    if not usable:
        raise InputError(
            "rectangle test", expected="a text with at least two free sites", came=f"{len(states)} texts with fewer"
        )
    pairs = []
    for p in range(count):
        text = usable[p % len(usable)]
        i, j = generator(seed, p).choice(len(states[text].free), size=2, replace=False)
        pairs.append((text, int(i), int(j)))
    return pairs


def proposal_rows(model: Any, states: Tokens, sites: Tokens) -> NDArray[np.float64]:
    """Rows to propose from: the conditionals, or a causal model's guess from the left context. float64 [m, V]."""
    rows = model.logits(states, sites) if hasattr(model, "logits") else model.proposal_logits(states, sites)
    return np.asarray(rows, dtype=np.float64)


def propose(rows: NDArray[np.float64], current: Tokens, kind: str, k: int, seeds: Sequence[tuple[int, int]]) -> Tokens:
    """k distinct substitutions per row, never the current token: int64 [m, k].

    conditional: without replacement from softmax(row) (the k largest of score + Gumbel); top_k: among the ten most
    likely others; uniform: among all allowed others. rows: [m, V]; seeds: (seed, stream chain) per row.
    """
    out = np.empty((len(rows), k), dtype=np.int64)
    for m, row in enumerate(rows):
        keys = -np.log(-np.log(generator(*seeds[m], stream=Stream.GUMBEL).random(len(row))))
        score = np.where(np.isfinite(row), row if kind == "conditional" else 0.0, -np.inf)
        score[current[m]] = -np.inf
        if kind == "top_k":
            others = np.where(np.isfinite(score), row, -np.inf)
            score[np.argsort(others)[:-TOP_K]] = -np.inf
        if np.isfinite(score).sum() < k:
            raise InputError(
                "rectangle test",
                expected=f"at least {k + 1} allowed tokens",
                came=str(int(np.isfinite(score).sum()) + 1),
            )
        out[m] = np.argsort(-(score + keys), kind="stable")[:k]
    return out


def build_pairs(
    model: Any, states: Sequence[State], chosen: Sequence[tuple[int, int, int]], kind: str, k: int, seed: int
) -> list[Pairs]:
    """Pairs with their substitutions, grouped by length so that every group is one rectangular batch."""
    groups: dict[int, list[int]] = {}
    for p, (text, _, _) in enumerate(chosen):
        groups.setdefault(len(states[text].tokens), []).append(p)
    return [
        _build_group(model, states, [chosen[p] for p in members], members, kind, k, seed)
        for _, members in sorted(groups.items())
    ]


def _build_group(
    model: Any,
    states: Sequence[State],
    chosen: list[tuple[int, int, int]],
    numbers: list[int],
    kind: str,
    k: int,
    seed: int,
) -> Pairs:
    text = np.array([t for t, _, _ in chosen])
    table = np.stack([states[t].tokens for t in text])
    first = np.array([states[t].free[i] for t, i, _ in chosen])
    second = np.array([states[t].free[j] for t, _, j in chosen])
    rows = np.arange(len(chosen))
    a, b = table[rows, first], table[rows, second]
    new_a = propose(proposal_rows(model, table, first), a, kind, k, [(seed, 2 * p) for p in numbers])
    new_b = propose(proposal_rows(model, table, second), b, kind, k, [(seed, 2 * p + 1) for p in numbers])
    distance = np.array([abs(i - j) for _, i, j in chosen])
    return Pairs(text, table, first, second, distance, np.column_stack([a, new_a]), np.column_stack([b, new_b]))


def _scores_in_contexts(
    model: Any, pairs: Pairs, site: Tokens, tokens: Tokens, other: Tokens, context: Tokens, order: NDArray[np.int64]
) -> NDArray[np.float64]:
    """ℓ_site of ``tokens`` with the other site set to each of ``context``: float64 [m, contexts, tokens]."""
    m, c = context.shape
    rows = np.repeat(np.arange(m), c)
    states = pairs.states[rows].copy()
    states[np.arange(m * c), other[rows]] = context.ravel()
    scores = np.empty((m * c, tokens.shape[1]))
    scores[order] = model.score_tokens(states[order], site[rows][order], tokens[rows][order])
    return scores.reshape(m, c, -1)


def measure(model: Any, pairs: Pairs, order: NDArray[np.int64] | None = None) -> Rectangles:
    """path1, path2 of the k² rectangles of every pair from its 2(k + 1) masked evaluations.

    With x = (a, b), y = (a', b), z = (a', b'), w = (a, b'):
    path1 = [ℓ_i(a'|x) − ℓ_i(a|x)] + [ℓ_j(b'|y) − ℓ_j(b|y)],  path2 = [ℓ_j(b'|x) − ℓ_j(b|x)] + [ℓ_i(a'|w) − ℓ_i(a|w)].
    Normalisers cancel, so any scores up to a constant per row do. order: the order in which rows are evaluated (for the
    noise floor: another batch composition), int64 [m (k + 1)].
    """
    m, width = pairs.a.shape
    order = np.arange(m * width) if order is None else order
    at_i = _scores_in_contexts(model, pairs, pairs.first, pairs.a, pairs.second, pairs.b, order)  # [m, b, a]
    at_j = _scores_in_contexts(model, pairs, pairs.second, pairs.b, pairs.first, pairs.a, order)  # [m, a, b]
    step_i = at_i[:, :, 1:] - at_i[:, :, :1]  # ℓ_i(a'|·) − ℓ_i(a|·) in context b
    step_j = at_j[:, :, 1:] - at_j[:, :, :1]
    path1 = step_i[:, 0, :, None] + step_j[:, 1:, :]  # [m, a', b']
    path2 = step_j[:, 0, None, :] + step_i[:, 1:, :].swapaxes(1, 2)
    return _flatten(pairs, path1, path2)


def _flatten(pairs: Pairs, path1: NDArray[np.float64], path2: NDArray[np.float64]) -> Rectangles:
    m, k, _ = path1.shape
    rows = np.repeat(np.arange(m), k * k)
    which_a, which_b = np.tile(np.repeat(np.arange(k), k), m), np.tile(np.arange(k), m * k)
    return Rectangles(
        pairs.text[rows],
        pairs.first[rows],
        pairs.second[rows],
        pairs.distance[rows],
        pairs.a[rows, 0],
        pairs.a[rows, 1 + which_a],
        pairs.b[rows, 0],
        pairs.b[rows, 1 + which_b],
        path1.ravel(),
        path2.ravel(),
    )


def joined(parts: Sequence[Rectangles]) -> Rectangles:
    """Several groups as one."""
    return Rectangles(*(np.concatenate(column) for column in zip(*parts, strict=True)))
