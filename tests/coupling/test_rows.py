"""The memory of rows: the same chains, fewer forwards, never more rows than its room."""

from __future__ import annotations

import numpy as np
import pytest

from maskov.coupling import meeting_times
from maskov.coupling.rows import Rows
from maskov.laws import law
from maskov.models import load
from maskov.protocols import State

NAME = "law:potts?sites=6&symbols=3&beta=1.5"


class Network:
    """A law that does not say that it is one, and counts the rows that it evaluates."""

    vocabulary_size, name = 3, "network"

    def __init__(self) -> None:
        self.law, self.rows = law(NAME), 0

    def logits(self, states, sites):
        self.rows += len(states)
        return self.law.logits(states, sites)


STATES = [State(np.full(6, v), np.arange(6)) for v in (2, 0)]


@pytest.mark.parametrize("coupling", ["maximal", "uniform", "gumbel"])
def test_the_same_meetings_with_fewer_rows(coupling) -> None:
    options = {"temperatures": [0.6, 2.0], "coupling": coupling, "n_pairs": 8, "max_steps": 300}
    network = Network()
    quick = meeting_times(network, [tuple(STATES)], **options)
    plain = meeting_times(load(NAME), [tuple(STATES)], **options)
    assert [c.times for c in quick.cells] == [c.times for c in plain.cells]
    assert quick.forwards == network.rows < plain.forwards / 2


def test_pairs_that_have_met_cost_nothing() -> None:
    network = Network()
    found = meeting_times(network, [(STATES[0], STATES[0])], max_steps=500)
    assert network.rows == found.forwards == 0 and found.cells[0].times == (0.0,)
    short = meeting_times(load(NAME), [tuple(STATES)], temperatures=2.0, n_pairs=20, max_steps=400)
    long = meeting_times(load(NAME), [tuple(STATES)], temperatures=2.0, n_pairs=20, max_steps=40_000)
    assert short.cells[0].censored == 0 and short.forwards == long.forwards


def test_one_row_serves_two_equal_contexts() -> None:
    network = Network()
    one = State(np.array([0, 1, 2, 0, 1, 2]), np.array([3]))
    other = State(np.array([0, 1, 2, 1, 1, 2]), np.array([3]))
    found = meeting_times(network, [(one, other)], max_steps=5)
    assert network.rows == 1 and found.cells[0].times == (1.0,)  # they differ at the updated site alone


def test_the_memory_is_bounded_and_forgets_the_oldest() -> None:
    network = Network()
    rows = Rows(network, 1, memory=4 * 3 * 2)
    states = np.array([[v] * 6 for v in (0, 1, 2)])
    ask = lambda k: rows(states[[k]], np.zeros(1, dtype=int), np.ones(1))  # noqa: E731
    for k in (0, 1, 0, 2, 0):
        np.testing.assert_array_equal(ask(k), law(NAME).logits(states[[k]], np.zeros(1, dtype=int)))
    assert network.rows == 3 and len(rows.kept[1.0]) == 2
    ask(1)
    assert network.rows == 4
    assert rows(states, np.zeros(3, dtype=int), np.array([1.0, 1.0, 2.0])).shape == (3, 3)


def test_the_current_token_is_not_part_of_the_request() -> None:
    network = Network()
    rows = Rows(network, 1)
    states = np.array([[0, 1, 2, 0, 1, 2], [1, 1, 2, 0, 1, 2]])
    rows(states, np.zeros(2, dtype=int), np.ones(2))
    assert network.rows == 1
    rows(states, np.ones(2, dtype=int), np.ones(2))
    assert network.rows == 3
