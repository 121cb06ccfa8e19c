"""The exact decomposition on 1,000 random laws and schedules: identities to 1e-12, sandwich and bridge in order."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from maskov.errors import InputError
from maskov.identifiability import (
    BlockDivergence,
    TableModes,
    blindness_ratio,
    dense_log_gap,
    full_mask_bound,
    log_joint_discrepancy,
    log_kl_joint,
    log_tilted_integral,
    log_token_discrepancy,
    searched_modulus,
    searched_tensorization,
    set_experiment,
    token_ratio,
    witness_modulus,
    witness_tensorization,
)
from maskov.identifiability.bridge import dense_kernel
from maskov.laws import Tabular, enumerate_states
from maskov.schedules import schedule

sys.path.insert(0, str(Path(__file__).parent))
from by_definition import bregman_discrepancy, discrepancies, random_modes

SIZES = [(2, 1), (2, 2), (2, 3), (3, 1), (3, 2)]
SCHEDULES = (
    "hide:1",
    "uniform",
    "full",
    "bernoulli:0.4",
    "span:0.5",
    "0.7*hide:1+0.3*full",
    "uniform*1/t",
    "cosine*N/h",
)
LAWS = 1000


def test_thousand_laws() -> None:
    """Both forms, the tilted-variance side, the any-order identity, the sandwich and the bridge, law by law."""
    worst: dict[str, float] = {}
    modes = [check_law(seed, worst) for seed in range(LAWS)]
    assert len(modes) == LAWS and min(modes.count(K) for K in (2, 3, 4)) > LAWS // 4
    assert set(worst) == {"joint", "token", "kl", "tilted", "any order"}
    assert max(worst.values()) < 1e-12, worst


def check_law(seed: int, worst: dict[str, float]) -> int:
    """Check one random law under one schedule; returns its number of modes and notes the largest errors."""
    rng = np.random.default_rng(seed)
    K, (V, N), text = int(rng.integers(2, 5)), SIZES[rng.integers(len(SIZES))], SCHEDULES[seed % len(SCHEDULES)]
    law, mu = random_modes(rng, K, V, N, rng.uniform(0.1, 3.0)), schedule(text)
    other = rng.dirichlet(np.full(K, 2.0)) * 0.98 + 0.02 / K
    experiment = set_experiment(law, mu)
    w = law.weights
    joint, token, kl = discrepancies(law, law.with_weights(other), mu)
    note(worst, "joint", log_joint_discrepancy(experiment, w, other), joint)
    note(worst, "token", log_token_discrepancy(experiment, w, other), token)
    note(worst, "kl", log_kl_joint(experiment, w, other), kl)
    note(worst, "tilted", log_tilted_integral(experiment, w, other), joint)
    if text == "uniform*1/t":
        note(worst, "any order", log_token_discrepancy(experiment, w, other), kl)

    epsilon = 10 ** rng.uniform(-4, -1)
    witness = witness_modulus(experiment, epsilon, climbs=0)
    member = np.clip(witness.weights, 1e-12, None)
    candidate = np.exp(law.with_weights(member / member.sum()).log_prob(enumerate_states(V, N)))
    divergence = BlockDivergence(law, mu)
    searched, q = searched_modulus(divergence, epsilon, candidate, starts=2, steps=3)
    upper = full_mask_bound(epsilon, float(np.exp(mu.log_objective_law(N)[0])))
    assert divergence(q[None])[0] <= epsilon * (1 + 1e-9)
    assert witness.joint <= searched + 1e-9
    assert searched <= upper + 1e-9

    rho = blindness_ratio(experiment.sampling()).log_ratio
    gap = dense_log_gap(law, mu)
    assert gap is not None
    assert np.exp(gap) <= np.exp(rho) * (1 + 1e-9)
    return K


def note(worst: dict[str, float], name: str, log_value: float, expected: float) -> None:
    """Keep the largest |e^log_value − expected| under a name."""
    worst[name] = max(worst.get(name, 0.0), abs(float(np.exp(log_value)) - expected))


@pytest.mark.parametrize("K", [2, 3, 4])
@pytest.mark.parametrize("text", ["hide:1", "uniform", "span:0.5", "uniform*1/t"])
def test_discrepancy_is_a_difference_of_bregman_divergences(K: int, text: str) -> None:
    rng, mu = np.random.default_rng(K), schedule(text)
    for V, N in SIZES:
        law, other = random_modes(rng, K, V, N, 2.0), rng.dirichlet(np.full(K, 2.0))
        direct = np.exp(log_joint_discrepancy(set_experiment(law, mu), law.weights, other))
        assert direct == pytest.approx(bregman_discrepancy(law, np.log(other / law.weights), mu), abs=1e-13)


@pytest.mark.parametrize("text", ["hide:1", "uniform", "bernoulli:0.4", "uniform*1/t"])
def test_local_information_of_a_token_is_the_drop_in_mmse(text: str) -> None:
    law = random_modes(np.random.default_rng(11), 2, 2, 3, 2.0)
    experiment = set_experiment(law, schedule(text))
    other = law.weights + np.array([1e-5, -1e-5])
    limit = log_token_discrepancy(experiment, law.weights, other) - log_kl_joint(experiment, law.weights, other)
    assert np.exp(token_ratio(experiment)) == pytest.approx(np.exp(limit), rel=1e-3)
    if text == "uniform*1/t":  # any-order masses: the token form is KL(p‖q), so the drops add up to all there is
        assert token_ratio(experiment) == pytest.approx(0.0, abs=1e-12)
    with pytest.raises(InputError, match="two modes"):
        token_ratio(set_experiment(random_modes(np.random.default_rng(0), 3, 2, 2, 1.0), schedule(text)))


@pytest.mark.parametrize("K", [2, 3, 4])
@pytest.mark.parametrize("N", [2, 3, 4])
def test_any_order_identity(K: int, N: int) -> None:
    """v uniform on 0 … N − 1 with weights N/(N − v): the token form is KL(p‖q)."""
    rng = np.random.default_rng(K * 10 + N)
    law = random_modes(rng, K, 2, N, 1.5)
    mu = schedule("+".join(f"{1 / N!r}*visible:{v}*N/h" for v in range(N)))
    other = rng.dirichlet(np.full(K, 2.0))
    experiment = set_experiment(law, mu)
    token = np.exp(log_token_discrepancy(experiment, law.weights, other))
    assert token == pytest.approx(np.exp(log_kl_joint(experiment, law.weights, other)), abs=1e-14)
    assert token == pytest.approx(discrepancies(law, law.with_weights(other), mu)[2], abs=1e-13)


def test_each_visible_set_of_separated_product_modes() -> None:
    """N = 6, separated product modes: both sides of the decomposition agree to 1e-15 for every S."""
    ones = np.linspace(0.75, 0.95, 6)
    sites = np.log(np.stack([np.stack([ones, 1 - ones], axis=1), np.stack([1 - ones, ones], axis=1)]))
    tables = sum(sites[:, i].reshape(2, *(2 if j == i else 1 for j in range(6))) for i in range(6))
    law, other = TableModes([0.7, 0.3], tables), np.array([0.45, 0.55])
    experiment = set_experiment(law, schedule("uniform"))
    for g in range(len(experiment.starts)):
        one = np.full(len(experiment.starts), -np.inf)
        one[g] = 0.0
        single = replace(experiment, log_objective=one)
        direct = np.exp(log_joint_discrepancy(single, law.weights, other))
        assert direct == pytest.approx(np.exp(log_tilted_integral(single, law.weights, other)), abs=1e-15)


def test_local_ratio_is_the_limit() -> None:
    rng = np.random.default_rng(5)
    for K in (2, 3):
        law = random_modes(rng, K, 2, 3, 2.0)
        experiment = set_experiment(law, schedule("uniform"))
        rho = np.exp(blindness_ratio(experiment).log_ratio)
        ratios = []
        for _ in range(300):
            step = rng.standard_normal(K)
            other = law.weights + 1e-5 * (step - step.mean())
            log_d = log_joint_discrepancy(experiment, law.weights, other)
            ratios.append(np.exp(log_d - log_kl_joint(experiment, law.weights, other)))
        assert min(ratios) >= rho * (1 - 1e-3)
        assert min(ratios) == pytest.approx(rho, rel=2e-3 if K == 2 else 2e-2)


@pytest.mark.parametrize("text", ["hide:1", "uniform", "0.8*hide:1+0.2*full"])
def test_tensorization_bounds_are_in_order(text: str) -> None:
    """Witness and 1/ρ ≤ 1/gap-type constants ≤ what the search finds; full mask alone has C = 1."""
    rng = np.random.default_rng(7)
    law, mu = random_modes(rng, 2, 2, 3, 2.0), schedule(text)
    experiment = set_experiment(law, mu)
    witness = np.exp(witness_tensorization(experiment).log_value)
    gap = dense_log_gap(law, mu)
    assert gap is not None
    searched = searched_tensorization(law, mu, starts=8).value
    assert np.exp(-blindness_ratio(experiment).log_ratio) <= np.exp(-gap) * (1 + 1e-9)
    assert max(witness, np.exp(-gap)) <= searched * (1 + 1e-3)


@pytest.mark.parametrize(("hidden", "constant"), [(1, 3.0), (2, 1.5), (3, 1.0)])
def test_independent_sites_tensorise_with_constant_sites_over_hidden(hidden: int, constant: float) -> None:
    """Han's inequality: C_AT = N/k for a product law under ``hide:k``, attained by every product ν."""
    sites = np.log(np.array([[0.3, 0.7], [0.5, 0.5], [0.9, 0.1]]))
    law = Tabular(sites[0][:, None, None] + sites[1][None, :, None] + sites[2][None, None, :])
    found = searched_tensorization(law, schedule(f"hide:{hidden}"), starts=4).value
    assert found == pytest.approx(constant, rel=1e-5) and found <= constant * (1 + 1e-9)


def test_full_mask_tensorises_with_constant_one() -> None:
    law = random_modes(np.random.default_rng(1), 2, 2, 3, 2.0)
    assert searched_tensorization(law, schedule("full"), starts=2).value == pytest.approx(1.0, abs=1e-9)
    experiment = set_experiment(law, schedule("full"))
    assert witness_tensorization(experiment).log_value == pytest.approx(0.0, abs=1e-9)


def test_dense_kernel_keeps_the_law() -> None:
    """P = √π⁻¹ K √π has rows that sum to 1 and leaves p alone, for laws with impossible states too."""
    tables = np.random.default_rng(0).standard_normal((2, 2, 2, 2))
    tables[:, 0, 1, :] = -np.inf
    for text in ("hide:1", "uniform", "span:0.5"):
        kernel, p = dense_kernel(TableModes([0.4, 0.6], tables), schedule(text))
        P = kernel * np.sqrt(p)[None, :] / np.sqrt(p)[:, None]
        np.testing.assert_allclose(P.sum(axis=1), 1, atol=1e-12)
        np.testing.assert_allclose(p @ P, p, atol=1e-12)
        assert len(p) == 6 and np.linalg.eigvalsh(kernel).min() > -1e-12
