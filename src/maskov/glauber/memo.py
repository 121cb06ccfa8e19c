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
# What CPython takes for the entry itself: key object, dictionary slot, list links, three floats.
_OVERHEAD = 400


class Note(NamedTuple):
    """A row seen from one token at one temperature. stay: p(token); entropy: nats; log_old: log p(token), nats."""

    stay: float
    entropy: float
    log_old: float


class Memory:
    """Notes and rows of contexts of up to ``columns`` columns.

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
        self._slots: OrderedDict[bytes, int] = OrderedDict()
        self._rows: NDArray[np.floating] | None = None

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
        slot = self._slots.get(key)
        if slot is None or self._rows is None:
            return None
        self._slots.move_to_end(key)
        return self._rows[slot]

    def keep_row(self, key: bytes, row: Floats) -> None:
        """Remember a row: a copy in a slab that is touched as it fills."""
        if self._rows is None:
            slots = max(1, self._row_budget // (row.nbytes + self._entry))
            self._rows = np.empty((slots, len(row)), dtype=row.dtype)
        slot = len(self._slots) if len(self._slots) < len(self._rows) else self._slots.popitem(last=False)[1]
        self._rows[slot] = row
        self._slots[key] = slot


def context(state: NDArray[np.int32], site: int) -> bytes:
    """The masked input as a key. state: int32 [L], unchanged on return."""
    token = state[site]
    state[site] = -1
    key = state.tobytes()
    state[site] = token
    return key
