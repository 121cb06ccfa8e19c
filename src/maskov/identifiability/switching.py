"""The bridge on chains that run: how fast a probe of the mode moves, beside what the blindness ratio allows.

Let P be reversible with law π and spectrum in [0, 1] (the block chain of a joint law), f = P(Z = 1 | x) and a(t) the
autocorrelation of f in stationarity. Then, with ρ the blindness ratio of the same schedule,

    ½ E (f_1 − f_0)² / Var f = ρ,                 the Dirichlet form over the variance, which is the quotient of §7;
    a(t) ≥ (1 − ρ)^t,                             since a(t) = ∫ λ^t dν(λ), ∫ λ dν = 1 − ρ and λ^t is convex (Jensen);
    −1/log(1 − ρ) ≤ −t/log a(t) ≤ t_rel = −1/log(1 − gap),       the middle growing with t;
    switches per step ≤ 2 ρ Var f/(b − a)²        between the cores {f ≤ a} and {f ≥ b}.

The last is the Dirichlet principle: one way the rate is the capacity of the two cores, the least Dirichlet form of h
with h = 0 on the one and 1 on the other [Metzner, Schütte & Vanden-Eijnden 2009], and (f − a)/(b − a), cut to [0, 1],
is such an h with a form of at most ρ Var f/(b − a)². Two-state kinetics with rate ρ has 2ρw(1 − w) switches a step.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from maskov.errors import InputError
from maskov.quantities import Bound, Estimate, Exact, Quantity, mean_estimate, t_quantile
from maskov.results import Result

Floats = NDArray[np.float64]
CORES = (0.1, 0.9)
FEWEST_CHAINS, FEWEST_STEPS = 8, 4
RESOLVED = math.exp(-1)


@dataclass(frozen=True)
class LagRow:
    """Autocorrelation of the probe at a lag of t steps, and the least that ρ allows, (1 − ρ)^t (None without ρ)."""

    lag: int
    autocorrelation: Estimate
    least: Quantity | None


@dataclass(frozen=True)
class SwitchRates(Result):
    """How a probe of the mode moves on stationary chains, beside what a blindness ratio says of it.

    weight: E f; weight_end: E f over the last quarter of the steps (unequal to ``weight``: the start was not
    stationary); quotient: ½ E (f_1 − f_0)²/Var f, which is ρ where the chain's law and f are those of ρ; relaxation:
    −t/log a(t) in steps at the largest lag with a(t) ≥ 1/e, in expectation no more than the relaxation time;
    least_relaxation: −1/log(1 − ρ); switches: per step and chain, from core to core; most_switches: 2ρ w(1 − w)/(b −
    a)². Estimates have delete-one-chain jackknife errors. A ρ that is exact or an upper bound makes the limits bounds,
    an estimated one makes them estimates.
    """

    command: ClassVar[str] = "switching"
    schedule: str
    chains: int
    steps: int
    cores: tuple[float, float]
    weight: Estimate
    weight_end: Estimate
    quotient: Estimate
    blindness_ratio: Quantity | None
    relaxation: Estimate
    least_relaxation: Quantity | None
    switches: Estimate
    most_switches: Quantity | None
    lags: tuple[LagRow, ...]


def switch_rates(
    values: ArrayLike,
    rho: Quantity | float | None = None,
    *,
    weight: float = 0.5,
    cores: tuple[float, float] = CORES,
    schedule: str = "",
) -> SwitchRates:
    """What probe values along chains say of the speed of modes, beside what ρ allows.

    values: [T + 1, B], f(x_t) in [0, 1] of B ≥ 8 independent chains in their stationary law, from step 0 on; rho: the
    blindness ratio of the chain's schedule (a number is taken as exact); weight: w = E f where it is known, default the
    1/2 that makes w(1 − w) largest; cores: a < b. Raises ``InputError`` on other shapes, on values outside [0, 1], and
    on a probe that is the same in all states.

    >>> rng = np.random.default_rng(0)
    >>> modes = np.cumsum(rng.random((2001, 64)) < 0.01, axis=0) % 2 ^ (np.arange(64) % 2)
    >>> found = switch_rates(modes, rho=0.02)  # switches with probability 0.01: 1 − a(1) = 0.02, t_rel = 49.5
    >>> abs(found.quotient.value - 0.02) < 0.001, abs(found.relaxation.value - 49.5) < 3
    (True, True)
    """
    f = _checked(values, cores)
    T, B = f.shape[0] - 1, f.shape[1]
    given = Exact(float(rho)) if isinstance(rho, (int, float)) else rho
    sums = _Sums(f)
    lags = [1 << k for k in range((T // 2).bit_length())]
    rows = tuple(LagRow(t, sums.estimate(t, lambda a: a), _least(given, t)) for t in lags)
    far = max((row.lag for row in rows if row.autocorrelation.value >= RESOLVED), default=1)
    return SwitchRates(
        schedule=schedule,
        chains=B,
        steps=T,
        cores=(float(cores[0]), float(cores[1])),
        weight=mean_estimate(f.mean(axis=0)),
        weight_end=mean_estimate(f[-(T // 4 + 1) :].mean(axis=0)),
        quotient=sums.estimate(1, lambda a: 1 - a),
        blindness_ratio=given,
        relaxation=sums.estimate(far, lambda a: _per_log(far, a)),
        least_relaxation=_carried(given, lambda r: _per_log(1, 1 - r), "lower"),
        switches=mean_estimate(core_switches(f, cores) / T),
        most_switches=_carried(given, lambda r: 2 * r * weight * (1 - weight) / (cores[1] - cores[0]) ** 2, "upper"),
        lags=rows,
    )


def bridge_on_model(
    model: Any,
    starts: Any,
    schedule: Any,
    probe: Callable[[NDArray[np.int64]], ArrayLike],
    rho: Quantity | float | None = None,
    *,
    steps: int,
    seed: int = 0,
    weight: float = 0.5,
    cores: tuple[float, float] = CORES,
    progress: Any = None,
) -> SwitchRates:
    """Run the block chain of a model (or law) under a schedule and measure how fast a probe of the mode moves.

    model: what ``maskov.block_glauber`` takes; starts: one a chain, all of one length, drawn from the law that is
    (nearly) stationary, so with the modes in their shares; probe: states int64 [m, L] → P(Z = 1 | x), [m]; rho: of
    ``identify`` for a law (then every limit is proved), of ``schedule_on_curve`` for texts (then it is that of the
    texts' law, and the model's chain has its own); steps: block updates a chain; the rest as in ``switch_rates``.

    >>> from maskov.laws import law
    >>> from maskov.models import LawModel
    >>> from maskov.protocols import State
    >>> mixture = law("product?sites=6&gap=0.3&weight=0.5")
    >>> x = mixture.sample(np.random.default_rng(0), 64)
    >>> f = lambda states: np.exp(mixture.log_posterior(states, np.ones(states.shape, dtype=bool))[:, 1])
    >>> found = bridge_on_model(LawModel(mixture), [State(s, np.arange(6)) for s in x], "hide:2", f, 0.1, steps=60)
    >>> found.chains, found.steps, type(found.most_switches).__name__
    (64, 60, 'Bound')
    """
    from maskov.glauber import block_glauber

    trace = block_glauber(model, starts, schedule=schedule, steps=steps, seed=seed, progress=progress)
    text = schedule if isinstance(schedule, str) else schedule.text
    return switch_rates(probe_values(trace, probe), rho, weight=weight, cores=cores, schedule=text)


def probe_values(trace: Any, probe: Callable[[NDArray[np.int64]], ArrayLike]) -> Floats:
    """f(x_t) for every step and chain of a trace whose states have one length: [T + 1, B]."""
    from maskov.glauber import states_over

    found = np.empty((trace.steps + 1, trace.n_chains))
    for t, states in states_over(trace, range(trace.steps + 1)):
        if len({len(x) for x in states}) > 1:
            raise InputError("starts", expected="texts of one length", came="several lengths")
        found[t] = np.asarray(probe(np.stack(states)), dtype=np.float64)
    return found


def core_switches(values: Floats, cores: tuple[float, float] = CORES) -> Floats:
    """How often each chain goes from {f ≤ a} to {f ≥ b} or back: [B]; stays in between count to the core left last.

    >>> core_switches(np.array([[0.0], [0.5], [1.0], [0.5], [1.0], [0.05]]))
    array([2.])
    """
    known = (values <= cores[0]) | (values >= cores[1])
    last = np.maximum.accumulate(np.where(known, np.arange(len(values))[:, None], -1), axis=0)
    side = np.take_along_axis(values >= cores[1], np.maximum(last, 0), axis=0)
    moved = (side[1:] != side[:-1]) & (last[:-1] >= 0)
    return np.asarray(moved.sum(axis=0), dtype=np.float64)


class _Sums:
    """Autocorrelations about the mean and variance of all chains together, and with each chain left out."""

    def __init__(self, f: Floats) -> None:
        self.f, n = f, f.size
        first, second = f.sum(axis=0), (f * f).sum(axis=0)
        self.whole = float(second.sum() / n - (first.sum() / n) ** 2)
        m = n - len(f)
        self.without = (second.sum() - second) / m - ((first.sum() - first) / m) ** 2
        if self.whole < 1e-14 or (self.without < 1e-14).any():
            remedy = "start in several modes, or run longer"
            raise InputError("values", expected="a probe that differs among states", came="one value", remedy=remedy)

    def estimate(self, lag: int, function: Callable[[float], float]) -> Estimate:
        """A function of a(lag), its jackknife error over chains and Student's interval."""
        moves = ((self.f[lag:] - self.f[:-lag]) ** 2).mean(axis=0) / 2
        B = len(moves)
        value = function(1 - float(moves.mean()) / self.whole)
        again = np.array([function(float(a)) for a in 1 - (moves.sum() - moves) / (B - 1) / self.without])
        if not (math.isfinite(value) and np.isfinite(again).all()):
            return Estimate(value, math.inf, B)
        error = math.sqrt((B - 1) / B * float(((again - again.mean()) ** 2).sum()))
        reach = t_quantile(B - 1) * error
        return Estimate(value, error, B, (value - reach, value + reach))


def _checked(values: ArrayLike, cores: tuple[float, float]) -> Floats:
    f = np.asarray(values, dtype=np.float64)
    if f.ndim != 2 or f.shape[0] <= FEWEST_STEPS or f.shape[1] < FEWEST_CHAINS:
        expected = f"[T + 1, B], more than {FEWEST_STEPS} steps of at least {FEWEST_CHAINS} chains"
        raise InputError("values", expected=expected, came=str(list(f.shape)), remedy="run more chains, or longer ones")
    if not ((f >= 0) & (f <= 1)).all():
        raise InputError("values", expected="probabilities of a mode", came="numbers outside [0, 1]")
    if not 0 <= cores[0] < cores[1] <= 1:
        raise InputError("cores", expected="0 ≤ a < b ≤ 1", came=str(tuple(cores)))
    return f


def _per_log(lag: int, a: float) -> float:
    """−lag/log a: 0 for a ≤ 0, infinite for a ≥ 1."""
    return 0.0 if a <= 0 else math.inf if a >= 1 else -lag / math.log(a)


def _least(rho: Quantity | None, lag: int) -> Quantity | None:
    return _carried(rho, lambda r: (1 - min(r, 1.0)) ** lag, "lower")


def _carried(
    rho: Quantity | None, function: Callable[[float], float], side: Literal["upper", "lower"]
) -> Quantity | None:
    """A monotone function of ρ: a bound where ρ is exact or an upper bound, an estimate where ρ is one."""
    if rho is None or (isinstance(rho, Bound) and rho.side == "lower"):
        return None
    value, interval = function(rho.value), getattr(rho, "interval", None)
    ends = None if interval is None else tuple(sorted(function(x) for x in interval))
    if isinstance(rho, Exact):
        return Bound(value, side)
    if isinstance(rho, Bound):
        if ends is None:
            return Bound(value, side, rho.n)
        return dataclasses.replace(rho, value=value, side=side, stderr=(ends[1] - ends[0]) / 3.92, interval=ends)  # type: ignore[call-arg]
    slope = (function(rho.value + rho.stderr) - function(rho.value - rho.stderr)) / 2
    return Estimate(value, abs(slope) if math.isfinite(slope) else math.inf, rho.n, ends)  # type: ignore[arg-type]
