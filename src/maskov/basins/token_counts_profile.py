"""Drift of a token's count: up and down moves at every count, their envelopes, and the certificate that follows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maskov.basins.birth_death import leaving_times, rising_stretch
from maskov.basins.escape import ball_exits, mean_escape
from maskov.basins.token_counts_scan import Ranked, allowed, count_moves, filled
from maskov.glauber.run import glauber
from maskov.laws.base import enumerate_states
from maskov.protocols import State, Tokens
from maskov.quantities import Bound, Estimate, Exact, mean_estimate
from maskov.randomness import Stream, generator

# Rows of a law that are enumerated: 2^20 take about a second.
_MOST_ROWS = 1 << 20
_RESAMPLES = 199
_MEAN_TIME = (
    "E[T] ≥ h(n) for h the birth–death chain's mean time: h(N_t) + t never falls on average, since h increases in N."
)


@dataclass(frozen=True)
class Profile:
    """A token's basin. k: counts 0 … n; up, down, drift: mean chances per step over the states behind each k; states:
    how many; up_min, down_max: the envelopes; rising: counts k0 … k1 with a positive mean drift at each (the topmost
    such run), None without one; window: [k0, n], or the top alone; certified: min up > max down all over ``rising``.

    certificate: mean steps from all-a until N_a < k0, from the envelopes (``Bound`` where all states were enumerated,
    else ``Estimate``: empirical); assumptions: what it rests on; measured_escape: of chains from all-a, steps, None
    where none left; escaped of replicas within horizon steps.
    """

    token: int
    text: str
    k: tuple[int, ...]
    up: tuple[Exact | Estimate, ...]
    down: tuple[Exact | Estimate, ...]
    drift: tuple[Exact | Estimate, ...]
    states: tuple[int, ...]
    up_min: tuple[float, ...]
    down_max: tuple[float, ...]
    window: tuple[int, int]
    rising: tuple[int, int] | None
    certified: bool
    certificate: Bound | Estimate
    assumptions: str
    measured_escape: Estimate | None
    escaped: int
    replicas: int
    horizon: int


class Samples(NamedTuple):
    """Moves of the states behind one count, each [m]."""

    up: NDArray[np.float64]
    down: NDArray[np.float64]


class Effort(NamedTuple):
    """planted: states with k copies at random sites, per k; visited: most states per k from chains out of all-a;
    replicas, sweeps: of the measured escape.
    """

    planted: int = 12
    visited: int = 8
    replicas: int = 64
    sweeps: float = 50.0


def profile(
    model: Any, frame: State, ranked: Ranked, rest: Tokens, temperature: float, seed: int, effort: Effort
) -> Profile:
    """The profile of one token in a frame of n free sites.

    rest: int64 [m, n], tokens for the sites without a: passages, and states of chains started there.
    """
    n, exact = len(frame.free), enumerable(model, len(frame.free))
    start = filled(frame, np.array([ranked.token]))[0]
    if exact:
        states = enumerate_states(model.vocabulary_size, n)
    else:
        planted = _planted(model, frame, ranked.token, rest, effort.planted, seed)
        states = np.unique(np.concatenate([planted, _visited(model, frame, start, temperature, seed, effort)]), axis=0)
    samples = _by_count(model, frame, states, ranked.token, temperature)
    up_min = np.array([s.up.min() for s in samples])
    down_max = np.array([s.down.max() for s in samples])
    rising = rising_stretch([s.up.mean() for s in samples], [s.down.mean() for s in samples])
    k0 = n if rising is None else rising[0]
    certified = rising is not None and bool((up_min > down_max)[rising[0] : rising[1] + 1].all())
    ids = np.arange(effort.replicas, dtype=np.int64) + (1 << 20)  # apart from the chains that gave states
    horizon = max(1, round(effort.sweeps * n))
    exits = ball_exits(model, State(start, frame.free), temperature, n - k0, ids, seed, horizon)
    return Profile(
        token=ranked.token,
        text=ranked.text,
        k=tuple(range(n + 1)),
        up=tuple(_mean(s.up, exact) for s in samples),
        down=tuple(_mean(s.down, exact) for s in samples),
        drift=tuple(_mean(s.up - s.down, exact) for s in samples),
        states=tuple(len(s.up) for s in samples),
        up_min=tuple(up_min.tolist()),
        down_max=tuple(down_max.tolist()),
        window=(k0, n),
        rising=rising,
        certified=certified,
        certificate=_certificate(samples, k0, exact, seed),
        assumptions=_assumptions(samples, rising, certified, exact),
        measured_escape=mean_escape(exits.times, exits.observed),
        escaped=int(exits.exits),
        replicas=effort.replicas,
        horizon=horizon,
    )


def enumerable(model: Any, sites: int) -> bool:
    """Whether every state of the law can be looked at."""
    if getattr(model, "n_sites", None) is None:
        return False
    return bool(sites * np.log2(model.vocabulary_size) + np.log2(sites) <= np.log2(_MOST_ROWS))


def _mean(values: NDArray[np.float64], exact: bool) -> Exact | Estimate:
    return Exact(float(values.mean())) if exact else mean_estimate(values)


def _planted(model: Any, frame: State, token: int, rest: Tokens, per_count: int, seed: int) -> Tokens:
    """States with exactly k copies of the token at random sites, for every k: int64 [(n + 1) · per_count, L]."""
    rng, n, others = generator(seed, token), len(frame.free), allowed(model)
    others = others[others != token]
    pool = rest[rest != token]
    pool = pool if pool.size else others
    out = np.tile(frame.tokens, ((n + 1) * per_count, 1))
    for row in range(len(out)):
        body = rest[row % len(rest)].copy()
        body[body == token] = rng.choice(pool, size=int((body == token).sum()))
        body[rng.permutation(n)[: row // per_count]] = token
        out[row, frame.free] = body
    return out


def _visited(model: Any, frame: State, start: Tokens, temperature: float, seed: int, effort: Effort) -> Tokens:
    """States that chains out of all-a pass through, a few per count: int64 [m, L]."""
    chains, n = 4, len(frame.free)
    trace = glauber(model, [State(start, frame.free)], temperature=temperature, sweeps=8, seed=seed, chains=chains)
    x = np.stack([trace.states_at(t) for t in range(0, trace.steps + 1, max(1, n // 4))]).reshape(-1, len(start))
    x = np.unique(x, axis=0)
    count = (x[:, frame.free] == start[frame.free[0]]).sum(axis=1)
    kept = [np.flatnonzero(count == k)[: effort.visited] for k in range(n + 1)]
    return np.asarray(x[np.concatenate(kept)])


def _by_count(model: Any, frame: State, states: Tokens, token: int, temperature: float) -> list[Samples]:
    up, down = count_moves(model, states, frame.free, token, temperature)
    count = (states[:, frame.free] == token).sum(axis=1)
    return [Samples(up[count == k], down[count == k]) for k in range(len(frame.free) + 1)]


def _certificate(samples: Sequence[Samples], k0: int, exact: bool, seed: int) -> Bound | Estimate:
    """Mean time from the top until the count is below k0, from min up and max down at every count.

    Sampled envelopes come with a bootstrap over the states behind each count; it is blind to states not sampled.
    """
    window = samples[k0:]
    value = float(leaving_times(*_envelope(window))[-1])
    if exact:
        return Bound(value, side="lower")
    rng, replicas = generator(seed, stream=Stream.BOOTSTRAP), np.empty(_RESAMPLES)
    for r in range(_RESAMPLES):
        picks = [rng.integers(len(s.up), size=len(s.up)) for s in window]
        again = [Samples(s.up[p], s.down[p]) for s, p in zip(window, picks, strict=True)]
        replicas[r] = leaving_times(*_envelope(again))[-1]
    low, high = np.quantile(replicas, [0.025, 0.975])
    return Estimate(value, float(replicas.std()), sum(len(s.up) for s in window), (float(low), float(high)))


def _envelope(samples: Sequence[Samples]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """min up and max down per count, each [m]; nothing goes up from the top."""
    up, down = np.array([s.up.min() for s in samples]), np.array([s.down.max() for s in samples])
    up[-1] = 0.0
    return up, down


def _assumptions(samples: Sequence[Samples], rising: tuple[int, int] | None, certified: bool, exact: bool) -> str:
    n = len(samples) - 1
    k0 = n if rising is None else rising[0]
    total, fewest = sum(len(s.up) for s in samples[k0:]), min(len(s.up) for s in samples[k0:n] or samples[k0:])
    drift = "the mean drift is positive nowhere" if rising is None else f"mean drift positive at {k0} … {rising[1]}"
    drift += ", in every state looked at" if certified else ""
    if exact:
        source = f"Envelopes over all {total} states with these counts: a certificate."
    else:
        source = (
            f"Empirical: envelopes over {total} sampled states, at least {fewest} per count below the top; a state "
        )
        source += "outside of the sample may leave sooner."
    return f"Counts {k0} … {n}; {drift}. {source} {_MEAN_TIME}"
