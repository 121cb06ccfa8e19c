import numpy as np
import pytest
from scipy.special import log_softmax

from maskov.conformance import check_model, check_normalised
from maskov.errors import InputError
from maskov.laws import IncompatibleConditionals, enumerate_states, law, perturbed, random_conditionals, random_tabular
from maskov.protocols import Conditionals, JointLaw


def all_rows(c, V, n):
    states = enumerate_states(V, n)
    return np.stack([log_softmax(c.logits(states, np.full(len(states), i)), axis=1) for i in range(n)])


def test_strength_zero_is_the_law_itself_and_noise_grows_with_strength() -> None:
    p = random_tabular(3, 3, seed=5)
    base = all_rows(p, 3, 3)
    np.testing.assert_allclose(all_rows(perturbed(p, 0.0), 3, 3), base, atol=1e-12)
    far = [np.abs(all_rows(perturbed(p, s, seed=1), 3, 3) - base).max() for s in (0.01, 0.02, 0.04)]
    assert far[0] > 1e-3 and abs(far[1] / far[0] - 2) < 0.1 and abs(far[2] / far[0] - 4) < 0.2


def test_rows_are_conditionals_that_ignore_their_own_token() -> None:
    c = random_conditionals(3, 3, seed=0)
    states = enumerate_states(3, 3)
    checks = check_model(c, states, np.arange(27) % 3)
    assert checks["own_token"].deviation == 0 and "normalised" in checks and "hidden" not in checks
    check_normalised(c.logits(states, np.zeros(27, dtype=int)))
    assert isinstance(c, Conditionals) and not isinstance(c, JointLaw)


def test_entries_are_the_given_rows() -> None:
    values = np.random.default_rng(0).normal(size=(2, 3, 3))
    c = IncompatibleConditionals(values)
    np.testing.assert_allclose(c.logits(np.array([[9 % 3, 2]]), np.array([0]))[0], log_softmax(values[0][:, 2]))
    np.testing.assert_allclose(
        c.score_tokens(np.array([[1, 2]]), np.array([1]), np.array([[0, 2]]))[0], log_softmax(values[1][1])[[0, 2]]
    )
    assert c.text.startswith("incompatible?sha256=") and len(c.fingerprint) == 64


def test_nothing_is_known_beyond_the_site() -> None:
    c = law("incompatible?symbols=3&sites=3&seed=0")
    with pytest.raises(InputError, match="no marginals"):
        c.predict(np.zeros((1, 3), dtype=int), np.ones((1, 3), dtype=bool), np.array([0]))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.zeros((2, 3)), "n axes"),
        (np.zeros((1, 1)), "n axes"),
        (np.zeros((2, 2, 3)), "n axes"),
        (np.float64(0), "n axes"),
        (np.full((2, 2, 2), np.nan), "NaN or infinity"),
        (np.full((2, 2, 2), -np.inf), "NaN or infinity"),
    ],
)
def test_arrays_that_are_no_conditionals(values, message) -> None:
    with pytest.raises(InputError, match=message):
        IncompatibleConditionals(values)


def test_bad_strengths_and_laws() -> None:
    for bad in (-1.0, np.nan, np.inf):
        with pytest.raises(InputError, match="strength"):
            random_conditionals(2, 2, strength=bad)
    with pytest.raises(InputError, match="values"):
        random_conditionals(2, 20)
    with pytest.raises(InputError, match="positive law"):
        from maskov.laws import Tabular

        perturbed(Tabular([0.0, -np.inf]), 0.1)
