import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, logsumexp

from maskov.errors import InputError
from maskov.laws import CurieWeiss, IsingRing, IsingTorus, Potts, as_log_table, enumerate_states


@settings(max_examples=20, deadline=None)
@given(beta=st.floats(-3, 3), n=st.integers(1, 8), seed=st.integers(0, 1000))
def test_curie_weiss_conditional_of_section_8(beta: float, n: int, seed: int) -> None:
    """20-identifiability §8: P(σ_i = + | rest) = 1/(1 + exp(−2 (β/n) Σ_{j≠i} σ_j))."""
    law, rng = CurieWeiss(n, beta), np.random.default_rng(seed)
    x, i = rng.integers(2, size=(4, n)), rng.integers(n, size=4)
    spins = 2.0 * x - 1
    rest = spins.sum(axis=1) - spins[np.arange(4), i]
    rows = law.logits(x, i)
    np.testing.assert_allclose(expit(rows[:, 1] - rows[:, 0]), expit(2 * beta / n * rest), atol=1e-14)
    direct = (
        beta
        / n
        * np.array([sum(s[a] * s[b] for a in range(n) for b in range(a)) for s in 2.0 * enumerate_states(2, n) - 1])
    )
    np.testing.assert_allclose(as_log_table(law).ravel(), direct - logsumexp(direct), atol=1e-12)


@settings(max_examples=20, deadline=None)
@given(beta=st.floats(-3, 3), n=st.integers(3, 8), seed=st.integers(0, 1000))
def test_ring_conditional_of_section_8(beta: float, n: int, seed: int) -> None:
    """20-identifiability §8: P(+ | rest) = 1/(1 + exp(−2β (σ_{i−1} + σ_{i+1})))."""
    law, rng = IsingRing(n, beta), np.random.default_rng(seed)
    x, i = rng.integers(2, size=(4, n)), rng.integers(n, size=4)
    spins, rows = 2.0 * x - 1, np.arange(4)
    field = spins[rows, (i - 1) % n] + spins[rows, (i + 1) % n]
    got = law.logits(x, i)
    np.testing.assert_allclose(expit(got[:, 1] - got[:, 0]), expit(2 * beta * field), atol=1e-14)


@pytest.mark.parametrize("beta", [-900.0, -2.0, 0.0, 0.7, 900.0])
@pytest.mark.parametrize("n", [3, 4, 9])
def test_ring_normaliser_in_closed_form(beta: float, n: int) -> None:
    """Z = (2 cosh β)^n + (2 sinh β)^n, odd frustrated rings at 2n e^{|β|(n − 2)} included."""
    log_z = IsingRing(n, beta)._log_z
    if abs(beta) < 100:
        assert abs(log_z - np.log((2 * np.cosh(beta)) ** n + (2 * np.sinh(beta)) ** n)) < 1e-11
    else:
        frustrated = beta < 0 and n % 2 == 1
        expected = np.log(2 * n) + abs(beta) * (n - 2) if frustrated else np.log(2) + abs(beta) * n
        assert abs(log_z - expected) < 1e-9


def test_potts_with_two_symbols_is_curie_weiss() -> None:
    for beta in (-1.0, 0.4, 1.5):
        np.testing.assert_allclose(as_log_table(Potts(6, 2, beta)), as_log_table(CurieWeiss(6, beta)), atol=1e-12)


def test_mean_field_laws_are_exact_at_hundreds_of_sites() -> None:
    law = CurieWeiss(500, 1.2)
    assert abs(logsumexp(law.log_count_law())) < 1e-11
    potts = Potts(200, 3, 1.0)
    x = np.repeat([[0, 1, 2]], 70, axis=0).ravel()[None, :200]
    visible = np.ones((3, 200), dtype=bool)
    visible[:, 0] = False
    three = np.repeat(x, 3, axis=0)
    three[:, 0] = [0, 1, 2]
    assert abs(potts.log_marginal(three, visible)[0] - logsumexp(potts.log_prob(three))) < 1e-9


def test_magnetisation_of_samples() -> None:
    law = CurieWeiss(300, 1.5)
    m = np.abs(2 * law.sample(np.random.default_rng(0), 400).mean(axis=1) - 1)
    assert abs(m.mean() - 0.858) < 0.01  # m = tanh(1.5 m) up to O(1/n)
    ring = 2 * IsingRing(200, 0.5).sample(np.random.default_rng(0), 400) - 1
    assert abs((ring * np.roll(ring, 1, axis=1)).mean() - np.tanh(0.5)) < 0.01


def test_torus_neighbours_and_double_bonds() -> None:
    law = IsingTorus(2, 3, 0.4)
    x = np.array([[1, 0, 0, 1, 1, 0]])
    spins = (2.0 * x - 1).reshape(2, 3)
    field = 2 * spins[1, 0] + spins[0, 1] + spins[0, 2]
    assert abs(law.logits(x, np.array([0]))[0, 1] - 0.4 * field) < 1e-15


@pytest.mark.parametrize("beta", [np.nan, np.inf, -np.inf, 1e9])
@pytest.mark.parametrize(
    "make",
    [lambda b: CurieWeiss(3, b), lambda b: IsingRing(3, b), lambda b: Potts(3, 3, b), lambda b: IsingTorus(2, 2, b)],
)
def test_bad_beta(make, beta: float) -> None:
    with pytest.raises(InputError, match="beta"):
        make(beta)


def test_bad_sizes() -> None:
    for make, what in (
        (lambda: CurieWeiss(0, 1.0), "sites"),
        (lambda: IsingRing(2, 1.0), "sites"),
        (lambda: Potts(3, 1, 1.0), "symbols"),
        (lambda: IsingTorus(1, 5, 1.0), "rows"),
        (lambda: IsingTorus(5, 5, 1.0), "states"),
        (lambda: CurieWeiss(2.5, 1.0), "sites"),
    ):
        with pytest.raises(InputError, match=what):
            make()
