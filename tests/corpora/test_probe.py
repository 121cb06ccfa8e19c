"""The mode probe against the exact posterior of a law, and labels that say nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from maskov.corpora import mode_probe
from maskov.errors import InputError
from maskov.laws import law

LAW = law("product?sites=16&gap=0.2&weight=0.5")


def of_both_modes(size: int, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    return rng.random((size, 16)) < 0.3, rng.random((size, 16)) < 0.7


def test_it_is_the_posterior_where_that_is_known() -> None:
    probe = mode_probe(*of_both_modes(4000), 2)
    states = LAW.sample(np.random.default_rng(1), 3000)
    exact = np.exp(LAW.log_posterior(states, np.ones(states.shape, dtype=bool))[:, 1])
    assert np.abs(probe(states) - exact).mean() < 0.02
    mmse = float((exact * (1 - exact)).mean())
    assert abs(probe.brier.value - mmse) < 4 * (probe.brier.stderr + (exact * (1 - exact)).std() / 3000**0.5)


def test_shuffled_labels_tell_nothing() -> None:
    """The twin: the same states with modes drawn at random give one answer for all of them."""
    both = np.concatenate(of_both_modes(1000))
    np.random.default_rng(2).shuffle(both)
    probe = mode_probe(both[:1000], both[1000:], 2)
    assert probe.brier.value == pytest.approx(0.25, abs=0.01) and probe(both).std() < 0.1


def test_runs_tell_apart_what_single_symbols_do_not() -> None:
    """One mode alternates, the other repeats; their symbol frequencies are the same."""
    rng = np.random.default_rng(3)
    moves = [rng.random((600, 16)) < p for p in (0.8, 0.2)]
    states = [np.cumsum(m, axis=1) % 2 for m in moves]
    single, runs = (mode_probe(*states, 2, orders=k).brier.value for k in (1, 2))
    assert runs < 0.05 < 0.2 < single


@pytest.mark.parametrize(
    ("states", "message"), [(np.zeros((49, 4)), "at least 50"), (np.full((60, 4), 2), "symbols 0 … 1")]
)
def test_bad_states_are_told(states: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        mode_probe(states, np.zeros((60, 4)), 2)
