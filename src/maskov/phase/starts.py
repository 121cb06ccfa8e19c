"""Starts of a cell: texts cropped to exactly n free sites, or the worst case of a law with n sites."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from maskov.coupling import Pair, choose_pairs
from maskov.errors import InputError
from maskov.protocols import State, Tokens
from maskov.randomness import Stream, generator, words

_SITES = re.compile(r"(?<=[?&])sites=\d+")


class Bodies(NamedTuple):
    """Free tokens of each text, and the special tokens that the model puts around one. joins: whether a text may go on
    with the next one (not where a text is a molecule or a protein).
    """

    before: Tokens
    tokens: list[Tokens]
    after: Tokens
    joins: bool

    def state(self, tokens: Tokens) -> State:
        """The state that writes these free tokens."""
        free = np.arange(len(self.before), len(self.before) + len(tokens), dtype=np.int64)
        return State(np.concatenate([self.before, tokens, self.after]), free)

    def long_enough(self, n: int) -> list[int]:
        """Numbers of the texts with at least n free tokens."""
        return [k for k, body in enumerate(self.tokens) if len(body) >= n]


class Starts(NamedTuple):
    """Pairs of starts with n free sites each. kind: of start; joined: how many were made of more than one text."""

    pairs: list[Pair]
    kind: str
    joined: int


def cell_seed(seed: int, sites: int) -> int:
    """The seed of the cells with n = ``sites``, below 2⁶³. All temperatures share it, so that pair c has the same
    start and the same randomness at each of them.

    >>> cell_seed(0, 8) == cell_seed(0, 8), cell_seed(0, 8) == cell_seed(0, 16)
    (True, False)
    """
    return int(words(seed, sites, 0, 1, Stream.STUDY)[0, 0] >> np.uint64(1))


def law_with_sites(name: str, sites: int) -> str:
    """The text form of a law with another number of sites.

    >>> law_with_sites("law:curie-weiss?sites=8&beta=0.5", 16)
    'law:curie-weiss?sites=16&beta=0.5'
    """
    if not _SITES.search(name):
        raise InputError("law", expected="a text form with sites=N, which a grid can replace", came=repr(name[:80]))
    return _SITES.sub(f"sites={sites}", name)


def bodies(model: Any, texts: Sequence[Any]) -> Bodies:
    """The free tokens of each text. Unknown tokens inside a text are left out: they could never change."""
    states = [t if isinstance(t, State) else model.encode(t if isinstance(t, str) else t.text) for t in texts]
    if not states:
        raise InputError("texts", expected="at least one", came="none")
    before = min((s.tokens[: s.free[0]] for s in states), key=len)
    after = min((s.tokens[s.free[-1] + 1 :] for s in states), key=len)
    strict = bool(getattr(getattr(model, "codec", None), "strict", False))
    return Bodies(before, [s.tokens[s.free] for s in states], after, not strict)


def fitting_sites(found: Bodies, sites: Sequence[int], limit: int | None) -> list[int]:
    """Those n for which there are two starts, and which the model has positions for."""
    extra, total = len(found.before) + len(found.after), sum(len(b) for b in found.tokens)
    room = [n for n in sites if limit is None or n + extra <= limit]
    return [n for n in room if len(found.long_enough(n)) >= 2 or (found.joins and len(found.tokens) > 1 and n <= total)]


def text_starts(model: Any, found: Bodies, n: int, count: int, kind: str, seed: int) -> Starts:
    """``count`` pairs of windows of n tokens.

    A window lies inside one text; shorter texts are not used. Where fewer than two texts have n tokens, a window may
    run on from a text into the next one of the file. Nothing is ever padded. kind: see ``choose_pairs``; seed: of the
    cells with this n.
    """
    if not fitting_sites(found, [n], None):
        longest = max(len(b) for b in found.tokens)
        remedy = "leave it out of --sites, or pass longer texts"
        raise InputError(
            f"sites {n}", expected=f"two texts of {n} tokens", came=f"the longest has {longest}", remedy=remedy
        )
    rng = generator(seed, stream=Stream.STUDY)
    kind = "texts" if kind == "auto" else kind
    inside = found.long_enough(n)
    joined = len(inside) < 2
    order = rng.permutation(len(found.tokens) if joined else np.array(inside))
    windows = [_window(found, int(order[k % len(order)]), n, joined, rng) for k in range(2 * count)]
    if kind == "texts":
        given: list[Any] = [
            (found.state(a), found.state(_other(found, order, a, b, n, joined, rng)))
            for a, b in zip(windows[::2], windows[1::2], strict=True)
        ]
    else:
        given = [found.state(a) for a in windows[:count]]
    kind, pairs = choose_pairs(model, given, count, kind, None, seed)
    return Starts(pairs, "texts" if kind == "pairs" else kind, len(pairs) if joined else 0)


def _window(found: Bodies, text: int, n: int, joined: bool, rng: np.random.Generator) -> Tokens:
    """n tokens from a random place of a text, or from its beginning on into the next ones."""
    if not joined:
        first = int(rng.integers(len(found.tokens[text]) - n + 1))
        return found.tokens[text][first : first + n]
    parts, k = [found.tokens[text]], text
    while sum(map(len, parts)) < n:
        k = (k + 1) % len(found.tokens)
        parts.append(found.tokens[k])
    return np.concatenate(parts)[:n]


def _other(
    found: Bodies, order: Tokens, a: Tokens, b: Tokens, n: int, joined: bool, rng: np.random.Generator
) -> Tokens:
    """``b``, or another window where it happens to equal ``a``: the pair would have met before the start."""
    for _ in range(100):
        if not np.array_equal(a, b):
            return b
        b = _window(found, int(rng.choice(order)), n, joined, rng)
    raise InputError("texts", expected="windows that differ", came=f"the same {n} tokens again and again")
