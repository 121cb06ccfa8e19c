"""Distance to stationarity from lagged chains."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskov.coupling.run import run_coupled
from maskov.errors import InputError
from maskov.glauber.chains import Chains, arrange, buckets
from maskov.glauber.engine import step
from maskov.protocols import State, Tokens
from maskov.randomness import Stream, choose_site, uniforms, words

_POINTS = 60


@dataclass(frozen=True)
class LagBound:
    """An estimate of an upper bound on TV(law of x_t, stationary law): E max(0, ⌈(T − L − t)/L⌉), T the meeting time.

    lag: L; steps: t; bound, stderr: of the mean over replicas; lower, upper: 95 %, the upper end at least that of "none
    of m replicas", since a curve of zeros has no error of its own; censored: replicas that had not met, which make the
    curve too low: it is an upper bound only where this is 0.
    """

    lag: int
    steps: tuple[int, ...]
    bound: tuple[float, ...]
    stderr: tuple[float, ...]
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    censored: int


def lag_bound(
    model: Any,
    starts: Sequence[State],
    temperatures: Sequence[float],
    coupling: str,
    lag: int,
    max_steps: int,
    seed: int,
    progress: Callable[[int, int], None] | None = None,
) -> dict[float, LagBound]:
    """L-lag coupling [Biswas, Jacob & Vanetti 2019]: x runs L steps alone, then x_{t+L} and y_t share their randomness.

    Both chains begin at the same start, so the bound is on TV between the chain from that start and its stationary law
    (over several starts: of the mixture). temperatures: of every bound; the result has one per temperature.

    The bound holds for the mean, and rare replicas can carry it: where a chain all but never leaves a basin, two chains
    that start in it meet at once, and a finite sample sees a curve far too low. Hold it against the meeting times of
    far starts, and raise ``lag`` until the curve no longer changes.
    """
    if lag < 1:
        raise InputError("lag", expected="at least 1 step", came=str(lag))
    chains = arrange(starts, temperatures)
    ahead = chains._replace(tokens=_run_alone(model, chains, lag, seed))
    found = run_coupled(model, ahead, chains.tokens, coupling, max_steps, seed, progress)
    at = {t: found.temperatures == t for t in temperatures}
    return {t: _curve(found.steps[b], found.met[b], lag) for t, b in at.items()}


def _run_alone(model: Any, chains: Chains, lag: int, seed: int) -> Tokens:
    """Every start after ``lag`` plain steps with randomness of its own: [B, L_max]."""
    states = chains.tokens.copy()
    ids, place = np.unique(chains.ids, return_inverse=True)
    u = np.stack([uniforms(words(seed, int(c), 0, lag, Stream.STUDY)) for c in ids], axis=1)[:, place]
    for members in buckets(chains.lengths):
        block = np.ascontiguousarray(states[members, : chains.lengths[members[0]]])
        for t in range(lag):
            sites = choose_site(u[t, members, 0], chains.free[members], chains.n_sites[members])
            step(model, block, sites, chains.temperatures[members], u[t, members, 1])
        states[members, : block.shape[1]] = block
    return states


def _curve(beyond: NDArray[np.float64], met: NDArray[np.bool_], lag: int) -> LagBound:
    """beyond: coupled steps t until x_{t+L} = y_t, which is T − L, or until the run ended."""
    grid = np.unique(np.rint(np.geomspace(1, max(beyond.max() + 1, 2), _POINTS)).astype(np.int64) - 1)
    terms = excess(beyond, grid, lag)
    m = len(beyond)
    mean = terms.mean(axis=1)
    stderr = terms.std(axis=1, ddof=1) / np.sqrt(m) if m > 1 else np.full(len(grid), np.inf)
    lower, upper = np.maximum(mean - 1.96 * stderr, 0), np.maximum(mean + 1.96 * stderr, 1 - 0.025 ** (1 / m))
    t, bound, error, low, high = (tuple(values.tolist()) for values in (grid, mean, stderr, lower, upper))
    return LagBound(lag, t, bound, error, low, high, censored=int((~met).sum()))


def excess(beyond: NDArray[np.float64], grid: NDArray[np.int64], lag: int) -> NDArray[np.float64]:
    """max(0, ⌈(T − L − t)/L⌉) for each t (rows) and replica (columns). beyond: T − L of each replica."""
    return np.maximum(0.0, np.ceil((beyond[None, :] - grid[:, None]) / lag))
