"""Waiting times without waiting: the n-fold way [Bortz, Kalos & Lebowitz 1975], lazily, on the plain loop's own stream.

The inverse CDF has the current token first, so a chain stays at step t iff u_t < p_{i_t}(x_{i_t} | x_{-i_t}). A state's
stay probabilities are remembered as its sites are visited; from then on a step is one comparison, and the next step
that needs more is found by scanning the stream. The trajectory is the plain loop's, step by step.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maskov.glauber.draw import Drawn, draw_tokens
from maskov.glauber.engine import Bucket, PlainEngine, Recorder, evaluate
from maskov.glauber.memo import MEMORY_BYTES, Memory, Note, context
from maskov.protocols import Conditionals, Floats, Tokens

# Steps of the first look ahead; each further one is four times as long.
_FIRST_LOOK, _LONGEST_LOOK = 32, 1 << 16
_UNKNOWN = -1.0


class Known(NamedTuple):
    """What is known of the present states of B chains of L columns; each [B, L], ``stay`` is −1 where nothing is."""

    states: Tokens
    stay: NDArray[np.float64]
    entropy: NDArray[np.float64]
    log_old: NDArray[np.float64]


class Request(NamedTuple):
    """A row that a chain waits for: its context, the column of the site."""

    key: bytes
    site: int


class _Walker:
    """One chain: runs ahead on what is known, and stops where a row is needed."""

    def __init__(self, k: int, bucket: Bucket, known: Known, recorder: Recorder, memory: Memory) -> None:
        b = int(bucket.members[k])
        self.chain, self.memory, self.temperature = b, memory, float(bucket.temperatures[k])
        self.x = bucket.block[k].astype(np.int32)
        self.sites, self.u, self.t, self.steps = bucket.sites[k], bucket.u[k], 0, bucket.sites.shape[1]
        self.stay, self.entropy, self.log_old = known.stay[k], known.entropy[k], known.log_old[k]
        self.told = recorder.stay[b], recorder.entropy[b], recorder.log_old[b]
        self.changes: list[tuple[int, int, int, int]] = []
        self.rises: list[float] = []
        self.events = 0

    def advance(self) -> Request | None:
        """Go on to the next step that needs a row of the model, or to the end (None)."""
        while self.t < self.steps:
            site = int(self.sites[self.t])
            if self.u[self.t] < self.stay[site]:
                self._run_ahead()
                continue
            self.events += 1
            key = context(self.x, site)
            if self.stay[site] < 0:
                note = self.memory.note(key, self.temperature, int(self.x[site]))
                if note is not None:
                    self.stay[site], self.entropy[site], self.log_old[site] = note
                    if self.u[self.t] < note.stay:
                        continue
            row = self.memory.row(key)
            if row is None:
                return Request(key, site)
            self.apply(Request(key, site), self._draw(row, site), 0)
        return None

    def _run_ahead(self) -> None:
        """Past every step that stays at a known site."""
        size = _FIRST_LOOK
        while self.t < self.steps:
            part = slice(self.t, min(self.t + size, self.steps))
            sites = self.sites[part]
            stops = self.u[part] >= self.stay.take(sites)
            k = int(stops.argmax())
            stopped = bool(stops[k])
            self._tell_stays(sites[:k] if stopped else sites)
            if stopped:
                return
            size = min(4 * size, _LONGEST_LOOK)

    def _tell_stays(self, sites: Tokens) -> None:
        part = slice(self.t, self.t + len(sites))
        for told, known in zip(self.told, (self.stay, self.entropy, self.log_old), strict=True):
            known.take(sites, out=told[part], mode="clip")
        self.t += len(sites)

    def _draw(self, row: Floats, site: int) -> Drawn:
        one = np.array([self.temperature]), np.array([self.x[site]], dtype=np.int64), self.u[self.t : self.t + 1]
        return draw_tokens(row[None], *one)

    def apply(self, request: Request, drawn: Drawn, at: int) -> None:
        """Make the step that waited for a row, with entry ``at`` of the draws."""
        site, t, old, new = request.site, self.t, int(self.x[request.site]), int(drawn.tokens[at])
        note = Note(float(drawn.stay[at]), float(drawn.entropy[at]), float(drawn.log_old[at]))
        for told, value in zip(self.told, note, strict=True):
            told[t] = value
        self.memory.keep_note(request.key, self.temperature, old, note)
        if new != old:
            note = Note(float(drawn.hold[at]), note.entropy, float(drawn.log_new[at]))
            self.rises.append(note.log_old - self.told[2][t])
            self.changes.append((t + 1, site, old, new))
            self.memory.keep_note(request.key, self.temperature, new, note)
            self.stay.fill(_UNKNOWN)  # every other site has another context now
            self.x[site] = new
        self.stay[site], self.entropy[site], self.log_old[site] = note
        self.t += 1


class LazyEngine:
    """Remembers stay probabilities and rows by masked input; a row is evaluated when a step cannot do without.

    Each tick gathers the rows that chains wait for, whatever their temperatures and steps, into one batch; equal
    contexts are evaluated once. budget: bytes of memory.
    """

    span_updates = 1 << 20

    def __init__(self, model: Conditionals, budget: int = MEMORY_BYTES) -> None:
        self.model, self.budget, self.events = model, budget, 0
        self._memory: Memory | None = None
        self._known: dict[bytes, Known] = {}

    def run(self, buckets: Sequence[Bucket], recorder: Recorder) -> int:
        """All chains to the end of the span, in as many ticks as the busiest needs."""
        # One memory for all widths: a context's bytes tell its own.
        memory = self._memory = self._memory or Memory(max(b.block.shape[1] for b in buckets), self.budget)
        known = [self._recall(bucket) for bucket in buckets]
        crews = [
            [_Walker(k, bucket, what, recorder, memory) for k in range(len(bucket.members))]
            for bucket, what in zip(buckets, known, strict=True)
        ]
        walkers = [walker for crew in crews for walker in crew]
        forwards = self._finish(walkers, memory)
        for bucket, crew, what in zip(buckets, crews, known, strict=True):
            bucket.block[:] = [walker.x for walker in crew]
            self._known[bucket.members.tobytes()] = what._replace(states=bucket.block.copy())
        self.events = sum(walker.events for walker in walkers)
        _record_changes(walkers, recorder)
        return forwards

    def _finish(self, walkers: list[_Walker], memory: Memory) -> int:
        forwards, waiting, alone = 0, walkers, len(walkers) == 1
        while waiting:
            asked = [(walker, request) for walker in waiting if (request := walker.advance()) is not None]
            if asked:
                forwards += self._answer(asked, memory, alone)
            waiting = [walker for walker, _ in asked]
        return forwards

    def _recall(self, bucket: Bucket) -> Known:
        """What is known of these states: all of it, if the chains are where the last span left them."""
        known = self._known.get(bucket.members.tobytes())
        if known is not None and np.array_equal(known.states, bucket.block):
            return known
        return Known(bucket.block.copy(), *(np.full(bucket.block.shape, _UNKNOWN) for _ in range(3)))

    def _answer(self, asked: list[tuple[_Walker, Request]], memory: Memory, alone: bool) -> int:
        """Evaluate the rows asked for, each context once, and make the steps that waited for them."""
        parts = _by_width(asked)
        rows = evaluate(self.model, [_needed(part) for part in parts], alone)
        for part, found in zip(parts, rows, strict=True):
            self._apply(part, np.asarray(found), memory)
        return sum(map(len, rows))

    def _apply(self, asked: list[tuple[_Walker, Request]], rows: Floats, memory: Memory) -> None:
        """Draw from the rows of one width, in the order of ``_needed``."""
        place = _places(asked)
        which = np.array([place[request.key] for _, request in asked])
        drawn = draw_tokens(
            rows,
            np.array([walker.temperature for walker, _ in asked]),
            np.array([walker.x[request.site] for walker, request in asked], dtype=np.int64),
            np.array([walker.u[walker.t] for walker, _ in asked]),
            None if len(place) == len(asked) else which,
        )
        for key, k in place.items():
            memory.keep_row(key, rows[k])
        for at, (walker, request) in enumerate(asked):
            walker.apply(request, drawn, at)


def _by_width(asked: list[tuple[_Walker, Request]]) -> list[list[tuple[_Walker, Request]]]:
    """Requests grouped by the width of their states."""
    groups: dict[int, list[tuple[_Walker, Request]]] = {}
    for walker, request in asked:
        groups.setdefault(len(walker.x), []).append((walker, request))
    return list(groups.values())


def _places(asked: list[tuple[_Walker, Request]]) -> dict[bytes, int]:
    """Each context's row, in order of first request."""
    place: dict[bytes, int] = {}
    for _, request in asked:
        place.setdefault(request.key, len(place))
    return place


def _needed(asked: list[tuple[_Walker, Request]]) -> tuple[Tokens, Tokens]:
    """States and sites of the contexts asked for, each once."""
    first = {request.key: (walker.x, request.site) for walker, request in reversed(asked)}
    chosen = [first[key] for key in _places(asked)]
    return np.stack([x for x, _ in chosen]).astype(np.int64), np.array([i for _, i in chosen], dtype=np.int64)


def _record_changes(walkers: list[_Walker], recorder: Recorder) -> None:
    """The changes of all walkers as columns."""
    rows = [(walker.chain, *change) for walker in walkers for change in walker.changes]
    if rows:
        chain, step, *others = np.array(rows, dtype=np.int64).T
        recorder.add_changes(np.stack([chain, *others]), step, np.array([r for w in walkers for r in w.rises]))


class AutoEngine:
    """Lazy where it cannot hurt: always for networks; for laws, whose rows cost no more than a look-up, in traps only.

    The trajectory is the same either way. The rule counts events, not seconds, so that a run can be repeated.
    """

    def __init__(self, model: Any, budget: int = MEMORY_BYTES) -> None:
        self._plain, self._lazy = PlainEngine(model), LazyEngine(model, budget)
        self._cheap = getattr(model, "n_sites", None) is not None
        self._is_lazy: bool | None = None

    @property
    def span_updates(self) -> int:
        """Short spans at first and while a law is run plainly, so that a trap is noticed soon."""
        if not self._cheap or self._is_lazy:
            return self._lazy.span_updates
        return 1 << 10 if self._is_lazy is None else 1 << 13

    def run(self, buckets: Sequence[Bucket], recorder: Recorder) -> int:
        """With the engine that the last span speaks for."""
        if not self._cheap:
            return self._lazy.run(buckets, recorder)
        chains, updates = sum(len(b.members) for b in buckets), sum(b.sites.size for b in buckets)
        lazy = chains == 1 if self._is_lazy is None else self._is_lazy
        forwards = (self._lazy if lazy else self._plain).run(buckets, recorder)
        # After a move every site is an event once; that is what the plain loop's moves say of the lazy one.
        moves = sum(map(len, recorder.rows)) * max(int(b.n_sites.max()) for b in buckets)
        self._is_lazy = (self._lazy.events if lazy else moves) < _worth(chains) * updates
        return forwards


def _worth(chains: int) -> float:
    """Events per update up to which the lazy loop is the faster one: an event costs about 30 µs, a plain step of B
    chains of a law about 80 + 1.5 B."""
    return min(1.0, (80 / chains + 1.5) / 30)


ENGINES: dict[str, Any] = {"auto": AutoEngine, "lazy": LazyEngine, "plain": PlainEngine}
