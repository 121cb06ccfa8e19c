"""Filled states and climbs: they raise what is seen, never above the supremum; twins that pass it are caught."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from maskov.errors import InputError
from maskov.influence import dobrushin_matrix, influence
from maskov.influence.contexts import _watched, filled, worst_contexts
from maskov.influence.search import search
from maskov.influence.variation import tempered_laws, total_variations, variations_from
from maskov.laws import random_conditionals
from maskov.models import LawModel, load
from maskov.protocols import State

TAUS = np.array([0.5, 1.0, 2.0])


class OneWay:
    """Site 1 follows site 0; site 0 does not look; site 2 follows both a little. Asymmetric by construction."""

    n_sites, vocabulary_size = 3, 3

    def logits(self, states: Any, sites: Any) -> Any:
        x, rows = np.asarray(states), np.zeros((len(states), 3))
        for b, i in enumerate(sites):
            if i == 1:
                rows[b, x[b, 0]] += 1.5
            if i == 2:
                rows[b, x[b, 0]] += 0.4
                rows[b, x[b, 1]] += 0.7
        return rows


class Twice:
    """The broken twin: somebody divided by τ before."""

    def __init__(self, law: Any, tau: float) -> None:
        self.law, self.tau, self.n_sites, self.vocabulary_size = law, tau, law.n_sites, law.vocabulary_size

    def logits(self, states: Any, sites: Any) -> Any:
        return self.law.logits(states, sites) / self.tau


def _states(v: int, n: int, count: int, seed: int) -> list[State]:
    rng = np.random.default_rng(seed)
    return [State(rng.integers(v, size=n), np.arange(n)) for _ in range(count)]


def _violations(found: np.ndarray, exact: np.ndarray) -> float:
    return float((found - exact).max())


def test_laws_of_a_row_serve_all_its_rows() -> None:
    rng = np.random.default_rng(3)
    p, q = rng.normal(0, 3, 17), rng.normal(0, 3, (9, 17))
    p[4] = q[:, 4] = -np.inf
    expected = total_variations(np.broadcast_to(p, q.shape), q, TAUS)
    np.testing.assert_allclose(variations_from(tempered_laws(p, TAUS), q, TAUS), expected, rtol=0, atol=1e-15)
    assert (variations_from(tempered_laws(p, TAUS), p[None], TAUS) == 0).all()


@pytest.mark.parametrize("seed", range(30))
def test_filled_states_and_climbs_stay_below_the_supremum(seed: int) -> None:
    law, states = random_conditionals(3, 4, seed=seed), _states(3, 4, 1, seed)
    plain = search(LawModel(law), states, TAUS, climbs=0, seed=seed)
    found = search(LawModel(law), states, TAUS, climbs=4, seed=seed, worst=2)
    exact = [dobrushin_matrix(law, float(tau)) for tau in TAUS]
    assert _violations(found.largest, np.array(exact)) < 1e-12
    assert (found.largest >= plain.largest).all() and found.largest.sum() > plain.largest.sum()
    # Means and percentiles are of texts alone.
    np.testing.assert_array_equal(found.values, plain.values)
    np.testing.assert_array_equal(found.total, plain.total)
    assert found.rows > plain.rows and [t for t, _ in found.by_token] == [t for t, _ in plain.by_token]


def test_twins_of_the_search_pass_the_supremum() -> None:
    law, states = OneWay(), _states(3, 3, 3, 1)
    exact = np.array([dobrushin_matrix(law, float(tau)) for tau in TAUS])
    found = search(LawModel(law), states, TAUS, climbs=4, seed=0, worst=1)
    assert _violations(found.largest, exact) < 1e-12
    assert _violations(found.largest.transpose(0, 2, 1), exact) > 0.1
    cold = search(LawModel(Twice(law, 0.5)), states, TAUS[:1], climbs=4, seed=0, worst=1)
    assert _violations(cold.largest, exact[:1]) > 0.1


def test_one_way_influence_by_hand() -> None:
    C = dobrushin_matrix(OneWay(), 1.0)
    assert (C[0] == 0).all() and C[1, 2] == 0
    p = np.exp(1.5) / (np.exp(1.5) + 2)
    assert C[1, 0] == pytest.approx(p - (1 - p) / 2, abs=1e-12)


def test_watched_sites() -> None:
    for n in (2, 3, 5, 64):
        sites = _watched(n)
        assert 1 <= len(sites) <= 5 and n // 2 not in sites and sites.min() >= 0 and sites.max() < n


def test_filled_states_keep_clamped_sites_and_specials() -> None:
    state = State(np.array([9, 5, 6, 7, 8]), np.array([1, 3]))
    assert filled(state, 2).tokens.tolist() == [9, 2, 6, 2, 8]


def test_filled_states_of_the_bundled_model_sway_more_than_texts() -> None:
    model = load("en-tiny")
    texts = ["the cat sat on the mat by the fire."]
    plain = influence(model, texts, [1.0, 4.0], contexts=1, climbs=0, worst=0)
    found = influence(model, texts, [1.0, 4.0], contexts=1, climbs=0, worst=1)
    for a, b in zip(plain.curve, found.curve, strict=True):
        assert b.radius.value > 1.3 * a.radius.value
        assert b.typical == a.typical and b.q99 == a.q99
    assert found.n_worst == 1 and found.n_rows > 2 * 8 * 8
    assert found.curve[0].typical.to_dict()["interval"] == [None, None]  # one text: no error to state


def test_no_filled_states_on_request() -> None:
    assert worst_contexts(LawModel(OneWay()), _states(3, 3, 1, 0), TAUS, 0, 0) == []


def test_two_sites_and_more_filled_states_than_tokens() -> None:
    law, states = random_conditionals(3, 2, seed=5), _states(3, 2, 1, 0)
    found = search(LawModel(law), states, TAUS, climbs=99, seed=0, worst=9)
    assert found.worst == 3
    assert _violations(found.largest, np.array([dobrushin_matrix(law, float(t)) for t in TAUS])) < 1e-12


def test_one_token_alone_has_no_influence() -> None:
    class Single:
        n_sites, vocabulary_size = 2, 2

        def logits(self, states: Any, sites: Any) -> Any:
            return np.tile([0.0, -np.inf], (len(states), 1))

    with pytest.raises(InputError, match="two tokens"):
        search(Single(), _states(1, 2, 1, 0), TAUS, climbs=0, seed=0)
