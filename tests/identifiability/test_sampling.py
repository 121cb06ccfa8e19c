"""Rao–Blackwell Monte Carlo agrees with counting within its stated errors, in the bulk and in the tail."""

from __future__ import annotations

import numpy as np
import pytest

from maskov.identifiability import (
    MultinomialCounts,
    blindness_ratio,
    chernoff_information,
    log_joint_discrepancy,
    log_kl_joint,
    log_token_discrepancy,
    view,
)
from maskov.identifiability.modes import mode_table
from maskov.identifiability.sampling import sampled_counts, sampled_experiment, tilted_proposal
from maskov.identifiability.views import View, log_estimate, mmse_curve
from maskov.laws import MarkovMixture, ProductMixture, law, reference_mixture
from maskov.schedules import schedule


def _sampled(law_, text: str, replicates: int = 16, **options) -> View:  # type: ignore[no-untyped-def]
    mu = schedule(text)
    runs = tuple(sampled_experiment(law_, mu, np.random.default_rng(k), **options) for k in range(replicates))
    return View(law_, mu, runs, None, "sampling")


@pytest.mark.parametrize("text", ["fixed:0.15", "uniform", "0.95*hide:1+0.05*full"])
def test_agrees_with_counting(text: str) -> None:
    p = reference_mixture(40, 0.3, 0.3)
    exact, sampled = view(p, schedule(text)), _sampled(p, text, size=1000)
    assert exact is not None and exact.exact
    w, other = p.weights, np.array([0.5, 0.5])
    functions = (
        lambda e: log_joint_discrepancy(e, w, other),
        lambda e: log_token_discrepancy(e, w, other),
        lambda e: log_kl_joint(e, w, other),
        lambda e: blindness_ratio(e).log_ratio,
    )
    for function in functions:
        truth, estimate = exact.log_quantity(function), sampled.log_quantity(function)
        assert estimate.stderr < 0.1 * truth.value  # type: ignore[union-attr]
        assert abs(estimate.value - truth.value) < 4.5 * estimate.stderr + 1e-12 * truth.value  # type: ignore[union-attr]


def test_plain_sampling_is_the_broken_twin_in_the_tail(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawing from p itself misses the rare states between the modes: far off, though its error bar looks small."""
    p = reference_mixture(200, 0.3, 0.3)
    exact = view(p, schedule("hide:1"))
    assert exact is not None
    w, other = p.weights, np.array([0.5, 0.5])

    def discrepancy(e):  # type: ignore[no-untyped-def]
        return log_joint_discrepancy(e, w, other)

    truth = exact.log_quantity(discrepancy).log_value
    assert abs(_sampled(p, "hide:1", size=500).log_quantity(discrepancy).log_value - truth) < 0.3
    monkeypatch.setattr("maskov.identifiability.sampling.tilted_proposal", lambda law: law)
    assert _sampled(p, "hide:1", size=500).log_quantity(discrepancy).log_value < truth - 3


def test_sites_of_their_own_beyond_enumeration() -> None:
    """Per-site probabilities at N = 60: sampled, and equal to counting when the sites happen to agree."""
    rows = np.array([[0.8, 0.2], [0.2, 0.8]])
    general = ProductMixture([0.7, 0.3], np.repeat(rows[:, None], 60, axis=1))
    sampled, exact = view(general, schedule("fixed:0.5")), view(reference_mixture(60, 0.3, 0.3), schedule("fixed:0.5"))
    assert sampled is not None and exact is not None and sampled.how == "sampling"
    a, b = (seen.log_quantity(lambda e: blindness_ratio(e).log_ratio) for seen in (sampled, exact))
    assert abs(a.value - b.value) < 4.5 * a.stderr  # type: ignore[union-attr]


def test_markov_modes_sampled_against_enumerated() -> None:
    p = law("markov?sites=8&symbols=2&stay=0.9,0.6&weight=0.3")
    assert isinstance(p, MarkovMixture)
    exact = view(p, schedule("uniform"))
    assert exact is not None and exact.how == "enumeration"
    sampled = _sampled(p, "uniform", size=800)
    truth = exact.log_quantity(lambda e: blindness_ratio(e).log_ratio)
    estimate = sampled.log_quantity(lambda e: blindness_ratio(e).log_ratio)
    assert abs(estimate.value - truth.value) < 4.5 * estimate.stderr  # type: ignore[union-attr]
    curve = dict(mmse_curve(sampled, np.array([0, 4, 8])))
    for v, quantity in mmse_curve(exact, np.array([0, 4, 8])):
        assert abs(curve[v].value - quantity.value) < 4.5 * curve[v].stderr + 1e-12  # type: ignore[union-attr]


def test_mode_table_is_every_outcome() -> None:
    p = law("markov?sites=4&symbols=2&stay=0.9,0.6&weight=0.3")
    table = mode_table(p, np.array([True, False, True, False]))
    np.testing.assert_allclose(np.exp(table).sum(axis=0), 1)
    np.testing.assert_allclose(mode_table(p, np.zeros(4, dtype=bool)), [[0.0, 0.0]], atol=1e-14)


def test_proposal_covers_the_modes() -> None:
    q = tilted_proposal(reference_mixture(6, 0.4, 0.3))
    assert isinstance(q, ProductMixture) and len(q.weights) == 3
    np.testing.assert_allclose(np.exp(q.log_sites[2]), 0.5)


def test_log_estimate_of_tiny_values() -> None:
    found = log_estimate(np.array([-5000.0, -5000.1]))
    assert found.to_dict()["value"] is None and found.to_dict()["log_value"] == pytest.approx(-5000.05, abs=0.01)
    assert "stderr" not in found.to_dict() and found.to_dict()["relative_stderr"] == pytest.approx(0.05, abs=0.002)
    assert str(found).startswith("3.20") and "e-2172 ± 5 %" in str(found)
    huge = log_estimate(np.array([5000.0, 5000.1]))
    assert huge.to_dict()["value"] is None and huge.log_value == pytest.approx(5000.05, abs=0.01)


@pytest.mark.parametrize("text", ["fixed:0.15", "hide:1", "uniform", "0.95*hide:1+0.05*full"])
def test_drawn_counts_agree_with_listed_counts(text: str) -> None:
    """Three modes, four symbols, asymmetric: N = 24 can be listed."""
    rng = np.random.default_rng(2)
    p = ProductMixture([0.5, 0.3, 0.2], rng.dirichlet(np.full(4, 0.7), size=3), 24)
    exact, mu = view(p, schedule(text)), schedule(text)
    assert exact is not None and exact.how == "counting" and isinstance(exact.model, MultinomialCounts)
    runs = tuple(sampled_counts(exact.model, mu, np.random.default_rng(k)) for k in range(16))
    drawn = View(p, mu, runs, exact.model, "sampling")
    w, other = p.weights, np.array([0.4, 0.3, 0.3])
    for function in (log_joint_discrepancy, log_token_discrepancy):
        truth, estimate = (seen.log_quantity(lambda e, f=function: f(e, w, other)) for seen in (exact, drawn))
        assert estimate.stderr < 0.05 * truth.value  # type: ignore[union-attr]
        assert abs(estimate.value - truth.value) < 4.5 * estimate.stderr  # type: ignore[union-attr]


def test_large_alphabet_far_in_the_tail() -> None:
    """Ten thousand sites, six symbols with six likelihood ratios: MMSE as small as e^−(Chernoff × N), to a few
    percent."""
    rng = np.random.default_rng(4)
    rows = rng.dirichlet(np.full(6, 2.0), size=2)
    seen = view(ProductMixture([0.7, 0.3], rows, 10_000), schedule("fixed:0.15"))
    assert seen is not None and seen.how == "sampling"
    (_, a), (_, b) = mmse_curve(seen, np.array([5000, 10_000]))
    rate = (a.log_value - b.log_value) / 5000
    assert rate == pytest.approx(chernoff_information(*np.log(rows)) + 0.5 * np.log(2) / 5000, rel=1e-4)
    assert b.stderr == 0 or b.to_dict()["value"] is None  # type: ignore[union-attr]
