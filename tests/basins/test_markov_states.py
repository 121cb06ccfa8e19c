"""Basins of laws whose metastable sets are known: found, weighed and timed as the exact kernel says."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

pytest.importorskip("deeptime")
pytest.importorskip("pygpcca")

from maskov.basins import find_basins
from maskov.glauber.kernel import magnetisation_chain, stationary_law, transition_matrix
from maskov.laws import law
from maskov.laws.base import enumerate_states
from maskov.laws.incompatible import IncompatibleConditionals
from maskov.laws.mixtures import ProductMixture
from maskov.models import load
from maskov.models.views import LawModel
from maskov.protocols import State


@dataclass
class Sampled:
    """Chains known at multiples of a stride: states [K, B, n]."""

    path: np.ndarray
    stride: int
    temperature: float = 1.0

    @property
    def steps(self) -> int:
        return (len(self.path) - 1) * self.stride

    @property
    def n_chains(self) -> int:
        return self.path.shape[1]

    @property
    def chain_ids(self) -> np.ndarray:
        return np.arange(self.n_chains)

    @property
    def temperatures(self) -> np.ndarray:
        return np.full(self.n_chains, self.temperature)

    @property
    def starts(self) -> list[State]:
        return [State(x, np.arange(self.path.shape[2])) for x in self.path[0]]

    def states_at(self, step: int) -> list[np.ndarray]:
        return list(self.path[step // self.stride])


def simulate(P: np.ndarray, states: np.ndarray, starts: list[int], stride: int, times: int, seed: int) -> Sampled:
    """The exact chain seen every ``stride`` steps: draws from the rows of P^stride."""
    cdf = np.cumsum(np.linalg.matrix_power(P, stride), axis=1)
    cdf /= cdf[:, -1:]
    rng = np.random.Generator(np.random.Philox(seed))
    x = np.array(starts)
    path = [x]
    for u in rng.random((times, len(x))):
        x = (cdf[x] <= u[:, None]).sum(axis=1)
        path.append(x)
    return Sampled(states[np.array(path)], stride)


def adjusted_rand(a: np.ndarray, b: np.ndarray) -> float:
    from sklearn.metrics import adjusted_rand_score

    return float(adjusted_rand_score(a, b))


def agreement(trace: Sampled, cell, truth: np.ndarray, clear: np.ndarray) -> float:
    """Adjusted Rand index of basins and true modes [K, B] where these are clear, at the record's times."""
    labels = np.array([[-1 if k is None else k for k in p.basin] for p in cell.paths]).T
    rows = cell.paths[0].steps // trace.stride
    return adjusted_rand(labels[clear[rows]], truth[rows][clear[rows]])


def covers(q, value: float) -> bool:
    return q.interval[0] <= value <= q.interval[1]


SITES = 8


@pytest.fixture(scope="module")
def two_wells():
    chain_law = law(f"curie-weiss?sites={SITES}&beta=1.9")
    P, states = transition_matrix(chain_law, SITES).toarray(), enumerate_states(2, SITES)
    trace = simulate(P, states, [0, 255] * 6, 10, 1000, seed=1)
    return trace, find_basins(trace, load(f"law:curie-weiss?sites={SITES}&beta=1.9"), keep=1000).cells[0]


def test_two_wells_are_found_weighed_and_timed(two_wells) -> None:
    trace, cell = two_wells
    assert len(cell.basins) == 2 and all(b.kind == "linked" for b in cell.basins) and cell.reversible
    plus = trace.path.sum(axis=2)
    decided = plus != SITES / 2  # on the ridge a state belongs to neither
    assert agreement(trace, cell, plus > SITES / 2, decided) >= 0.95
    relaxation = -1 / np.log(np.sort(np.linalg.eigvals(magnetisation_chain(SITES, 1.9)).real)[-2])
    assert covers(cell.slowest_steps, relaxation)
    for basin in cell.basins:
        assert covers(basin.population, 0.5)
        assert covers(basin.lifetime_steps, 2 * relaxation)  # rates k both ways relax at 2k
        assert covers(basin.measured_steps, 2 * relaxation)
        assert basin.visits > 20 and basin.chains == 12 and not basin.once
    assert cell.ck_error.value < 0.05 and cell.plateau


def test_exemplars_are_near_the_wells(two_wells) -> None:
    for basin in two_wells[1].basins:
        counts = [e.text.count("1") for e in basin.exemplars]
        assert max(counts) <= 1 or min(counts) >= SITES - 1


def test_three_modes_with_known_weights() -> None:
    weights, n = np.array([0.5, 0.3, 0.2]), 6
    rows = np.full((3, 3), 0.04) + 0.88 * np.eye(3)
    mixture = ProductMixture(weights, rows, sites=n)
    P, states = transition_matrix(mixture, n).toarray(), enumerate_states(3, n)
    trace = simulate(P, states, [0, 364, 728] * 6, 40, 1200, seed=2)
    cell = find_basins(trace, LawModel(mixture), keep=1200).cells[0]
    assert len(cell.basins) == 3
    counts = np.stack([(trace.path == v).sum(axis=2) for v in range(3)], axis=-1)
    clear = counts.max(axis=-1) > n / 2
    assert agreement(trace, cell, counts.argmax(axis=-1), clear) >= 0.95
    pi = stationary_law(P)
    near = np.stack([(states == v).sum(axis=1) for v in range(3)], axis=1)
    exact = np.array([pi[(near.argmax(axis=1) == v) & (near.max(axis=1) > n / 2)].sum() for v in range(3)])
    assert abs(exact - weights).max() < 0.02
    for basin, weight in zip(cell.basins, weights, strict=True):  # largest first
        assert covers(basin.population, weight)
    # Mean times to leave each mode for the core of another: solved on the whole kernel.
    for v, basin in enumerate(cell.basins):
        others = [w for w in range(3) if w != v]
        inside = near[:, others].max(axis=1) < 5
        times = np.linalg.solve(np.eye(inside.sum()) - P[np.ix_(inside, inside)], np.ones(inside.sum()))
        mine = pi[inside] * (near[inside, v] >= 5)
        mean = float(times @ mine / mine.sum())
        assert covers(basin.measured_steps, mean)
        assert covers(basin.lifetime_steps, mean)


def test_forgetting_is_one_basin() -> None:
    chain_law, model = law("curie-weiss?sites=8&beta=0.5"), load("law:curie-weiss?sites=8&beta=0.5")
    P, states = transition_matrix(chain_law, 8).toarray(), enumerate_states(2, 8)
    found = [
        find_basins(simulate(P, states, [0, 255] * 4, stride, 300, seed), model, keep=300, resamples=10).cells[0]
        for seed in range(10)
        for stride in (2, 8)
    ]
    alarms = [cell for cell in found if len(cell.basins) > 1]
    assert len(alarms) <= 2
    assert all(cell.verdict.startswith("one basin") for cell in found if cell not in alarms)
    assert found[0].basins[0].population.value == 1 and found[0].basins[0].lifetime_steps is None


RATES = (0.02, 0.04, 0.08)


def ring() -> IncompatibleConditionals:
    """Wells (a, a), a = 0, 1, 2, of two sites; each site given a copies it, or goes on to a + 1 with rate ε_a."""
    given = np.full((3, 3), 1e-5)
    for a, rate in enumerate(RATES):
        given[a, a], given[a, (a + 1) % 3] = 1 - rate, rate
    return IncompatibleConditionals(np.log(np.stack([given.T, given])))


@pytest.fixture(scope="module")
def ring_run():
    conditionals = ring()
    P, states = transition_matrix(conditionals, 2).toarray(), enumerate_states(3, 2)
    # Every chain starts in one well and the run is short: time shares are far from the stationary law.
    return P, simulate(P, states, [0] * 40, 5, 120, seed=3)


def right(P: np.ndarray, cell) -> tuple[list[bool], list[bool]]:
    """Whether each population, and the share of each well's exits that go on, are the exact ones."""
    pi, wells = stationary_law(P), [0, 4, 8]
    order = [int(b.exemplars[0].text[0]) for b in cell.basins]
    weighed = [covers(b.population, pi[wells[a]] / pi[wells].sum()) for a, b in zip(order, cell.basins, strict=True)]
    at_lag = np.linalg.matrix_power(P, cell.lag_steps)
    directed = []
    for i, a in enumerate(order):
        on, back = ((a + 1) % 3, (a + 2) % 3)
        exact = at_lag[wells[a], wells[on]] / at_lag[wells[a], [wells[on], wells[back]]].sum()
        leaves = {b: cell.transition[i][j].value for j, b in enumerate(order) if j != i}
        directed.append(abs(leaves[on] / (leaves[on] + leaves[back]) - exact) < 0.1)
    return weighed, directed


def test_currents_are_not_symmetrised_away(ring_run) -> None:
    P, trace = ring_run
    cell = find_basins(trace, LawModel(ring()), keep=120).cells[0]
    assert len(cell.basins) == 3 and not cell.reversible
    assert right(P, cell) == ([True] * 3, [True] * 3)
    # Time shares alone would have been wrong: these chains all start in one well.
    pi = stationary_law(P)[[0, 4, 8]]
    assert abs(cell.basins[0].time_share.value - pi[0] / pi.sum()) > 0.015


def test_the_symmetrised_twin_is_wrong(ring_run) -> None:
    P, trace = ring_run
    twin = find_basins(trace, LawModel(ring()), keep=120, basins=3, reversible=True).cells[0]
    assert twin.reversible and right(P, twin)[1] == [False] * 3
