"""Closed-form leaving times against the linear solve, and where a window starts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maskov.basins import leaving_times, rising_stretch
from maskov.errors import InputError
from maskov.glauber.kernel import magnetisation_chain


def solved(up: np.ndarray, down: np.ndarray) -> np.ndarray:
    """(I − Q) h = 1, Q the chain killed beneath its lowest level."""
    m = len(up)
    Q = np.diag(1 - up - down) + np.diag(up[:-1], 1) + np.diag(down[1:], -1)
    return np.linalg.solve(np.eye(m) - Q, np.ones(m))


@given(st.integers(1, 12), st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_leaving_times_solve_the_linear_system(levels: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    up, down = rng.random(levels) * 0.6, 0.02 + rng.random(levels) * 0.38
    up[-1] = 0.0
    exact = solved(up, down)
    # The solve loses digits with the size of the answer, the closed form none.
    assert leaving_times(up, down) == pytest.approx(exact, rel=1e-12 + 1e-15 * exact.max() * levels)


def test_curie_weiss_leaves_its_all_plus_basin_as_its_matrix_says() -> None:
    P = magnetisation_chain(20, 1.4)
    k0, n = 11, 20
    up, down = np.append(np.diag(P, 1), 0.0)[k0:], np.append(0.0, np.diag(P, -1))[k0:]
    killed = P[k0:, k0:]
    exact = np.linalg.solve(np.eye(n + 1 - k0) - killed, np.ones(n + 1 - k0))
    assert leaving_times(up, down) == pytest.approx(exact, rel=1e-9)


def test_windows_come_in_batches() -> None:
    up, down = np.array([[0.3, 0.0], [0.1, 0.0]]), np.array([[0.2, 0.5], [0.4, 0.1]])
    both = leaving_times(up, down)
    assert both.shape == (2, 2) and both[1].tolist() == leaving_times(up[1], down[1]).tolist()


def test_times_beyond_float64_are_infinite_not_wrong() -> None:
    m = 400
    up, down = np.full(m, 0.9), np.full(m, 1e-3)
    up[-1] = 0.0
    assert np.isinf(leaving_times(up, down)).all()
    assert leaving_times([0.0, 0.0], [0.5, 0.0]).tolist() == [2.0, np.inf]  # what never happens takes no time
    assert leaving_times([0.0, 0.0], [0.0, 0.5]).tolist() == [np.inf, np.inf]


def test_a_lower_up_or_a_higher_down_never_lengthens_the_stay() -> None:
    rng = np.random.default_rng(3)
    for _ in range(50):
        up, down = rng.random(6) * 0.5, 0.05 + rng.random(6) * 0.4
        worse = leaving_times(up * rng.random(6), np.minimum(down * (1 + rng.random(6)), 0.5))
        assert (worse <= leaving_times(up, down) * (1 + 1e-12)).all()


@pytest.mark.parametrize(
    ("up", "down", "expected"),
    [
        ([0, 0.5, 0.5, 0], [0, 0.1, 0.1, 0.2], (1, 2)),
        ([0.5, 0.5, 0.1, 0], [0, 0.1, 0.2, 0.2], (1, 1)),  # the drift points down just beneath the top
        ([0.9, 0.1, 0.5, 0], [0, 0.1, 0.1, 0.2], (2, 2)),  # a tie does not rise
        ([0.9, 0.1, 0.1, 0], [0, 0.2, 0.2, 0.2], None),
        ([0, 0.5, 0.1, 0.5, 0], [0, 0.1, 0.2, 0.2, 0.2], (3, 3)),  # the topmost run
    ],
)
def test_where_counts_rise(up, down, expected) -> None:
    assert rising_stretch(up, down) == expected


@pytest.mark.parametrize(
    ("up", "down"), [([0.5], [0.6]), ([-0.1], [0.5]), ([0.1, 0.1], [0.1]), ([], []), ([np.nan], [0.1])]
)
def test_numbers_that_are_no_rates_are_named(up, down) -> None:
    with pytest.raises(InputError, match="rates"):
        leaving_times(up, down)
