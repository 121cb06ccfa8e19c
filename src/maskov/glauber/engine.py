"""The only loop: draw the randomness of a chunk, then apply the deterministic update step by step."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maskov.glauber.chains import Chains, buckets
from maskov.glauber.draw import Drawn, draw_tokens
from maskov.protocols import Conditionals, Tokens
from maskov.randomness import Draws, choose_site, draws

SERIES = ("changed", "stay", "entropy", "production", "production_raw")


class StepInfo(NamedTuple):
    """What a diagnostic needs of one step. sites, old, new: int64 [B]; drawn: the row's numbers, each [B]."""

    sites: Tokens
    old: Tokens
    new: Tokens
    drawn: Drawn


class Chunk(NamedTuple):
    """The outcome of consecutive steps start + 1 … stop of all chains.

    states: int64 [B, L_max] after the last step; changes: int32 [m, 5] rows (chain, step − start, site, old, new) in
    order of step, then chain; series: name → float64 [windows, B] means over ``window`` steps; forwards: rows evaluated.
    """

    start: int
    stop: int
    states: Tokens
    changes: NDArray[np.int32]
    series: dict[str, NDArray[np.float64]]
    forwards: int


def step(
    model: Conditionals, states: Tokens, sites: Tokens, temperatures: NDArray[np.float64], u: NDArray[np.float64]
) -> StepInfo:
    """One Glauber step of B chains of one length, given its innovations; ``states`` [B, L] is changed in place.

    x_i ← v, v ~ p_{i,τ}(· | x_{-i}) = softmax(s_i/τ); sites: int64 [B] columns; u: [B] uniforms of the token draw.
    """
    each = np.arange(len(states))
    old = states[each, sites]
    drawn = draw_tokens(model.logits(states, sites), temperatures, old, u)
    states[each, sites] = drawn.tokens
    return StepInfo(sites, old, drawn.tokens, drawn)


class _Recorder:
    """Collects the changes and the window sums of one chunk."""

    def __init__(self, chains: int, steps: int, window: int) -> None:
        self.window = window
        self.sums = np.zeros((len(SERIES), -(-steps // window), chains))
        self.rows: list[NDArray[np.int32]] = []

    def add(self, t: int, members: Tokens, info: StepInfo) -> None:
        """Record step t (from 0) of the chains ``members``."""
        moved = np.flatnonzero(info.old != info.new)
        if moved.size:
            row = np.stack(
                [members[moved], np.full(moved.size, t + 1), info.sites[moved], info.old[moved], info.new[moved]],
                axis=1,
            )
            self.rows.append(row.astype(np.int32))
        d = info.drawn
        values = (info.old != info.new, d.stay, d.entropy, -d.entropy - d.log_old, d.log_new - d.log_old)
        for k, value in enumerate(values):
            self.sums[k, t // self.window, members] += value

    def changes(self) -> NDArray[np.int32]:
        """All changes in order of step, then chain."""
        rows = np.concatenate(self.rows) if self.rows else np.empty((0, 5), dtype=np.int32)
        return np.ascontiguousarray(rows[np.lexsort((rows[:, 0], rows[:, 1]))])

    def means(self, steps: int) -> dict[str, NDArray[np.float64]]:
        """Window means; the last window may be shorter."""
        counts = np.minimum(self.window, steps - self.window * np.arange(self.sums.shape[1]))[:, None]
        return {name: self.sums[k] / counts for k, name in enumerate(SERIES)}


def run_chunk(
    model: Conditionals, chains: Chains, states: Tokens, seed: int, start: int, stop: int, window: int
) -> Chunk:
    """Steps start + 1 … stop of every chain, bucket by bucket; the draws depend on (seed, chain number, step) only."""
    states = states.copy()
    innovations = draws(seed, chains.ids, start, stop - start)
    recorder = _Recorder(chains.count, stop - start, window)
    for members in buckets(chains.lengths):
        length = chains.lengths[members[0]]
        block = np.ascontiguousarray(states[members, :length])
        _run_bucket(model, chains, members, block, innovations, recorder)
        states[members, :length] = block
    forwards = (stop - start) * chains.count
    return Chunk(start, stop, states, recorder.changes(), recorder.means(stop - start), forwards)


def _run_bucket(
    model: Conditionals, chains: Chains, members: Tokens, block: Tokens, innovations: Draws, recorder: _Recorder
) -> None:
    free, n, temperatures = chains.free[members], chains.n_sites[members], chains.temperatures[members]
    for t in range(len(innovations.site)):
        sites = choose_site(innovations.site[t, members], free, n)
        recorder.add(t, members, step(model, block, sites, temperatures, innovations.token[t, members]))
