"""A mask schedule on a measured curve: blindness ratio, the price of a wrong weight, what an excess loss leaves open.

From an upper bound M(v) ≥ MMSE(v) alone, for every schedule that is uniform given its count:

    ρ_μ ≤ M_μ / MMSE(0),                 since (a − x)/(b − x) falls in x = MMSE_N,
    D_μ(p‖q_λ) ≤ M_μ (e^δ − 1 − δ),      δ = |logit λ − logit w|, since tilting by s moves Var(Z|x_S) by at most e^|s|,
    A(ε) ≥ TV(w, λ) for every λ whose bound above is at most ε, and A(ε) ≤ √(ε/(2π_0)).

M_μ = E_μ M at the largest measured count not above v: MMSE falls in v, so that this is a bound between counts too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from maskov.corpora.measured import MeasuredBound
from maskov.errors import InputError
from maskov.quantities import Bound, Estimate
from maskov.results import jsonable
from maskov.schedules import Schedule
from maskov.schedules import schedule as parse_schedule

if TYPE_CHECKING:
    from maskov.corpora.result import CorpusUncertainty

Floats = NDArray[np.float64]
EPSILONS = (1e-4, 1e-3, 1e-2)
QUANTILES = (0.05, 0.5, 0.95)


@dataclass(frozen=True)
class WeightShift:
    """The excess loss (joint form, nats) of a model that is right but for one mode's weight.

    mode: whose weight moves, the others keeping their ratios; upper: a bound; plug_in: ρ̂_μ KL(w‖λ), an estimate.
    """

    mode: str
    shift: float
    weight: float
    kl_weights: float
    upper: MeasuredBound
    plug_in: Estimate


@dataclass(frozen=True)
class OpenWeights:
    """What an excess loss ε (nats) leaves open of the mode weights: lower and upper bound of the TV distance A(ε)."""

    epsilon: float
    lower: MeasuredBound
    upper: Bound


@dataclass(frozen=True)
class OnCurve:
    """A schedule on a curve. length: N; mmse: M_μ (objective masses); mmse_full: M at N; blindness_ratio: upper bound
    of ρ_μ (sampling masses); blindness_plug_in: (M_μ − M_N)/(MMSE(0) − M_N) with the curve interpolated in logs, and
    beyond the largest count by the best fit; beyond: mass above that count."""

    schedule: str
    length: int
    v_min: int
    mean_visible: float
    full_mask_mass: float
    quantiles: tuple[int, ...]
    beyond: float
    mmse: MeasuredBound
    mmse_full: MeasuredBound
    blindness_ratio: MeasuredBound
    blindness_plug_in: Estimate
    excess_loss: tuple[WeightShift, ...]
    modulus: tuple[OpenWeights, ...]
    uniform_given_count: bool = True

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return dict(jsonable(vars(self)))

    def lines(self) -> list[str]:
        """The readable answer."""
        counts = " … ".join(str(q) for q in (self.quantiles[0], self.quantiles[-1]))
        head = f"{self.schedule} at {self.length} sites: v_min {self.v_min}, 90 % of visible counts in {counts}"
        rho = f"  blindness ratio <= {_with_end(self.blindness_ratio)}, plug-in {self.blindness_plug_in.value:.3g}"
        dear = max(self.excess_loss, key=lambda row: row.upper.value)
        move = f"{dear.mode} {100 * dear.shift:+.0f} points costs <= {_with_end(dear.upper)} nats of excess loss"
        open_ = [f"at {row.epsilon:g}: {row.lower.value:.2g} … {row.upper.value:.2g}" for row in self.modulus]
        return [head, rho, f"  {move}", f"  weights left open by an excess loss (TV): {'; '.join(open_)}"]


def _with_end(bound: MeasuredBound) -> str:
    return f"{bound.value:.3g} (95 %: {bound.interval[1]:.3g})"


def schedule_on_curve(
    result: CorpusUncertainty,
    schedule: str | Schedule,
    length: int | None = None,
    *,
    shift: float = 0.05,
    epsilons: Sequence[float] = EPSILONS,
) -> OnCurve:
    """What a mask schedule sees of the mode weights, from a measured curve of random subsets.

    result: of ``corpus_uncertainty`` or ``read_corpus``; length: N sites, default the curve's own; shift: of one
    mode's weight; epsilons: excess losses in nats. Bounds hold in expectation over documents; their intervals take the
    curve's pointwise ends. Raises ``InputError`` on a shift that leaves no mode with both weights in (0, 1).
    """
    mu = parse_schedule(schedule)
    N = result.length if length is None else length
    law, objective = mu.visible_law(N), mu.objective_law(N)
    objective = np.where(np.isfinite(objective), objective, 0.0)
    curve = Curve(result, N)
    mass = float(objective.sum())
    M, sampled, full = curve.bound(objective), curve.bound(law), curve.bound(np.eye(N + 1)[N])
    plug = curve.plug_in(law)
    return OnCurve(
        schedule=schedule if isinstance(schedule, str) else mu.text,
        length=N,
        v_min=mu.v_min(N),
        mean_visible=mu.mean_visible(N),
        full_mask_mass=mu.full_mask_mass(N),
        quantiles=tuple(int(np.searchsorted(np.cumsum(law), q - 1e-12)) for q in QUANTILES),
        beyond=float(law[curve.largest + 1 :].sum()),
        mmse=M,
        mmse_full=full,
        blindness_ratio=_scaled(sampled, 1 / result.prior_mmse),
        blindness_plug_in=plug,
        excess_loss=_shifts(result, M, curve.plug_in(objective), mass, shift),
        modulus=tuple(_open(result, M, float(objective[0]), e) for e in epsilons),
        uniform_given_count=mu.uniform_given_count,
    )


class Curve:
    """M(v) for v = 0 … N: the measured bound as steps, its ends, and an interpolation for estimates."""

    def __init__(self, result: CorpusUncertainty, length: int) -> None:
        points = result.points("subset")
        self.prior, self.n = result.prior_mmse, points[0].mmse.n
        v = np.array([p.visible for p in points])
        self.largest = int(v[-1])
        at = np.searchsorted(v, np.arange(1, length + 1), side="right") - 1
        self.values, self.low, self.high = (
            self._steps(np.array(column), at)
            for column in zip(*((p.mmse.value, *p.mmse.interval) for p in points), strict=True)
        )
        self.smooth = self._interpolated(result, v, np.array([p.mmse.value for p in points]), length)

    def _steps(self, column: Floats, at: NDArray[np.int64]) -> Floats:
        return np.concatenate([[self.prior], np.minimum.accumulate(np.minimum(column, self.prior))[at]])

    def _interpolated(self, result: CorpusUncertainty, v: Floats, values: Floats, length: int) -> Floats:
        falling = np.minimum.accumulate(np.maximum(np.minimum(values, self.prior), 1e-300))
        sites = np.arange(1, length + 1)
        inside = np.exp(np.interp(np.log(sites), np.log(v), np.log(falling)))
        fits = result.decays["subset"].fits().values()
        best = min((fit for fit in fits if fit.amplitude is not None), key=lambda fit: fit.aic, default=None)
        if best is not None:
            ratio = best.at(sites) / max(float(best.at(self.largest)), 1e-300)
            inside = np.where(sites > self.largest, inside * np.minimum(ratio, 1.0), inside)
        return np.concatenate([[self.prior], inside])

    def bound(self, law: Floats) -> MeasuredBound:
        """Σ_v law(v) M(v) with its ends; the normal error that fits them."""
        value, low, high = (float(law @ column) for column in (self.values, self.low, self.high))
        return MeasuredBound(value, "upper", self.n, (high - low) / 3.92, (low, high))

    def plug_in(self, law: Floats) -> Estimate:
        """(M_μ − M_N)/(MMSE(0) − M_N); law may be an objective, whose mass stays in it."""
        full = float(self.smooth[-1])
        value = float(law @ (self.smooth - full)) / (self.prior - full) if full < self.prior else 1.0
        wide = self.bound(law)
        error = value * wide.stderr / max(wide.value, 1e-300)
        return Estimate(value, error, self.n or 1, (max(0.0, value - 1.96 * error), value + 1.96 * error))


def _scaled(bound: MeasuredBound, factor: float, most: float = 1.0) -> MeasuredBound:
    value, low, high = (min(most, x * factor) for x in (bound.value, *bound.interval))
    return MeasuredBound(value, "upper", bound.n, bound.stderr * factor, (low, high))


def _tilt(delta: float) -> float:
    """e^δ − 1 − δ without cancellation near 0."""
    return math.expm1(delta) - delta if delta > 1e-4 else delta * delta / 2


def _logit(w: float) -> float:
    return math.log(w) - math.log1p(-w)


def _shifts(
    result: CorpusUncertainty, M: MeasuredBound, plug: Estimate, mass: float, shift: float
) -> tuple[WeightShift, ...]:
    rows = []
    for row, w in zip(result.collections, result.weights, strict=True):
        for step in (shift, -shift):
            b = w + step
            if 0 < b < 1:
                kl = w * math.log(w / b) + (1 - w) * math.log((1 - w) / (1 - b))
                upper = _capped(_scaled(M, _tilt(abs(_logit(b) - _logit(w))), math.inf), kl * mass)
                ends = tuple(kl * x for x in plug.interval or (plug.value, plug.value))
                estimate = Estimate(kl * plug.value, kl * plug.stderr, plug.n, (ends[0], ends[1]))
                rows.append(WeightShift(row.name, step, b, kl, upper, estimate))
    if not rows:
        raise InputError("shift", expected="a weight in (0, 1) after the shift", came=f"{shift:g}")
    return tuple(rows)


def _capped(bound: MeasuredBound, most: float) -> MeasuredBound:
    """The bound, or KL(w‖λ) times the mass where that is smaller: no visible set tells more than the mode itself."""
    ends = min(bound.interval[0], most), min(bound.interval[1], most)
    return MeasuredBound(min(bound.value, most), "upper", bound.n, bound.stderr, ends)


def _open(result: CorpusUncertainty, M: MeasuredBound, full_mask: float, epsilon: float) -> OpenWeights:
    """The sandwich at ε; the lower end's interval comes from the ends of M_μ, the other way round."""
    if not (math.isfinite(epsilon) and epsilon >= 0):
        raise InputError("epsilon", expected="an excess loss of 0 or more, in nats", came=f"{epsilon:g}")
    value, high, low = (_reach(result.weights, m, epsilon) for m in (M.value, *M.interval))
    lower = MeasuredBound(value, "lower", M.n, (high - low) / 3.92, (low, high))
    upper = min(1.0, math.sqrt(epsilon / (2 * full_mask))) if full_mask > 0 else 1.0
    return OpenWeights(epsilon, lower, Bound(upper, side="upper"))


def _reach(weights: Sequence[float], M: float, epsilon: float) -> float:
    """The largest |λ − w| over modes and signs with M (e^δ − 1 − δ) ≤ ε."""
    if M <= 0 or epsilon <= 0:
        return 0.0 if epsilon <= 0 else max(max(w, 1 - w) for w in weights)
    target = epsilon / M
    top = max(1.0, math.log1p(target) + 5)
    delta = float(brentq(lambda d: _tilt(d) - target, 0.0, top)) if _tilt(top) > target else top
    ends = [abs(1 / (1 + math.exp(-(_logit(w) + s * delta))) - w) for w in weights for s in (1, -1)]
    return max(ends)
