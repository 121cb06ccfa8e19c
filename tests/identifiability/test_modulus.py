"""The modulus: each of its bounds is a bound, and the search finds what theory says."""

from __future__ import annotations

import numpy as np
import pytest

from maskov.errors import InputError
from maskov.identifiability import (
    BlockDivergence,
    count_experiment,
    count_modes,
    full_mask_bound,
    identify,
    log_joint_discrepancy,
    low_visibility_bound,
    searched_modulus,
    set_experiment,
    witness_modulus,
)
from maskov.identifiability.modulus import Ray
from maskov.laws import ProductMixture, enumerate_states, reference_mixture
from maskov.schedules import schedule


def _experiment(N: int, gap: float, text: str):  # type: ignore[no-untyped-def]
    model = count_modes(reference_mixture(N, gap, 0.3))
    assert model is not None
    return count_experiment(model, schedule(text))


@pytest.mark.parametrize("text", ["uniform", "0.95*fixed:0.15+0.05*full", "visible:8", "hide:1"])
@pytest.mark.parametrize("epsilon", [1e-5, 1e-3, 1e-1])
def test_witness_is_on_the_boundary(text: str, epsilon: float) -> None:
    experiment = _experiment(32, 0.3, text)
    for direction in (np.array([-1.0, 1.0]), np.array([1.0, -1.0])):
        s = Ray(experiment, direction).furthest(epsilon)
        reached = log_joint_discrepancy(experiment, experiment.weights, experiment.weights + s * (1 - 1e-9) * direction)
        assert reached <= np.log(epsilon) + 1e-7
        if s < 0.29:  # not the edge of the simplex
            assert reached == pytest.approx(np.log(epsilon), abs=1e-6)


@pytest.mark.parametrize("text", ["uniform", "0.9*hide:1+0.1*visible:3", "0.95*fixed:0.15+0.05*full", "visible:8"])
def test_low_visibility_bound_holds_inside_the_family(text: str) -> None:
    experiment = _experiment(40, 0.2, text)
    for epsilon in (1e-5, 1e-4, 1e-3, 1e-2):
        bound = low_visibility_bound(experiment, epsilon)
        assert 0 < bound.floor <= 1 + 1e-9
        assert witness_modulus(experiment, epsilon).mode_weights <= bound.bound * (1 + 1e-9)
        if bound.bound < 1:
            assert bound.bound == pytest.approx(np.sqrt(epsilon / (2 * bound.mass * bound.floor)))


def test_floor_at_nothing_visible_is_one_for_pinned_modes() -> None:
    bound = low_visibility_bound(_experiment(128, 0.3, "0.95*fixed:0.15+0.05*full"), 1e-3)
    assert bound.s == 0 and bound.mass == pytest.approx(0.05)
    assert bound.bound == pytest.approx(full_mask_bound(1e-3, 0.05), rel=1e-6)


def test_full_mask_bound_values() -> None:
    assert full_mask_bound(1e-3, 0.05) == pytest.approx(0.1)
    assert full_mask_bound(1.0, 0.01) == 1.0
    assert full_mask_bound(1e-3, 0.0) == 1.0


def test_search_over_all_q_with_the_full_mask_is_the_inverse_of_pinsker() -> None:
    """Under ``full``, D is KL(p‖q): the largest TV at KL ≤ ε is attained by scaling two halves of equal mass."""
    law = ProductMixture([0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]], 2)  # uniform on four states
    divergence = BlockDivergence(law, schedule("full"))
    epsilon = 0.01
    best, q = searched_modulus(divergence, epsilon, np.array([[0.3, 0.3, 0.2, 0.2]]))
    t = np.linspace(0, 0.5, 500_001)[:-1]
    kl = -0.5 * np.log1p(2 * t) - 0.5 * np.log1p(-2 * t)
    assert best == pytest.approx(t[kl <= epsilon].max(), abs=1e-5)
    assert divergence(q[None])[0] <= epsilon * (1 + 1e-9)


def test_gradient_of_the_block_divergence() -> None:
    law = reference_mixture(3, 0.2, 0.3)
    divergence = BlockDivergence(law, schedule("uniform"))
    q = np.random.default_rng(0).dirichlet(np.ones(8))
    numeric = [(divergence((q + h)[None])[0] - divergence((q - h)[None])[0]) / 2e-6 for h in np.eye(8) * 1e-6]
    np.testing.assert_allclose(divergence.gradient(q[None])[0], numeric, rtol=1e-5)


def test_three_modes_climb_beyond_the_plain_directions() -> None:
    rng = np.random.default_rng(3)
    law = ProductMixture([0.5, 0.3, 0.2], rng.dirichlet(np.ones(2), size=3), 6)
    experiment = set_experiment(law, schedule("hide:1"))
    plain, climbed = (witness_modulus(experiment, 1e-3, climbs=k) for k in (0, 40))
    assert climbed.joint >= plain.joint - 1e-12
    log_d = log_joint_discrepancy(experiment, law.weights, np.clip(climbed.weights, 1e-13, None))
    assert log_d <= np.log(1e-3) + 1e-6


@pytest.mark.parametrize("other", [1e-300, 1e-9, 1 - 1e-9])
def test_far_away_weights(other: float) -> None:
    """Against the sums over all states, from log p and log q themselves."""
    law = reference_mixture(10, 0.3, 0.3)
    found = identify(law, "fixed:0.3", against=other, epsilons=())
    q = law.with_weights([1 - other, other])
    x = enumerate_states(2, 10)
    p = np.exp(law.log_prob(x))
    shown = np.zeros_like(x, dtype=bool)
    shown[:, :7] = True
    whole, seen = p @ (law.log_prob(x) - q.log_prob(x)), p @ (law.log_marginal(x, shown) - q.log_marginal(x, shown))
    assert found.discrepancy.value == pytest.approx(whole - seen, rel=1e-9)  # type: ignore[union-attr]
    assert found.kl_joint.value == pytest.approx(whole, rel=1e-9)  # type: ignore[union-attr]


def test_zero_excess_loss_leaves_nothing_open() -> None:
    row = identify(reference_mixture(16, 0.3, 0.3), "uniform", epsilons=[0.0]).modulus[0]
    assert row.lower.value == 0 and row.upper.value == 0


@pytest.mark.parametrize("epsilon", [-1e-3, float("nan"), float("inf")])
def test_bad_epsilon(epsilon: float) -> None:
    with pytest.raises(InputError, match="an excess loss of 0 or more"):
        identify(reference_mixture(8, 0.3, 0.3), "uniform", epsilons=[epsilon])


def test_search_refuses_large_laws() -> None:
    with pytest.raises(InputError, match="64 states to search"):
        BlockDivergence(reference_mixture(12, 0.3, 0.3), schedule("uniform"))
