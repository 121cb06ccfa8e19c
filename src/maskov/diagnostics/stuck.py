"""Chains that go nowhere, from the trace alone: no change for long, far fewer changes than others, one text most of
the time."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maskov.diagnostics.groups import Group
from maskov.diagnostics.result import StuckChain
from maskov.glauber.scan import read_scan
from maskov.protocols import Tokens

# A chain is idle when nothing changed in the last quarter; slow below a quarter of its fellows' median rate;
# dwelling with nine tenths of the second half in one state. The counts keep short and quiet runs from being accused.
IDLE_SHARE, SLOW_SHARE, DWELL_SHARE = 0.25, 0.25, 0.9
_LEAST_SWEEPS, _EXPECTED_CHANGES, _FELLOW_CHANGES, _FELLOWS = 2.0, 10.0, 40.0, 3


class Path(NamedTuple):
    """The changes of one chain. step: int64 [m] distinct, ascending; state: uint64 [m + 1], hash of the start and of
    the state after each."""

    step: Tokens
    state: NDArray[np.uint64]


class _Run(NamedTuple):
    """What all checks read: T steps, the first kept one, the chains' paths, changes per step, and steps per sweep."""

    steps: int
    first: int
    paths: list[Path]
    rates: NDArray[np.float64]
    sweep: NDArray[np.float64]
    stay: NDArray[np.float64]


def stuck_chains(trace: Any, groups: list[Group], first: int = 0) -> list[StuckChain]:
    """The stuck chains of one temperature's groups, each with its foremost reason.

    first: steps left out at the start; groups: all of one temperature, fellows of each other in their rates.
    """
    run = _read(trace, groups, first)
    members = np.concatenate([g.members for g in groups])
    found: dict[int, StuckChain] = {}
    for b in map(int, members):
        for stuck in (_idle(run, b, members), _slow(run, b, members)):
            if stuck is not None:
                found.setdefault(b, stuck)
    for group in groups:
        for stuck in _dwelling(run, group):
            found.setdefault(stuck.chain, stuck)
    return [found[b] for b in sorted(found)]


def _read(trace: Any, groups: list[Group], first: int) -> _Run:
    scan = read_scan(trace.manifest.scan)
    paths = paths_of(trace)
    kept = max(1, trace.steps - first)
    rates = np.array([(p.step > first).sum() / kept for p in paths])
    sweep = np.array([scan.steps_per_sweep(int(n)) for n in trace.chains().n_sites])
    windows = max(1, round(trace.steps * IDLE_SHARE / trace.window))
    return _Run(trace.steps, first, paths, rates, sweep, trace.series["stay"][-windows:].mean(axis=0))


def paths_of(trace: Any) -> list[Path]:
    """Each chain's steps that changed it, and 64-bit hashes of its states (the XOR of one number a site and token)."""
    changes, starts = trace.changes(), trace.chains().tokens
    flips = _number(changes.site, changes.old) ^ _number(changes.site, changes.new)
    begun = np.bitwise_xor.reduce(_number(np.arange(starts.shape[1])[None], starts), axis=1)
    order = np.argsort(changes.chain, kind="stable")
    ends = np.searchsorted(changes.chain[order], np.arange(trace.n_chains + 1))
    return [
        _path(changes.step[mine], flips[mine], begun[b])
        for b in range(trace.n_chains)
        for mine in [order[ends[b] : ends[b + 1]]]
    ]


def _path(step: Tokens, flips: NDArray[np.uint64], start: np.uint64) -> Path:
    states = np.bitwise_xor.accumulate(np.concatenate([[start], flips]).astype(np.uint64))
    last = np.append(step[1:] != step[:-1], True)[: len(step)]  # a block step has several changes and one state
    return Path(step[last], np.concatenate([states[:1], states[1:][last]]))


def _number(site: Tokens, token: Tokens) -> NDArray[np.uint64]:
    """A 64-bit number for each (site, token), by SplitMix64's finaliser [Steele, Lea & Flood 2014]."""
    z = (site.astype(np.uint64) << np.uint64(32)) + token.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(z ^ (z >> np.uint64(31)))


def _idle(run: _Run, b: int, members: Tokens) -> StuckChain | None:
    last = int(run.paths[b].step[-1]) if len(run.paths[b].step) else 0
    idle = run.steps - last
    if idle < max(IDLE_SHARE * run.steps, _LEAST_SWEEPS * run.sweep[b]):
        return None
    earlier = len(run.paths[b].step) / last if last else 0.0
    expected = idle * max(earlier, float(np.median(run.rates[members])))
    # Where every change is rare, a quiet quarter is no news, unless the chain never moved.
    if last > run.first and expected < _EXPECTED_CHANGES:
        return None
    leave = 1 - run.stay[b]
    chance = f"; a step changes it with probability {leave:.2g}" if np.isfinite(leave) else ""
    reason = f"no change in the last {idle} steps ({idle / run.sweep[b]:.3g} sweeps){chance}"
    return StuckChain(b, reason, last, "idle")


def _slow(run: _Run, b: int, members: Tokens) -> StuckChain | None:
    others = members[members != b]
    median = float(np.median(run.rates[others])) if len(others) >= _FELLOWS else 0.0
    if run.rates[b] >= SLOW_SHARE * median or median * (run.steps - run.first) < _FELLOW_CHANGES:
        return None
    reason = f"changes at {run.rates[b] / median:.2g} times the rate of its fellows ({run.rates[b]:.2g} a step)"
    return StuckChain(b, reason, run.first, "slow")


def _dwelling(run: _Run, group: Group) -> list[StuckChain]:
    """Chains that spend nine tenths of the second half in one state, unless chains of several starts share it: then
    the law itself is that peaked."""
    half = run.steps // 2
    dwells = {int(b): _dwell(run.paths[b], half, run.steps) for b in group.members}
    shared = len({state for state, *_ in dwells.values()}) == 1 and len(set(group.starts.tolist())) > 1
    found = []
    for b, (_, share, since, visits) in dwells.items():
        if not shared and share >= DWELL_SHARE and half >= _LEAST_SWEEPS * run.sweep[b]:
            back = f", to which it came back {visits - 1} times" if visits > 1 else ""
            reason = f"{100 * share:.0f} % of the second half in one text{back}"
            found.append(StuckChain(b, reason, since, "dwelling"))
    return found


def _dwell(path: Path, half: int, steps: int) -> tuple[int, float, int, int]:
    """The state of most time after step ``half``: its hash, share, the step when first entered, and visits."""
    edges = np.concatenate([[0], path.step, [steps]])
    inside = np.clip(edges[1:], half, None) - np.clip(edges[:-1], half, None)
    states, which = np.unique(path.state, return_inverse=True)
    time = np.bincount(which, weights=inside)
    top = int(time.argmax())
    visits = int((inside[which == top] > 0).sum())
    return int(states[top]), float(time[top] / max(1, steps - half)), int(edges[:-1][which == top][0]), visits
