"""Collections in memory: each document once, tokenised, and in one of five parts by a hash of its text."""

from __future__ import annotations

import hashlib
import os
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskov.corpora.readers import Piece, check_skipped, find_source, read_documents
from maskov.corpora.tokens import Tokenizer, as_numpy, flat_array
from maskov.errors import InputError

FEWEST = 50
PARTS = 5
SHARED = -1
_BATCH = 256
Progress = Callable[[float], None]
Input = str | os.PathLike[str] | Sequence[Any]


@dataclass(frozen=True)
class Collection:
    """One mode's documents. tokens: flat [T]; starts: int64 [D + 1]; part: int8 [D], 0 … 4, by hash.

    duplicates: documents left out since the same text (up to white space) came before or stands in another collection;
    shared: those of them that another collection has; skipped: files that could not be read.
    """

    name: str
    tokens: NDArray[Any]
    starts: NDArray[np.int64]
    part: NDArray[np.int8]
    duplicates: int
    shared: int
    skipped: tuple[str, ...] = ()

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Tokens of each document: [D]."""
        return np.diff(self.starts)


@dataclass
class _Pile:
    """A collection while it is read."""

    name: str
    flat: array[int]
    sizes: list[int] = field(default_factory=list)
    digests: list[bytes] = field(default_factory=list)
    repeats: int = 0
    shared: int = 0
    skipped: list[str] = field(default_factory=list)


def text_digest(text: str) -> bytes:
    """16 bytes that two texts share if they are the same up to white space.

    >>> text_digest("a  b\\n") == text_digest("a b")
    True
    """
    return hashlib.blake2b(" ".join(text.split()).encode("utf-8", "replace"), digest_size=16).digest()


def part_of(digest: bytes, seed: int) -> int:
    """The part 0 … 4 of a document: it depends on the text and the seed alone, so it stays when documents are added.

    >>> 0 <= part_of(text_digest("a b"), 0) < 5
    True
    """
    keyed = hashlib.blake2b(digest, digest_size=8, key=seed.to_bytes(8, "little")).digest()
    return int.from_bytes(keyed, "little") % PARTS


def read_collections(
    inputs: Mapping[str, Input], tokenizer: Tokenizer, seed: int, text_field: str, progress: Progress | None
) -> list[Collection]:
    """Every collection without its duplicates.

    A text that two collections have says nothing about the mode and is left out of both, so the order of the names is
    of no matter. Raises ``InputError`` on fewer than two collections, and on one that is empty, has fewer than 50
    documents, or has the documents of another.
    """
    if len(inputs) < 2:
        remedy = "maskov corpus de=german/ en=english/"
        raise InputError("collections", expected="at least two", came=str(len(inputs)), remedy=remedy)
    streams, total = _streams(inputs, text_field)
    piles, owners, done = list[_Pile](), dict[bytes, int](), 0
    for number, (name, stream, files) in enumerate(streams):
        pile = _Pile(name, flat_array(tokenizer))
        for size in _fill(pile, stream, tokenizer, owners, number):
            done += size
            if progress is not None:
                progress(done / max(total, 1))
        if files > 1:
            check_skipped(name, pile.skipped, files)
        piles.append(pile)
    return [_finish(pile, owners, seed) for pile in piles]


def _streams(inputs: Mapping[str, Input], text_field: str) -> tuple[list[tuple[str, Iterator[Piece], int]], int]:
    streams, total = [], 0
    for name, given in inputs.items():
        if isinstance(given, (str, os.PathLike)):
            source = find_source(name, given)
            streams.append((name, read_documents(name, source, text_field), len(source.files)))
            total += source.size
        else:
            streams.append((name, (Piece(str(text), len(str(text))) for text in given), 1))
            total += sum(len(str(text)) for text in given)
    return streams, total


def _fill(
    pile: _Pile, stream: Iterator[Piece], tokenizer: Tokenizer, owners: dict[bytes, int], number: int
) -> Iterator[int]:
    """Read a stream into a pile; yields bytes read. owners: digest → the collection's number, or ``SHARED``."""
    batch: list[tuple[bytes, str]] = []
    for piece in stream:
        if piece.skipped:
            pile.skipped.append(piece.skipped)
        if piece.text.strip():
            digest = text_digest(piece.text)
            if _claim(owners, digest, pile, number):
                batch.append((digest, piece.text.strip("\r\n")))
        if len(batch) >= _BATCH:
            _append(pile, batch, tokenizer)
            batch = []
        if piece.size:
            yield piece.size
    _append(pile, batch, tokenizer)


def _claim(owners: dict[bytes, int], digest: bytes, pile: _Pile, number: int) -> bool:
    """Whether the document is new; one that another collection has is marked as shared."""
    owner = owners.setdefault(digest, -2)
    if owner == -2:
        owners[digest] = number
        return True
    pile.repeats += 1
    if owner != number:
        owners[digest] = SHARED
        pile.shared += 1
    return False


def _append(pile: _Pile, batch: list[tuple[bytes, str]], tokenizer: Tokenizer) -> None:
    if batch:
        pile.sizes.extend(tokenizer.extend(pile.flat, [text for _, text in batch]))
        pile.digests.extend(digest for digest, _ in batch)


def _finish(pile: _Pile, owners: dict[bytes, int], seed: int) -> Collection:
    """The collection without what others have as well; ``InputError`` where too little is left."""
    own = np.array([owners[digest] != SHARED for digest in pile.digests], dtype=bool)
    _check_own(pile, own)
    sizes = np.array(pile.sizes, dtype=np.int64)
    tokens = as_numpy(pile.flat)
    if not own.all():
        tokens = tokens[np.repeat(own, sizes)]
    part = [part_of(digest, seed) for digest, kept in zip(pile.digests, own, strict=True) if kept]
    removed = int((~own).sum())
    return Collection(
        pile.name,
        tokens,
        np.concatenate([[0], np.cumsum(sizes[own])]).astype(np.int64),
        np.array(part, dtype=np.int8),
        pile.repeats + removed,
        pile.shared + removed,
        tuple(pile.skipped),
    )


def _check_own(pile: _Pile, own: NDArray[np.bool_]) -> None:
    what, kept = f"collection {pile.name}", int(own.sum())
    shared = pile.shared + len(own) - kept
    if not len(own) and not pile.repeats:
        raise InputError(what, expected=f"at least {FEWEST} documents", came="none: it is empty")
    if kept < FEWEST and shared > kept:
        came = f"{shared} documents that another collection has too, and {kept} of its own"
        raise InputError(what, expected="texts of one mode only", came=came, remedy="name different collections")
    if kept < FEWEST:
        came = f"{kept}" + (f" and {pile.repeats} repeats" if pile.repeats else "")
        remedy = "a folder's file, a JSONL record, and a plain file's paragraph (or line) is a document each"
        raise InputError(what, expected=f"at least {FEWEST} documents", came=came, remedy=remedy)
