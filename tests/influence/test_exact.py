"""Exact influence on laws with known answers; certificates that are never violated; twins that must fail."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from maskov.errors import InputError
from maskov.glauber.kernel import mixing_time, stationary_law, transition_matrix
from maskov.influence import (
    Influence,
    bottleneck_bound,
    bottleneck_ratio,
    bounds_row,
    contraction,
    dobrushin_matrix,
    influence,
    mixing_time_bound,
)
from maskov.laws import CurieWeiss, IsingRing, enumerate_states, random_conditionals, random_tabular
from maskov.models import LawModel, load
from maskov.quantities import Bound, Exact


class Plain:
    """The same conditionals without their class, so that they are enumerated."""

    def __init__(self, law: Any) -> None:
        self.n_sites, self.vocabulary_size, self.logits = law.n_sites, law.vocabulary_size, law.logits


@pytest.mark.parametrize("beta", [0.1, 0.7, 1.5, -0.6])
@pytest.mark.parametrize("tau", [0.5, 1.0, 2.0])
def test_ising_ring(beta: float, tau: float) -> None:
    """10-dynamics §4: c_ij = tanh(2β/τ)/2 between neighbours, 0 elsewhere: in closed form and by enumeration."""
    for n in (3, 6):
        expected = np.zeros((n, n))
        for i in range(n):
            expected[i, [(i + 1) % n, (i - 1) % n]] = math.tanh(2 * abs(beta) / tau) / 2
        for law in (IsingRing(n, beta), Plain(IsingRing(n, beta))):
            np.testing.assert_allclose(dobrushin_matrix(law, tau), expected, atol=1e-12)


@pytest.mark.parametrize("n", [2, 8, 64, 512])
def test_curie_weiss_of_even_size(n: int) -> None:
    """α = (n − 1) tanh(β/n) for even n."""
    C = dobrushin_matrix(CurieWeiss(n, 0.9))
    alpha = contraction(Influence(C, "exact"))
    for value in (alpha.row, alpha.column, alpha.spectral, alpha.radius):
        assert isinstance(value, Exact)
        assert value.value == pytest.approx((n - 1) * math.tanh(0.9 / n), abs=1e-12)


@pytest.mark.parametrize("n", [2, 3, 7, 8])
def test_curie_weiss_equals_enumeration(n: int) -> None:
    law = CurieWeiss(n, 1.1)
    np.testing.assert_allclose(dobrushin_matrix(law, 0.8), dobrushin_matrix(Plain(law), 0.8), atol=1e-12)


def _by_definition(law: Any, tau: float) -> np.ndarray:
    """The supremum over all pairs of states, one by one."""
    n, v = law.n_sites, law.vocabulary_size
    states = enumerate_states(v, n)
    C = np.zeros((n, n))
    for i in range(n):
        rows = np.asarray(law.logits(states, np.full(len(states), i))) / tau
        p = np.exp(rows - rows.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        for a, x in enumerate(states):
            for b, y in enumerate(states):
                differ = np.flatnonzero(x != y)
                if len(differ) == 1 and differ[0] != i:
                    C[i, differ[0]] = max(C[i, differ[0]], 0.5 * np.abs(p[a] - p[b]).sum())
    return C


@pytest.mark.parametrize("seed", range(4))
def test_matrices_equal_their_definition(seed: int) -> None:
    for law in (random_conditionals(3, 3, seed=seed), random_tabular(2, 4, seed=seed)):
        expected = _by_definition(law, 0.7)
        found = dobrushin_matrix(law, 0.7)
        np.testing.assert_allclose(found, expected, atol=1e-12)
        # Twins: rows and columns swapped, and the temperature applied twice, are told apart on the same laws.
        assert np.abs(found.T - expected).max() > 1e-3
        assert np.abs(dobrushin_matrix(law, 0.49) - expected).max() > 1e-3


def test_certified_bounds_are_never_violated() -> None:
    """1,000 random laws and incompatible conditionals: exact t_mix ≤ bound wherever some α < 1."""
    certified = 0
    for seed in range(1000):
        rng = np.random.default_rng(seed)
        v, n = (2, 3) if seed % 2 else (3, 2)
        make = random_tabular if seed % 3 else random_conditionals
        law, tau = make(v, n, seed=seed), float(rng.uniform(0.5, 4))
        bound = mixing_time_bound(Influence(dobrushin_matrix(law, tau), "exact"))
        if bound is not None:
            certified += 1
            P = transition_matrix(law, n, tau)
            assert mixing_time(P, stationary_law(P)) <= bound.value, seed
    assert certified > 300


def test_the_perron_bound_needs_its_ratio() -> None:
    """On a lopsided matrix the radius alone would give less time than d ← (I − (I − C)/n) d needs."""
    C = np.array([[0.0, 3.0], [0.01, 0.0]])
    bound = mixing_time_bound(Influence(C, "exact"), 0.01)
    assert bound is not None
    radius = contraction(Influence(C, "exact")).radius.value
    d, steps = np.ones(2), 0
    while d.sum() > 0.01:
        d, steps = d - (d - C @ d) / 2, steps + 1
    naive = 2 * (math.log(2) + math.log(100)) / (1 - radius)
    assert naive < steps <= bound.value


def test_only_what_certifies_is_accepted() -> None:
    C = np.full((3, 3), 0.1) - 0.1 * np.eye(3)
    with pytest.raises(InputError, match="certified upper bounds"):
        mixing_time_bound(Influence(C, "lower"))
    for kind in ("exact", "upper"):
        found = mixing_time_bound(Influence(C, kind))
        assert isinstance(found, Bound) and found.side == "upper"
    assert isinstance(contraction(Influence(C, "lower")).row, Bound)
    assert not contraction(Influence(C, "lower")).row.certifies_below(1.0)  # type: ignore[union-attr]
    assert mixing_time_bound(Influence(np.ones((3, 3)), "exact")) is None
    for bad in (np.ones((2, 3)), np.full((2, 2), np.nan), -np.ones((2, 2))):
        with pytest.raises(InputError):
            Influence(bad, "exact")
    with pytest.raises(InputError, match="epsilon"):
        mixing_time_bound(Influence(C, "exact"), 0.0)


def test_independent_sites_mix_in_coupon_collector_time() -> None:
    found = mixing_time_bound(Influence(np.zeros((8, 8)), "exact"))
    assert found is not None and found.value == math.ceil(8 * (math.log(8) + math.log(4)))


def test_bounds_hold_between_them() -> None:
    for seed in range(40):
        law = random_tabular(2, 4, seed=seed, concentration=0.5)
        row = bounds_row("random", law, 1.0, enumerate_states(2, 4).sum(axis=1) <= 1)
        assert row.lower <= row.exact <= row.upper, seed
    cold = bounds_row("curie-weiss", CurieWeiss(8, 2.0), 1.0, enumerate_states(2, 8).sum(axis=1) <= 3)
    assert cold.bottleneck > 10 and cold.lower <= cold.exact <= cold.upper and math.isinf(cold.dobrushin)


def test_bottlenecks() -> None:
    P = np.array([[0.9, 0.1], [0.3, 0.7]])
    pi = stationary_law(P)
    assert bottleneck_ratio(P, pi, np.array([True, False])) == pytest.approx(0.1)
    assert bottleneck_bound(P, pi, np.array([True, False])) == pytest.approx(1 / (4 * 0.3))  # the small side counts
    for inside in ([True, True], [False, False]):
        with pytest.raises(InputError, match="bottleneck"):
            bottleneck_ratio(P, pi, np.array(inside))


def test_the_study_of_a_law() -> None:
    found = influence(load("law:curie-weiss?sites=8&beta=0.5"), temperatures=[0.25, 1.0, 2.0])
    assert found.exact and isinstance(found.mixing_time_bound, Bound)
    # (n − 1) tanh(β/(n τ*)) = 1
    assert found.critical_temperature is not None
    expected = 0.5 / (8 * math.atanh(1 / 7))
    assert found.critical_temperature.value == pytest.approx(expected, abs=1e-9)
    large = load("law:potts?sites=40&symbols=2&beta=1")
    with pytest.raises(InputError, match="states"):
        influence(large)
    with pytest.raises(InputError, match="2 sites"):
        dobrushin_matrix(random_tabular(3, 1, seed=0))


def test_the_room_is_callable() -> None:
    import maskov

    assert maskov.influence(LawModel(IsingRing(4, 0.3)), temperatures=[1.0]).curve[0].row.value > 0
