"""Laws as models of texts, and temperatures."""

from __future__ import annotations

import numpy as np
import pytest
from builders import ProductLaw, cases, masked

from maskov.conformance import check_model
from maskov.errors import InputError
from maskov.laws import law, random_conditionals, random_tabular
from maskov.models import LawModel, Tempered, load
from maskov.protocols import JointLaw, TextModel

LOG_P = np.log(np.random.default_rng(0).dirichlet(np.ones(3), size=4))


class OnlyLogits:
    """Conditionals that give rows at a site and nothing else."""

    vocabulary_size, n_sites = 3, 4

    def logits(self, states, sites):
        return LOG_P[sites]


def test_rows_of_a_bare_joint_law_are_derived() -> None:
    bare = ProductLaw(LOG_P)
    assert isinstance(bare, JointLaw)
    model = LawModel(bare, name="bare")
    assert isinstance(model, TextModel)
    states, sites = np.random.default_rng(1).integers(3, size=(5, 4)), np.array([0, 1, 2, 3, 0])
    check_model(model, states, sites)
    rows = model.logits(states, sites)
    assert np.allclose(rows - rows.max(axis=1, keepdims=True), LOG_P[sites] - LOG_P[sites].max(axis=1, keepdims=True))


@pytest.mark.parametrize("joint", [random_tabular(3, 3, seed=2), random_conditionals(3, 3, seed=2)])
def test_a_law_with_its_own_rows_keeps_them(joint) -> None:
    model = LawModel(joint)
    states, sites = np.array([[0, 1, 2], [2, 2, 1]]), np.array([1, 2])
    assert np.array_equal(model.logits(states, sites), joint.logits(states, sites))
    tokens = np.array([[0, 1], [2, 0]])
    assert np.array_equal(model.score_tokens(states, sites, tokens), joint.score_tokens(states, sites, tokens))
    assert model.logits(states, sites).dtype == np.float64


def test_conditionals_without_the_rest_score_and_hide_one_site() -> None:
    model = LawModel(OnlyLogits())
    states, sites = np.zeros((2, 4), dtype=np.int64), np.array([1, 3])
    hidden = np.zeros((2, 4), dtype=bool)
    hidden[[0, 1], sites] = True
    assert np.array_equal(model.predict(states, hidden, sites), LOG_P[sites])
    assert np.array_equal(model.score_tokens(states, sites, np.array([[2], [0]])), LOG_P[sites, [2, 0]][:, None])
    hidden[0, 0] = True
    with pytest.raises(InputError, match=r"the site alone hidden"):
        model.predict(states, hidden, sites)


def test_the_string_of_a_law_loads_it() -> None:
    model = load("law:curie-weiss?sites=5&beta=0.7")
    assert isinstance(model, LawModel) and model.n_sites == 5 and model.vocabulary_size == 2
    assert model.name == "law:curie-weiss?sites=5&beta=0.7"
    assert load(model.name).fingerprint == model.fingerprint != load("law:curie-weiss?sites=5&beta=0.8").fingerprint


@pytest.mark.parametrize("size", [2, 10, 11, 36, 37, 1000])
def test_states_are_written_and_read(size: int) -> None:
    model = LawModel(ProductLaw(np.zeros((4, size))))
    tokens = np.array([0, size - 1, size // 2, 1])
    state = model.encode(model.decode(tokens))
    assert state.tokens.tolist() == tokens.tolist() and state.free.tolist() == [0, 1, 2, 3]
    assert model.token_text(size) == f"<{size}>"


def test_symbols_can_be_chosen() -> None:
    model = LawModel(ProductLaw(LOG_P), symbols="ABC")
    assert model.encode("ABCA").tokens.tolist() == [0, 1, 2, 0] and model.decode(np.array([2, 1, 0, 0])) == "CBAA"
    for wrong in ("AB", "ABB", "A C", ["A", "B", "CD"]):
        with pytest.raises(InputError, match=r"3 different visible characters"):
            LawModel(ProductLaw(LOG_P), symbols=wrong)


@pytest.mark.parametrize(
    ("size", "text", "message"),
    [
        (3, "012", "4 symbols of 0 … 2, got 3 in '012'"),
        (3, "01201", "4 symbols of 0 … 2, got 5"),
        (3, "0123", "symbols of 0 … 2, got '3'"),
        (3, "01a0", "got 'a'"),
        (3, "", "empty text"),
        (3, "01\ud8000", "surrogate"),
        (40, "1,2,3", "4 symbols of 0 … 39, with commas, got 3"),
        (40, "1,2,3,40", "got '40'"),
        (40, "1,2,3,-1", "got '-1'"),
        (40, "1,2,3,1_0", "got '1_0'"),
        (40, "1,2,,3", "got ''"),
    ],
)
def test_each_wrong_string_has_its_message(size: int, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        LawModel(ProductLaw(np.zeros((4, size)))).encode(text)


def test_what_is_not_a_law_is_refused() -> None:
    class Nothing:
        vocabulary_size, n_sites = 2, 2

    with pytest.raises(InputError, match=r"logits, or log_prob and log_marginal"):
        LawModel(Nothing())
    with pytest.raises(InputError, match=r"a law with vocabulary_size, got int"):
        LawModel(3)
    with pytest.raises(InputError, match=r"law"):
        load("law:no-such-law")


def test_fingerprints_tell_laws_apart() -> None:
    other = LOG_P.copy()
    other[0] = other[0][::-1]
    assert LawModel(ProductLaw(LOG_P)).fingerprint == LawModel(ProductLaw(LOG_P.copy())).fingerprint
    large = [np.zeros((40, 3)), np.ones((40, 3))]
    seen = {LawModel(ProductLaw(p)).fingerprint for p in (LOG_P, other, *large)}
    assert len(seen) == 4
    assert LawModel(law("curie-weiss?sites=4&beta=1")).fingerprint == law("curie-weiss?sites=4&beta=1").fingerprint


def test_tempered_rows_scores_and_predictions_are_divided() -> None:
    model = masked("bert")
    states, sites = cases(model)
    cold = Tempered(model, 0.5)
    assert isinstance(cold, TextModel)
    assert np.array_equal(cold.logits(states, sites), model.logits(states, sites) / 0.5)
    tokens = np.full((len(states), 2), 8)
    assert np.array_equal(cold.score_tokens(states, sites, tokens), model.score_tokens(states, sites, tokens) / 0.5)
    check_model(cold, states, sites, tolerance=1e-3)
    assert cold.encode("the bird").free.tolist() == [1, 2]
    assert cold.fingerprint != model.fingerprint and cold.name == model.name
    assert cold.in_float64().logits(states, sites).dtype == np.float64


def test_a_tempered_law_is_not_the_law_and_temperature_one_is() -> None:
    model = load("law:curie-weiss?sites=3&beta=1")
    states, sites = np.array([[0, 1, 1]]), np.array([2])
    assert np.array_equal(Tempered(model, 1).logits(states, sites), model.logits(states, sites))
    assert not hasattr(Tempered(law("curie-weiss?sites=3&beta=1"), 2.0), "log_prob")


@pytest.mark.parametrize("temperature", [0, -1, float("nan"), float("inf"), "1", None])
def test_wrong_temperatures_are_named(temperature) -> None:
    with pytest.raises(InputError, match=r"temperature: expected a number above 0"):
        Tempered(OnlyLogits(), temperature)
