"""Dwell segments from changes against a per-step computation of the same definition."""

from __future__ import annotations

import time
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maskov.basins.segments import Moves, Segment, hold_times, moves_by_chain, segments, state_keys


def moves_of(path: np.ndarray) -> Moves:
    """The changes of a path [T + 1, n] whose steps change one site at most."""
    rows = [
        (t, i, path[t - 1, i], path[t, i]) for t in range(1, len(path)) for i in np.flatnonzero(path[t] != path[t - 1])
    ]
    return Moves(*np.array(rows, dtype=np.int64).reshape(-1, 4).T)


def brute_force(path: np.ndarray, radius: int) -> list[Segment]:
    """The definition read off the states x_t themselves, step by step."""
    T = len(path)
    runs = [0, *(t for t in range(1, T) if (path[t] != path[t - 1]).any()), T]
    holds = list(pairwise(runs))
    occupancy = {a: sum((path[t] == path[a]).all() for t in range(T)) for a, _ in holds}
    covered, found = np.zeros(T, dtype=bool), []
    for a, _ in sorted(holds, key=lambda h: (-occupancy[h[0]], -(h[1] - h[0]), h[0])):
        if covered[a]:
            continue
        near = (path != path[a]).sum(axis=1) <= radius
        first = last = a
        while first > 0 and near[first - 1] and not covered[first - 1]:
            first -= 1
        while last + 1 < T and near[last + 1] and not covered[last + 1]:
            last += 1
        covered[first : last + 1] = True
        found.append(Segment(first, last + 1 - first, a))
    return sorted(found)


@st.composite
def paths(draw) -> np.ndarray:
    n, V, T = draw(st.integers(1, 5)), draw(st.integers(2, 3)), draw(st.integers(0, 40))
    rng, lazy = np.random.default_rng(draw(st.integers(0, 2**32))), draw(st.floats(0, 0.95))
    path = np.zeros((T + 1, n), dtype=np.int64)
    for t in range(1, T + 1):
        path[t] = path[t - 1]
        if rng.random() > lazy:
            path[t, rng.integers(n)] = rng.integers(V)
    return path


@given(paths(), st.integers(0, 4))
@settings(max_examples=300, deadline=None)
def test_agrees_with_the_definition_step_by_step(path: np.ndarray, radius: int) -> None:
    assert segments(moves_of(path), len(path) - 1, radius) == brute_force(path, radius)


@given(paths(), st.integers(0, 4))
@settings(max_examples=100, deadline=None)
def test_time_is_partitioned_and_every_state_is_near_its_reference(path: np.ndarray, radius: int) -> None:
    found = segments(moves_of(path), len(path) - 1, radius)
    assert [t for s in found for t in range(s.start, s.start + s.length)] == list(range(len(path)))
    for s in found:
        inside = path[s.start : s.start + s.length]
        assert s.start <= s.reference < s.start + s.length
        assert ((inside != path[s.reference]).sum(axis=1) <= radius).all()


def test_the_centre_of_a_trap_is_its_reference() -> None:
    """From a centre c, excursions to distance 1 in different sites: one segment around c, though they are 2 apart from
    each other.
    """
    path = np.zeros((60, 6), dtype=np.int64)
    for k, t in enumerate(range(0, 60, 6)):  # begins outside of the centre: a forward reference would break at once
        path[t : t + 2, k % 6] = 1
    found = segments(moves_of(path), 59, 1)
    assert [(s.start, s.length) for s in found] == [(0, 60)]
    assert (path[found[0].reference] == 0).all()


def test_radius_zero_gives_the_holds() -> None:
    path = np.array([[0], [0], [1], [1], [1], [0]])
    assert [s.length for s in segments(moves_of(path), 5, 0)] == [2, 3, 1]


def test_a_frozen_chain_is_one_segment() -> None:
    nothing = Moves(*np.empty((4, 0), dtype=np.int64))
    assert segments(nothing, 10**6, 2) == [Segment(0, 10**6 + 1, 0)]


@given(paths())
@settings(max_examples=100, deadline=None)
def test_keys_tell_states_apart(path: np.ndarray) -> None:
    moves = moves_of(path)
    states = path[hold_times(moves, len(path) - 1)[:-1]]
    same_state = (states[:, None] == states[None]).all(axis=2)
    keys = state_keys(moves)
    assert (same_state == (keys[:, None] == keys[None])).all()


def test_changes_are_split_by_chain_in_order() -> None:
    chain, step = np.array([2, 0, 2, 0]), np.array([1, 2, 2, 5])
    parts = moves_by_chain((chain, step, step, step, step), 3)
    assert [m.step.tolist() for m in parts] == [[2, 5], [], [1, 2]]


def test_cost_grows_with_changes_alone() -> None:
    """Everything within the radius and everything out of it: both far from quadratic."""
    m = 20_000
    site, token = np.arange(m) % 50, np.arange(m) % 7
    fast = Moves(np.arange(1, m + 1), site, token, token + 1)
    begin = time.perf_counter()
    for radius in (0, 50):
        segments(fast, 10**9, radius)
    assert time.perf_counter() - begin < 5  # quadratic would take minutes


@pytest.mark.parametrize("radius", [0, 1, 3])
def test_a_wider_radius_never_shortens_the_longest(radius: int) -> None:
    rng = np.random.default_rng(radius)
    path = np.zeros((200, 4), dtype=np.int64)
    for t in range(1, 200):
        path[t] = path[t - 1]
        path[t, rng.integers(4)] = rng.integers(2)
    lengths = [max(s.length for s in segments(moves_of(path), 199, r)) for r in (radius, 4)]
    assert lengths[1] == 200 >= lengths[0]
