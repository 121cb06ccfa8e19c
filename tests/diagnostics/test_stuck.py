"""Stuck chains: frozen, slow beside their fellows, dwelling; and those that are not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from maskov.diagnostics import diagnose
from maskov.diagnostics.stuck import paths_of
from maskov.glauber import block_glauber, glauber
from maskov.laws import Tabular, enumerate_states, law, random_tabular, state_index
from maskov.models import LawModel, load
from maskov.protocols import State


def start(values: Any) -> State:
    x = np.array(values, dtype=np.int64)
    return State(x, np.arange(len(x)))


def peaked(n: int, deep: dict[int, float]) -> LawModel:
    """A flat law of n bits but for some states of given log-weight above the rest."""
    table = np.zeros(2**n)
    for state, weight in deep.items():
        table[state] = weight
    return LawModel(Tabular(table.reshape((2,) * n)))


def test_a_frozen_chain_is_stuck_since_its_last_change() -> None:
    model = LawModel(law("curie-weiss?sites=10&beta=2"))
    trace = glauber(model, [start([0, 1] * 5)], temperature=0.1, steps=2000, chains=3)
    cell = diagnose(trace, model).cells[0]
    assert cell.verdict == "stuck" and [s.chain for s in cell.stuck] == [0, 1, 2]
    for stuck in cell.stuck:
        changes = trace.changes()
        last = int(changes.step[changes.chain == stuck.chain].max())
        assert stuck.since_step == last < 500 and stuck.kind == "idle"
        assert stuck.text == model.decode(trace.state(stuck.chain, 2000)) in ("0" * 10, "1" * 10)
        assert "with probability" in stuck.reason
    assert cell.needed_sweeps is None and "raise the temperature" in cell.advice


def test_a_chain_in_a_hole_is_named_among_chains_that_move() -> None:
    """One start sits in a state 25 nats deep, five roam a flat law: the one is stuck, the others are not."""
    hole = [1] * 8
    model = peaked(8, {255: 25.0})
    roam = [start(x) for x in enumerate_states(2, 8)[[3, 80, 96, 7, 129]]]
    trace = glauber(model, [start(hole), *roam], steps=1500)
    cell = diagnose(trace).cells[0]
    fallen = {b for b in range(6) if (trace.state(b, 1500) == 1).all()}
    assert 0 in {s.chain for s in cell.stuck} <= fallen and cell.verdict == "stuck"
    assert cell.stuck[0].text is None and cell.stuck[0].since_step == 0


def test_a_chain_that_keeps_coming_back_is_dwelling() -> None:
    """A hole of 4.5 nats is left every few sweeps and found again; another start dwells elsewhere."""
    model = peaked(6, {0: 7.0, 63: 7.0})
    trace = glauber(model, [start([0] * 6), start([1] * 6)], steps=900, chains=2, seed=4)
    cell = diagnose(trace).cells[0]
    kinds = {s.kind for s in cell.stuck}
    assert cell.verdict == "stuck" and kinds <= {"dwelling", "idle"} and len(cell.stuck) == 2


def test_a_peaked_law_that_all_starts_reach_is_no_trap() -> None:
    """Every start spends nine tenths of its time in the same state: that is the law, not a hole."""
    n = 6
    bits = enumerate_states(2, n)
    field = LawModel(Tabular((5.0 * bits.sum(axis=1)).reshape((2,) * n)))
    trace = glauber(field, [start([0] * n), start([0, 1] * 3)], steps=6000, chains=4)
    cell = diagnose(trace).cells[0]
    assert cell.stuck == () and cell.verdict in ("mixed", "too short")


def test_a_slow_chain_is_held_against_its_fellows() -> None:
    """A start in a half-frozen corner changes at a fraction of the others' rate."""
    n = 8
    bits = enumerate_states(2, n)
    corner = bits[:, 0] == 1
    energy = np.where(corner, 30.0 + 4.5 * bits[:, 1:].sum(axis=1), 0.0)
    model = LawModel(Tabular(energy.reshape((2,) * n)))
    clamped = [start([1, 1, 1, 1, 1, 1, 1, 1]), *[start(x) for x in bits[[0, 3, 12, 48, 70]]]]
    held = [State(s.tokens, np.arange(1, n)) for s in clamped]
    trace = glauber(model, held, steps=4000)
    cell = diagnose(trace).cells[0]
    assert [(s.chain, s.kind) for s in cell.stuck] == [(0, "slow")]
    assert "times the rate of its fellows" in cell.stuck[0].reason


@pytest.mark.parametrize("block", [False, True])
def test_hashes_tell_states_apart(block: bool) -> None:
    """Equal hashes exactly where states are equal, along whole chains."""
    table = random_tabular(3, 4, seed=1)
    options: dict[str, Any] = {"steps": 300, "chains": 3}
    trace = block_glauber(table, None, schedule="hide:2", **options) if block else glauber(table, None, **options)
    for b, path in enumerate(paths_of(trace)):
        numbers = [state_index(trace.state(b, int(t))[None], 3)[0] for t in [0, *path.step]]
        assert len(set(zip(numbers, path.state.tolist(), strict=True))) == len(set(numbers)) == len(set(path.state))


def test_quiet_but_mixed_chains_are_not_accused() -> None:
    """τ = 0.5 on a mild law, several lengths of run: no chain is idle, slow or dwelling."""
    model = load("law:ising-ring?sites=8&beta=0.4")
    for steps in (400, 1600):
        trace = glauber(model, ["00000000", "11111111", "01010101"], steps=steps, chains=6, seed=steps)
        assert diagnose(trace).cells[0].stuck == ()
