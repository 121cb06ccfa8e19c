"""The trap finder on laws whose traps are known, against the kernel, and a twin that forgets to mask."""

from __future__ import annotations

import json

import numpy as np
import pytest

from maskov.basins import descend, find_traps, is_perfect_trap, uniform_margin_bound
from maskov.errors import InputError
from maskov.glauber.kernel import transition_matrix
from maskov.laws import enumerate_states, law, random_conditionals, random_tabular, state_index
from maskov.models import load
from maskov.models.views import LawModel
from maskov.protocols import State

POTTS = "law:potts?sites=6&symbols=3&beta=2"


class Peeking:
    """A model that forgets to mask: every row favours the token that is there."""

    def __init__(self, inner):
        self.inner = inner

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def logits(self, states, sites):
        rows = self.inner.logits(states, sites).copy()
        each = np.arange(len(states))
        rows[each, states[each, sites]] += 3
        return rows


@pytest.fixture(scope="module")
def potts():
    return find_traps(load(POTTS), temperatures=[0.4, 1.0], starts=24, replicas=64, seed=1)


def test_traps_of_cold_potts_are_the_aligned_states(potts) -> None:
    assert sorted(t.text for t in potts.traps) == ["000000", "111111", "222222"]
    assert all(t.perfect for t in potts.traps) and potts.n_perfect == 3 and potts.unsettled == 0
    assert sum(t.basin for t in potts.traps) == potts.n_starts == 24
    assert [m for t in potts.traps for m in t.margins] == pytest.approx([2 * 2 / 6 * 5] * 18)


@pytest.mark.parametrize("name", [POTTS, "law:curie-weiss?sites=6&beta=1.5"])
def test_leave_probability_is_one_minus_the_kernels_diagonal(name: str) -> None:
    model = load(name)
    found = find_traps(model, temperatures=[0.4, 1.0], starts=16, replicas=1, steps=10)
    for k, t in enumerate([0.4, 1.0]):
        exact = 1 - transition_matrix(model, 6, t).diagonal()
        for trap in found.traps:
            row = state_index(model.encode(trap.text).tokens[None], model.vocabulary_size)[0]
            assert trap.leave[k].probability.value == pytest.approx(exact[row], abs=1e-12)
            assert trap.leave[k].predicted_dwell.value == pytest.approx(1 / exact[row], rel=1e-10)


def test_measured_dwell_agrees_with_the_predicted_one(potts) -> None:
    cells = [cell for trap in potts.traps for cell in trap.leave]
    assert sum(cell.exits >= 30 for cell in cells) >= 5
    for cell in cells:
        if cell.exits >= 30:
            ratio = cell.measured_dwell.value / cell.predicted_dwell.value
            assert 1 / 1.5 < ratio < 1.5
            assert abs(np.log(ratio)) < 3.5 / np.sqrt(cell.exits)


def test_leave_never_passes_the_uniform_margin_bound() -> None:
    for seed in range(5):
        model = LawModel(random_tabular(3, 4, seed=seed))
        for trap in find_traps(model, temperatures=[0.3, 1.0, 3.0], starts=10, replicas=1, steps=5).traps:
            for cell in trap.leave:
                assert cell.probability.value <= cell.bound.value * (1 + 1e-12) and cell.bound.side == "upper"


def test_bound_is_tight_where_every_rival_is_a_runner_up() -> None:
    # Aligned Potts: all V − 1 rivals have the same score, so the bound is the leave probability itself.
    trap = find_traps(load(POTTS), temperatures=[0.4, 1.0], starts=4, replicas=1, steps=5).traps[0]
    assert [c.bound.value for c in trap.leave] == pytest.approx([c.probability.value for c in trap.leave], rel=1e-12)
    assert uniform_margin_bound(-1e6, 0.1, 3).value == 1.0


def test_the_slope_of_the_escape_sweep_is_the_margin_where_all_margins_agree(potts) -> None:
    for line in potts.escape:
        assert line.slope is not None and abs(line.slope - line.predicted_slope) < 3.5 * line.stderr
        assert abs(line.predicted_slope - line.min_margin) < 0.1 * line.min_margin
        assert len(line.points) == 8


def test_a_twin_that_forgets_to_mask_is_caught(potts) -> None:
    broken = find_traps(Peeking(load(POTTS)), temperatures=[0.4, 1.0], starts=24, replicas=1, steps=5)
    assert not {t.text for t in broken.traps} <= {t.text for t in potts.traps}  # it stops wherever it starts
    exact = 1 - transition_matrix(load(POTTS), 6, 1.0).diagonal()
    rows = [state_index(load(POTTS).encode(t.text).tokens[None], 3)[0] for t in broken.traps]
    ratio = np.array([t.leave[1].probability.value for t in broken.traps]) / exact[rows]
    assert (ratio < 0.5).all()  # and takes every state to hold better than it does


def test_descent_ends_in_every_strict_local_maximum_it_starts_in_and_nowhere_else() -> None:
    p, states = random_tabular(3, 4, seed=8), enumerate_states(3, 4)
    free = np.arange(4)
    found = descend(p, [State(x, free) for x in states], seed=2)
    ends = np.stack([s.tokens for s in found.states])
    assert found.settled.all() and is_perfect_trap(p, ends, free).all()
    traps = is_perfect_trap(p, states, free)
    assert (ends[traps] == states[traps]).all() and (ends[~traps] != states[~traps]).any(axis=1).all()
    assert (p.log_prob(ends) >= p.log_prob(states)).all()


def test_descent_without_a_fixed_point_is_told() -> None:
    # Site 0 copies site 1, site 1 contradicts site 0: round and round.
    class Chase:
        vocabulary_size, n_sites = 2, 2

        def logits(self, states, sites):
            want = np.where(sites == 0, states[:, 1], 1 - states[:, 0])
            return np.where(np.arange(2) == want[:, None], 4.0, 0.0)

        def score_tokens(self, states, sites, tokens):
            return np.take_along_axis(self.logits(states, sites), tokens, axis=1)

    found = find_traps(LawModel(Chase(), name="chase"), starts=6, temperatures=[0.1], replicas=4, steps=200)
    assert found.unsettled == 6 and found.n_perfect == 0 and found.traps == ()


def test_descent_does_not_hang_on_the_batch() -> None:
    p, free = random_conditionals(3, 6, seed=1), np.arange(6)
    starts = [State(x, free) for x in enumerate_states(3, 6)[::97]]
    together = descend(p, starts, seed=4)
    assert [s.tokens.tolist() for s in descend(p, starts[:3], seed=4).states] == [
        s.tokens.tolist() for s in together.states[:3]
    ]


def test_held_sites_stay() -> None:
    model = load("law:curie-weiss?sites=8&beta=2")
    found = find_traps(model, ["10101010"], clamp="1-3", starts=5, temperatures=[0.5], replicas=2, steps=50)
    assert all(t.text.startswith("101") and t.sites == 5 for t in found.traps) and found.traps


def test_a_small_domain_of_a_ring_is_an_approximate_trap_and_a_large_one_is_none() -> None:
    wall = "000000000011"  # its two walls wander, but what they enclose stays near
    model = load("law:ising-ring?sites=12&beta=2")
    found = find_traps(model, [wall], starts=1, temperatures=[0.4, 4.0], replicas=8)
    assert len(found.traps) == 1 and found.n_perfect == 0
    trap = found.traps[0]
    assert not trap.perfect and trap.min_margin.value == 0 and trap.text == wall
    assert find_traps(model, ["000000111111"], starts=1, temperatures=[0.4], replicas=8).traps == ()
    cold, hot = trap.ball
    assert cold.radius == 2 and hot.exits == 8 and cold.exposure > 2 * hot.exposure


def test_same_seed_same_numbers_and_a_record_that_json_can_hold(potts) -> None:
    again = find_traps(load(POTTS), temperatures=[0.4, 1.0], starts=24, replicas=64, seed=1)
    assert json.dumps(again.to_dict(), allow_nan=False) == json.dumps(potts.to_dict(), allow_nan=False)
    assert "perfect traps" in str(potts)


def test_progress_goes_up_to_its_end() -> None:
    seen: list[tuple[int, int]] = []
    find_traps(load(POTTS), starts=6, limit=1, replicas=1, steps=5, progress=lambda *p: seen.append(p))
    assert seen == sorted(seen) and seen[-1] == (7, 7)


def test_a_very_deep_trap_is_censored_not_infinite() -> None:
    found = find_traps(load("law:curie-weiss?sites=20&beta=40"), temperatures=[0.05], starts=2, replicas=2, steps=100)
    cell = found.traps[0].leave[0]
    assert cell.measured_dwell is None and cell.exits == 0 and cell.exposure == 200
    json.dumps(found.to_dict(), allow_nan=False)


def test_traps_of_the_bundled_model() -> None:
    model = load("en-tiny")
    found = find_traps(model, ["the cat sat on the mat.", "he was an american writer."], starts=3, replicas=32)
    assert found.n_starts == 3 and found.traps[0].perfect
    cold = found.traps[0].leave[0]
    assert cold.predicted_dwell.value >= found.traps[-1].leave[0].predicted_dwell.value
    for trap in found.traps:
        state = model.encode(trap.text)
        for cell in trap.leave:
            if cell.exits >= 30:
                assert 1 / 1.5 < cell.measured_dwell.value / cell.predicted_dwell.value < 1.5
        assert len(trap.margins) == trap.sites and len(state.free) > 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"temperatures": [0.0]}, "temperature"),
        ({"replicas": 0}, "replicas"),
        ({"limit": 0}, "limit"),
        ({"starts": 0}, "starts"),
        ({"texts": []}, "texts"),
    ],
)
def test_bad_input_is_named(options, message: str) -> None:
    with pytest.raises(InputError, match=message):
        find_traps(load(POTTS), **options)


def test_what_is_no_model_is_named() -> None:
    with pytest.raises(InputError, match="conditionals"):
        find_traps(law("product?sites=3&gap=0.3&weight=0.5"))
