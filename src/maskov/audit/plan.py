"""How much of each study a budget buys: a function of the model, its texts and the budget alone, so that it repeats."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from maskov.errors import InputError
from maskov.models.cost import row_seconds
from maskov.protocols import State

# Nominal seconds of model rows. The clock is not read: the same call gives the same numbers on every machine.
BUDGETS = {"quick": 100.0, "standard": 900.0, "full": 9000.0}
_SHARES = {
    "rectangle": 0.1,
    "chains": 0.45,
    "couple": 0.15,
    "phase": 0.15,
    "dwell": 0.05,
    "influence": 0.05,
    "traps": 0.1,
    "tokens": 0.1,
}
_GRID = (0.3, 0.6, 1.0, 1.5, 2.0)
_CHEAP_GRID = (0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5)
# Sweeps that are worth having before more chains or temperatures are.
_ENOUGH_SWEEPS = 8.0
# Of a phase diagram: 5 n log n at the crossover, runs twice as long, two rows a step; and what is too little to show.
_PHASE_SITES = (8, 16, 32, 64)
_PHASE_GRID = (0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.25, 2.5, 3.0)
_PHASE_STEPS = 10.0
_FEWEST_PAIRS, _MOST_PAIRS = 6, 16
# A run shorter than this has no basins to speak of.
_BASIN_SWEEPS = 20.0
_BOOTSTRAPS = {"quick": 40, "standard": 100, "full": 200}
# Entries of a series that leave errors something to work with after burn-in.
_FEWEST_WINDOWS = 24


@dataclass(frozen=True)
class Plan:
    """What an audit will do. n_texts: starts used; temperatures, chains (per temperature) and steps of the run;
    window: steps per entry of its series; rectangles: number; pairs, couple_steps, couple_temperatures: of the
    coupling; segments: dwell segments looked at; contexts, trap_starts: of the influence study and of the trap search,
    token_profiles: of the token scan, phase_pairs: in each cell of phase_temperatures × phase_sites, 0 where the budget
    is too small for one; basins: bootstraps of them, 0 for a short run; seconds: nominal, of all rows.
    """

    budget: str
    seconds: float
    row_seconds: float
    n_texts: int
    temperatures: tuple[float, ...]
    chains: int
    steps: int
    window: int
    rectangles: int
    pairs: int
    couple_temperatures: tuple[float, ...]
    couple_steps: int
    segments: int
    contexts: int
    trap_starts: int
    token_profiles: int
    phase_sites: tuple[int, ...]
    phase_temperatures: tuple[float, ...]
    phase_pairs: int
    basins: int


def make_plan(model: Any, states: Sequence[State], budget: str = "quick") -> Plan:
    """The plan of ``budget`` (quick, standard or full) for these starts; ``InputError`` on another word."""
    if budget not in BUDGETS:
        raise InputError("budget", expected="one of " + ", ".join(BUDGETS), came=repr(budget))
    seconds = BUDGETS[budget]
    length = int(np.median([len(s.tokens) for s in states]))
    n = float(np.median([len(s.free) for s in states]))
    row = row_seconds(model, length)
    rows = {name: share * seconds / row for name, share in _SHARES.items()}
    temperatures, chains, steps = _run_shape(rows["chains"], n, len(states), budget)
    pairs, couple_steps, couple_temperatures = _couple_shape(rows["couple"], n)
    phase_sites, phase_pairs = _phase_shape(rows["phase"], max(len(s.free) for s in states))
    return Plan(
        budget=budget,
        seconds=seconds,
        row_seconds=row,
        n_texts=min(len(states), chains),
        temperatures=temperatures,
        chains=chains,
        steps=steps,
        window=max(1, min(math.ceil(n / 4), steps // _FEWEST_WINDOWS)),
        rectangles=int(np.clip(rows["rectangle"] / 6, 40, 400 if budget == "quick" else 2000)),
        pairs=pairs,
        couple_temperatures=couple_temperatures,
        couple_steps=couple_steps,
        segments=int(np.clip(rows["dwell"] / n, 1, 10)),
        contexts=int(np.clip(rows["influence"] / n**2 - 1, 0, 16)),  # one more pass goes to a filled state
        trap_starts=_trap_starts(rows["traps"], n),
        token_profiles=3 if rows["tokens"] >= 2 * model.vocabulary_size else 0,
        phase_sites=phase_sites,
        phase_temperatures=_PHASE_GRID if phase_pairs else (),
        phase_pairs=phase_pairs,
        basins=_BOOTSTRAPS[budget] if steps >= _BASIN_SWEEPS * n else 0,
    )


def _trap_starts(rows: float, n: float) -> int:
    """Descents of about ten sweeps each; fewer than four find too little to be worth a section."""
    starts = int(min(rows / (10 * n), 64))
    return starts if starts >= 4 else 0


def _run_shape(rows: float, n: float, texts: int, budget: str) -> tuple[tuple[float, ...], int, int]:
    """Temperatures, chains and steps: as many chains as leave enough sweeps, two at least."""
    grid: tuple[float, ...] = _GRID if budget == "quick" else _CHEAP_GRID
    if rows < len(grid) * 4 * _ENOUGH_SWEEPS * n:
        grid = (0.3, 1.0, 2.0) if rows >= 3 * 2 * 2 * n else (0.5, 1.0)
    most = 24 if budget == "full" else 12
    chains = int(np.clip(rows / (len(grid) * _ENOUGH_SWEEPS * n), 2, max(2, min(most, max(texts, 8)))))
    steps = int(np.clip(rows / (len(grid) * chains), max(40, n / 2), 1_000_000))
    return grid, chains, steps


def _couple_shape(rows: float, n: float) -> tuple[int, int, tuple[float, ...]]:
    """Pairs, longest run and temperatures: a pair-step costs two rows until the pair has met."""
    temperatures = (0.5, 1.0, 1.5, 2.0, 3.0) if rows > 5 * 8 * 8 * n else (1.0, 2.0)
    pairs = int(np.clip(rows / (2 * len(temperatures) * 12 * n), 2, 16))
    steps = int(np.clip(rows / (2 * len(temperatures) * pairs), max(20, n / 2), 400 * n))
    return pairs, steps, temperatures


def _phase_shape(rows: float, longest: int) -> tuple[tuple[int, ...], int]:
    """Lengths and pairs per cell: as many lengths (two at least) as leave six pairs; short rows cost less."""
    for count in range(len(_PHASE_SITES), 1, -1):
        sites = tuple(n for n in _PHASE_SITES[:count] if n <= longest)
        cost = 2 * _PHASE_STEPS * len(_PHASE_GRID) * sum(n * math.log(n) for n in sites)
        pairs = int(rows / max(cost, 1.0))
        if len(sites) >= 2 and pairs >= _FEWEST_PAIRS:
            return sites, min(pairs, _MOST_PAIRS)
    return (), 0
