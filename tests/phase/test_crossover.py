"""The crossover on planted times: where it is, how sure, which side, and whether it moves."""

from __future__ import annotations

import math

import numpy as np
import pytest

from maskov.phase import Column, crossing, shift
from maskov.quantities import Bound, Estimate

TAU = np.geomspace(0.5, 4.0, 10)
M = 5.0


def planted(n: int, centre: float, m: int = 40, seed: int = 0, steep: float = 4.0, length: float = 1e9) -> Column:
    """log T = log(M n log n) − steep · log(τ/centre) + noise of each run; runs end at length · M n log n."""
    noise = 0.5 * np.random.default_rng([seed, n]).normal(size=m)
    times = M * n * math.log(n) * np.exp(-steep * np.log(TAU / centre)[:, None] + noise[None])
    cut = length * M * n * math.log(n)
    return Column(n, TAU, np.minimum(times, cut), times < cut)


def test_the_planted_crossover_is_found() -> None:
    for seed in range(5):
        value = crossing(planted(16, 1.7, seed=seed), M, seed).crossover.value
        assert abs(value.value - 1.7) < 4 * value.stderr < 0.4
    inside = [crossing(planted(16, 1.7, seed=s), M, s).crossover.value.interval for s in range(60)]
    assert sum(low <= 1.7 <= high for low, high in inside) >= 51  # of 60 at 95 %


def test_runs_cut_beyond_the_threshold_change_nothing() -> None:
    whole, short = (crossing(planted(16, 1.7, length=length), M, 0) for length in (1e9, 1.01))
    assert short.crossover == whole.crossover and np.array_equal(short.replicates, whole.replicates)


def test_dropping_the_unmet_runs_is_rejected() -> None:
    """The twin: with the censored runs left out, cold cells look fast and the crossover falls."""
    column = planted(16, 1.7, length=1.2)
    twin = []
    for k in range(len(TAU)):
        met = column.times[k][column.met[k]]
        twin.append(np.resize(met, column.times.shape[1]) if met.size else column.times[k])
    biased = crossing(Column(16, TAU, np.array(twin), np.ones_like(column.met)), M, 0).crossover
    own = crossing(column, M, 0).crossover
    low, high = own.value.interval
    assert low < 1.7 < high
    assert biased.value.value < low


def test_runs_shorter_than_the_threshold_cannot_tell() -> None:
    found = crossing(planted(16, 1.7, length=0.8), M, 0).crossover
    assert found.value is None and found.bracket is None


@pytest.mark.parametrize(("centre", "side", "edge"), [(50.0, "lower", TAU[-1]), (0.01, "upper", TAU[0])])
def test_a_crossover_off_the_grid_is_a_bound(centre: float, side: str, edge: float) -> None:
    found = crossing(planted(16, centre), M, 0).crossover
    assert found.value == Bound(edge, side, 40) and found.bracket is None


def test_a_jump_between_two_temperatures_spans_the_bracket() -> None:
    """All slow, then all fast: the data say nothing of the place in between, and the interval admits it."""
    found = crossing(planted(16, 1.7, steep=400.0), M, 0).crossover
    low, high = found.bracket
    ends = found.value.interval
    assert low < 1.7 < high and (ends[1] - ends[0]) > 0.85 * (high - low) and low <= ends[0] < ends[1] <= high
    assert set(found.above) == {0.0, 1.0} and found.crossings == 1


def test_a_share_that_comes_back_is_counted() -> None:
    column = planted(16, 1.7)
    times = column.times.copy()
    times[2] = 1.0
    found = crossing(Column(16, TAU, times, column.met), M, 0).crossover
    assert found.crossings == 3 and isinstance(found.value, Estimate)


def test_a_planted_shift_is_seen_and_a_flat_one_is_not() -> None:
    sizes = (8, 16, 32, 64)
    up, down, flat = (
        shift([crossing(planted(n, 1.5 + slope * math.log(n / 8), seed=1), M, 0) for n in sizes], TAU)
        for slope in (0.3, -0.3, 0.0)
    )
    assert up.verdict == "moves up with n" and up.p_value < 0.01
    assert up.slope.interval[0] < 0.3 < up.slope.interval[1]
    assert down.verdict == "moves down with n" and down.slope.value < 0
    assert flat.verdict == "cannot tell" and flat.p_value > 0.05 and flat.lengths == sizes


def test_the_test_of_the_shift_keeps_its_level() -> None:
    """With no shift, 5 % are called one: at most 9 of 60 (binomial, 1 in 600 above)."""
    found = [
        shift([crossing(planted(n, 1.7, seed=s, m=24), M, s) for n in (8, 16, 32, 64)], TAU).verdict for s in range(60)
    ]
    assert sum(verdict != "cannot tell" for verdict in found) <= 9


def test_lengths_off_the_grid_are_named_and_too_few_cannot_tell() -> None:
    found = [crossing(planted(n, c), M, 0) for n, c in ((8, 0.01), (16, 1.5), (32, 1.6), (64, 90.0))]
    told = shift(found, TAU)
    assert told.slope is None and told.p_value is None and told.verdict.startswith("cannot tell")
    assert told.outside == (8, 64) and told.lengths == (16, 32)
