"""First exits against the engine's own trajectories, censored means against exact ones, and twins that must fail."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from maskov.basins import EscapePoint, ball_exits, descend, escape_line, first_exits, hold, mean_dwell, mean_escape
from maskov.glauber import glauber
from maskov.glauber.kernel import magnetisation_chain
from maskov.laws import law, random_conditionals
from maskov.models import load
from maskov.protocols import State
from maskov.quantities import Estimate


def stays(model, state: State, temperatures) -> np.ndarray:
    return 1 - hold(model, state.tokens[None], state.free, temperatures).leave[:, 0]


@pytest.mark.parametrize("engine", ["plain", "auto"])
def test_first_exits_are_the_first_changes_of_the_engine(engine: str) -> None:
    model, tau = random_conditionals(3, 5, seed=6), [0.05, 0.3, 1.0]
    state = descend(model, [State(np.array([2, 0, 1, 1, 0]), np.array([0, 1, 3, 4]))]).states[0]
    exits = first_exits(stays(model, state, tau), np.arange(20), seed=11, horizon=40)
    trace = glauber(model, [state], temperature=tau, steps=40, chains=20, seed=11, engine=engine)
    changes = trace.changes()
    first = [min(changes.step[changes.chain == b], default=None) for b in range(60)]
    found = [int(t) if seen else None for t, seen in zip(exits.times.ravel(), exits.observed.ravel(), strict=True)]
    assert found == first
    assert None in found and len(set(found)) > 5  # some are censored, and not all alike


def test_first_exits_of_a_network_are_the_engines() -> None:
    model = load("en-tiny")
    state = model.encode("the end.")
    exits = first_exits(stays(model, state, [0.2, 1.0]), np.arange(4), seed=2, horizon=12)
    changes = glauber(model, [state], temperature=[0.2, 1.0], steps=12, chains=4, seed=2).changes()
    first = [min(changes.step[changes.chain == b], default=12) for b in range(8)]
    assert exits.times.ravel().tolist() == first


def test_blocks_of_the_stream_do_not_matter() -> None:
    stay = np.full((1, 4), 1 - 1e-4)
    long, short = (first_exits(stay, np.arange(8), seed=1, horizon=h) for h in (60_000, 5_000))
    assert np.array_equal(np.minimum(long.times, 5_000), short.times)
    assert np.array_equal(long.observed & (long.times <= 5_000), short.observed)


def test_dwell_times_are_geometric_with_the_exact_leave_probability() -> None:
    model, state = law("potts?sites=6&symbols=3&beta=1.5"), State(np.zeros(6, int), np.arange(6))
    h = hold(model, state.tokens[None], state.free, [0.7])
    p = float(h.leave_probability[0, 0])
    times = first_exits(1 - h.leave[:, 0], np.arange(3000), seed=5, horizon=10**6).times[0]
    edges = np.unique(stats.geom.ppf(np.linspace(0, 1, 13)[1:-1], p).astype(int))
    bins = np.digitize(times, edges, right=True)
    expected = np.diff(np.concatenate([[0.0], stats.geom.cdf(edges, p), [1.0]])) * len(times)
    assert stats.chisquare(np.bincount(bins, minlength=len(edges) + 1), expected).pvalue > 1e-3
    shifted = np.bincount(np.digitize(times - 1, edges, right=True), minlength=len(edges) + 1)  # twin: steps from 0
    assert stats.chisquare(shifted, expected).pvalue < 1e-6


def test_censored_mean_covers_the_truth_and_a_mean_over_exits_does_not() -> None:
    p, horizon, covered, fooled = 0.01, 60, 0, 0
    for seed in range(40):
        exits = first_exits(np.full((1, 3), 1 - p), np.arange(80), seed=seed, horizon=horizon)
        times, observed = exits.times[0], exits.observed[0]
        found = mean_dwell(times, observed)
        assert found is not None and found.n == observed.sum() < 80
        covered += found.interval[0] <= 1 / p <= found.interval[1]
        naive = mean_dwell(times[observed], np.ones(int(observed.sum()), bool))  # twin: those that left only
        fooled += naive.interval[0] <= 1 / p <= naive.interval[1]
    assert covered >= 36 and fooled == 0


def test_no_exit_is_no_mean() -> None:
    exits = first_exits(np.ones((1, 3)), np.arange(4), seed=0, horizon=10)
    assert mean_dwell(exits.times[0], exits.observed[0]) is None
    assert mean_escape(exits.times[0], exits.observed[0]) is None
    assert exits.exposure.tolist() == [40] and exits.exits.tolist() == [0]


def test_censored_escape_times_cover_an_exponential_mean() -> None:
    rng, covered = np.random.default_rng(0), 0
    for _ in range(200):
        times = np.minimum(np.ceil(rng.exponential(500.0, size=40)), 300).astype(int)
        found = mean_escape(times, times < 300)
        assert found is not None and 0 < found.n < 40
        covered += found.interval[0] <= 500 <= found.interval[1]
    assert 182 <= covered <= 200


def test_certain_exits_have_a_closed_interval() -> None:
    found = mean_dwell(np.ones(50, int), np.ones(50, bool))
    assert (found.value, found.stderr, found.interval[0]) == (1.0, 0.0, 1.0) and 1.0 < found.interval[1] < 1.2


def test_ball_exits_are_the_traces_own() -> None:
    model, state = load("law:potts?sites=7&symbols=3&beta=1.2"), State(np.zeros(7, int), np.arange(7))
    exits = ball_exits(model, state, 0.8, 2, np.arange(12), seed=3, horizon=30)
    trace = glauber(model, [state], temperature=0.8, steps=30, chains=12, seed=3)
    outside = np.stack([np.stack(trace.states_at(t)) != 0 for t in range(31)]).sum(axis=2) > 2
    assert exits.times.tolist() == np.where(outside.any(axis=0), outside.argmax(axis=0), 30).tolist()
    assert exits.observed.tolist() == outside.any(axis=0).tolist()
    assert 0 < exits.exits < 12


def test_mean_escape_from_a_ball_is_that_of_the_magnetisation_chain() -> None:
    n, k0, beta = 12, 7, 1.3
    killed = magnetisation_chain(n, beta)[k0:, k0:]
    exact = np.linalg.solve(np.eye(n + 1 - k0) - killed, np.ones(n + 1 - k0))[-1]
    model, state = load(f"law:curie-weiss?sites={n}&beta={beta}"), State(np.ones(n, int), np.arange(n))
    exits = ball_exits(model, state, 1.0, n - k0, np.arange(400), seed=0, horizon=20_000)
    found = mean_escape(exits.times, exits.observed)
    assert exits.observed.all() and abs(found.value - exact) < 3.3 * found.stderr
    assert abs(found.value - exact * 1.4) > 4 * found.stderr  # there is power: radius 6 takes that much longer


def test_escape_line_finds_the_margin_of_two_levels() -> None:
    m, inverse = 3.0, np.linspace(1, 2, 6)
    exact = 1 + np.exp(m * inverse)
    points = [EscapePoint(1 / x, x, t, Estimate(t, t / 8, 64)) for x, t in zip(inverse, exact, strict=True)]
    line = escape_line(0, m, points)
    assert line.slope == pytest.approx(line.predicted_slope) and abs(line.slope - m) < 0.15
    assert line.stderr == pytest.approx(1 / np.sqrt(64 * ((inverse - 1.5) ** 2).sum()))


def test_points_with_few_exits_are_left_out() -> None:
    points = [EscapePoint(1 / x, x, 10.0, Estimate(10.0, 5.0, 4)) for x in (1.0, 2.0, 3.0, 4.0)]
    assert escape_line(0, 1.0, points).slope is None
    assert escape_line(0, 1.0, [EscapePoint(0.1, 10.0, 1e9, None)]).slope is None
