"""Curie–Weiss beyond its critical temperature and at large n: how times grow, and twins that the checks must reject."""

from __future__ import annotations

import math

import numpy as np
import pytest

from maskov.coupling import COUPLINGS, meeting_times
from maskov.glauber.kernel import magnetisation_mixing_time, transition_matrix
from maskov.laws import random_tabular
from maskov.models import LawModel, load

N = np.arange(16, 161, 16)


def aic(t: np.ndarray, shape: np.ndarray, free_slope: bool) -> float:
    """AIC of log t = a + b · shape with normal errors; without a free slope b = 1."""
    fit = np.polyval(np.polyfit(shape, t, 1), shape) if free_slope else shape + (t - shape).mean()
    return len(t) * math.log(float(np.mean((t - fit) ** 2))) + 2 * (2 + free_slope)


def growth(beta: float) -> dict[str, float]:
    t = np.log([magnetisation_mixing_time(int(n), beta) for n in N])
    return {
        "exponential": aic(t, N.astype(float), True),
        "power": aic(t, np.log(N), True),
        "n log n": aic(t, np.log(N * np.log(N)), False),
    }


def test_exponential_growth_is_preferred_below_the_critical_temperature() -> None:
    found = growth(1.3)
    assert found["exponential"] < min(found["power"], found["n log n"]) - 10


def test_n_log_n_growth_is_preferred_above_it() -> None:
    found = growth(0.5)
    assert found["n log n"] < found["exponential"] - 10


def test_exact_mixing_times_at_beta_1_3() -> None:
    assert [magnetisation_mixing_time(n, 1.3) for n in (8, 16, 32, 64)] == [54, 219, 1117, 10567]


def test_meeting_takes_n_log_n_at_half_the_critical_beta() -> None:
    """10-dynamics §6: 0.92–0.97 × n log n/(1 − β) at n = 32 … 256, here at 256 within three errors."""
    cell = meeting_times(load("law:curie-weiss?sites=256&beta=0.5"), coupling="uniform", n_pairs=100).cells[0]
    assert cell.censored == 0
    assert abs(cell.mean_steps.value - 2742.5) < 3 * cell.mean_steps.stderr
    scale = 256 * math.log(256) / (1 - 0.5)
    assert cell.mean_steps.value / scale == pytest.approx(0.97, abs=0.07)


@pytest.mark.slow
def test_meeting_takes_n_log_n_at_512_sites() -> None:
    cell = meeting_times(load("law:curie-weiss?sites=512&beta=0.5"), coupling="uniform", n_pairs=100).cells[0]
    assert cell.mean_steps.value / (512 * math.log(512) / 0.5) == pytest.approx(0.97, abs=0.07)


def _least_slack(times: np.ndarray, exact: np.ndarray) -> float:
    """Smallest (P(T > t) − TV) in standard errors of a survival that equals the TV."""
    survival = np.array([(times > t).mean() for t in range(len(exact))])
    error = np.sqrt(np.maximum(exact * (1 - exact), 1 / len(times)) / len(times))
    return float(((survival - exact) / error).min())


@pytest.mark.parametrize("coupling", COUPLINGS)
def test_chains_that_pretend_to_have_met_are_caught(coupling: str) -> None:
    """P(T > t) ≥ TV of the two laws, for V = 3 too; a twin that meets after 0.4 of the time fails."""
    law = random_tabular(3, 3, seed=2, concentration=0.3)
    found = meeting_times(LawModel(law), coupling=coupling, n_pairs=800, max_steps=4000, temperatures=0.7)
    a, b = np.eye(27)[[26, 0]]
    kernel, exact = transition_matrix(law, 3, 0.7), [1.0]
    for _ in range(60):
        a, b = a @ kernel, b @ kernel
        exact.append(0.5 * float(np.abs(a - b).sum()))
    times = np.array(found.cells[0].times)
    assert found.cells[0].censored == 0
    assert _least_slack(times, np.array(exact)) > -4
    assert _least_slack(np.floor(times * 0.4), np.array(exact)) < -4


def test_a_mean_over_the_met_pairs_alone_is_far_off() -> None:
    """The twin: with runs cut at the median, the met pairs' mean lies far below E min(T, cut), which ours finds."""
    model = load("law:curie-weiss?sites=32&beta=0.5")
    whole = meeting_times(model, coupling="uniform", n_pairs=400).cells[0]
    cut = int(whole.median_steps.value)
    short = meeting_times(model, coupling="uniform", n_pairs=400, max_steps=cut).cells[0]
    times, met = np.array(short.times), np.array(short.met)
    assert 0 < short.censored < 400 and np.array_equal(times, np.minimum(whole.times, cut))
    truth = float(np.minimum(whole.times, cut).mean())
    assert short.mean_steps.value == pytest.approx(truth, rel=1e-12)
    assert times[met].mean() < truth - 5 * short.mean_steps.stderr
    assert short.median_steps.value == whole.median_steps.value


def test_more_pairs_change_none_of_the_first() -> None:
    model = load("law:ising-ring?sites=10&beta=0.5")
    few, many = (meeting_times(model, n_pairs=n, coupling="gumbel").cells[0].times for n in (5, 9))
    assert many[:5] == few
    assert meeting_times(model, n_pairs=5, coupling="gumbel", seed=1).cells[0].times != few
