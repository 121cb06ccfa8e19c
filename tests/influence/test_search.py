"""The search on laws with known suprema and on the bundled model: always below, close where it is easy."""

from __future__ import annotations

import json

import numpy as np
import pytest

from maskov.errors import InputError
from maskov.influence import dobrushin_matrix, influence, oscillation, total_variations
from maskov.influence.search import search
from maskov.laws import random_conditionals, total_variation
from maskov.models import LawModel, load
from maskov.plots import draw, figures
from maskov.protocols import State
from maskov.quantities import Bound


def _softmax(s: np.ndarray) -> np.ndarray:
    w = np.exp(s - s.max(axis=1, keepdims=True))
    return w / w.sum(axis=1, keepdims=True)


def test_total_variations_and_their_hilbert_bound() -> None:
    rng = np.random.default_rng(0)
    p, q = rng.normal(0, 2, (30, 11)), rng.normal(0, 2, (30, 11))
    p[:, 3] = q[:, 3] = -np.inf
    taus = np.array([0.2, 1.0, 5.0])
    found, D = total_variations(p, q, taus), oscillation(p, q)
    for k, tau in enumerate(taus):
        exact = [total_variation(a, b) for a, b in zip(_softmax(p / tau), _softmax(q / tau), strict=True)]
        np.testing.assert_allclose(found[k], exact, atol=1e-14)
        assert (found[k] <= np.tanh(D / (4 * tau)) + 1e-12).all()
    # The bound is sharp: two tokens that move apart by D.
    a, b = np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])
    np.testing.assert_allclose(total_variations(a, b, np.ones(1))[0], np.tanh(oscillation(a, b) / 4), atol=1e-14)


@pytest.mark.parametrize("seed", range(8))
def test_searched_maxima_stay_below_the_supremum_and_near_it(seed: int) -> None:
    law = random_conditionals(3, 4, seed=seed)
    model, taus = LawModel(law), np.array([0.5, 1.0, 2.0])
    rng = np.random.default_rng(seed)
    contexts = [State(rng.integers(3, size=4), np.arange(4)) for _ in range(6)]
    found = search(model, contexts, taus, climbs=12, seed=seed)
    for k, tau in enumerate(taus):
        exact = dobrushin_matrix(law, float(tau))
        assert (found.largest[k] <= exact + 1e-12).all()
    exact = dobrushin_matrix(law, 1.0)
    assert found.largest[1].sum() > 0.6 * exact.sum()
    assert found.largest[1].max() > 0.85 * exact.max()
    unclimbed = search(model, contexts, taus, climbs=0, seed=seed)
    assert (found.largest >= unclimbed.largest).all() and found.largest.sum() > unclimbed.largest.sum()
    assert (np.diagonal(found.largest, axis1=1, axis2=2) == 0).all()


def test_a_thousand_searches_never_pass_the_supremum() -> None:
    taus = np.array([0.6, 1.5])
    for seed in range(1000):
        v, n = (2, 3) if seed % 2 else (3, 3)
        law = random_conditionals(v, n, seed=seed)
        context = State(np.random.default_rng(seed).integers(v, size=n), np.arange(n))
        found = search(LawModel(law), [context], taus, climbs=2, seed=seed)
        for k, tau in enumerate(taus):
            assert (found.largest[k] <= dobrushin_matrix(law, float(tau)) + 1e-12).all(), seed
        off = ~np.eye(n, dtype=bool)
        bound = np.tanh(found.hilbert[off] / (4 * taus[:, None]))
        assert (found.largest[:, off] <= bound + 1e-12).all(), seed


def test_en_tiny() -> None:
    model = load("en-tiny")
    texts = ["the cat sat on the mat.", "a river runs to the sea by night."]
    found = influence(model, texts, [0.5, 1.0, 3.0], contexts=2, climbs=2, seed=1)
    assert not found.exact and found.mixing_time_bound is None and "lower bound" in found.mixing_time_reason
    assert all(isinstance(p.row, Bound) and p.row.side == "lower" for p in found.curve)
    assert [p.row.value for p in found.curve] == sorted((p.row.value for p in found.curve), reverse=True)
    for p in found.curve:
        assert p.typical.value < p.q99 <= p.maximum.value <= (p.hilbert or 0) + 1e-9
    assert found.sites == 7 and found.n_contexts == 2
    assert {row["class"] for row in found.by_class} <= {"word", "subword", "number", "letter", "punctuation"}
    again = influence(model, texts, [0.5, 1.0, 3.0], contexts=2, climbs=2, seed=1)
    assert again.to_dict() == found.to_dict()
    record = json.loads(json.dumps(found.to_dict()))
    for figure in figures("influence", record):
        assert draw(figure, record).get_xlabel()


def test_bad_input() -> None:
    model = load("en-tiny")
    with pytest.raises(InputError, match="texts"):
        influence(model)
    with pytest.raises(InputError, match="two free sites"):
        influence(model, ["yes"])
    with pytest.raises(InputError, match="contexts"):
        influence(model, ["a b"], contexts=0)
    with pytest.raises(InputError, match="temperature"):
        influence(model, ["a b"], [0.0])
