"""Which chains may be compared: those of one law, and among them the replicas of one start."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maskov.protocols import State, Tokens


class Group(NamedTuple):
    """Chains of one law at one temperature.

    members: int64 [m] chain indices, ascending; starts: int64 [m], which start each had (0 is the first member's);
    first: the first member's start; sites: n.
    """

    members: Tokens
    starts: Tokens
    first: State
    sites: int


def groups_of(starts: list[State], members: Tokens) -> list[Group]:
    """The members sorted by law: the same length, free columns and held tokens.

    Chains of other lengths or with other held tokens have other stationary laws: to pool them would call their
    differences a lack of mixing.

    >>> a, b = State(np.array([9, 1, 9]), np.array([1])), State(np.array([9, 2, 9]), np.array([1]))
    >>> [g.starts.tolist() for g in groups_of([a, b, a], np.arange(3))]
    [[0, 1, 0]]
    """
    found: dict[bytes, list[int]] = {}
    for b in members:
        found.setdefault(_law_of(starts[b]), []).append(int(b))
    return [_group(starts, np.array(chains, dtype=np.int64)) for chains in found.values()]


def _law_of(start: State) -> bytes:
    held = start.tokens.copy()
    held[start.free] = -1
    return held.tobytes()


def _group(starts: list[State], members: Tokens) -> Group:
    numbers: dict[bytes, int] = {}
    which = [numbers.setdefault(starts[b].tokens.tobytes(), len(numbers)) for b in members]
    first = starts[members[0]]
    return Group(members, np.array(which, dtype=np.int64), first, len(first.free))
