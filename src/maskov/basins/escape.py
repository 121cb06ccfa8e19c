"""How long a chain stays: first exits from a state or a Hamming ball, means of censored times, the escape sweep."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maskov.glauber.chains import Chains, arrange
from maskov.glauber.engine import run_chunk
from maskov.glauber.lazy import AutoEngine
from maskov.protocols import Conditionals, State, Tokens
from maskov.quantities import Estimate, mean_estimate
from maskov.randomness import uniforms, words

# Below this many exits a mean is too rough to be read for a slope: its relative error is above 18 %.
ENOUGH_EXITS = 30
_FIRST_BLOCK, _LONGEST_BLOCK = 512, 1 << 15


class Exits(NamedTuple):
    """First exits of R replicas, each [..., R]. times: int64, the step of the exit, or the horizon; observed: bool,
    false where the replica was still inside at the horizon.
    """

    times: Tokens
    observed: NDArray[np.bool_]

    @property
    def exposure(self) -> NDArray[np.int64]:
        """Steps watched: [...]."""
        return np.asarray(self.times.sum(axis=-1))

    @property
    def exits(self) -> NDArray[np.int64]:
        """Exits seen: [...]."""
        return np.asarray(self.observed.sum(axis=-1))


def first_exits(stay: NDArray[np.float64], ids: Tokens, seed: int, horizon: int) -> Exits:
    """When chains that start in one state first change: min { t : u_t ≥ stay(i_t) }, on the engine's own stream.

    Until then every conditional is one of the state's own, so no model is asked: the answer is the step of the first
    change in ``glauber``'s chains of these numbers and this seed.

    stay: [K, n], p_{i,τ}(x_i | x_{-i}) of the free sites in order of column, at K temperatures, which share the draws;
    ids: int64 [R] chain numbers; horizon: steps watched, ≥ 1.

    >>> first_exits(np.zeros((1, 3)), np.arange(2), seed=0, horizon=9).times.tolist()
    [[1, 1]]
    """
    K, n = stay.shape
    times = np.full((K, len(ids)), horizon, dtype=np.int64)
    observed = np.zeros((K, len(ids)), dtype=bool)
    for r, chain in enumerate(ids.tolist()):
        first, size = 0, _FIRST_BLOCK
        while first < horizon and not observed[:, r].all():
            raw = words(seed, chain, first, min(size, horizon - first))
            site, u = np.minimum((uniforms(raw[:, 0]) * n).astype(np.int64), n - 1), uniforms(raw[:, 1])
            for k in np.flatnonzero(~observed[:, r]):
                left = u >= stay[k].take(site)
                t = int(left.argmax())
                if left[t]:
                    times[k, r], observed[k, r] = first + t + 1, True
            first, size = first + len(raw), min(4 * size, _LONGEST_BLOCK)
    return Exits(times, observed)


def ball_exits(
    model: Conditionals, state: State, temperature: float, radius: int, ids: Tokens, seed: int, horizon: int
) -> Exits:
    """When plain chains first are more than ``radius`` free sites from ``state``, their start. Chains stop when out.

    ids: int64 [R] chain numbers; horizon: steps. Result: [R].
    """
    chains = arrange([state], [temperature], len(ids))._replace(ids=ids)
    # One state and one temperature: what the engine remembers by place holds for whoever is at that place.
    engine, R = AutoEngine(model), len(ids)
    times, observed = np.full(R, horizon, dtype=np.int64), np.zeros(R, dtype=bool)
    inside, states, apart = np.arange(R), chains.tokens.copy(), np.zeros(R, dtype=np.int64)
    first, size = 0, 16
    while first < horizon and inside.size:
        stop = min(horizon, first + size)
        chunk = run_chunk(model, _some(chains, inside), states[inside], seed, first, stop, stop - first, engine)
        states[inside] = chunk.states
        for place, b in enumerate(inside):
            step = _leaves(chunk.changes[chunk.changes[:, 0] == place], state.tokens, radius - int(apart[b]))
            if step is not None:
                times[b], observed[b] = first + step, True
        apart = (states != state.tokens).sum(axis=1)
        first, size, inside = stop, 2 * size, inside[~observed[inside]]
    return Exits(times, observed)


def _some(chains: Chains, which: Tokens) -> Chains:
    parts: Any = (part[which] for part in chains)
    return Chains(*parts)


def _leaves(changes: NDArray[np.int32], reference: Tokens, room: int) -> int | None:
    """Step of the first of one chain's changes after which its distance has grown by more than ``room``."""
    own = reference[changes[:, 2]]
    growth = np.cumsum((changes[:, 4] != own).astype(np.int64) - (changes[:, 3] != own))
    beyond = np.flatnonzero(growth > room)
    return int(changes[beyond[0], 1]) if beyond.size else None


def mean_dwell(times: Tokens, observed: NDArray[np.bool_]) -> Estimate | None:
    """Mean of geometric times that may be censored: exposure / exits, the maximum-likelihood estimate.

    The 95 % interval is Clopper and Pearson's for the exit probability, turned over; None without an exit, where only
    the exposure is known. A mean over the observed exits alone would be short by everything that stayed.

    times: int64 [R], ≥ 1; observed: bool [R].

    >>> mean_dwell(np.array([2, 4, 6]), np.array([True, True, False])).value
    6.0
    """
    from scipy import stats  # half a second of import that the other commands do not pay

    d, exposure = int(observed.sum()), int(times.sum())
    if d == 0:
        return None
    p = d / exposure
    low = float(stats.beta.ppf(0.025, d, exposure - d + 1))
    high = float(stats.beta.ppf(0.975, d + 1, exposure - d)) if d < exposure else 1.0
    return Estimate(1 / p, math.sqrt((1 - p) / d) / p, d, (1 / high, 1 / low))


def mean_escape(times: Tokens, observed: NDArray[np.bool_]) -> Estimate | None:
    """Mean of escape times of any law: the plain mean if all were seen, else exposure / exits; None without an exit.

    The censored form is right for exponential times, which those out of a deep basin nearly are; its 95 % interval is
    2 · exposure over χ² quantiles [Epstein & Sobel 1953], the wider of its two forms at each end.
    """
    from scipy import stats

    d, exposure = int(observed.sum()), float(times.sum())
    if d == len(times):
        return mean_estimate(times)
    if d == 0:
        return None
    low, high = (2 * exposure / float(stats.chi2.ppf(q, f)) for q, f in ((0.975, 2 * d + 2), (0.025, 2 * d)))
    return Estimate(exposure / d, exposure / d / math.sqrt(d), d, (low, high))


@dataclass(frozen=True)
class EscapePoint:
    """Mean escape time of one trap at one temperature. inverse: 1/τ; predicted: 1 / leave probability, exact."""

    temperature: float
    inverse: float
    predicted: float
    measured: Estimate | None


@dataclass(frozen=True)
class Escape:
    """Arrhenius line of one trap: log E[T] ≈ a + slope / τ. trap: number in the list; slope: effective margin, nats at
    τ = 1, None with fewer than three points of 30 exits; predicted_slope: of the exact means, same points and weights.
    """

    trap: int
    slope: float | None
    stderr: float | None
    intercept: float | None
    predicted_slope: float | None
    min_margin: float
    points: tuple[EscapePoint, ...]


def escape_line(trap: int, min_margin: float, points: Sequence[EscapePoint]) -> Escape:
    """Weighted least squares of log mean escape time on 1/τ, weights the number of exits.

    The standard error is the sampling one, widened by √(χ²/dof) where the line fits worse than the noise explains:
    the curve bends towards the slope min margin as τ → 0.
    """
    used = [(p, p.measured) for p in points if p.measured is not None and p.measured.n >= ENOUGH_EXITS]
    if len(used) < 3:
        return Escape(trap, None, None, None, None, min_margin, tuple(points))
    x = np.array([p.inverse for p, _ in used])
    w = np.array([m.n for _, m in used])
    measured = _line(x, np.log([m.value for _, m in used]), w)
    predicted = _line(x, np.log([p.predicted for p, _ in used]), w)
    return Escape(trap, measured[0], measured[1], measured[2], predicted[0], min_margin, tuple(points))


def _line(x: NDArray[np.float64], y: NDArray[np.float64], w: NDArray[np.float64]) -> tuple[float, float, float]:
    """Slope, its standard error, intercept; var(y_k) = 1/w_k."""
    centre = np.average(x, weights=w)
    spread = float((w * (x - centre) ** 2).sum())
    slope = float((w * (x - centre) * y).sum()) / spread
    intercept = float(np.average(y, weights=w)) - slope * float(centre)
    chi = float((w * (y - intercept - slope * x) ** 2).sum()) / (len(x) - 2)
    return slope, math.sqrt(max(1.0, chi) / spread), intercept
