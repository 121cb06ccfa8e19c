"""Block heat-bath dynamics: a step draws the visible set from a mask schedule and resamples the hidden sites."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskov.glauber.block_draws import BlockDraws, block_draws
from maskov.glauber.block_refill import Blocks, Refill, Refilled
from maskov.glauber.chains import Chains
from maskov.glauber.engine import SERIES, Chunk, Recorder
from maskov.glauber.packs import Pack, packs
from maskov.protocols import Tokens
from maskov.schedules import Schedule

# Uniforms drawn at once, and steps times chains: they bound memory and change no number.
_SPAN_UNIFORMS, _SPAN_STEPS = 1 << 22, 1 << 18


def run_block_chunk(
    model: Any,
    chains: Chains,
    states: Tokens,
    seed: int,
    start: int,
    stop: int,
    window: int,
    schedule: Schedule,
    refill: Refill,
) -> Chunk:
    """Block steps start + 1 … stop of every chain; the draws depend on (seed, chain number, step) only.

    The schedule is a law of visible sets of the free sites; what is clamped is always visible. ``changed`` counts the
    sites that a step changes; stay and production are NaN where the refill does not give them.
    """
    batches, states, first = list(packs(model, chains.lengths)), states.copy(), start
    changes, series, forwards = [], [], 0
    size = min(_SPAN_UNIFORMS // max(1, int(chains.n_sites.sum())), _SPAN_STEPS // chains.count)
    while first < stop:
        last = min(stop, first + window * max(1, size // window))
        recorder = Recorder(chains.count, last - first, window)
        for pack in batches:
            forwards += _run_pack(chains, pack, states, seed, first, schedule, refill, recorder)
        rows, means = _finished(recorder)
        rows[:, 1] += first - start
        changes.append(rows)
        series.append(means)
        first = last
    joined = {name: np.concatenate([means[name] for means in series]) for name in SERIES}
    return Chunk(start, stop, states, np.concatenate(changes), joined, forwards)


def _run_pack(
    chains: Chains,
    pack: Pack,
    states: Tokens,
    seed: int,
    first: int,
    schedule: Schedule,
    refill: Refill,
    recorder: Recorder,
) -> int:
    """The span's steps of the chains of one pack; the rows evaluated."""
    block, rows = pack.gathered(states, chains.lengths), 0
    for t, blocks in enumerate(_steps(chains, pack.members, seed, first, recorder.steps, schedule)):
        before = block.copy()
        info = refill(block, blocks)
        _record(recorder, t, pack.members, before, block, info)
        rows += info.rows
    pack.scatter(block, states, chains.lengths)
    return rows


def _steps(chains: Chains, members: Tokens, seed: int, first: int, count: int, schedule: Schedule) -> Iterator[Blocks]:
    """The innovations of the members, step by step; temperatures that read one stream share its draws."""
    known: dict[tuple[int, int], BlockDraws] = {}
    B, n = len(members), int(chains.n_sites[members].max())
    hidden, joint = np.empty((count, B), dtype=np.int64), np.empty((count, B))
    order, each = np.zeros((count, B, n), dtype=np.int64), np.zeros((count, B, n))
    for k, b in enumerate(members):
        key = int(chains.ids[b]), int(chains.n_sites[b])
        if key not in known:
            known[key] = block_draws(schedule, key[1], seed, key[0], first, count)
        found = known[key]
        hidden[:, k], joint[:, k] = found.hidden, found.joint
        order[:, k, : key[1]], each[:, k, : key[1]] = found.order, found.each
    free, temperatures = chains.free[members], chains.temperatures[members]
    for t in range(count):
        columns = np.take_along_axis(free, order[t], axis=1)
        yield Blocks(hidden[t], order[t], columns, joint[t], each[t], temperatures)


def _record(recorder: Recorder, t: int, members: Tokens, before: Tokens, after: Tokens, info: Refilled) -> None:
    recorder.stay[members, t], recorder.entropy[members, t] = info.stay, info.entropy
    recorder.log_old[members, t] = info.log_old
    which, sites = np.nonzero(before != after)
    if which.size:
        # A step's rise belongs to the whole block: it stands with the first of its changes.
        lead = np.append(True, which[1:] != which[:-1])
        what = np.stack([members[which], sites, before[which, sites], after[which, sites]])
        recorder.add_changes(what, np.full(len(which), t + 1), np.where(lead, info.rise[which], 0.0))


def _finished(recorder: Recorder) -> tuple[NDArray[np.int32], dict[str, NDArray[np.float64]]]:
    rows, means = recorder.finish()
    # A window without a change has no rise to be NaN, which would read as a production of 0.
    means["production_raw"] = np.where(np.isnan(means["production"]), np.nan, means["production_raw"])
    return rows, means
