import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maskov.conformance import check_joint_law, check_law_samples
from maskov.errors import InputError
from maskov.laws import MarkovMixture, ProductMixture, enumerate_states, reference_mixture, sticky_mixture


def random_product(seed: int, K: int = 3, n: int = 4, V: int = 3) -> ProductMixture:
    rng = np.random.default_rng(seed)
    return ProductMixture(rng.dirichlet(np.ones(K)), rng.dirichlet(np.ones(V), size=(K, n)))


def random_markov(seed: int, K: int = 2, n: int = 4, V: int = 3) -> MarkovMixture:
    rng = np.random.default_rng(seed)
    return MarkovMixture(
        rng.dirichlet(np.ones(K)), rng.dirichlet(np.ones(V), size=K), rng.dirichlet(np.ones(V), size=(K, V)), n
    )


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10**6))
@pytest.mark.parametrize("make", [random_product, random_markov])
def test_random_mixtures_add_up(make, seed: int) -> None:
    check_joint_law(make(seed), seed=seed)


@pytest.mark.parametrize("make", [random_product, random_markov])
def test_samples_of_random_mixtures(make) -> None:
    check_law_samples(make(3))


@pytest.mark.parametrize("make", [random_product, random_markov])
def test_posterior_of_the_mode_by_bayes_rule(make) -> None:
    p = make(1)
    states, rng = enumerate_states(3, 4), np.random.default_rng(0)
    visible = rng.random(states.shape) < 0.5
    modes = np.stack(
        [p.with_weights(np.eye(len(p.weights))[z]).log_marginal(states, visible) for z in range(len(p.weights))], axis=1
    )
    np.testing.assert_allclose(p.log_mode_marginals(states, visible), modes, atol=1e-12)
    joint = np.exp(modes) * p.weights
    np.testing.assert_allclose(
        np.exp(p.log_posterior(states, visible)), joint / joint.sum(axis=1, keepdims=True), atol=1e-12
    )


def test_exchangeable_laws_agree_with_the_general_ones() -> None:
    rows = np.array([[0.2, 0.5, 0.3], [0.7, 0.0, 0.3]])
    a, b = ProductMixture([0.4, 0.6], rows, 4), ProductMixture([0.4, 0.6], np.repeat(rows[:, None], 4, axis=1))
    states = enumerate_states(3, 4)
    visible = np.random.default_rng(0).random(states.shape) < 0.6
    assert a.exchangeable and not b.exchangeable and a.log_sites.shape == (2, 4, 3)
    np.testing.assert_allclose(a.log_mode_marginals(states, visible), b.log_mode_marginals(states, visible), atol=1e-13)
    assert (a.log_mode_marginals(states, visible) == -np.inf).any()
    sites = np.arange(len(states)) % 4
    np.testing.assert_allclose(
        a.predict(states, ~visible | (sites[:, None] == np.arange(4)), sites),
        b.predict(states, ~visible | (sites[:, None] == np.arange(4)), sites),
        atol=1e-13,
    )


def test_the_reference_law_of_section_8() -> None:
    """20-identifiability §8: weight = P(Z = 1), the mode with 1/2 + gap."""
    p = reference_mixture(3, gap=0.3, weight=0.25)
    ones = np.exp(p.log_prob(np.array([[1, 1, 1]])))[0]
    assert abs(ones - (0.25 * 0.8**3 + 0.75 * 0.2**3)) < 1e-15


def test_marginals_at_ten_thousand_sites_do_not_underflow() -> None:
    p = reference_mixture(10_000, gap=0.3, weight=0.3)
    x = np.ones((1, 10_000), dtype=np.int64)
    log_p = p.log_prob(x)[0]
    assert abs(log_p - (np.log(0.3) + 10_000 * np.log(0.8))) < 1e-8
    rows = p.logits(x, np.array([5]))[0]
    assert abs(rows[1] - rows[0] - np.log(4)) < 1e-9


def test_markov_marginals_by_brute_force() -> None:
    """Hidden sites between, before and after the seen ones, and transitions that cannot happen."""
    T = np.array([[[0.0, 1.0], [0.5, 0.5]]])
    p = MarkovMixture([1.0], [[1.0, 0.0]], T, 5)
    states = enumerate_states(2, 5)
    path = np.where(states[:, 0] == 0, 1.0, 0.0) * np.prod(
        [T[0][states[:, i], states[:, i + 1]] for i in range(4)], axis=0
    )
    for S in itertools.product([False, True], repeat=5):
        visible = np.tile(S, (32, 1))
        expected = [path[(states[:, list(S)] == x[list(S)]).all(axis=1)].sum() for x in states]
        np.testing.assert_allclose(np.exp(p.log_marginal(states, visible)), expected, atol=1e-14)


def test_sticky_mixtures_hide_the_mode_from_single_sites() -> None:
    p = sticky_mixture(20, 4, [0.9, 0.6], [0.3])
    x = np.zeros((20, 20), dtype=int)
    np.testing.assert_allclose(
        np.exp(p.log_posterior(x, np.eye(20, dtype=bool))), np.tile([0.7, 0.3], (20, 1)), atol=1e-12
    )


def test_boundary_weights_belong_to_the_witness_family() -> None:
    p = random_product(0)
    q = p.with_weights([1.0, 0.0, 0.0])
    assert (
        q.log_mode_marginals(np.zeros((1, 4), int), np.ones((1, 4), bool))
        == p.log_mode_marginals(np.zeros((1, 4), int), np.ones((1, 4), bool))
    ).all()
    check_joint_law(q)
    assert q.fingerprint != p.fingerprint and p.weights.max() < 1


@pytest.mark.parametrize("bad", [[0.5, 0.6], [1.5, -0.5], [np.nan, 1.0], [], [[0.5, 0.5]], [1.0]])
def test_bad_weights(bad) -> None:
    with pytest.raises(InputError, match=r"mode weights|site probabilities"):
        ProductMixture(bad, [[0.5, 0.5], [0.5, 0.5]], 3)
    with pytest.raises(InputError, match="mode weights"):
        reference_mixture(3, 0.1, 0.5).with_weights(bad)


def test_bad_rows_and_shapes() -> None:
    for rows, sites, message in (
        ([[0.5, 0.6], [0.5, 0.5]], 3, "sum to 1"),
        ([[0.5, 0.5], [0.5, 0.5]], None, "number of sites"),
        ([[0.5, 0.5], [0.5, 0.5]], 0, "sites ≥ 1"),
        ([[[0.5, 0.5]], [[0.5, 0.5]]], 2, "site probabilities"),
        ([0.5, 0.5], 2, "site probabilities"),
    ):
        with pytest.raises(InputError, match=message):
            ProductMixture([0.5, 0.5], rows, sites)
    with pytest.raises(InputError, match="transition"):
        MarkovMixture([1.0], [[0.5, 0.5]], [[[0.5, 0.4], [0.5, 0.5]]], 3)
    with pytest.raises(InputError, match="Markov mixture"):
        MarkovMixture([0.5, 0.5], [[0.5, 0.5]], [[[0.5, 0.5], [0.5, 0.5]]], 3)
    for kwargs, message in (
        ({"stay": [1.0]}, "stay"),
        ({"stay": [0.5, 0.5]}, "weight"),
        ({"stay": [0.5, 0.5], "weight": [1.0]}, "weight"),
        ({"stay": [0.5], "symbols": 1}, "symbols"),
        ({"stay": [0.5] * 3, "weight": [0.5, 0.6]}, "weight"),
    ):
        with pytest.raises(InputError, match=message):
            sticky_mixture(**{"sites": 3, "symbols": 2, **kwargs})
    for gap, weight in ((0.0, 0.5), (0.5, 0.5), (0.1, 0.0), (0.1, 1.0), (np.nan, 0.5)):
        with pytest.raises(InputError, match=r"gap|weight"):
            reference_mixture(3, gap, weight)
