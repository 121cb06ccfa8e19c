"""The loop: draw the randomness of a chunk, then apply the deterministic update step by step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from maskov.glauber.chains import Chains
from maskov.glauber.draw import Drawn, draw_tokens
from maskov.glauber.packs import Pack, packs
from maskov.protocols import Conditionals, Floats, Tokens
from maskov.randomness import site_number, uniforms, words

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
    order of step, then chain; series: name → float64 [windows, B] means over ``window`` steps;
    forwards: rows evaluated.
    """

    start: int
    stop: int
    states: Tokens
    changes: NDArray[np.int32]
    series: dict[str, NDArray[np.float64]]
    forwards: int


class Bucket(NamedTuple):
    """Chains of one width over one span of T steps, and their innovations.

    members: int64 [B] chain indices; block: int64 [B, L] states, padded, changed in place; sites: int64 [B, T] columns;
    u: [B, T] uniforms of the token draws; temperatures: [B]; n_sites: [B].
    """

    members: Tokens
    block: Tokens
    sites: Tokens
    u: NDArray[np.float64]
    temperatures: NDArray[np.float64]
    n_sites: Tokens


class Recorder:
    """The numbers of each step of one span, and its changes.

    Every step has its own place, so that a window's sum does not depend on the order in which an engine got there.
    """

    def __init__(self, chains: int, steps: int, window: int) -> None:
        self.steps, self.window = steps, window
        self.stay, self.entropy, self.log_old = (np.zeros((chains, steps)) for _ in range(3))
        self.rows: list[NDArray[np.int64]] = []
        self.rises: list[NDArray[np.float64]] = []

    def add(self, t: int, members: Tokens, info: StepInfo) -> None:
        """Record step t (from 0) of the chains ``members``."""
        d = info.drawn
        self.stay[members, t], self.entropy[members, t], self.log_old[members, t] = d.stay, d.entropy, d.log_old
        moved = np.flatnonzero(info.old != info.new)
        if moved.size:
            step, rise = np.full(moved.size, t + 1), (d.log_new - d.log_old)[moved]
            self.add_changes(np.stack([members, *info[:3]])[:, moved], step, rise)

    def add_changes(self, what: Tokens, step: Tokens, rise: NDArray[np.float64]) -> None:
        """Record m changes, in any order.

        what: int64 [4, m] (chain, site, old, new); step: int64 [m] from 1; rise: [m], log p(new) − log p(old).
        """
        self.rows.append(np.stack([what[0], step, *what[1:]], axis=1))
        self.rises.append(rise)

    def finish(self) -> tuple[NDArray[np.int32], dict[str, NDArray[np.float64]]]:
        """The changes in order of step, then chain; and the window means, of which the last may be shorter."""
        rows = np.concatenate([np.empty((0, 5), dtype=np.int64), *self.rows])
        rises = np.concatenate([np.empty(0), *self.rises])
        order = np.lexsort((rows[:, 0], rows[:, 1]))
        rows, rises = rows[order], rises[order]
        changed, raw = self._totals(rows, None), self._totals(rows, rises)
        sums = (changed, self._sums(self.stay), self._sums(self.entropy), self._sums(-self.entropy - self.log_old), raw)
        counts = np.minimum(self.window, self.steps - self.window * np.arange(len(changed)))[:, None]
        return rows.astype(np.int32), {name: value / counts for name, value in zip(SERIES, sums, strict=True)}

    def _sums(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        windows = -(-self.steps // self.window)
        if windows * self.window > self.steps:
            values = np.pad(values, ((0, 0), (0, windows * self.window - self.steps)))
        return np.ascontiguousarray(values.reshape(-1, windows, self.window).sum(axis=2).T)

    def _totals(self, rows: NDArray[np.int64], weights: NDArray[np.float64] | None) -> NDArray[np.float64]:
        windows, chains = -(-self.steps // self.window), len(self.stay)
        cell = (rows[:, 1] - 1) // self.window * chains + rows[:, 0]
        return np.bincount(cell, weights, windows * chains).reshape(windows, chains).astype(np.float64)


class Engine(Protocol):
    """A way to run a span of a bucket: the trajectory is the same for all, the work is not."""

    @property
    def span_updates(self) -> int:
        """Site updates for which innovations are drawn at once: bounds memory, changes no number."""
        ...

    def run(self, buckets: Sequence[Bucket], recorder: Recorder) -> int:
        """Apply the span's steps to each ``bucket.block``; the number of model rows evaluated."""
        ...


def evaluate(model: Any, parts: Sequence[tuple[Tokens, Tokens]], alone: bool = False) -> list[Floats]:
    """Rows of several (states, sites), each of its own width; a model that can decodes them all at once.

    alone: a run of one chain, which never asks for two rows.
    """
    if _takes_parts(model) and (len(parts) > 1 or alone):
        rows: list[Floats] = model.logits_of_parts(parts, alone)
        return rows
    return [model.logits(states, sites) for states, sites in parts]


def _takes_parts(model: Any) -> bool:
    """Whether the class that gives the rows gives them by parts too: a wrapper or a subclass may change them."""
    kind = next((kind for kind in type(model).__mro__ if "logits" in vars(kind)), object)
    return "logits_of_parts" in vars(kind)


def step(
    model: Conditionals, states: Tokens, sites: Tokens, temperatures: NDArray[np.float64], u: NDArray[np.float64]
) -> StepInfo:
    """One Glauber step of B chains of one length, given its innovations; ``states`` [B, L] is changed in place.

    x_i ← v, v ~ p_{i,τ}(· | x_{-i}) = softmax(s_i/τ); sites: int64 [B] columns; u: [B] uniforms of the token draw.
    """
    return _updated(model.logits(states, sites), states, sites, temperatures, u)


def _updated(
    rows: Floats, states: Tokens, sites: Tokens, temperatures: NDArray[np.float64], u: NDArray[np.float64]
) -> StepInfo:
    each = np.arange(len(states))
    old = states[each, sites]
    drawn = draw_tokens(rows, temperatures, old, u)
    states[each, sites] = drawn.tokens
    return StepInfo(sites, old, drawn.tokens, drawn)


class PlainEngine:
    """Every step of every chain is one row of the model."""

    span_updates = 1 << 20

    def __init__(self, model: Conditionals) -> None:
        self.model = model

    def run(self, buckets: Sequence[Bucket], recorder: Recorder) -> int:
        """Step by step, all chains at once."""
        sites, u = (
            [np.ascontiguousarray(table.T) for table in tables]
            for tables in zip(*(b[2:4] for b in buckets), strict=True)
        )
        chains = sum(len(bucket.members) for bucket in buckets)
        for t in range(recorder.steps):
            rows = evaluate(self.model, [(b.block, i[t]) for b, i in zip(buckets, sites, strict=True)], chains == 1)
            for k, bucket in enumerate(buckets):
                info = _updated(rows[k], bucket.block, sites[k][t], bucket.temperatures, u[k][t])
                recorder.add(t, bucket.members, info)
        return recorder.steps * chains


def run_chunk(
    model: Conditionals,
    chains: Chains,
    states: Tokens,
    seed: int,
    start: int,
    stop: int,
    window: int,
    engine: Engine | None = None,
    systematic: bool = False,
) -> Chunk:
    """Steps start + 1 … stop of every chain; the draws depend on (seed, chain number, step) only.

    engine: how; default plain. systematic: the free sites in order, again and again, not one at random.
    """
    engine, batches = engine or PlainEngine(model), list(packs(model, chains.lengths))
    states, changes, series, forwards, first = states.copy(), [], [], 0, start
    while first < stop:
        last = min(stop, first + window * max(1, engine.span_updates // (window * chains.count)))
        recorder = Recorder(chains.count, last - first, window)
        buckets = [_bucket(chains, pack, states, seed, first, recorder.steps, systematic) for pack in batches]
        forwards += engine.run(buckets, recorder)
        for pack, bucket in zip(batches, buckets, strict=True):
            pack.scatter(bucket.block, states, chains.lengths)
        rows, means = recorder.finish()
        rows[:, 1] += first - start
        changes.append(rows)
        series.append(means)
        first = last
    joined = {name: np.concatenate([means[name] for means in series]) for name in SERIES}
    return Chunk(start, stop, states, np.concatenate(changes), joined, forwards)


def _bucket(chains: Chains, pack: Pack, states: Tokens, seed: int, start: int, count: int, systematic: bool) -> Bucket:
    sites, u = _innovations(chains, pack.members, seed, start, count)
    if systematic:
        turn = np.arange(start, start + count)
        sites = np.stack([chains.free[b][turn % chains.n_sites[b]] for b in pack.members])
    block = pack.gathered(states, chains.lengths)
    return Bucket(pack.members, block, sites, u, chains.temperatures[pack.members], chains.n_sites[pack.members])


def _innovations(
    chains: Chains, members: Tokens, seed: int, start: int, count: int
) -> tuple[Tokens, NDArray[np.float64]]:
    """Columns and token uniforms of the members, each [B, count]; temperatures that read one stream share its draws."""
    sites, u = np.empty((len(members), count), dtype=np.int64), np.empty((len(members), count))
    for c in np.unique(chains.ids[members]):
        raw = words(seed, int(c), start, count)
        site, token = uniforms(raw[:, 0]), uniforms(raw[:, 1])
        for k in np.flatnonzero(chains.ids[members] == c):
            b = members[k]
            sites[k] = chains.free[b][site_number(site, chains.n_sites[b])]
            u[k] = token
    return sites, u
