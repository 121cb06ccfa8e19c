"""Couplings of one draw: each token alone follows its own row exactly; equal rows never part; twins are rejected."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from maskov.coupling.steps import COUPLINGS, couple_tokens, exponentials, invert, maximal, shared_uniform
from maskov.randomness import Stream, draws, words

# Multiples of 1/64: on a grid of midpoints with 64 k points every token gets its exact share.
P = np.array([20, 0, 4, 30, 10]) / 64
Q = np.array([1, 12, 4, 7, 40]) / 64
DRAWS = 20_000


def log(p):
    with np.errstate(divide="ignore"):
        return np.log(p)


def tile(row, count):
    return np.tile(row, (count, 1))


def coupled(coupling, p, q, count=DRAWS, seed=1, temperature=1.0):
    u = draws(seed, np.array([0]), 0, count).token[:, 0]
    ids, steps = np.zeros(count, dtype=np.int64), np.arange(count)
    return couple_tokens(
        coupling, tile(log(p), count), tile(log(q), count), np.full(count, temperature), u, seed, ids, steps
    )


def fit(tokens, p) -> float:
    """p-value of the tokens against p; 0 where a token of probability 0 came."""
    counts = np.bincount(tokens, minlength=len(p))
    if counts[p == 0].any():
        return 0.0
    return float(stats.chisquare(counts[p > 0], counts.sum() * p[p > 0]).pvalue)


@pytest.mark.parametrize("coupling", [maximal, shared_uniform])
def test_marginals_are_exact_on_a_grid(coupling) -> None:
    """Enumeration over u: no statistics. The overlap 1 − TV is 20/64 = 5/16 of the maximal coupling's mass."""
    m = 64 * 50
    x, y = coupling(tile(P, m), tile(Q, m), (np.arange(m) + 0.5) / m)
    np.testing.assert_array_equal(np.bincount(x, minlength=5), m * P)
    np.testing.assert_array_equal(np.bincount(y, minlength=5), m * Q)


def test_the_maximal_coupling_agrees_as_often_as_any_can() -> None:
    m = 64 * 50
    x, y = maximal(tile(P, m), tile(Q, m), (np.arange(m) + 0.5) / m)
    assert (x == y).mean() == np.minimum(P, Q).sum() == 1 - 0.5 * np.abs(P - Q).sum()
    x, y = shared_uniform(tile(P, m), tile(Q, m), (np.arange(m) + 0.5) / m)
    assert (x == y).mean() < np.minimum(P, Q).sum()


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), spread=st.floats(0.1, 30))
@pytest.mark.parametrize("coupling", COUPLINGS)
def test_equal_rows_never_part(coupling, seed, spread) -> None:
    rng = np.random.default_rng(seed)
    rows = spread * rng.normal(size=(6, 300))
    u = np.array([0.0, 0.25, 0.5, 0.75, 1 - 2.0**-30, 1 - 2.0**-53])
    x, y = couple_tokens(coupling, rows, rows.copy(), np.full(6, 0.7), u, seed, np.arange(6), np.arange(6))
    np.testing.assert_array_equal(x, y)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_the_uniform_coupling_is_monotone_on_spins(seed) -> None:
    """A larger field at x than at y never gives − at x and + at y."""
    rng = np.random.default_rng(seed)
    low = rng.normal(size=200)
    high = low + rng.exponential(size=200)
    y, x = shared_uniform(
        *(np.stack([1 / (1 + np.exp(h)), 1 / (1 + np.exp(-h))], axis=1) for h in (low, high)), rng.random(200)
    )
    assert (x >= y).all() and (x > y).any()


@pytest.mark.parametrize("coupling", COUPLINGS)
def test_each_token_follows_its_own_row(coupling) -> None:
    x, y = coupled(coupling, P, Q)
    assert fit(x, P) > 1e-3 and fit(y, Q) > 1e-3
    assert fit(x, Q) < 1e-9  # the test has the power to see a wrong row


@pytest.mark.parametrize("coupling", COUPLINGS)
def test_temperature_and_forbidden_tokens(coupling) -> None:
    x, _ = coupled(coupling, P, Q, temperature=0.5)
    assert fit(x, P**2 / (P**2).sum()) > 1e-3 and not (x == 1).any()


def test_a_residual_from_the_whole_row_is_rejected() -> None:
    """The broken twin: where the draws part, y comes from q instead of q − min(p, q)."""
    u, v = (draws(3, np.array([0]), 0, DRAWS).token[:, 0], draws(4, np.array([0]), 0, DRAWS).token[:, 0])
    overlap = tile(np.minimum(P, Q), DRAWS)
    together = u < overlap[0].sum()
    broken = np.where(together, invert(overlap, u), invert(tile(Q, DRAWS), v))
    assert fit(broken, Q) < 1e-9
    sound = np.where(together, invert(overlap, u), invert(tile(Q, DRAWS) - overlap, v * (1 - overlap[0].sum())))
    assert fit(sound, Q) > 1e-3


def _tail_hits(race) -> int:
    """How often a token 18 nats below the other wins, given that its uniform lies in the last 2⁻¹⁶.

    Expected: E[min(1, 2¹⁶ (1 − exp(−E e^{−18})))] = 2¹⁶ e^{−18} of the draws, about 40 of 40,000.
    """
    raw = words(5, 0, 0, 40_000, Stream.GUMBEL)
    top, tail = race(raw[:, 0]), race(raw[:, 1] >> np.uint64(16))
    return int((tail * np.exp(18.0) < top).sum())


def _exact(raw):
    return -np.log1p(-np.minimum((raw.astype(np.float64) + 0.5) * 2.0**-64, 1 - 2.0**-53))


def _float32_clamped(raw):
    """The broken twin: −log(u) of a 24-bit uniform in float32 with the usual clamp."""
    u = np.float32(1) - ((raw >> np.uint64(40)).astype(np.float32) + np.float32(1)) * np.float32(2.0**-24)
    return -np.log(u + np.float32(1e-10)) + np.float32(1e-10)


def test_gumbel_tails_are_exact() -> None:
    expected = 40_000 * 2.0**16 * np.exp(-18.0)
    np.testing.assert_array_equal(_exact(words(7, 2, 3 * 25, 25, Stream.GUMBEL).ravel()), exponentials(7, 2, 3, 100))
    assert stats.poisson.sf(_tail_hits(_exact) - 1, expected) > 1e-3
    assert stats.poisson.cdf(_tail_hits(_exact), expected) > 1e-3
    assert stats.poisson.cdf(_tail_hits(_float32_clamped), expected) < 1e-6


def test_noise_is_a_function_of_seed_chain_and_step() -> None:
    a = exponentials(0, 1, 2, 101)
    np.testing.assert_array_equal(a, exponentials(0, 1, 2, 101))
    for other in ((1, 1, 2), (0, 2, 2), (0, 1, 3)):
        assert not np.isin(exponentials(*other, 101), a).any()
    assert stats.kstest(exponentials(0, 1, 2, 20_000), "expon").pvalue > 1e-3


@pytest.mark.parametrize("coupling", COUPLINGS)
def test_a_large_vocabulary_draws_as_its_parts_do(coupling) -> None:
    """Blocks and the two ways to invert a CDF change nothing: 20 pairs at once are the 20 pairs one by one."""
    rng = np.random.default_rng(0)
    p, q, u = rng.normal(size=(20, 30_000)), rng.normal(size=(20, 30_000)), rng.random(20)
    ids, steps = np.arange(20), np.full(20, 4)
    x, y = couple_tokens(coupling, p, q, np.ones(20), u, 0, ids, steps)
    one = [
        couple_tokens(coupling, *(a[k : k + 1] for a in (p, q, np.ones(20), u)), 0, ids[k : k + 1], steps[k : k + 1])
        for k in range(20)
    ]
    np.testing.assert_array_equal(np.stack([x, y], axis=1), np.concatenate([np.stack(r, axis=1) for r in one]))


def test_invert_ends_on_a_token_with_mass() -> None:
    masses = np.array([[0.5, 0.5, 0.0]])
    for row in (masses, np.pad(masses, ((0, 0), (0, 400)))):
        assert invert(row, np.array([0.5])).tolist() == [1] and invert(row, np.array([1.1])).tolist() == [1]
