"""First hits, Kaplan–Meier medians and jackknife errors against hand counts and known laws."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maskov.drift.hitting import Hits, first_hits, hitting_median, met_fraction, survival_median, weighted_medians
from maskov.drift.plateau import grouped_mean, independent_distance, jackknife


def product_limit_median(times, met) -> float:
    """Kaplan & Meier 1958 by hand: S(t) = Π (1 − deaths/at risk)."""
    survival = 1.0
    for t in sorted(set(times)):
        at_risk = sum(x >= t for x in times)
        deaths = sum(x == t and m for x, m in zip(times, met, strict=True))
        survival *= 1 - deaths / at_risk
        if deaths and survival <= 0.5 + 1e-12:
            return t
    return math.inf


@given(st.lists(st.tuples(st.integers(1, 9), st.booleans()), min_size=1, max_size=20))
@settings(max_examples=200, deadline=None)
def test_median_is_the_product_limit_estimate(observations) -> None:
    times, met = (np.array(x) for x in zip(*observations, strict=True))
    assert survival_median(times.astype(float), met) == product_limit_median(times.tolist(), met.tolist())


@given(st.lists(st.tuples(st.integers(1, 6), st.booleans()), min_size=1, max_size=9), st.integers(0, 10**6))
@settings(max_examples=100, deadline=None)
def test_resampled_medians_are_those_of_the_repeated_chains(observations, seed: int) -> None:
    times, met = (np.array(x) for x in zip(*observations, strict=True))
    weights = np.random.default_rng(seed).multinomial(len(times), np.full(len(times), 1 / len(times)), size=5)
    repeated = [survival_median(np.repeat(times, w).astype(float), np.repeat(met, w)) for w in weights]
    assert weighted_medians(times.astype(float), met, weights).tolist() == repeated


def test_censored_chains_pull_the_median_up() -> None:
    """The mean or median of the met ones only would say 2."""
    times, met = np.array([1.0, 2.0, 3.0, 50.0, 50.0]), np.array([True, True, True, False, False])
    assert survival_median(times, met) == 3.0
    assert np.median(times[met]) == 2.0


def test_first_hit_is_the_first_crossing_even_if_drift_returns() -> None:
    times = np.array([0, 1, 3, 10])
    hits = first_hits(times, np.array([[0, 0, 0], [0.9, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.79]]), 0.8)
    assert hits.high.tolist() == [1, 3, 10] and hits.low.tolist() == [0, 1, 10]
    assert hits.met.tolist() == [True, True, False]


def test_the_grid_brackets_the_true_median() -> None:
    """Times on every step against the same paths on a coarse grid: the true median lies in the bracket."""
    rng = np.random.default_rng(0)
    paths = np.minimum.accumulate(1 - np.cumsum(rng.random((301, 40)) < 0.02, axis=0) / 3, axis=0)
    drift = 1 - paths
    fine, coarse = np.arange(301), np.array([0, 1, 3, 10, 30, 100, 300])
    truth = hitting_median(first_hits(fine, drift, 0.9), np.arange(40), 0)
    seen = hitting_median(first_hits(coarse, drift[coarse], 0.9), np.arange(40), 0)
    assert truth is not None and seen is not None
    low, high = seen.bracket
    assert low < truth.estimate.value <= high == seen.estimate.value
    assert (
        seen.estimate.interval[0] <= truth.estimate.interval[0]
        and truth.estimate.interval[1] <= seen.estimate.interval[1]
    )


def test_interval_covers_the_median_of_exponential_times() -> None:
    rng, covered = np.random.default_rng(1), 0
    for k in range(40):
        t = rng.exponential(100, size=40)
        hits = Hits(t, np.minimum(t, 150), t < 150)
        low, high = hitting_median(hits, np.arange(40), seed=k).estimate.interval
        covered += low <= 100 * math.log(2) <= high
    assert covered >= 33  # 40 × 0.95 = 38; below 33 has chance 0.004


def test_fewer_than_half_met_give_no_median_and_open_ends_stay_open() -> None:
    t = np.full(10, 5.0)
    assert hitting_median(Hits(t, t, np.arange(10) < 4), np.arange(10), 0) is None
    barely = hitting_median(Hits(t - 1, t, np.arange(10) < 5), np.arange(10), 0)
    assert barely is not None and barely.estimate.interval[1] == math.inf
    assert "stderr" not in barely.estimate.to_dict() and barely.estimate.to_dict()["interval"][1] is None


def test_replicas_of_one_passage_are_one_unit() -> None:
    times = np.repeat([1.0, 4.0, 9.0, 16.0, 30.0], 20)
    hits = Hits(times, times, np.ones(100, dtype=bool))
    alone, together = (hitting_median(hits, g, 0).estimate for g in (np.arange(100), np.repeat(np.arange(5), 20)))
    assert together.stderr > 2 * alone.stderr and together.n == 5


def test_scaling_divides_each_chain_by_its_own_sites() -> None:
    scaled = Hits(np.array([2.0, 4.0]), np.array([4.0, 8.0]), np.array([True, True])).scaled(np.array([2.0, 4.0]))
    assert scaled.low.tolist() == [1, 1] and scaled.high.tolist() == [2, 2]


def test_met_fraction_has_an_interval_inside_0_and_1() -> None:
    none = met_fraction(np.zeros(8, dtype=bool))
    assert none.value == 0 and none.interval[0] == 0 and 0.2 < none.interval[1] < 0.4


def test_jackknife_of_a_mean_is_the_usual_error() -> None:
    x = np.array([1.0, 2.0, 4.0, 7.0])
    estimate = grouped_mean(x, np.arange(4))
    assert estimate.value == x.mean() and estimate.stderr == pytest.approx(x.std(ddof=1) / 2)


def test_distance_of_passages_is_the_mean_over_pairs() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(7, 5))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    groups = np.array([0, 0, 1, 2, 2, 2, 3])
    pairs = [(i, j) for i in range(7) for j in range(i) if groups[i] != groups[j]]
    direct = np.mean([1 - rows[i] @ rows[j] for i, j in pairs])
    left_out = [np.mean([1 - rows[i] @ rows[j] for i, j in pairs if g not in (groups[i], groups[j])]) for g in range(4)]
    estimate = independent_distance(rows, groups)
    assert estimate.value == pytest.approx(direct)
    assert estimate.stderr == pytest.approx(jackknife(direct, left_out).stderr)


def test_jackknife_error_of_a_plateau_is_the_spread_over_samples() -> None:
    """Pairs treated as independent would claim an error several times too small."""
    rng = np.random.default_rng(2)

    def sample() -> np.ndarray:
        x = rng.normal(size=(12, 3)) + np.array([1.5, 0.0, 0.0])
        return x / np.linalg.norm(x, axis=1, keepdims=True)

    estimates = [independent_distance(sample(), np.arange(12)) for _ in range(300)]
    spread, claimed = np.std([e.value for e in estimates]), np.mean([e.stderr for e in estimates])
    assert 0.85 < claimed / spread < 1.25


def test_too_few_passages_give_no_error_or_no_plateau() -> None:
    assert independent_distance(np.eye(2)[:1], [0]) is None
    assert independent_distance(np.eye(2), [0, 0]) is None
    two = independent_distance(np.eye(2), [0, 1])
    assert two.value == 1 and math.isinf(two.stderr)


def test_grid_is_log_spaced_and_ends_at_the_run() -> None:
    from maskov.drift import time_grid

    grid = time_grid(10_000)
    assert grid[0] == 0 and grid[1] == 1 and grid[-1] == 10_000
    assert all(b > a for a, b in pairwise(grid)) and time_grid(1).tolist() == [0, 1]
