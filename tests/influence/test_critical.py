"""Where influence crosses 1: exact on laws on and off the grid, bounded from below by what a search saw."""

from __future__ import annotations

import math

import numpy as np
import pytest

from maskov.coupling import meeting_times
from maskov.errors import InputError
from maskov.influence import Influence, bounds_table, contraction, dobrushin_matrix, influence, mixing_time_bound
from maskov.influence.critical import exact_critical_temperature, searched_critical_temperature
from maskov.laws import CurieWeiss, IsingRing, enumerate_states, random_conditionals, random_tabular
from maskov.models import load
from maskov.quantities import Bound, Exact

TAU = 0.9 / (12 * math.atanh(1 / 11))  # (n − 1) tanh(β/(n τ)) = 1 at n = 12, β = 0.9


@pytest.mark.parametrize("grid", [[0.3, 1.0, 2.0], [2.0, 3.0], [0.01, 0.02], [1.0]])
def test_the_grid_does_not_matter(grid: list[float]) -> None:
    found = influence(load("law:curie-weiss?sites=12&beta=0.9"), temperatures=grid)
    assert isinstance(found.critical_temperature, Exact) and found.critical_reason == ""
    assert found.critical_temperature.value == pytest.approx(TAU, rel=1e-11)


def test_no_crossing_has_a_reason() -> None:
    """α = tanh(2β/τ) is below 1 at every τ > 0 on the ring, though it rounds to 1 at low temperatures."""
    for name in ("curie-weiss?sites=5&beta=0", "ising-ring?sites=6&beta=0.4"):
        found = influence(load(f"law:{name}"), temperatures=[0.01, 1.0])
        assert found.critical_temperature is None and "below 1" in found.critical_reason
        record = found.to_dict()
        assert record["critical_temperature"] is None and record["critical_reason"]


def test_the_highest_crossing_counts() -> None:
    """α need not fall with τ: above the answer it stays below 1."""

    def alpha(tau: float) -> float:
        return 1.5 if tau < 0.3 else 0.5 if tau < 1 else 3 - tau

    grid = [0.2, 0.5, 1.5, 4.0]
    found, _ = exact_critical_temperature(alpha, grid, [alpha(t) for t in grid])
    assert isinstance(found, Exact) and found.value == pytest.approx(2.0, rel=1e-9)


def test_a_search_bounds_from_below_and_does_not_interpolate() -> None:
    found, reason = searched_critical_temperature([0.5, 1.0, 2.0, 4.0], [9.0, 0.9, 1.01, 0.2])
    assert isinstance(found, Bound) and found.side == "lower" and found.value == 2.0 and reason == ""
    found, reason = searched_critical_temperature([1.0, 2.0], [0.9, 0.2])
    assert found is None and "certifies nothing" in reason


def test_a_matrix_without_an_origin_is_refused() -> None:
    C = dobrushin_matrix(CurieWeiss(4, 0.3))
    for function in (mixing_time_bound, contraction):
        with pytest.raises(InputError, match="origin"):
            function(C)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        Influence(C)  # type: ignore[call-arg]


def test_rounding_certifies_nothing() -> None:
    almost = (1 - 1e-16) * (np.ones((2, 2)) - np.eye(2))
    assert mixing_time_bound(Influence(almost, "exact")) is None
    cold = influence(load("law:ising-ring?sites=6&beta=30"), temperatures=[1.0])
    assert cold.mixing_time_bound is None and "at least 1" in cold.mixing_time_reason


def test_a_crossing_on_the_grid() -> None:
    found, _ = exact_critical_temperature(lambda t: 2 / t, [1.0, 2.0], [2.0, 1.0])
    assert isinstance(found, Exact) and found.value == 2.0


def test_tables_of_bounds() -> None:
    laws = {f"law {k}": random_tabular(2, 4, seed=k, concentration=0.6) for k in range(30)}
    laws |= {f"conditionals {k}": random_conditionals(3, 3, seed=k) for k in range(30)}
    inside = enumerate_states(2, 4).sum(axis=1) <= 1
    table = bounds_table(laws, (0.7, 2.0), {f"law {k}": inside for k in range(30)})
    assert len(table) == 120
    assert all(row.lower <= row.exact <= row.upper for row in table)
    assert sum(math.isfinite(row.dobrushin) for row in table) > 20
    assert all(math.isnan(row.relaxation_lower) for row in table if row.name.startswith("conditionals"))
    with pytest.raises(InputError, match="names of laws"):
        bounds_table({"ring": IsingRing(4, 0.3)}, sets={"rung": inside})


def test_coupled_chains_meet_within_the_bound() -> None:
    """P(T > t) ≤ 1/4 at the bound for coupled chains of the ring: 1.2–1.5 times their median meeting time."""
    model = load("law:ising-ring?sites=32&beta=0.3")
    bound = influence(model, temperatures=[1.0]).mixing_time_bound
    cell = meeting_times(model, coupling="maximal", n_pairs=60, seed=0).cells[0]
    assert bound is not None and not cell.censored
    late = np.mean(np.array(cell.times) > bound.value)
    assert late <= 0.25 and np.median(cell.times) < bound.value < 3 * np.median(cell.times)


def test_large_rings_and_complete_graphs_need_no_enumeration() -> None:
    ring = influence(load("law:ising-ring?sites=256&beta=0.3"), temperatures=[1.0])
    alpha = math.tanh(0.6)
    assert ring.curve[0].row.value == pytest.approx(alpha, abs=1e-12)
    expected = math.ceil(256 * (math.log(256) + math.log(4)) / (1 - alpha))
    assert ring.mixing_time_bound is not None and ring.mixing_time_bound.value == expected
    complete = influence(load("law:curie-weiss?sites=511&beta=0.5"), temperatures=[1.0])
    assert complete.curve[0].radius.value == pytest.approx(510 * math.tanh(0.5 / 511), rel=1e-3)
    assert np.diagonal(complete.matrix).sum() == 0
