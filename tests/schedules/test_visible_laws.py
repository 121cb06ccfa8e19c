"""Exact laws of the visible count: against independent formulas, and against samples."""

from __future__ import annotations

import time

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import betainc

from maskov.conformance import check_schedule
from maskov.errors import ConformanceError, InputError
from maskov.schedules import PRESETS, BetaRate, Schedule, TruncatedNormal, schedule

FORMS = [
    "fixed:0.15",
    "bernoulli:0.15",
    "visible:3",
    "hide:2",
    "full",
    "uniform",
    "uniform:0.3,0.8",
    "truncnorm:0.55,0.25,0.5,1",
    "cosine",
    "poly:2",
    "poly:0.5",
    "beta:2,5",
    "span:0.3",
    "span:0.4,3",
    "0.95*fixed:0.15+0.05*full",
    "0.3*cosine+0.3*span:0.4,3+0.4*hide:1",
]


@pytest.mark.parametrize("text", [*FORMS, *PRESETS])
def test_samples_agree_with_the_law(text: str) -> None:
    assert check_schedule(schedule(text), 23).p_value > 1e-4


def test_the_check_rejects_a_broken_twin() -> None:
    class Shifted(BetaRate):
        def quantile(self, u: np.ndarray) -> np.ndarray:
            return super().quantile(u) * 0.9

    with pytest.raises(ConformanceError):
        check_schedule(Shifted(2.0, 5.0), 23)


@pytest.mark.parametrize("length", [1, 2, 7, 512, 100_000])
@pytest.mark.parametrize(
    "text",
    [
        "fixed:0.15",
        "bernoulli:0.15",
        "uniform",
        "uniform:0.3,0.8",
        "mage",
        "mar",
        "cosine",
        "poly:3",
        "beta:2,5",
        "0.95*bert+0.05*full",
    ],
)
def test_laws_sum_to_one(text: str, length: int) -> None:
    law = schedule(text).visible_law(length)
    assert law.shape == (length + 1,)
    assert abs(law.sum() - 1) < 1e-12
    assert (law >= 0).all()


def test_the_law_at_a_hundred_thousand_sites_is_a_matter_of_seconds() -> None:
    start = time.process_time()
    for text in ("cosine", "uniform:0.3,0.8", "bernoulli:0.15", "poly:3"):
        schedule(text).visible_law(100_000)
    assert time.process_time() - start < 10


def _mean_rate(mu: Schedule) -> float:
    if isinstance(mu, TruncatedNormal):
        a, b = (mu.low - mu.mean) / mu.sd, (mu.high - mu.mean) / mu.sd
        return float(stats.truncnorm.mean(a, b, loc=mu.mean, scale=mu.sd))
    return {"cosine": 2 / np.pi, "uniform:0.3,0.8": 0.55, "poly:3": 0.25, "beta:2,5": 2 / 7}[mu.text]


@pytest.mark.parametrize(
    "text", ["cosine", "uniform:0.3,0.8", "poly:3", "beta:2,5", "truncnorm:0.55,0.25,0.5,1", "truncnorm:1,0.25,0.7,1"]
)
@pytest.mark.parametrize("length", [5, 1000])
def test_mean_visible_is_the_mean_rate(text: str, length: int) -> None:
    mu = schedule(text)
    assert mu.mean_visible(length) == pytest.approx(length * (1 - _mean_rate(mu)), rel=1e-11)


def _by_quadrature(mu: Schedule, length: int, v: int) -> float:
    low, high = mu.support()  # type: ignore[attr-defined]

    def integrand(t: float) -> float:
        return float(np.exp(mu.log_density(np.array(t), np.array(1 - t))) * stats.binom.pmf(v, length, 1 - t))  # type: ignore[attr-defined]

    return integrate.quad(integrand, low, high, epsabs=0, epsrel=1e-11, limit=200)[0]


@pytest.mark.parametrize("text", ["cosine", "uniform:0.3,0.8", "truncnorm:0.55,0.25,0.5,1"])
def test_masses_by_adaptive_quadrature(text: str) -> None:
    mu = schedule(text)
    for v in (0, 3, 20, 39):
        assert mu.visible_law(40)[v] == pytest.approx(_by_quadrature(mu, 40, v), rel=1e-8)


def test_clipped_uniform_is_the_incomplete_beta_integral_tails_included() -> None:
    mu, N = schedule("uniform:0.3,0.8"), 512
    law = mu.visible_law(N)
    for v in (0, 100, 150, 250, 358):
        h = N - v
        exact = (betainc(h + 1, v + 1, 0.8) - betainc(h + 1, v + 1, 0.3)) / ((N + 1) * 0.5)
        assert law[v] == pytest.approx(exact, rel=1e-9)
    assert mu.log_visible_law(N)[0] == pytest.approx(np.log(0.8 / 513 / 0.5) + 512 * np.log(0.8), rel=1e-12)


def test_uniform_is_flat_and_poly_one_is_uniform() -> None:
    np.testing.assert_allclose(schedule("uniform").visible_law(100_000), 1 / 100_001, rtol=1e-13)
    np.testing.assert_allclose(schedule("poly:1").visible_law(50), 1 / 51, rtol=1e-10)
    np.testing.assert_allclose(schedule("beta:1,1").visible_law(50), 1 / 51, rtol=1e-10)


@pytest.mark.parametrize(
    ("ratio", "length", "hidden"),
    [(0.15, 512, 77), (0.15, 10, 2), (0.15, 2, 1), (0.75, 196, 147), (0.0, 9, 1), (1.0, 9, 9), (0.5, 5, 3)],
)
def test_fixed_ratio_hides_the_rounded_count(ratio: float, length: int, hidden: int) -> None:
    mu = schedule(f"fixed:{ratio}")
    assert mu.v_min(length) == length - hidden
    assert (~mu.sample_visible(length, 50, np.random.default_rng(0))).sum(axis=1).tolist() == [hidden] * 50


def test_both_readings_of_bert() -> None:
    assert schedule("bert").visible_law(512)[435] == 1
    assert schedule("bert-bernoulli").v_min(512) == 0
    assert schedule("bert-bernoulli").mean_visible(512) == pytest.approx(0.85 * 512)


@pytest.mark.parametrize("text", ["span:0.4,3", "span:0.5", "0.5*span:0.4,2+0.5*uniform"])
def test_spans_are_contiguous_and_sets_match_samples(text: str) -> None:
    mu, N, size = schedule(text), 7, 20_000
    law = mu.set_law(N)
    assert np.exp(law.log_mass).sum() == pytest.approx(1)
    drawn = mu.sample_visible(N, size, np.random.default_rng(1))
    codes = law.visible @ (1 << np.arange(N))
    counts = np.bincount(drawn @ (1 << np.arange(N)), minlength=2**N)
    assert counts[codes].sum() == size
    assert stats.chisquare(counts[codes], size * np.exp(law.log_mass)).pvalue > 1e-4


@pytest.mark.parametrize("text", ["uniform", "bernoulli:0.15", "0.95*bert+0.05*full", "uniform*1/t"])
def test_set_law_has_the_visible_law(text: str) -> None:
    mu, N = schedule(text), 6
    law = mu.set_law(N)
    by_count = np.bincount(law.visible.sum(axis=1), weights=np.exp(law.log_mass), minlength=N + 1)
    np.testing.assert_allclose(by_count, mu.visible_law(N), atol=1e-14)
    objective = np.bincount(law.visible.sum(axis=1), weights=np.exp(law.log_objective), minlength=N + 1)
    np.testing.assert_allclose(objective, mu.objective_law(N), atol=1e-12)


def test_too_many_sets_are_refused() -> None:
    with pytest.raises(InputError, match="sets to enumerate"):
        schedule("uniform").set_law(40)
