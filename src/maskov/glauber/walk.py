"""A walk along a trace: states at ascending times, every chunk read once."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from maskov.errors import InputError
from maskov.glauber.trace import Trace
from maskov.protocols import Tokens


def states_over(trace: Any, times: Iterable[int]) -> Iterator[tuple[int, list[Tokens]]]:
    """(t, x_t of every chain) for ascending times, as ``Trace.states_at`` gives them.

    ``states_at`` builds each state from its chunk's start; here a chunk is read once and its changes are applied once,
    so a walk costs its changes, not times × changes. One chunk and one state per chain are in memory.

    trace: a ``Trace`` (or anything with ``states_at``, which is then asked time by time); times: ascending steps.
    Each yield has B arrays int64 [L_b] of its own. Raises ``InputError`` on times that go back or lie beyond the run.

    >>> from maskov.glauber import glauber
    >>> from maskov.laws import law
    >>> trace = glauber(law("curie-weiss?sites=3&beta=0"), steps=40, chunk_steps=10, window=5)
    >>> all((x[0] == trace.states_at(t)[0]).all() for t, x in states_over(trace, range(0, 41, 7)))
    True
    """
    before = -1
    walk = _Walk(trace) if isinstance(trace, Trace) else None
    for t in (int(t) for t in times):
        if t < before or t > trace.steps or t < 0:
            raise InputError("times", expected=f"ascending steps from 0 to {trace.steps}", came=f"{t} after {before}")
        yield t, walk.at(t) if walk is not None else [x.copy() for x in trace.states_at(t)]
        before = t


class _Walk:
    """The chunk that the walk is in, its states so far, and how many of its changes they hold."""

    def __init__(self, trace: Trace) -> None:
        self.trace, self.lengths = trace, trace.chains().lengths
        self.stops = [c.stop for c in trace.manifest.chunks]
        self.chunk = -1

    def at(self, t: int) -> list[Tokens]:
        k = bisect_left(self.stops, t) if t else 0
        if k != self.chunk:
            self.chunk, self.done = k, 0
            self.first = self.stops[k - 1] if k else 0
            self.states = self.trace._boundary(k).copy()
            self.changes = self.trace._read_changes(k) if self.stops else np.empty((0, 5), dtype=np.int32)
        upto = int(np.searchsorted(self.changes[:, 1], t - self.first, side="right"))
        part = self.changes[self.done : upto]
        self.states[part[:, 0], part[:, 2]] = part[:, 4]  # in order of step: the last write is the state
        self.done = upto
        return [self.states[b, :length].copy() for b, length in enumerate(self.lengths)]
