"""What conditionals at visited contexts were: least recently used ones go first, bounded in bytes.

A conditional at site i does not depend on x_i, so a context is the *masked input*: the state with −1 at the site. It
has two kinds of entries: a *note*, three numbers per temperature and token (enough for a chain that stays), and the
*row* of logits (one for all temperatures; needed when a chain leaves).
"""

from __future__ import annotations

from collections import OrderedDict
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maskov.protocols import Floats

MEMORY_BYTES = 1 << 28
# Rows of the first slab, and the share of kept rows that must be missed before there is another.
_SLAB_ROWS, _REGRET = 128, 0.02
# What CPython takes for the entry itself: key object, dictionary slot, list links, three floats.
_OVERHEAD = 400


class Note(NamedTuple):
    """A row seen from one token at one temperature. stay: p(token); entropy: nats; log_old: log p(token), nats."""

    stay: float
    entropy: float
    log_old: float


class Memory:
    """Notes and rows of contexts of up to ``columns`` columns; budget: most bytes.

    Rows lie in slabs. A slab is added only once rows are missed that were dropped not long ago: touching new memory for
    rows that are never asked for again costs more than the copy.

    >>> memory = Memory(columns=4)
    >>> key = context(np.zeros(4, dtype=np.int32), 1)
    >>> memory.keep_row(key, np.zeros(3))
    >>> memory.row(key).tolist(), memory.row(context(np.zeros(4, dtype=np.int32), 2))
    ([0.0, 0.0, 0.0], None)
    """

    def __init__(self, columns: int, budget: int = MEMORY_BYTES) -> None:
        self._entry = _OVERHEAD + 4 * columns
        self._row_budget = budget * 3 // 4
        self._most_notes = max(1, budget // 4 // self._entry)
        self._notes: OrderedDict[tuple[bytes, float, int], Note] = OrderedDict()
        self._rows: OrderedDict[bytes, NDArray[np.floating]] = OrderedDict()
        self._free: list[NDArray[np.floating]] = []
        self._dropped: OrderedDict[bytes, None] = OrderedDict()
        self._regrets = self._kept = self._most_rows = 0

    def note(self, key: bytes, temperature: float, token: int) -> Note | None:
        """The note of a context, or None."""
        entry = (key, temperature, token)
        found = self._notes.get(entry)
        if found is not None:
            self._notes.move_to_end(entry)
        return found

    def keep_note(self, key: bytes, temperature: float, token: int, note: Note) -> None:
        """Remember a note."""
        self._notes[key, temperature, token] = note
        if len(self._notes) > self._most_notes:
            self._notes.popitem(last=False)

    def row(self, key: bytes) -> Floats | None:
        """The logits [V] of a context, or None; a view that the next ``keep_row`` may overwrite."""
        found = self._rows.get(key)
        if found is not None:
            self._rows.move_to_end(key)
        elif key in self._dropped:
            self._regrets += 1
        return found

    def keep_row(self, key: bytes, row: Floats) -> None:
        """Remember a copy of a row."""
        if not self._free:
            self._make_room(row)
        place = self._rows[key] = self._free.pop()
        place[:] = row
        self._kept += 1

    def _make_room(self, row: Floats) -> None:
        if not self._most_rows:
            self._most_rows = max(1, self._row_budget // (row.nbytes + 2 * self._entry))
        if len(self._rows) < self._most_rows and (not self._rows or self._regrets > _REGRET * self._kept):
            size = min(max(_SLAB_ROWS, len(self._rows)), self._most_rows - len(self._rows))
            self._free.extend(np.empty((size, len(row)), dtype=row.dtype)[::-1])
            self._regrets = self._kept = 0
            return
        key, place = self._rows.popitem(last=False)
        self._free.append(place)
        self._dropped[key] = None
        if len(self._dropped) > self._most_rows:
            self._dropped.popitem(last=False)


def context(state: NDArray[np.int32], site: int) -> bytes:
    """The masked input as a key. state: int32 [L], unchanged on return."""
    token = state[site]
    state[site] = -1
    key = state.tobytes()
    state[site] = token
    return key
