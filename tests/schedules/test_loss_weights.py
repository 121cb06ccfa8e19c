"""Loss weights multiply the mass in the objective and leave the sampling alone."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats

from maskov.errors import InputError
from maskov.schedules import schedule


@pytest.mark.parametrize("text", ["uniform*1/t", "uniform*elbo", "cosine*elbo", "poly:2*elbo"])
def test_diffusion_weights_give_the_any_order_masses(text: str) -> None:
    np.testing.assert_allclose(schedule(text).objective_law(64)[:-1], 1 / np.arange(64, 0, -1), rtol=1e-10)


def test_inverse_rate_of_fixed_counts_and_bernoulli() -> None:
    assert schedule("fixed:0.25*1/t").objective_law(8)[6] == pytest.approx(4)
    np.testing.assert_allclose(
        schedule("bernoulli:0.2*1/t").objective_law(5)[:5], 5 * schedule("bernoulli:0.2").visible_law(5)[:5]
    )
    np.testing.assert_allclose(
        schedule("bernoulli:0.2*N/h").objective_law(5)[:5],
        5 / np.arange(5, 0, -1) * schedule("bernoulli:0.2").visible_law(5)[:5],
    )


@pytest.mark.parametrize(
    ("text", "low", "high", "density"),
    [("uniform:0.3,0.8*1/t", 0.3, 0.8, lambda t: 2.0), ("beta:3,2*1/t", 0.0, 1.0, stats.beta(3, 2).pdf)],
)
def test_mean_inverse_rate_by_quadrature(text: str, low: float, high: float, density) -> None:
    mu, N = schedule(text), 12
    for v in (0, 5, 11):
        exact = integrate.quad(lambda t, v=v: density(t) / t * stats.binom.pmf(v, N, 1 - t), low, high, epsrel=1e-11)[0]
        assert mu.objective_law(N)[v] == pytest.approx(exact, rel=1e-9)


def test_sampling_ignores_the_weight() -> None:
    plain, weighted = schedule("uniform"), schedule("uniform*1/t")
    np.testing.assert_array_equal(plain.visible_law(9), weighted.visible_law(9))
    a, b = (mu.sample_visible(9, 20, np.random.default_rng(3)) for mu in (plain, weighted))
    np.testing.assert_array_equal(a, b)


def test_weights_inside_a_mixture() -> None:
    mu = schedule("0.25*uniform*1/t+0.75*full")
    assert mu.weighted
    assert mu.objective_law(4)[0] == pytest.approx(0.25 / 4 + 0.75)


def test_elbo_needs_a_density() -> None:
    with pytest.raises(InputError, match="elbo needs a random rate"):
        schedule("bert*elbo")
