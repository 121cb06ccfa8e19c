"""Couplings of one draw: exact marginals, the most agreement that is possible, and twins that must fail."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from maskov.coupling.steps import COUPLINGS, couple_tokens, exponentials, maximal, shared_uniform
from maskov.laws import total_variation
from maskov.randomness import uniforms, words

GRID = 20_000


def _rows(seed: int, v: int = 5, size: int = 1, sharp: float = 2.0) -> NDArray[np.float64]:
    return np.random.default_rng(seed).normal(0, sharp, size=(size, v))


def _softmax(s: NDArray[np.float64]) -> NDArray[np.float64]:
    w = np.exp(s - s.max(axis=-1, keepdims=True))
    return w / w.sum(axis=-1, keepdims=True)


def _on_grid(coupling: str, p: NDArray[np.float64], q: NDArray[np.float64], tau: float = 1.0) -> NDArray[np.float64]:
    """Joint law of (x, y) by integration over the one uniform of the draw. [V, V]."""
    u = (np.arange(GRID) + 0.5) / GRID
    zeros = np.zeros(GRID, dtype=np.int64)
    x, y = couple_tokens(coupling, np.repeat(p, GRID, 0), np.repeat(q, GRID, 0), np.full(GRID, tau), u, 0, zeros, zeros)
    joint = np.zeros((p.shape[1], p.shape[1]))
    np.add.at(joint, (x, y), 1 / GRID)
    return joint


@pytest.mark.parametrize("coupling", ["maximal", "uniform"])
@pytest.mark.parametrize("tau", [0.3, 1.0, 2.5])
@pytest.mark.parametrize("seed", range(6))
def test_marginals_by_integration(coupling: str, tau: float, seed: int) -> None:
    p, q = _rows(seed), _rows(seed + 100)
    joint = _on_grid(coupling, p, q, tau)
    np.testing.assert_allclose(joint.sum(axis=1), _softmax(p / tau)[0], atol=6 / GRID)
    np.testing.assert_allclose(joint.sum(axis=0), _softmax(q / tau)[0], atol=6 / GRID)


@pytest.mark.parametrize("seed", range(10))
def test_maximal_agrees_as_often_as_total_variation_allows(seed: int) -> None:
    p, q = _rows(seed, sharp=1.0), _rows(seed + 50, sharp=1.0)
    agree = np.trace(_on_grid("maximal", p, q))
    best = 1 - total_variation(_softmax(p)[0], _softmax(q)[0])
    assert agree == pytest.approx(best, abs=6 / GRID)
    assert np.trace(_on_grid("uniform", p, q)) <= best + 6 / GRID


def _residual_from_p(p: NDArray[np.float64], q: NDArray[np.float64], u: NDArray[np.float64]) -> NDArray[np.int64]:
    """A broken maximal coupling: when the tokens differ, x is drawn from p itself."""
    x, y = maximal(p, q, u)
    fresh = np.random.default_rng(0).random(len(u))
    return np.where(x == y, x, shared_uniform(p, q, fresh)[0])


def test_a_residual_from_the_row_itself_is_rejected() -> None:
    p, q = _softmax(_rows(1)), _softmax(_rows(2))
    u = (np.arange(GRID) + 0.5) / GRID
    counts = np.bincount(_residual_from_p(np.repeat(p, GRID, 0), np.repeat(q, GRID, 0), u), minlength=5)
    assert np.abs(counts / GRID - p[0]).max() > 0.02
    counts = np.bincount(maximal(np.repeat(p, GRID, 0), np.repeat(q, GRID, 0), u)[0], minlength=5)
    assert np.abs(counts / GRID - p[0]).max() < 6 / GRID


def _gumbel_counts(s: NDArray[np.float64], size: int) -> NDArray[np.int64]:
    rows = np.repeat(s, size, 0)
    steps = np.arange(size)
    x, _ = couple_tokens("gumbel", rows, rows, np.ones(size), np.zeros(size), 3, np.zeros(size, np.int64), steps)
    return np.bincount(x, minlength=s.shape[1])


def test_gumbel_marginal_by_frequency() -> None:
    s = _rows(7, v=6)
    counts = _gumbel_counts(s, 40_000)
    assert stats.chisquare(counts, 40_000 * _softmax(s)[0]).pvalue > 1e-3
    wrong = _softmax(s / 1.1)[0]
    assert stats.chisquare(counts, 40_000 * wrong).pvalue < 1e-6


def test_gumbel_keeps_the_tail_that_float32_loses() -> None:
    """A token 18 nats down among 30,522: 18.6 hits are expected in 40,000 draws; clamped float32 sees almost none."""
    v, gap, size = 30_522, 18.0, 40_000
    p = np.exp(-gap) * (v - 1)
    tail = 1 - 1 / (1 + p)
    expected = size * tail
    assert expected == pytest.approx(18.6, abs=0.1)
    # All tail tokens are alike, so the smallest of their exponentials is one exponential of rate v − 1.
    raw = uniforms(words(1, 2, 0, size // 2)).ravel()[: 2 * size].reshape(size, 2)
    e = -np.log1p(-raw)
    ours = int((e[:, 0] / (v - 1) * np.exp(gap) < e[:, 1]).sum())
    assert abs(ours - expected) < 4 * np.sqrt(expected)
    u32 = np.clip(raw.astype(np.float32), np.float32(1e-10), np.float32(1.0))
    top = -np.log(-np.log(u32[:, 1]) + np.float32(1e-10))
    rng = np.random.default_rng(0)
    best = np.array([rng.random(v - 1, dtype=np.float32).max() for _ in range(2000)])
    others = -np.log(-np.log(np.clip(best, np.float32(1e-10), 1)) + np.float32(1e-10)) - np.float32(gap)
    lost = int((others > top[:2000]).sum()) * size // 2000
    assert lost < expected - 4 * np.sqrt(expected) or lost == 0


def test_exponentials_are_exponential_and_a_function_of_their_names() -> None:
    e = np.concatenate([exponentials(5, 1, t, 7) for t in range(3000)])
    assert stats.kstest(e, "expon").pvalue > 1e-3
    assert (exponentials(5, 1, 3, 7) == exponentials(5, 1, 3, 7)).all()
    flat = {tuple(exponentials(5, c, t, 4)) for c in range(20) for t in range(20)}
    assert len(flat) == 400
    assert e.min() > 0 and np.isfinite(e).all()


@pytest.mark.parametrize("coupling", COUPLINGS)
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32), u=st.floats(0, 1, exclude_max=True), sharp=st.floats(0.01, 60))
def test_equal_rows_give_equal_tokens(coupling: str, seed: int, u: float, sharp: float) -> None:
    row = _rows(seed % 2**31, v=9, sharp=sharp)
    one = np.zeros(1, dtype=np.int64)
    x, y = couple_tokens(coupling, row, row.copy(), np.ones(1), np.array([u]), seed, one, one)
    assert x == y


@pytest.mark.parametrize("coupling", COUPLINGS)
def test_forbidden_tokens_are_never_drawn(coupling: str) -> None:
    p, q = _rows(3, v=8, size=4000), _rows(4, v=8, size=4000)
    p[:, [2, 5]] = q[:, [2, 5]] = -np.inf
    u = np.random.default_rng(0).random(4000)
    ids = np.arange(4000)
    x, y = couple_tokens(coupling, p, q, np.full(4000, 9.0), u, 0, ids, ids)
    assert not np.isin(x, [2, 5]).any() and not np.isin(y, [2, 5]).any()
    last = np.full(4000, 1 - 2.0**-53)
    assert not np.isin(couple_tokens(coupling, p, q, np.full(4000, 9.0), last, 0, ids, ids)[0], [2, 5]).any()


def test_the_uniform_coupling_is_monotone_on_spins() -> None:
    p = np.log(np.array([[0.7, 0.3]]))
    q = np.log(np.array([[0.4, 0.6]]))
    joint = _on_grid("uniform", p, q)
    assert joint[1, 0] == 0  # x plus and y minus, though y favours plus
