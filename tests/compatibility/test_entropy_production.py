"""Entropy production against its exact value, its errors against many seeds, and what a short run says."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from maskov.compatibility import correlated_mean, entropy_production
from maskov.errors import InputError
from maskov.glauber import glauber
from maskov.glauber.kernel import entropy_production_rate, stationary_law, transition_matrix
from maskov.laws import CurieWeiss, random_conditionals, random_tabular
from maskov.models import LawModel, load
from maskov.plots import FIGURES, draw
from maskov.protocols import State

TABLE = random_conditionals(3, 3, seed=1)


def _exact(conditionals: Any, n: int, tau: float) -> float:
    kernel = transition_matrix(conditionals, n, tau)
    return entropy_production_rate(kernel, stationary_law(kernel))


def _cell(conditionals: Any, n: int, tau: float, steps: int, chains: int = 4, seed: int = 0) -> Any:
    start = State(np.zeros(n, np.int64), np.arange(n))
    trace = glauber(LawModel(conditionals), [start], temperature=tau, steps=steps, chains=chains, seed=seed)
    return entropy_production(trace).cells[0]


@pytest.mark.parametrize("tau", [0.7, 1.0, 2.0])
def test_estimates_meet_the_exact_rate(tau: float) -> None:
    """10-dynamics §3: by enumeration at V = 3, n = 3."""
    cell, exact = _cell(TABLE, 3, tau, 15_000), _exact(TABLE, 3, tau)
    assert exact > 0.005
    for q in (cell.production, cell.production_raw):
        assert abs(q.value - exact) < 4 * q.stderr
    # Rao–Blackwell makes a single increment less noisy, not the time mean: raw increments telescope in part.
    assert cell.production.stderr < exact / 5
    assert cell.stationary


@pytest.mark.parametrize("law", [random_tabular(3, 3, seed=2), CurieWeiss(6, 0.8)])
def test_joint_laws_produce_none(law: Any) -> None:
    cell = _cell(law, law.n_sites, 1.0, 8000)
    assert _exact(law, law.n_sites, 1.0) < 1e-12
    assert abs(cell.production.value) < 4 * cell.production.stderr
    assert abs(cell.production_raw.value) < 4 * cell.production_raw.stderr


def test_errors_are_honest_over_seeds() -> None:
    """Thirty groups of four chains, each with streams of its own: one run holds them all."""
    exact = _exact(TABLE, 3, 1.0)
    start = State(np.zeros(3, np.int64), np.arange(3))
    trace = glauber(LawModel(TABLE), [start], temperature=1.0, steps=2500, chains=120)
    series = trace.series["production"][trace.steps // trace.window // 4 : trace.steps // trace.window]
    found = [correlated_mean(series[:, k : k + 4].T) for k in range(0, 120, 4)]
    z = np.array([(q.value - exact) / q.stderr for q in found])
    assert 0.6 < z.std(ddof=1) < 1.5 and abs(z.mean()) < 0.6


def test_independent_errors_would_be_too_small() -> None:
    """A slow AR(1) series: the error uses the effective sample size, not the number of entries."""
    rng, values = np.random.default_rng(0), np.zeros((4, 4000))
    for t in range(1, 4000):
        values[:, t] = 0.95 * values[:, t - 1] + rng.normal(size=4)
    found = correlated_mean(values)
    naive = values.std(ddof=1) / np.sqrt(values.size)
    assert 4 < found.stderr / naive < 9  # sqrt((1 + 0.95)/(1 − 0.95)) = 6.2
    assert found.n < values.size / 15


def test_constant_series_have_no_error() -> None:
    assert correlated_mean(np.ones((2, 50))).stderr == 0.0


def test_a_start_far_from_stationarity_is_flagged() -> None:
    """A cold Curie–Weiss chain from its middle relaxes during the whole run: σ still holds −log μ's way down."""
    law = CurieWeiss(200, 1.5)
    half = State(np.arange(200) % 2, np.arange(200))
    trace = glauber(LawModel(law), [half], temperature=1.0, steps=800, chains=32, window=10)
    cell = entropy_production(trace, discard=0.0).cells[0]
    assert not cell.stationary and cell.production.value > 4 * cell.production.stderr


def test_short_runs_are_told() -> None:
    trace = glauber(LawModel(TABLE), None, steps=8, window=2)
    with pytest.raises(InputError, match="run more steps"):
        entropy_production(trace)
    long = glauber(LawModel(TABLE), None, steps=100, window=2)
    for discard in (-0.1, 1.0, float("nan")):
        with pytest.raises(InputError, match="discard"):
            entropy_production(long, discard=discard)


def test_several_temperatures_and_their_figures() -> None:
    texts = ["the cat sat on the old mat.", "a river runs under the bridge."]
    trace = glauber(load("en-tiny"), texts, temperature=[0.3, 1.0, 2.0], steps=72, window=3)
    found = entropy_production(trace)
    assert [c.temperature for c in found.cells] == [0.3, 1.0, 2.0]
    rates = [c.change_rate.value for c in found.cells]
    assert rates == sorted(rates) and found.cells[2].entropy.value > found.cells[0].entropy.value
    record = json.loads(json.dumps(found.to_dict()))
    for figure in FIGURES["entropy"]:
        assert draw(figure, record).get_xlabel() == "temperature τ"
