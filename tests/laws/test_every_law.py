"""What holds for every law: it adds up, its views agree, it samples itself, and it names itself."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import softmax

from maskov.conformance import check_joint_law, check_law_samples, check_model
from maskov.errors import ConformanceError, InputError
from maskov.laws import (
    EnumerableLaw,
    IsingRing,
    MarkovMixture,
    ProductMixture,
    Tabular,
    as_log_table,
    check_enumerable,
    draw_rows,
    draw_values,
    enumerate_states,
    law,
    law_text,
    random_tabular,
    state_index,
)
from maskov.laws.base import number_text
from maskov.protocols import JointLaw, MaskedPredictor

FORMS = [
    "curie-weiss?sites=5&beta=1.2",
    "curie-weiss?sites=1&beta=0.5",
    "curie-weiss?sites=6&beta=-2",
    "ising-ring?sites=3&beta=0.5",
    "ising-ring?sites=7&beta=-1.5",
    "ising-torus?rows=2&cols=3&beta=0.3",
    "ising-torus?rows=3&cols=3&beta=-0.4",
    "potts?sites=4&symbols=3&beta=2",
    "potts?sites=3&symbols=5&beta=-1",
    "product?sites=6&gap=0.3&weight=0.3",
    "markov?sites=5&symbols=3&stay=0.9,0.2,0.6&weight=0.3,0.2",
    "markov?sites=6&symbols=2&stay=0.95,0.6&weight=0.3",
    "markov?sites=4&symbols=3&stay=0.7",
    "random?sites=3&symbols=3&seed=4&concentration=0.3",
]


@pytest.mark.parametrize("text", FORMS)
def test_probabilities_marginals_conditionals_and_predictions_add_up(text: str) -> None:
    checks = check_joint_law(law(text))
    assert set(checks) == {"mass", "marginals", "conditionals", "predictions"}
    assert max(check.deviation for check in checks.values()) < 1e-11


@pytest.mark.parametrize("text", FORMS)
def test_samples_follow_the_law(text: str) -> None:
    check_law_samples(law(text), size=8000)


@pytest.mark.parametrize("text", FORMS)
def test_views_agree_and_ignore_what_is_hidden(text: str) -> None:
    p = law(text)
    states = p.sample(np.random.default_rng(0), 5)
    assert "hidden" in check_model(p, states)
    assert isinstance(p, JointLaw) and isinstance(p, MaskedPredictor)


@pytest.mark.parametrize("text", [*FORMS, "incompatible?sites=3&symbols=2&seed=5&strength=0.25"])
def test_text_round_trip(text: str) -> None:
    first = law(text)
    again = law(law_text(first))
    states = enumerate_states(first.vocabulary_size, first.n_sites)
    at = np.zeros(len(states), dtype=np.int64)
    assert again.text == first.text and again.fingerprint == first.fingerprint and first.name == f"law:{first.text}"
    assert (again.logits(states, at) == first.logits(states, at)).all()


def test_a_sampler_of_another_law_is_rejected() -> None:
    class Tilted(IsingRing):
        def sample(self, rng: np.random.Generator, size: int) -> np.ndarray:
            return IsingRing(self.n_sites, 0.9 * self.beta).sample(rng, size)

    with pytest.raises(ConformanceError, match="follow their law"):
        check_law_samples(Tilted(5, 1.0))


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), V=st.integers(2, 4), n=st.integers(1, 4))
def test_bayes_rule_by_enumeration(seed: int, V: int, n: int) -> None:
    """The mixin's own conditionals, through marginals only, against sums over the table."""
    table = np.exp(random_tabular(V, n, seed).table)

    class MarginalsOnly(EnumerableLaw):
        vocabulary_size, n_sites = V, n

        def log_marginal(self, states: np.ndarray, visible: np.ndarray) -> np.ndarray:
            rows = [
                tuple(int(v) if s else slice(None) for v, s in zip(x, S, strict=True))
                for x, S in zip(states, visible, strict=True)
            ]
            return np.log([table[row].sum() for row in rows])

    p, rng = MarginalsOnly(), np.random.default_rng(seed)
    states, site = enumerate_states(V, n), int(rng.integers(n))
    sites = np.full(len(states), site)
    expected = np.moveaxis(table, site, -1)
    rest = np.delete(states, site, axis=1)
    rows = expected[tuple(rest.T)] if n > 1 else np.tile(table, (len(states), 1))
    np.testing.assert_allclose(
        softmax(p.logits(states, sites), axis=1), rows / rows.sum(axis=1, keepdims=True), atol=1e-12
    )
    everything = np.ones(states.shape, dtype=bool)
    one_site = table.sum(axis=tuple(i for i in range(n) if i != site))
    np.testing.assert_allclose(
        softmax(p.predict(states, everything, sites), axis=1), np.tile(one_site, (len(states), 1)), atol=1e-12
    )


def test_large_laws_need_no_enumeration() -> None:
    """n up to 10^4: totals over the count, conditionals and predictions stay finite."""
    rng = np.random.default_rng(0)
    for text in (
        "product?sites=10000&gap=0.1&weight=0.3",
        "curie-weiss?sites=10000&beta=1.2",
        "ising-ring?sites=10000&beta=0.5",
    ):
        p = law(text)
        states = p.sample(rng, 2)
        hidden = rng.random(states.shape) < 0.5
        hidden[:, 17] = True
        rows = p.logits(states, np.array([17, 17]))
        assert np.isfinite(rows).all()
        if not text.startswith("ising"):
            assert np.isfinite(p.predict(states, hidden, np.array([17, 17]))).all()


def test_enumeration_has_a_limit_and_an_order() -> None:
    assert state_index(enumerate_states(3, 4), 3).tolist() == list(range(81))
    assert check_enumerable(2, 20) == 2**20
    for V, n in ((2, 21), (1024, 10**6), (3, 13)):
        with pytest.raises(InputError, match="states to enumerate"):
            check_enumerable(V, n)
    with pytest.raises(InputError, match="at least one symbol"):
        check_enumerable(0, 3)


@pytest.mark.parametrize(
    ("states", "message"),
    [
        (np.zeros((2, 4), dtype=int), r"\[B, 3\]"),
        (np.zeros(3, dtype=int), r"\[B, 3\]"),
        (np.full((1, 3), 2), "symbols 0 … 1"),
        (np.full((1, 3), -1), "symbols 0 … 1"),
        (np.zeros((1, 3)), "whole numbers"),
    ],
)
@pytest.mark.parametrize(
    "text",
    [
        "curie-weiss?sites=3&beta=1",
        "ising-ring?sites=3&beta=1",
        "product?sites=3&gap=0.1&weight=0.5",
        "markov?sites=3&stay=0.5",
        "random?sites=3&symbols=2",
        "potts?sites=3&symbols=2&beta=1",
    ],
)
def test_what_is_no_state_is_refused(text: str, states: np.ndarray, message: str) -> None:
    with pytest.raises(InputError, match=message):
        law(text).log_prob(states)


def test_visible_sets_must_be_flags() -> None:
    with pytest.raises(InputError, match="visible"):
        law("curie-weiss?sites=3&beta=1").log_marginal(np.zeros((1, 3), dtype=int), np.zeros((1, 3), dtype=int))


def test_a_context_of_probability_zero_has_no_row() -> None:
    p = Tabular(np.log(np.array([[0.5, 0.5], [1e-300, 1e-300]])) + np.array([[0, 0], [-np.inf, -np.inf]]))
    rows = p.logits(np.array([[1, 0], [1, 0]]), np.array([0, 1]))
    assert rows[0, 1] == -np.inf and np.isfinite(rows[0, 0]) and (rows[1] == -np.inf).all()


def test_draws_never_fall_on_impossible_values() -> None:
    rows = np.log(np.array([[0.5, 0.5, 1e-320]])) + np.array([[0.0, 0.0, -np.inf]])
    almost_one = np.array([1 - 2**-53])
    assert draw_rows(rows, almost_one).tolist() == [1]
    assert draw_values(rows[0], almost_one).tolist() == [1]
    assert draw_rows(np.array([[-np.inf, 0.0]]), np.zeros(1)).tolist() == [1]


@given(st.floats(allow_nan=False, allow_infinity=False))
@settings(max_examples=50, deadline=None)
def test_numbers_in_text_forms_lose_nothing(value: float) -> None:
    assert float(number_text(value)) == value


def test_laws_built_from_arrays_are_told_apart() -> None:
    a = ProductMixture([0.5, 0.5], [[0.2, 0.8], [0.6, 0.4]], 4)
    b = ProductMixture([0.5, 0.5], [[0.2, 0.8], [0.6, 0.4]], 5)
    c = MarkovMixture([1.0], [[0.5, 0.5]], [[[0.5, 0.5], [0.5, 0.5]]], 4)
    assert len({a.fingerprint, b.fingerprint, c.fingerprint}) == 3 and a.text.startswith("product?sha256=")
    assert as_log_table(a).shape == (2, 2, 2, 2) and "ProductMixture" in repr(a)
