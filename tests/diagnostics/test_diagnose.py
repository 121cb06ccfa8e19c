"""Diagnoses against exact answers: a known ESS, wells that hold, chains that mix, a frozen one; and a pooling twin."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from maskov.diagnostics import convergence, diagnose
from maskov.diagnostics.groups import groups_of
from maskov.diagnostics.needed import needed_factor
from maskov.errors import InputError
from maskov.glauber import block_glauber, glauber, states_over
from maskov.laws import ProductMixture, law
from maskov.models import LawModel
from maskov.protocols import State


def start(n: int, value: int) -> State:
    return State(np.full(n, value, dtype=np.int64), np.arange(n))


def wells(beta: float, steps: int, n: int = 24, chains: int = 6, seed: int = 0, **options: Any) -> Any:
    model = LawModel(law(f"curie-weiss?sites={n}&beta={beta}"))
    return glauber(model, [start(n, 0), start(n, 1)], steps=steps, chains=chains, seed=seed, **options)


def ones(states: Any) -> Any:
    return states.sum(axis=1)


def test_the_ess_of_independent_sites_is_the_exact_one() -> None:
    """E[f(x_t) | x_0] = (1 − 1/n)^t f(x_0) for a sum of site statistics: ESS/D = (1 − r)/(1 + r), r = (1 − 1/n)^w."""
    n, w, D = 20, 5, 1000
    sites = np.full((1, n, 2), 0.5)
    model = LawModel(ProductMixture([1.0], sites))
    trace = glauber(model, None, steps=w * D, window=w, chains=8)
    found = diagnose(trace, scalars={"ones": ones}, discard=0.0).cells[0].scalars[-1]
    r = (1 - 1 / n) ** w
    exact = 8 * D * (1 - r) / (1 + r)
    assert found.name == "ones" and found.ess_bulk.value == pytest.approx(exact, rel=0.12)
    assert found.ess_per_sweep.value == pytest.approx(exact / (8 * w * D / n), rel=0.12)


def test_needed_sweeps_meet_the_exact_ones() -> None:
    """The interval of the needed length holds the exact one in nine of ten runs."""
    n, w, D, target = 20, 5, 500, 2000.0
    r = (1 - 1 / n) ** w
    exact = target / (4 * D * (1 - r) / (1 + r))
    model = LawModel(ProductMixture([1.0], np.full((1, n, 2), 0.5)))
    trace = glauber(model, None, steps=w * D, window=w, chains=80)
    count = np.stack([np.sum(x, axis=1) for _, x in states_over(trace, range(w, w * D + 1, w))], axis=1).astype(float)
    hits = 0
    for k in range(20):
        factor = needed_factor(count[4 * k : 4 * k + 4], "bulk", 1.0, target, 1.01)
        assert factor.interval is not None
        hits += factor.interval[0] <= exact <= factor.interval[1]
    assert hits >= 18


def test_both_wells_of_curie_weiss_are_not_mixed() -> None:
    cell = diagnose(wells(2.1, 4000)).cells[0]
    distance = next(s for s in cell.scalars if s.name == "distance")
    assert cell.verdict == "not mixed" and distance.r_hat.value >= distance.r_hat_noise
    assert distance.r_hat_starts is not None and distance.r_hat_starts.value > 1.8
    # Replicas of one well agree: only a second start shows it.
    assert distance.r_hat_replicas is not None and distance.r_hat_replicas.value < 1.1
    assert cell.needed_sweeps is None and cell.advice.startswith("no number can be given")
    assert "different starts disagree in distance" in cell.reasons[0]


def test_a_twin_that_pools_chains_fails() -> None:
    """Draws of both wells shuffled over the chains: the very same numbers, and R-hat near 1."""
    trace = wells(2.1, 3000, chains=4)
    ones = np.stack([np.sum(x, axis=1) for _, x in states_over(trace, range(1000, 3000, 6))], axis=1).astype(float)
    pooled = np.random.default_rng(0).permutation(ones.ravel()).reshape(ones.shape)

    def check(values: Any) -> None:
        found = convergence(values, np.array([0, 1, 0, 1]))
        assert found.apart and found.r_hat > 1.5, f"R-hat {found.r_hat:.3f}"

    check(ones)
    with pytest.raises(AssertionError, match=r"R-hat 1\.0"):
        check(pooled)


@pytest.mark.parametrize("beta", [0.0, 0.3])
def test_above_the_critical_temperature_chains_mix(beta: float) -> None:
    cell = diagnose(wells(beta, 20_000, n=12, chains=4, window=8)).cells[0]
    assert cell.verdict == "mixed" and cell.stuck == () and "long enough" in cell.advice
    assert cell.needed_sweeps is not None and cell.needed_sweeps.value < cell.sweeps
    assert cell.needed_steps is not None
    assert cell.needed_steps.value == pytest.approx(12 * cell.needed_sweeps.value)


def test_false_alarms_over_twenty_seeds() -> None:
    """Chains that mix in a few sweeps, 300 sweeps long, two starts: at most two of twenty are accused."""
    words = []
    for seed in range(20):
        words.append(diagnose(wells(0.4, 3600, n=12, chains=4, seed=seed, window=6)).cells[0].verdict)
    assert sum(word in ("stuck", "not mixed") for word in words) <= 2
    assert words.count("mixed") + words.count("too short") >= 18


def test_short_runs_are_told_and_carried_on() -> None:
    cell = diagnose(wells(0.6, 1200, window=12), target_ess=2000).cells[0]
    assert cell.verdict in ("too short", "not mixed") and cell.needed_sweeps is not None
    assert cell.needed_sweeps.value > cell.sweeps and cell.advice.startswith("run ")
    longer = diagnose(wells(0.6, 14_000, window=12), target_ess=2000).cells[0]
    assert longer.needed_sweeps is not None
    low, high = cell.needed_sweeps.interval or (0, 0)
    assert low < 2 * longer.needed_sweeps.value and high > longer.needed_sweeps.value / 2


def test_temperatures_are_cells_of_their_own() -> None:
    found = diagnose(wells(1.0, 2400, temperature=[0.1, 3.0]))
    assert [c.temperature for c in found.cells] == [0.1, 3.0]
    assert found.cells[0].verdict == "stuck" and found.cells[1].verdict != "stuck"
    assert "τ = 0.1: stuck" in str(found)


def test_one_chain_is_judged_by_its_halves() -> None:
    rng = np.random.default_rng(1)
    assert not convergence(rng.normal(size=(1, 600))).apart
    assert convergence(rng.normal(size=(1, 600)) + np.linspace(0, 4, 600)).r_hat > 1.1
    jump = convergence(rng.normal(size=(1, 600)) + 4.0 * (np.arange(600) > 300))
    assert jump.r_hat > 1.1 and np.isnan(jump.replicas) and np.isnan(jump.starts)
    cell = diagnose(wells(0.4, 6000, chains=1)).cells[0]
    assert all(s.r_hat_starts is None and s.r_hat_replicas is None for s in cell.scalars)
    assert cell.verdict != "mixed" or "was not tested" in cell.reasons[1]


def test_noise_explains_the_r_hat_of_slow_chains_that_mix() -> None:
    """AR(1) at 0.95: R-hat passes 1.01 nearly always, its own noise hardly ever."""
    rng, over, apart = np.random.default_rng(0), 0, 0
    for _ in range(60):
        x = rng.normal(size=(4, 600))
        for t in range(1, 600):
            x[:, t] = 0.95 * x[:, t - 1] + np.sqrt(1 - 0.95**2) * x[:, t]
        found = convergence(x, np.array([0, 0, 1, 1]), 0.01)
        over, apart = over + (found.r_hat > 1.01), apart + found.apart
    assert over > 50 and apart <= 4


def test_chains_of_other_laws_are_never_compared() -> None:
    """Other lengths, other held tokens: other groups. Other starts of one law: one group."""
    free = np.arange(2, 6)
    a, b = State(np.array([7, 0, 1, 1, 1, 1]), free), State(np.array([7, 0, 2, 1, 1, 1]), free)
    held = State(np.array([7, 5, 1, 1, 1, 1]), free)
    short = State(np.array([7, 0, 1, 1, 1]), np.arange(2, 5))
    groups = groups_of([a, b, held, short, a], np.arange(5))
    assert [g.members.tolist() for g in groups] == [[0, 1, 4], [2], [3]]
    assert groups[0].starts.tolist() == [0, 1, 0] and [g.sites for g in groups] == [4, 4, 3]


def test_block_runs_are_read_in_their_own_sweeps() -> None:
    mixture = law("product?sites=8&gap=0.2&weight=0.3")
    options: dict[str, Any] = {"schedule": "0.5*hide:4+0.5*full", "steps": 1500, "chains": 4, "window": 2}
    joint = diagnose(block_glauber(mixture, [start(8, 0), start(8, 1)], **options))
    assert joint.scan.startswith("0.5*hide:4+0.5*full") and joint.cells[0].verdict == "mixed"
    assert joint.cells[0].sweeps == pytest.approx(1500 * 6 / 8)
    other = diagnose(block_glauber(mixture, [start(8, 0)], refill="sequential", **options)).cells[0]
    assert [s.name for s in other.scalars] == ["change_rate", "entropy", "distance", "distinct_tokens"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"discard": 1.0}, "discard"),
        ({"discard": float("nan")}, "discard"),
        ({"target_ess": 0.0}, "target ESS"),
        ({"target_r_hat": 1.0}, "target R-hat"),
        ({"scalars": {"mine": lambda states: states}}, "scalar mine"),
        ({"scalars": {"mine": lambda states: np.full(len(states), np.nan)}}, "scalar mine"),
    ],
)
def test_bad_input_is_named(options: Any, message: str) -> None:
    trace = wells(0.5, 200, n=6, chains=2)
    with pytest.raises(InputError, match=message):
        diagnose(trace, **options)


def test_a_run_that_is_too_short_to_say_anything_is_refused() -> None:
    with pytest.raises(InputError, match="run more steps"):
        diagnose(wells(0.5, 20))
