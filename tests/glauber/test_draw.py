"""One draw: exact by integration over its uniform, tails kept, and the messages of unusable rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import softmax

from maskov.conformance import check_sampler, tail_row
from maskov.errors import ConformanceError, InputError
from maskov.glauber import draw_tokens

GRID = 20_000


def _ours(logits: NDArray[np.float32], rng: np.random.Generator) -> NDArray[np.int64]:
    size = len(logits)
    current = rng.integers(logits.shape[1], size=size)
    return draw_tokens(logits, np.ones(size), current, rng.random(size)).tokens


def test_the_tail_is_drawn_as_often_as_it_should_be() -> None:
    """40,000 draws, 18.6 expected in the tail; tests/test_conformance.py refuses float32 Gumbels."""
    row = tail_row(gap=18.0, tokens=2000)
    row[0] -= np.float32(np.log(30_521 / 1999))  # the tail's mass of 30,522 tokens, on a shorter row
    assert check_sampler(_ours, row).draws == 40_000


def test_a_sampler_that_loses_the_tail_is_rejected() -> None:
    def clipped(logits: NDArray[np.float32], rng: np.random.Generator) -> NDArray[np.int64]:
        return _ours(np.where(logits < logits.max(axis=1, keepdims=True) - 15, -np.inf, logits), rng)

    row = tail_row(gap=18.0, tokens=2000)
    row[0] -= np.float32(np.log(30_521 / 1999))
    with pytest.raises(ConformanceError):
        check_sampler(clipped, row)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    v=st.integers(2, 7),
    tau=st.floats(0.05, 20),
    current=st.integers(0, 6),
    sharp=st.floats(0.1, 8),
)
def test_the_law_of_a_draw_by_integration(seed: int, v: int, tau: float, current: int, sharp: float) -> None:
    row = np.random.default_rng(seed).normal(0, sharp, size=(1, v))
    u = (np.arange(GRID) + 0.5) / GRID
    now = np.full(GRID, current % v)
    drawn = draw_tokens(np.repeat(row, GRID, 0), np.full(GRID, tau), now, u)
    p = softmax(row[0] / tau)
    np.testing.assert_allclose(np.bincount(drawn.tokens, minlength=v) / GRID, p, atol=2.5 / GRID)
    stays = drawn.tokens == now
    assert (stays == (u < drawn.stay)).all()
    np.testing.assert_allclose(drawn.stay[0], p[current % v], rtol=1e-12)
    np.testing.assert_allclose(drawn.entropy[0], -(p * np.log(np.maximum(p, 1e-300))).sum(), atol=1e-12)
    np.testing.assert_allclose(drawn.log_new, np.log(p)[drawn.tokens], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(drawn.log_old, np.log(p)[now], rtol=1e-10, atol=1e-12)


def test_rows_do_not_depend_on_their_block() -> None:
    rng = np.random.default_rng(0)
    rows, u = rng.normal(size=(40, 30_000)).astype(np.float32), rng.random(40)
    now, tau = rng.integers(30_000, size=40), rng.uniform(0.2, 2, 40)
    whole = draw_tokens(rows, tau, now, u)
    for k in (0, 17, 39):
        one = draw_tokens(rows[k : k + 1], tau[k : k + 1], now[k : k + 1], u[k : k + 1])
        assert all(a[k] == b[0] for a, b in zip(whole, one, strict=True))


def test_forbidden_tokens_have_no_mass() -> None:
    rows = np.zeros((3000, 6))
    rows[:, [0, 5]] = -np.inf
    u = np.append(np.random.default_rng(0).random(2999), 1 - 2.0**-53)
    drawn = draw_tokens(rows, np.full(3000, 50.0), np.full(3000, 5), u)
    assert set(drawn.tokens.tolist()) == {1, 2, 3, 4}
    assert (drawn.stay == 0).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_rows_that_are_no_scores(bad: float) -> None:
    rows = np.zeros((2, 3))
    rows[1, 1] = bad
    with pytest.raises(InputError, match="row 1"):
        draw_tokens(rows, np.ones(2), np.zeros(2, np.int64), np.zeros(2))
    with pytest.raises(InputError, match="at least one allowed token"):
        draw_tokens(np.full((1, 3), -np.inf), np.ones(1), np.zeros(1, np.int64), np.zeros(1))
