"""Zero-temperature descent: every token its conditional's arg max, site after site, until nothing changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maskov.glauber.packs import Pack, packs
from maskov.protocols import Conditionals, Floats, State, Tokens
from maskov.randomness import generator

MOST_SWEEPS = 50


class Descent(NamedTuple):
    """Where B starts ended. states: one per start; settled: bool [B], false where the sweeps ran out; sweeps: int64
    [B]; forwards: rows evaluated.
    """

    states: list[State]
    settled: NDArray[np.bool_]
    sweeps: Tokens
    forwards: int


def descend(
    model: Conditionals,
    starts: Sequence[State],
    *,
    seed: int = 0,
    most_sweeps: int = MOST_SWEEPS,
    progress: Callable[[int, int], None] | None = None,
) -> Descent:
    """x_i ← arg max_v s_i(v; x_{-i}) in random site order until a fixed point, all starts in one batch.

    A token that ties with the arg max stays. With a joint law every change raises log p, so descent ends; incompatible
    conditionals may go round for ever, hence the cap. A site is looked at again only if another one has changed since.
    progress takes (starts done, starts).

    >>> from maskov.laws import law
    >>> x = State(np.array([0, 1, 1, 1, 0]), np.arange(5))
    >>> descend(law("curie-weiss?sites=5&beta=2"), [x]).states[0].tokens.tolist()
    [1, 1, 1, 1, 1]
    """
    walkers = [_Walker(state, generator(seed, k)) for k, state in enumerate(starts)]
    forwards, ended = 0, 0
    lengths = np.array([len(s.tokens) for s in starts], dtype=np.int64)
    for pack in packs(model, lengths):
        waiting = [walkers[b] for b in pack.members]
        while waiting:
            asked = [(w, i) for w in waiting if (i := w.next_site(most_sweeps)) is not None]
            if asked:
                forwards += _answer(model, asked, pack)
            if progress is not None and len(asked) < len(waiting):
                ended += len(waiting) - len(asked)
                progress(ended, len(walkers))
            waiting = [w for w, _ in asked]
    states = [State(w.x, w.free) for w in walkers]
    settled = np.array([not w.stale.any() for w in walkers], dtype=bool)
    return Descent(states, settled, np.array([w.sweeps for w in walkers], dtype=np.int64), forwards)


class _Walker:
    """One start on its way down. stale: bool [n], sites that may not hold their arg max."""

    def __init__(self, state: State, rng: np.random.Generator) -> None:
        self.x, self.free, self.rng = state.tokens.copy(), state.free, rng
        self.stale = np.ones(len(self.free), dtype=bool)
        self.order, self.at, self.sweeps = np.empty(0, dtype=np.int64), 0, 0

    def next_site(self, most_sweeps: int) -> int | None:
        """Number of the next stale free site of this sweep, or None at the end."""
        while self.stale.any():
            while self.at < len(self.order):
                site = int(self.order[self.at])
                self.at += 1
                if self.stale[site]:
                    return site
            if self.sweeps == most_sweeps:
                return None
            self.order, self.at, self.sweeps = self.rng.permutation(len(self.free)), 0, self.sweeps + 1
        return None

    def apply(self, site: int, row: Floats) -> None:
        column, best = self.free[site], int(row.argmax())
        if row[best] > row[self.x[column]]:
            self.x[column] = best
            self.stale[:] = True
        self.stale[site] = False


def _answer(model: Conditionals, asked: list[tuple[_Walker, int]], pack: Pack) -> int:
    """One row for each walker that waits, in one batch; the number of rows."""
    block = np.full((len(asked), pack.width), pack.pad, dtype=np.int64)
    for k, (walker, _) in enumerate(asked):
        block[k, : len(walker.x)] = walker.x
    columns = np.array([walker.free[site] for walker, site in asked], dtype=np.int64)
    rows = model.logits(block, columns)
    for (walker, site), row in zip(asked, rows, strict=True):
        walker.apply(site, row)
    return len(asked)
