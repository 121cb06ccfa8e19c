"""Where a trajectory stays near one state: a partition of time into dwell segments, from the changes alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maskov.protocols import Tokens


class Segment(NamedTuple):
    """Times start … start + length − 1 (values of t, so that x_start is the first state inside), and a time at which
    the chain is at the reference.
    """

    start: int
    length: int
    reference: int


class Moves(NamedTuple):
    """The changes of one chain in order of step, each int64 [m]: step t means that x_t holds the change."""

    step: Tokens
    site: Tokens
    old: Tokens
    new: Tokens


def moves_by_chain(changes: Sequence[Tokens], chains: int) -> list[Moves]:
    """The changes of a trace (chain, step, site, old, new) chain by chain."""
    chain, *rest = (np.asarray(c, dtype=np.int64) for c in changes)
    order = np.argsort(chain, kind="stable")
    cuts = np.searchsorted(chain[order], np.arange(1, chains))
    columns = [np.split(c[order], cuts) for c in rest]
    return [Moves(*parts) for parts in zip(*columns, strict=True)]


def state_keys(moves: Moves) -> NDArray[np.uint64]:
    """A key per hold (the state between two changes), equal for equal states: uint64 [m + 1].

    Zobrist hashing [Zobrist 1970]: the sum of one random word per (site, token), updated by difference at each change.
    """
    with np.errstate(over="ignore"):
        difference = _word(moves.site, moves.new) - _word(moves.site, moves.old)
        return np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(difference, dtype=np.uint64)])


def _word(site: Tokens, token: Tokens) -> NDArray[np.uint64]:
    """SplitMix64's finaliser of (site, token)."""
    z = (site.astype(np.uint64) << np.uint64(32)) ^ token.astype(np.uint64) ^ np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(z ^ (z >> np.uint64(31)))


def hold_times(moves: Moves, steps: int) -> Tokens:
    """First t of every hold, and steps + 1 at the end: int64 [m + 2]. Hold k is x_t for times[k] ≤ t < times[k + 1]."""
    return np.concatenate([[0], moves.step, [steps + 1]]).astype(np.int64)


def reference_order(moves: Moves, times: Tokens) -> Tokens:
    """Holds in the order in which they are tried as references: by time spent in their state, then by their own length,
    then first.
    """
    lengths = np.diff(times)
    which = np.unique(state_keys(moves), return_inverse=True)[1].ravel()
    occupancy = np.bincount(which, weights=lengths)[which]
    return np.lexsort((np.arange(len(lengths)), -lengths, -occupancy))


def segments(moves: Moves, steps: int, radius: int) -> list[Segment]:
    """A partition of 0 … steps into segments that stay within Hamming distance ``radius`` of a reference.

    1. Take the uncovered hold whose state the chain visits for the most time in all (ties: the longest hold, the
       first).
    2. Extend it both ways, hold by hold, while the distance to its state is ≤ radius and the hold is uncovered.
    3. The interval is a segment; cover it; repeat until every hold is covered.

    So segments never overlap, each is maximal for its reference among the time that better references left, and every
    change is looked at a bounded number of times: O(m log m) for m changes, of which only the sort is not linear.

    moves: changes of one chain; steps: T; radius: ≥ 0. Result in order of start.

    >>> flip = Moves(*np.array([[3, 4], [0, 0], [7, 8], [8, 7]]))
    >>> segments(flip, 9, 1), [s.length for s in segments(flip, 9, 0)]
    ([Segment(start=0, length=10, reference=4)], [3, 1, 6])
    """
    times = hold_times(moves, steps)
    walk = _Walk(moves, radius)
    found = []
    for k in reference_order(moves, times).tolist():
        if not walk.covered[k]:
            first, last = walk.around(k)
            found.append(Segment(int(times[first]), int(times[last + 1] - times[first]), int(times[k])))
    return sorted(found)


class _Walk:
    """Extends one hold at a time over uncovered holds; plain lists, since a walk reads one change after another."""

    def __init__(self, moves: Moves, radius: int) -> None:
        self.site, self.old, self.new = moves.site.tolist(), moves.old.tolist(), moves.new.tolist()
        self.radius, self.covered = radius, [False] * (len(self.site) + 1)

    def around(self, k: int) -> tuple[int, int]:
        """First and last hold of the segment with reference k, which is then covered."""
        first, last = (
            k - self._reach(range(k - 1, -1, -1), self.new, self.old, -1),
            k + self._reach(range(k, len(self.site)), self.old, self.new, 0),
        )
        self.covered[first : last + 1] = [True] * (last + 1 - first)
        return first, last

    def _reach(self, changes: range, before: list[int], after: list[int], shift: int) -> int:
        """Holds gained by crossing ``changes`` away from the reference; change j leads to hold j + 1 forwards, j
        backwards (shift −1).
        """
        reference: dict[int, int] = {}  # the reference's token at a site is what the first crossing finds there
        distance = gained = 0
        for j in changes:
            if self.covered[j + 1 + shift]:
                break
            token = reference.setdefault(self.site[j], before[j])
            distance += (after[j] != token) - (before[j] != token)
            if distance > self.radius:
                break
            gained += 1
        return gained
