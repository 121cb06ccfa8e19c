"""What the advice rests on: an exact law, or the measured curve of a corpus; both price a wrong mode weight."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from maskov.corpora.on_curve import Curve, schedule_on_curve
from maskov.corpora.result import CorpusUncertainty
from maskov.errors import InputError
from maskov.identifiability.discrepancy import log_joint_discrepancy, log_kl_weights
from maskov.identifiability.identify import local_ratio
from maskov.identifiability.modulus import WitnessFamily
from maskov.identifiability.views import View, view
from maskov.quantities import Bound, Estimate
from maskov.schedules import Schedule

Floats = NDArray[np.float64]


class Ground(Protocol):
    """name, kind ("law" or "corpus"), weights w [K] and sites N, with three questions about a schedule."""

    name: str
    kind: str
    weights: Floats
    length: int

    def price(self, mu: Schedule, weights: Floats) -> float:
        """D_μ(p‖q_λ) at other mode weights [K]: nats per sequence, joint form."""
        ...

    def blindness(self, mu: Schedule) -> Any:
        """ρ_μ as a quantity."""
        ...

    def left_open(self, mu: Schedule, epsilon: float) -> Any:
        """The largest TV(w, λ) inside the witness family that costs at most ε nats, as a quantity."""
        ...


class LawGround:
    """A law with modes: everything exact inside the witness family, or estimated where the law must be sampled.

    >>> from maskov.laws import law
    >>> from maskov.schedules import schedule
    >>> ground = LawGround(law("product?sites=16&gap=0.3&weight=0.3"))
    >>> ground.price(schedule("full"), np.array([0.5, 0.5])) > ground.price(schedule("hide:1"), np.array([0.5, 0.5]))
    True
    """

    kind = "law"

    def __init__(self, law: Any, seed: int = 0) -> None:
        self.law, self.seed, self.name = law, seed, str(getattr(law, "text", type(law).__name__))
        weights = np.atleast_1d(getattr(law, "weights", [1.0]))
        if len(weights) < 2:
            remedy = "use a mixture, such as product?sites=64&gap=0.3&weight=0.3"
            raise InputError("law", expected="a law with modes", came=self.name, remedy=remedy)
        self.weights, self.length = np.asarray(weights, dtype=np.float64), int(law.n_sites)
        self._seen = lru_cache(maxsize=64)(self._view)

    def _view(self, mu: Schedule) -> View:
        found = view(self.law, mu, self.seed)
        assert found is not None, "a law with modes has a view"
        return found

    def price(self, mu: Schedule, weights: Floats) -> float:
        """D_μ(p‖q_λ), by counting or enumeration; the estimate's value where the law is sampled."""
        w = self.weights
        return float(self._seen(mu).log_quantity(lambda e: log_joint_discrepancy(e, w, weights)).value)

    def blindness(self, mu: Schedule) -> Any:
        """ρ_μ: exact, or as exact as the law allows."""
        return local_ratio(self._seen(mu))

    def left_open(self, mu: Schedule, epsilon: float) -> Any:
        """The witness modulus of the mode weights: a lower bound over all predictors, exact inside the family for two
        modes."""
        reached = [WitnessFamily(e).at(epsilon).mode_weights for e in self._seen(mu).experiments]
        return Bound(float(np.mean(reached)), side="lower")


class CurveGround:
    """A corpus: ρ̂ from the measured curve, so that D_μ ≈ ρ̂_μ KL(w‖λ); estimates, not bounds.

    result: of ``corpus_uncertainty`` or ``read_corpus``; length: N sites of a training sequence. Beyond the largest
    measured count the best fit stands in for the curve.
    """

    kind = "corpus"

    def __init__(self, result: CorpusUncertainty, length: int | None = None) -> None:
        self.result, self.length = result, int(length or result.length)
        self.weights = np.asarray(result.weights, dtype=np.float64)
        self.name = " / ".join(row.name for row in result.collections)
        self.curve = Curve(result, self.length)

    def _seen(self, mu: Schedule) -> Estimate:
        objective = mu.objective_law(self.length)
        return self.curve.plug_in(np.where(np.isfinite(objective), objective, 0.0))

    def price(self, mu: Schedule, weights: Floats) -> float:
        """ρ̂_μ KL(w‖λ), ρ̂ under the objective's masses."""
        return self._seen(mu).value * math.exp(log_kl_weights(self.weights, weights))

    def blindness(self, mu: Schedule) -> Any:
        """The plug-in estimate of ρ_μ under the sampling law."""
        return schedule_on_curve(self.result, mu, self.length).blindness_plug_in

    def left_open(self, mu: Schedule, epsilon: float) -> Any:
        """TV(w, λ) with ρ̂ KL(w‖λ) = ε along the worst direction; its interval from the ends of ρ̂."""
        rho = self._seen(mu)
        ends = rho.interval or (rho.value, rho.value)
        value, most, least = (_open(self.weights, epsilon, r) for r in (rho.value, *ends))
        return Estimate(value, (most - least) / 3.92, rho.n, (least, most))


def directions(weights: Floats) -> list[Floats]:
    """Towards and away from each mode, the others keeping their shares: [K] each, TV 1 per unit."""
    K = len(weights)
    towards = []
    for z in range(K):
        rest = np.where(np.arange(K) == z, 0.0, weights)
        towards.append(np.eye(K)[z] - rest / rest.sum())
    return [*towards, *(-d for d in towards)] if K > 2 else [towards[1], -towards[1]]


def moved(weights: Floats, direction: Floats, distance: float) -> Floats | None:
    """The weights at a TV distance along a direction; None beyond the simplex.

    >>> moved(np.array([0.7, 0.3]), np.array([-1.0, 1.0]), 0.1).round(6).tolist()
    [0.6, 0.4]
    >>> moved(np.array([0.7, 0.3]), np.array([1.0, -1.0]), 0.4) is None
    True
    """
    found = weights + distance * direction
    return found if found.min() > 0 else None


def _open(weights: Floats, epsilon: float, rho: float) -> float:
    """The largest TV(w, λ) with ρ KL(w‖λ) ≤ ε."""
    reached = []
    for d in directions(weights):
        edge = float((weights[d < 0] / -d[d < 0]).min())
        if rho <= 0 or rho * _kl(weights, d, edge * (1 - 1e-12)) <= epsilon:
            reached.append(edge)
        else:
            reached.append(float(brentq(lambda s, d=d: rho * _kl(weights, d, s) - epsilon, 0.0, edge * (1 - 1e-12))))
    return max(reached)


def _kl(weights: Floats, direction: Floats, distance: float) -> float:
    return math.exp(log_kl_weights(weights, weights + distance * direction)) if distance > 0 else 0.0
