"""Ladders of temperatures: stages join, resume, and do what annealing is for."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from maskov.errors import InputError
from maskov.glauber import anneal, glauber
from maskov.laws import Tabular
from maskov.protocols import State

# Two wells of 6 bits: all zeros (shallow) and all ones (deep), a barrier between.
ONES = np.indices((2,) * 6).sum(axis=0)
WELLS = Tabular(np.where(ONES == 0, 6.0, np.where(ONES == 6, 9.0, np.where(ONES == 1, 2.0, 0.0))))
LADDER = [(3.0, 120), (1.5, 120), (0.3, 60)]


def start() -> State:
    return State(np.zeros(6, dtype=np.int64), np.arange(6))


def test_stages_join_and_have_their_own_draws() -> None:
    stages = anneal(WELLS, [start()], ladder=LADDER, chains=3)
    assert [float(s.temperatures[0]) for s in stages] == [3.0, 1.5, 0.3]
    for a, b in itertools.pairwise(stages):
        assert all((x == y).all() for x, y in zip(a.states_at(a.steps), b.states_at(0), strict=True))
    assert len({s.manifest.seed for s in stages}) == 3


def test_annealing_finds_the_deep_well_that_a_cold_chain_misses() -> None:
    cold = glauber(WELLS, [start()], temperature=0.3, steps=300, chains=40)
    assert sum((x == 1).all() for x in cold.states_at(300)) == 0
    ended = anneal(WELLS, [start()], ladder=LADDER, chains=40)[-1]
    assert sum((x == 1).all() for x in ended.states_at(ended.steps)) >= 15


def test_a_ladder_is_resumed(tmp_path: Path) -> None:
    whole = anneal(WELLS, [start()], ladder=LADDER, chains=2)
    anneal(WELLS, [start()], ladder=LADDER[:2], chains=2, out=tmp_path / "a")
    again = anneal(WELLS, [start()], ladder=LADDER, chains=2, out=tmp_path / "a", resume=True)
    for a, b in zip(whole, again, strict=True):
        assert all((x == y).all() for x, y in zip(a.changes(), b.changes(), strict=True))
    assert sorted(p.name for p in (tmp_path / "a").iterdir()) == [f"stage-{k}.zarr" for k in range(3)]


@pytest.mark.parametrize("ladder", [[], [(1.0,)], [(0.0, 5)], [(1.0, 0)]])
def test_bad_ladders_are_named(ladder: Any) -> None:
    with pytest.raises(InputError):
        anneal(WELLS, [start()], ladder=ladder)
