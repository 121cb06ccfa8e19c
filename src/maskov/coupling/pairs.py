"""Where coupled chains start: two texts, a text and its permutation, or the worst case."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from maskov.errors import InputError
from maskov.models.sites import cut_state
from maskov.protocols import State, Tokens
from maskov.randomness import generator

STARTS = ("auto", "texts", "permutation", "worst")
_MOST_PAIRS = 16


class Pair(NamedTuple):
    """Two states of one shape, the same columns free in both."""

    first: State
    second: State


class _Start(NamedTuple):
    """A start as it came, and the free sites to hold in it (``None``: none)."""

    state: State
    clamp: str | None


def choose_pairs(
    model: Any, texts: Sequence[Any] | None, count: int | None, starts: str, clamp: str | None, seed: int
) -> tuple[str, list[Pair]]:
    """The kind of start taken, and ``count`` pairs of starts (default: one per text, 16 at most; 100 on a law).

    texts: texts, states, or explicit pairs of them (2-tuples), None for a law; starts: "texts": two different texts,
    the longer one cut at its end to the other's length; "permutation": a text and a random permutation of its free
    tokens; "worst": every free site '!' (a law: the last symbol) against a text (a law: the first symbol); "auto":
    worst on a law without texts, else texts, or permutation where there is one text. Raises ``InputError``.
    """
    kind, _, token = starts.partition(":")
    if kind not in STARTS or (token and kind != "worst"):
        raise InputError("starts", expected="one of " + ", ".join(STARTS) + ", worst:TOKEN", came=repr(starts[:60]))
    if count is not None and count < 1:
        raise InputError("pairs", expected="at least 1", came=str(count))
    if texts is None:
        return _on_a_law(model, count or 100, kind, starts)
    if isinstance(texts, (str, State)):
        texts = [texts]
    if not len(texts):
        raise InputError("texts", expected="at least one", came="none")
    if all(type(t) is tuple and len(t) == 2 for t in texts):
        found = [match(_start(model, a, clamp), _start(model, b, clamp)) for a, b in texts]
        return "pairs", [found[k % len(found)] for k in range(count or len(found))]
    given = [_start(model, text, clamp) for text in texts]
    return _from_texts(model, given, count or min(max(len(given), 2), _MOST_PAIRS), kind, token, seed)


def _start(model: Any, text: Any, clamp: str | None) -> _Start:
    """A text's own clamp goes before the common one."""
    if isinstance(text, State):
        return _Start(text, clamp)
    return _Start(model.encode(text if isinstance(text, str) else text.text), getattr(text, "clamp", None) or clamp)


def _on_a_law(model: Any, count: int, kind: str, starts: str) -> tuple[str, list[Pair]]:
    """All of the last symbol against all of the first: on spins the top and the bottom of the order."""
    if getattr(model, "n_sites", None) is None or kind not in ("auto", "worst"):
        remedy = "pass --texts FILE (only the worst case of a law needs none)"
        raise InputError("texts", expected=f"texts for starts={starts!r}", came="none", remedy=remedy)
    free = np.arange(model.n_sites, dtype=np.int64)
    top = np.full(model.n_sites, model.vocabulary_size - 1, dtype=np.int64)
    return "worst", [Pair(State(top, free), State(np.zeros_like(top), free))] * count


def _from_texts(
    model: Any, given: Sequence[_Start], count: int, kind: str, token: str, seed: int
) -> tuple[str, list[Pair]]:
    if kind == "auto":
        kind = "texts" if len({one.state.tokens.tobytes() for one in given}) >= 2 else "permutation"
    worst = _worst_token(model, token) if kind == "worst" else 0
    found = []
    for k in range(count):
        rng, one = generator(seed, k), given[k % len(given)]
        if kind == "texts":
            found.append(match(one, _other(given, one, rng)))
        else:
            state = _clamped(one)
            found.append(Pair(state, _permuted(state, rng)) if kind == "permutation" else _filled_pair(state, worst))
    return kind, found


def _other(given: Sequence[_Start], one: _Start, rng: np.random.Generator) -> _Start:
    """A different text, one of the same length where there is one."""
    others = [o for o in given if o.state.tokens.tobytes() != one.state.tokens.tobytes()]
    if not others:
        remedy = "pass another text, or starts='permutation'"
        raise InputError("pairs", expected="at least two different texts", came="one", remedy=remedy)
    alike = [o for o in others if len(o.state.tokens) == len(one.state.tokens)] or others
    return alike[int(rng.integers(len(alike)))]


def match(a: _Start, b: _Start) -> Pair:
    """Two states of one shape, or ``InputError``.

    The longer text loses tokens at its end; the special tokens around it stay. A site is free where it is free in both;
    the second state takes the tokens of held sites from the first, for chains that differ there could never meet.
    """
    length = min(_body(a.state)[1], _body(b.state)[1])
    first, second = (_clamped(_Start(cut_state(s.state, length), s.clamp)) for s in (a, b))
    free = np.intersect1d(first.free, second.free)
    if len(first.tokens) != len(second.tokens) or not free.size:
        came = f"{len(first.tokens)} and {len(second.tokens)} tokens, {free.size} sites free in both"
        raise InputError("pair", expected="texts whose free sites can be matched", came=came, remedy="clamp both alike")
    tokens = first.tokens.copy()
    tokens[free] = second.tokens[free]
    return Pair(State(first.tokens, free), State(tokens, free))


def _body(state: State) -> tuple[int, int]:
    """First free column, and the number of columns up to the last free one."""
    return int(state.free[0]), int(state.free[-1] - state.free[0]) + 1


def _clamped(start: _Start) -> State:
    if start.clamp is None:
        return start.state
    from maskov.models.sites import apply_clamp

    return apply_clamp(start.state, start.clamp)


def _permuted(state: State, rng: np.random.Generator) -> State:
    tokens, own = state.tokens.copy(), state.tokens[state.free]
    if len(np.unique(own)) < 2:
        remedy = "pass a longer text, or another one"
        raise InputError("pairs", expected="a text whose tokens can be permuted", came="one token", remedy=remedy)
    while np.array_equal(tokens, state.tokens):  # two short texts that agree by luck would have met before the start
        tokens[state.free] = rng.permutation(own)
    return State(tokens, state.free)


def _filled_pair(state: State, token: int) -> Pair:
    tokens: Tokens = state.tokens.copy()
    tokens[state.free] = token
    return Pair(State(tokens, state.free), state)


def _worst_token(model: Any, text: str) -> int:
    """The token of ``text``, by default '!', or the last symbol of a law."""
    if not text and getattr(model, "n_sites", None) is not None:
        return int(model.vocabulary_size) - 1
    if getattr(model, "n_sites", None) is not None:
        return _symbol(model, text)
    state = model.encode(text or "!")
    if len(state.free) != 1:
        came = f"{len(state.free)} in {text or '!'!r}"
        remedy = "name another with worst:TOKEN"
        raise InputError("starts", expected=f"one token of {model.name}", came=came, remedy=remedy)
    return int(state.tokens[state.free[0]])


def _symbol(model: Any, text: str) -> int:
    """A law's states are written whole: its symbol is read from a state of that symbol alone."""
    joint = text * model.n_sites if len(text) == 1 else ",".join([text] * model.n_sites)
    return int(model.encode(joint).tokens[0])


def make_pairs(
    model: Any, texts: Sequence[Any] | None, count: int | None, starts: str, clamp: str | None, seed: int
) -> list[Pair]:
    """``count`` pairs of starts; see ``choose_pairs``."""
    return choose_pairs(model, texts, count, starts, clamp, seed)[1]
