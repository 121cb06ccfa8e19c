"""Mode switches of chains that run, against the exact kernel, the exact blindness ratio, and twins that break both."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pytest

from maskov.errors import InputError
from maskov.glauber.block_kernel import block_matrix
from maskov.identifiability import SwitchRates, bridge_on_model, core_switches, identify, switch_rates
from maskov.laws import as_log_table, enumerate_states, law
from maskov.models import LawModel
from maskov.protocols import State
from maskov.quantities import Bound, Estimate, Exact

N, WEIGHT, CORES = 8, 0.3, (0.2, 0.8)
LAW = law(f"product?sites={N}&gap=0.3&weight={WEIGHT}")
SPECS = ["hide:1", "hide:4", "0.9*hide:1+0.1*full"]
CHAINS, STEPS, ERRORS = 256, 300, 4.5


def posterior(states: Any) -> Any:
    return np.exp(LAW.log_posterior(states, np.ones(states.shape, dtype=bool))[:, 1])


class Truth(NamedTuple):
    rho: float
    gap: float
    quotient: float
    switches: float
    autocorrelation: Any


@lru_cache
def exact(spec: str) -> Truth:
    """ρ of ``identify``; the rest from the enumerated kernel: quotient, core switches (twice the capacity), a(t)."""
    pi, P, f = np.exp(as_log_table(LAW).ravel()), block_matrix(LAW, N, spec), posterior(enumerate_states(2, N))
    centred = f - pi @ f
    variance = pi @ centred**2
    moved = [centred]
    for _ in range(STEPS):
        moved.append(P @ moved[-1])
    a = np.array([pi @ (centred * m) for m in moved]) / variance
    low, high = f <= CORES[0], f >= CORES[1]
    inside = ~(low | high)
    h = high.astype(float)
    within = P[np.ix_(inside, inside)]
    h[inside] = np.linalg.solve(np.eye(len(within)) - within, P[np.ix_(inside, high)].sum(axis=1))
    root = np.sqrt(pi)
    gap = 1 - np.linalg.eigvalsh(root[:, None] * P / root)[-2]
    found = identify(LAW, spec).blindness_ratio
    assert found is not None
    return Truth(float(found.value), float(gap), float(1 - a[1]), float(2 * pi @ (h * (h - P @ h))), a)


def starts(seed: int = 0) -> list[State]:
    return [State(x, np.arange(N)) for x in LAW.sample(np.random.default_rng(seed), CHAINS)]


def measured(model: Any, spec: str, rho: Any, weight: float = WEIGHT) -> SwitchRates:
    options: dict[str, Any] = {"steps": STEPS, "seed": 5, "weight": weight, "cores": CORES}
    return bridge_on_model(model, starts(), spec, posterior, rho, **options)


def off(estimate: Estimate, value: float) -> float:
    return abs(estimate.value - value) / estimate.stderr


@pytest.mark.parametrize("spec", SPECS)
def test_the_exact_chain_keeps_every_limit(spec: str) -> None:
    """The quotient is ρ, a(t) ≥ (1 − ρ)^t, −t/log a(t) grows towards the relaxation time, switches ≤ the bound."""
    truth = exact(spec)
    assert truth.quotient == pytest.approx(truth.rho, rel=1e-10) and truth.gap <= truth.rho * (1 + 1e-9)
    t = np.arange(1, STEPS + 1)
    assert (truth.autocorrelation[1:] >= (1 - truth.rho) ** t * (1 - 1e-9)).all()
    early = t[truth.autocorrelation[1:] > 1e-9]
    times = -early / np.log(truth.autocorrelation[early])
    assert (np.diff(times) > -1e-9).all() and times[-1] <= -1 / np.log1p(-truth.gap) * (1 + 1e-6)
    bound = switch_rates(np.tile([[0.1], [0.9]], (4, 8)), truth.rho, weight=WEIGHT, cores=CORES).most_switches
    assert isinstance(bound, Bound) and truth.switches <= bound.value
    # The bound is no empty one, and a twin with a third of the ratio breaks it.
    assert truth.switches > bound.value / 3


@pytest.mark.parametrize("spec", SPECS)
def test_chains_agree_with_the_exact_kernel_and_the_ratio(spec: str) -> None:
    truth = exact(spec)
    found = measured(LawModel(LAW), spec, Exact(truth.rho))
    assert off(found.quotient, truth.rho) < ERRORS and off(found.switches, truth.switches) < ERRORS
    assert found.quotient.stderr < 0.06 * truth.rho and found.switches.stderr < 0.1 * truth.switches
    for row in found.lags:
        assert off(row.autocorrelation, truth.autocorrelation[row.lag]) < ERRORS
        assert isinstance(row.least, Bound) and row.least.side == "lower"
        assert row.autocorrelation.value + ERRORS * row.autocorrelation.stderr >= row.least.value
    assert isinstance(found.least_relaxation, Bound) and found.least_relaxation.side == "lower"
    assert found.relaxation.value + ERRORS * found.relaxation.stderr >= found.least_relaxation.value
    assert found.relaxation.value - ERRORS * found.relaxation.stderr <= -1 / np.log1p(-truth.gap)
    assert off(found.weight, WEIGHT) < ERRORS and off(found.weight_end, WEIGHT) < ERRORS


class Deaf(LawModel):
    """The twin that does not look: every hidden site is drawn from its marginal."""

    def predict(self, states: Any, hidden: Any, sites: Any) -> Any:
        return super().predict(states, np.ones(states.shape, dtype=bool), sites)


class Loyal(LawModel):
    """The twin that keeps its mode: hidden sites follow the likelier of the two, as if it were known."""

    def predict(self, states: Any, hidden: Any, sites: Any) -> Any:
        up = 0.5 + 0.3 * np.where(posterior(states) > 0.5, 1, -1)
        return np.log(np.stack([1 - up, up], axis=1))


@pytest.mark.parametrize("twin", [Deaf, Loyal])
def test_twins_of_the_sampler_are_rejected(twin: type[LawModel]) -> None:
    """Through the same refill, site by site, the law itself passes."""
    rho, off_by = exact("hide:4").rho, {}
    for kind in (twin, LawModel):
        model = kind(LAW)
        vars(model)["law"] = None  # no table to refill from
        off_by[kind] = off(measured(model, "hide:4", rho).quotient, rho)
    assert off_by[twin] > 2 * ERRORS and off_by[LawModel] < ERRORS


def test_a_ratio_of_another_schedule_is_rejected() -> None:
    """hide:1 chains against the ratio of hide:4, and the other way round, break opposite limits."""
    slow, fast = exact("hide:1").rho, exact("hide:4").rho
    found = measured(LawModel(LAW), "hide:4", slow)
    assert found.most_switches is not None and found.switches.value > found.most_switches.value
    assert off(found.quotient, slow) > 2 * ERRORS and off(measured(LawModel(LAW), "hide:1", fast).quotient, fast) > 9
    row = found.lags[2]
    assert row.least is not None and row.autocorrelation.value + ERRORS * row.autocorrelation.stderr < row.least.value


def test_what_is_claimed_follows_what_is_known_of_the_ratio() -> None:
    values = (np.arange(40)[:, None] // 7 + np.arange(8)) % 2
    kinds = {
        Exact(0.1): Bound,
        Bound(0.1, "upper"): Bound,
        Estimate(0.1, 0.01, 50, (0.08, 0.12)): Estimate,
        Bound(0.1, "lower"): type(None),
        None: type(None),
    }
    for rho, kind in kinds.items():
        found = switch_rates(values, rho)
        assert all(type(x) is kind for x in (found.least_relaxation, found.most_switches, found.lags[0].least))
    estimated = switch_rates(values, Estimate(0.1, 0.01, 50, (0.08, 0.12))).most_switches
    assert isinstance(estimated, Estimate) and estimated.interval is not None
    assert estimated.value == pytest.approx(2 * 0.1 * 0.25 / 0.64) and estimated.stderr == pytest.approx(
        0.1 * estimated.value
    )
    assert estimated.interval[0] == pytest.approx(0.8 * estimated.value)
    record = switch_rates(values, 0.1).to_dict()
    assert record["most_switches"]["kind"] == "upper" and record["least_relaxation"]["kind"] == "lower"


def test_a_measured_bound_keeps_its_interval() -> None:
    from maskov.corpora import MeasuredBound

    values = (np.arange(40)[:, None] // 7 + np.arange(8)) % 2
    found = switch_rates(values, MeasuredBound(0.1, "upper", 400, 0.01, (0.08, 0.12)))
    assert isinstance(found.least_relaxation, MeasuredBound) and found.least_relaxation.side == "lower"
    low, high = found.least_relaxation.interval
    assert low == pytest.approx(-1 / np.log(0.88)) and high == pytest.approx(-1 / np.log(0.92))


def test_passing_through_the_middle_is_no_switch() -> None:
    path = np.array([[0.5], [0.1], [0.5], [0.1], [0.7], [0.95], [0.5], [0.9], [0.0]])
    assert core_switches(path).tolist() == [2.0]
    assert ((path[1:] > 0.5) != (path[:-1] > 0.5)).sum() > 2  # what a single threshold would count


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        (np.zeros((40, 7)), {}, "at least 8 chains"),
        (np.zeros((4, 8)), {}, "more than 4 steps"),
        (np.zeros((40, 8)), {}, "one value"),
        (np.full((40, 8), 1.5), {}, "outside"),
        (np.full((40, 8), np.nan), {}, "outside"),
        (np.zeros((40, 8)), {"cores": (0.9, 0.1)}, "0 ≤ a < b ≤ 1"),
    ],
)
def test_unusable_values_are_told(values: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        switch_rates(values, **options)
