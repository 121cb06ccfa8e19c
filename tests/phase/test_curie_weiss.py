"""Phase diagrams of Curie–Weiss: exact meeting times, the specification's numbers, growth on both sides of β = τ."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from exact_meeting import survival
from scipy.optimize import brentq

from maskov.phase import PhaseDiagram, phase_diagram

HALF = "law:curie-weiss?sites=4&beta=0.5"


@pytest.fixture(scope="module")
def fast() -> PhaseDiagram:
    return phase_diagram(HALF, temperatures=[1.0], sites=[16, 32, 64, 128], pairs=100, coupling="uniform")


@pytest.fixture(scope="module")
def grid() -> PhaseDiagram:
    """β = 1, so τ = 1 is critical; slow at 2 n log n below τ ≈ 2."""
    tau = [1.0, 1.3, 1.6, 1.8, 2.1, 2.5, 3.0]
    return phase_diagram(
        "law:curie-weiss?beta=1&sites=4", temperatures=tau, sites=[16, 32, 64], pairs=80, multiple=2, coupling="uniform"
    )


@pytest.mark.parametrize("n", [16, 32, 64])
def test_medians_and_means_agree_with_the_exact_law(fast: PhaseDiagram, n: int) -> None:
    cell = fast.cell(1.0, n)
    exact = survival(n, 0.5, cell.max_steps)
    assert abs(cell.meeting.mean_steps.value - exact[:-1].sum()) < 3.5 * cell.meeting.mean_steps.stderr
    assert abs(cell.median_steps.value - int(np.argmax(exact <= 0.5))) < 3.5 * cell.median_steps.stderr
    assert cell.median_sweeps.value == pytest.approx(cell.median_steps.value / n)


@pytest.mark.parametrize(("n", "mean"), [(32, 204.6), (64, 507.1), (128, 1205.0)])
def test_means_agree_with_the_specification(fast: PhaseDiagram, n: int, mean: float) -> None:
    """10-dynamics §6, which took 100 pairs as well: both have an error."""
    found = fast.cell(1.0, n).meeting.mean_steps
    assert abs(found.value - mean) < 3 * math.sqrt(2) * found.stderr


def test_the_crossover_is_where_the_exact_median_crosses(grid: PhaseDiagram) -> None:
    for found in grid.meeting.crossovers:
        n, steps = found.sites, math.floor(found.threshold)
        exact = brentq(lambda tau, n=n, steps=steps: survival(n, 1 / tau, steps)[-1] - 0.5, 1.2, 2.6, xtol=1e-3)
        assert abs(found.value.value - exact) < 3.5 * found.value.stderr < 0.5
        assert found.bracket[0] <= found.value.value <= found.bracket[1]


def test_n_log_n_stands_alone_above_and_its_constant_falls_to_one(grid: PhaseDiagram) -> None:
    assert grid.meeting.above.verdict == "n log n" and grid.meeting.above.temperatures
    constants = [g.law("n log n").C for g in grid.meeting.growth]
    assert all(a.value > b.value for a, b in itertools.pairwise(constants))
    assert 0.9 < constants[-1].value / (1 / (1 - 1 / 3)) < 1.1  # 1/(1 − β/τ) at τ = 3


def test_exponential_growth_wins_below() -> None:
    found = phase_diagram("law:curie-weiss?beta=2&sites=4", temperatures=[1.0], sites=[6, 10, 14, 18, 22], pairs=60)
    growth = found.meeting.growth[0]
    assert growth.verdict == "exp(cn)" and growth.law("exp(cn)").rate.interval[0] > 0
    assert found.meeting.below.best is None or found.meeting.below.best == "exp(cn)"
    assert sum(growth.met) < sum(growth.times)  # some are censored, and all the same they speak


def test_temperature_scales_beta() -> None:
    """β/τ is all that a cell knows of the two."""
    warm = phase_diagram("law:curie-weiss?beta=1&sites=4", temperatures=[2.0], sites=[12], pairs=6).cells[0]
    own = phase_diagram("law:curie-weiss?beta=0.5&sites=4", temperatures=[1.0], sites=[12], pairs=6).cells[0]
    assert warm.meeting.high == own.meeting.high


def test_an_exact_reversible_law_produces_no_entropy(grid: PhaseDiagram) -> None:
    for cell in grid.cells:
        if cell.temperature >= 1.8:  # colder runs are still on their way from all plus
            assert abs(cell.production.value) < 5 * cell.production.stderr
        assert 0 < cell.change_rate.value < 0.5 and 0 < cell.entropy.value < math.log(2)
    rates = [grid.cell(t, 64).change_rate.value for t in grid.temperatures]
    assert rates[0] < rates[-1]


def test_unmet_cells_are_bounds() -> None:
    found = phase_diagram("law:curie-weiss?beta=4&sites=4", temperatures=[1.0, 8.0], sites=[16], pairs=6)
    cold, hot = found.cells
    assert cold.median_steps.side == "lower" and cold.median_steps.value == cold.max_steps
    assert cold.median_sweeps.value == cold.max_steps / 16 and cold.met_fraction.value == 0
    assert hot.met_fraction.value == 1
    assert "≥" in str(found) and "cannot tell" in found.meeting.shift.verdict


def test_one_hot_hitting_times_of_a_law() -> None:
    found = phase_diagram(HALF, temperatures=[1.0, 2.0], sites=[8, 12, 16], pairs=8, embedder="onehot")
    assert found.hitting is not None and all(c.hitting.met_fraction.value > 0.5 for c in found.cells)
    for cell in found.cells:
        times = zip(cell.hitting.low, cell.hitting.high, cell.hitting.met, strict=True)
        assert all(low < high for low, high, met in times if met)
        assert 0.2 < cell.plateau.value < 0.8
