"""Margins and leave probabilities against enumeration, and a twin that forgets to mask."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import softmax

from maskov.basins import hold, is_perfect_trap, margins
from maskov.conformance import check_ignores_own_token
from maskov.errors import ConformanceError, InputError
from maskov.glauber.kernel import transition_matrix
from maskov.laws import Tabular, enumerate_states, law, random_conditionals, random_tabular, state_index

V, N = 3, 3
EVERY = np.arange(N)


class Counting:
    """A law that counts the rows it is asked for."""

    def __init__(self, inner):
        self.inner, self.rows, self.vocabulary_size = inner, 0, inner.vocabulary_size

    def logits(self, states, sites):
        self.rows += len(states)
        return self.inner.logits(states, sites)


class Peeking:
    """The broken twin: the row leans towards the token that stands there, as an unmasked forward does."""

    def __init__(self, inner):
        self.inner, self.vocabulary_size = inner, inner.vocabulary_size

    def logits(self, states, sites):
        rows = self.inner.logits(states, sites).copy()
        rows[np.arange(len(states)), states[np.arange(len(states)), sites]] += 5.0
        return rows


def brute_margins(log_p: np.ndarray, states: np.ndarray) -> np.ndarray:
    """m_i(x) from the table alone: log p(x) minus the best log p with x_i changed."""
    out = np.empty(states.shape)
    for b, x in enumerate(states):
        for i in range(len(x)):
            others = [np.r_[x[:i], v, x[i + 1 :]] for v in range(V) if v != x[i]]
            out[b, i] = log_p[state_index(x[None], V)[0]] - max(log_p[state_index(y[None], V)[0]] for y in others)
    return out


@given(st.integers(0, 10**6))
@settings(max_examples=15, deadline=None)
def test_margins_are_gaps_of_the_joint_law(seed: int) -> None:
    p, states = random_tabular(V, N, seed), enumerate_states(V, N)
    assert np.allclose(margins(p, states, EVERY), brute_margins(p.log_prob(states), states), atol=1e-12)


def test_perfect_traps_are_the_strict_local_maxima() -> None:
    p, states = random_tabular(V, N, seed=4), enumerate_states(V, N)
    table = p.log_prob(states)
    neighbours = (states[:, None] != states[None]).sum(axis=2) == 1
    local_maxima = np.array([(table[x] > table[neighbours[x]]).all() for x in range(len(states))])
    assert local_maxima.any()
    assert (is_perfect_trap(p, states, EVERY) == local_maxima).all()


def test_a_tie_is_no_perfect_trap() -> None:
    uniform = Tabular(np.zeros((V,) * N))
    assert not is_perfect_trap(uniform, np.zeros((1, N), int), EVERY)[0]


@pytest.mark.parametrize("temperature", [0.3, 1.0, 2.5])
def test_leave_probability_is_one_minus_the_diagonal_of_the_chain(temperature: float) -> None:
    conditionals, states = random_conditionals(V, N, seed=2), enumerate_states(V, N)
    exact = 1 - transition_matrix(conditionals, N, temperature).diagonal()
    h = hold(conditionals, states, EVERY, (9.0, temperature))
    assert np.allclose(h.leave_probability[1], exact, atol=1e-13)


def test_all_temperatures_share_one_set_of_logits() -> None:
    counting = Counting(random_tabular(V, N))
    hold(counting, enumerate_states(V, N), EVERY, np.linspace(0.1, 3, 20))
    assert counting.rows == V**N * N


def test_a_deep_trap_keeps_its_digits() -> None:
    deep = law("curie-weiss?sites=40&beta=30")
    h = hold(deep, np.zeros((1, 40), int), np.arange(40), (1.0,))
    m = h.margins[0, 0]
    assert 1 - softmax([m, 0.0])[0] == 0.0  # what 1 − p would give
    assert h.leave_probability[0, 0] == pytest.approx(np.exp(-m), rel=1e-12)


def test_a_model_that_forgets_to_mask_sees_traps_everywhere() -> None:
    p, states = random_tabular(V, N, seed=1), enumerate_states(V, N)
    honest, broken = is_perfect_trap(p, states, EVERY), is_perfect_trap(Peeking(p), states, EVERY)
    assert broken.sum() > 5 * honest.sum()
    assert not np.allclose(margins(Peeking(p), states, EVERY), brute_margins(p.log_prob(states), states), atol=1)
    with pytest.raises(ConformanceError, match="ignores the token"):
        check_ignores_own_token(Peeking(p), states, np.zeros(len(states), int))


def test_free_sites_may_differ_by_state_and_leave_the_rest_out() -> None:
    p, states = random_tabular(V, N, seed=3), enumerate_states(V, N)[:2]
    whole = margins(p, states, EVERY)
    part = margins(p, states, np.array([[0, 2], [1, 2]]))
    assert np.array_equal(part, [whole[0, [0, 2]], whole[1, [1, 2]]])


def test_batches_beyond_one_block_agree() -> None:
    p = law("ising-ring?sites=9&beta=0.4")
    states = enumerate_states(2, 9)[::7]
    alone = np.concatenate([margins(p, x[None], np.arange(9)) for x in states])
    assert np.array_equal(margins(p, states, np.arange(9)), alone)


@pytest.mark.parametrize(
    ("states", "free", "temperatures", "message"),
    [
        (np.zeros(3, int), EVERY, (1.0,), "states: expected an array"),
        (np.zeros((0, 3), int), EVERY, (1.0,), "at least one state"),
        (np.zeros((1, 3), int), np.array([], int), (1.0,), "free sites"),
        (np.zeros((1, 3), int), np.array([3]), (1.0,), "columns from 0 to 2"),
        (np.zeros((2, 3), int), np.array([[0], [1], [2]]), (1.0,), "free sites"),
        (np.zeros((1, 3), int), EVERY, (0.0,), "temperature"),
        (np.zeros((1, 3), int), EVERY, (), "temperature"),
    ],
)
def test_bad_input_is_named(states, free, temperatures, message: str) -> None:
    with pytest.raises(InputError, match=message):
        hold(random_tabular(V, N), states, free, temperatures)


def test_a_site_with_one_allowed_token_can_not_leave() -> None:
    table = np.full((V,) * N, -np.inf)
    table[0] = 0.0
    h = hold(Tabular(table), np.zeros((1, N), int), np.array([0, 1]))
    assert h.margins[0].tolist() == [np.inf, 0.0]
    assert h.leave[0, 0].tolist() == [0.0, pytest.approx(2 / 3)]


def test_a_forbidden_token_is_refused() -> None:
    table = np.zeros((V,) * N)
    table[0] = -np.inf
    with pytest.raises(InputError, match="may write"):
        hold(Tabular(table), np.zeros((1, N), int), np.array([0]))
