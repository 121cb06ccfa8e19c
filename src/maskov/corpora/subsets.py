"""What is seen: v tokens of a segment of L, as a uniformly random subset or as a window without gaps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maskov.corpora.collect import FEWEST, Collection
from maskov.errors import InputError
from maskov.randomness import Stream, generator

SAMPLINGS = ("subset", "window")
LONGEST = 4096
MOST_DOCUMENTS = 4000
MOST_TOKENS = 6_000_000
MOST_ROWS = 40_000
USUAL_TOKENS = 1_500_000
MOST_DRAWS = 32
_USUAL = 100
_CHUNK = 1 << 22


class Panel(NamedTuple):
    """The documents that are measured, the same at every v. length: L, sites of a segment.

    collection: int8 [D]; start, size: int64 [D], where the document lies in its collection; part: int8 [D].
    """

    length: int
    collection: NDArray[np.int8]
    start: NDArray[np.int64]
    size: NDArray[np.int64]
    part: NDArray[np.int8]


class Seen(NamedTuple):
    """x_S of n = D R draws, document by document. tokens: [n, v]; positions: int32 [n, v], ascending; draws: R."""

    tokens: NDArray[Any]
    positions: NDArray[np.int32]
    draws: int


def choose_length(collections: Sequence[Collection], longest: int | None) -> int:
    """The segment's length L: a power of two, at most 4,096, that at least a quarter of every collection's documents
    (and 100, or half where there are fewer than 200, but never below 50) have; at most ``longest`` where that is given.

    ``longest`` may ask for more than that rule as long as 50 documents of each collection are long enough.
    """
    need = [max(len(c.sizes) / 4, min(_USUAL, len(c.sizes) / 2), FEWEST) for c in collections]
    length = 1
    while 2 * length <= LONGEST and _enough(collections, 2 * length, need):
        length *= 2
    if longest is None:
        return length
    asked = 1 << (longest.bit_length() - 1)
    if asked > length and not _enough(collections, asked, [FEWEST] * len(collections)):
        having = min(int((c.sizes >= asked).sum()) for c in collections)
        expected = f"a visible count that {FEWEST} documents of every collection have"
        raise InputError("longest", expected=expected, came=f"{asked}, which {having} have", remedy=f"take {length}")
    return asked


def _enough(collections: Sequence[Collection], length: int, need: Sequence[float]) -> bool:
    return all((c.sizes >= length).sum() >= least for c, least in zip(collections, need, strict=True))


def visible_counts(length: int, asked: Sequence[int] | None = None) -> list[int]:
    """1, 2, 4, …, L, or the counts asked for, ascending.

    >>> visible_counts(8), visible_counts(8, [6, 1])
    ([1, 2, 4, 8], [1, 6])
    """
    return [1 << k for k in range(length.bit_length())] if asked is None else sorted(set(asked))


def check_counts(asked: Sequence[int] | None) -> int:
    """The largest of the visible counts asked for, 1 without any; ``InputError`` on one below 1."""
    if asked is None:
        return 1
    if not asked or min(asked) < 1:
        raise InputError("visible", expected="counts of 1 or more", came=", ".join(map(str, asked)) or "none")
    return max(asked)


def panel(collections: Sequence[Collection], length: int, seed: int) -> Panel:
    """Up to 4,000 documents of each collection with at least L tokens (fewer where all segments together would have
    more than 6 million), chosen at random."""
    most = min(MOST_DOCUMENTS, MOST_TOKENS // (length * len(collections)))
    rows = []
    for k, c in enumerate(collections):
        fits = np.flatnonzero(c.sizes >= length)
        if len(fits) > most:
            fits = np.sort(generator(seed, k, Stream.STUDY).permutation(fits)[:most])
        rows.append((np.full(len(fits), k, dtype=np.int8), c.starts[fits], c.sizes[fits], c.part[fits]))
    return Panel(length, *(np.concatenate(column) for column in zip(*rows, strict=True)))


def draw(collections: Sequence[Collection], who: Panel, visible: int, sampling: str, seed: int) -> Seen:
    """R draws of each document: a uniform segment of L tokens, then v of its sites.

    R, at most 32, falls with the number of documents and with v, so that a panel of any size takes about as long.
    """
    D = len(who.start)
    R = int(np.clip(min(MOST_ROWS // D, USUAL_TOKENS // (D * visible)), 1, MOST_DRAWS))
    rng = generator(seed, 64 + 2 * visible + SAMPLINGS.index(sampling), Stream.STUDY)
    start = np.repeat(who.start, R) + (rng.random(D * R) * np.repeat(who.size - who.length + 1, R)).astype(np.int64)
    pick = _subsets if sampling == "subset" else _windows
    positions = pick(who.length, visible, D * R, rng)
    return Seen(_gather(collections, np.repeat(who.collection, R), start, positions), positions, R)


def _subsets(length: int, visible: int, rows: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """Uniformly random subsets of size v, ascending: [rows, v]."""
    step = max(1, _CHUNK // length)
    parts = [_few_subsets(length, visible, min(step, rows - first), rng) for first in range(0, rows, step)]
    return np.concatenate(parts)


def _few_subsets(length: int, visible: int, rows: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """Floyd's algorithm on all rows at once (Bentley & Floyd 1987), on the smaller of S and its complement."""
    few = min(visible, length - visible)
    chosen, row = np.zeros((rows, length), dtype=bool), np.arange(rows)
    for last in range(length - few, length):
        pick = rng.integers(0, last + 1, size=rows)
        chosen[row, np.where(chosen[row, pick], last, pick)] = True
    inside = chosen if few == visible else ~chosen
    return np.nonzero(inside)[1].reshape(rows, visible).astype(np.int32)


def _windows(length: int, visible: int, rows: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """Windows of v sites at a uniform place: [rows, v]."""
    first = rng.integers(0, length - visible + 1, size=rows)
    return np.asarray(first[:, None] + np.arange(visible), dtype=np.int32)


def _gather(
    collections: Sequence[Collection], which: NDArray[np.int8], start: NDArray[np.int64], positions: NDArray[np.int32]
) -> NDArray[Any]:
    out = np.empty(positions.shape, dtype=collections[0].tokens.dtype)
    for k, c in enumerate(collections):
        at = which == k
        out[at] = c.tokens[start[at, None] + positions[at]]
    return out
