"""The modulus A(ε) = sup { TV(p, q) : D_μ(p‖q) ≤ ε }: what an excess loss ε leaves undetermined.

Three numbers with three meanings:

* witness (LOWER bound over all q): q_λ = Σ λ_z p_z. Along λ = w + s·d the discrepancy is E f_s(g(x_S)) − E f_s(g(x))
with
  g = Σ r_z d_z/w_z a martingale and f_s(g) = log(1 + s g). Its s-derivative has φ(g) = g/(1 + s g), concave in g for
  s > 0, so by
  Jensen D_μ grows with s: the largest admissible s is found by bisection, exactly. For two modes there are two
  directions.
* full mask (UPPER bound over all q): D_μ ≥ π_0 KL(p‖q) ≥ 2 π_0 TV², so TV(p, q) ≤ √(ε/(2 π_0)) [Pinsker].
* low visibility (UPPER bound inside the witness family): see ``low_visibility_bound``.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from maskov.errors import InputError
from maskov.identifiability.discrepancy import log_joint_discrepancy
from maskov.identifiability.experiment import Experiment

Floats = NDArray[np.float64]
MOST_CLIMBED, MOST_TURNED = 20_000, 300_000
NEXT_TO_EDGE = -math.log(1e-12)


class Witness(NamedTuple):
    """The witness family at ε: the best weights [K], the largest TV of the joint laws, and of the mode weights."""

    weights: Floats
    joint: float
    mode_weights: float


def check_epsilons(epsilons: object) -> tuple[float, ...]:
    """Excess losses as a tuple; ``InputError`` unless each is a finite number ≥ 0 (nats)."""
    values = tuple(float(e) for e in np.atleast_1d(np.asarray(epsilons, dtype=np.float64)))
    for e in values:
        if not (np.isfinite(e) and e >= 0):
            raise InputError(
                "epsilon", expected="an excess loss of 0 or more, in nats", came=f"{e:g}", remedy="pass --epsilon 0.001"
            )
    return values


def full_mask_bound(epsilon: float, full_mask_mass: float) -> float:
    """TV(p, q) ≤ √(ε/(2 π_0)) for every q, at most 1; 1 where the full mask has no mass.

    >>> full_mask_bound(0.001, 0.05)
    0.1
    """
    return float(min(1.0, np.sqrt(epsilon / (2 * full_mask_mass)))) if full_mask_mass > 0 else 1.0


class Ray:
    """D_μ(p ‖ q_{w + s·direction}) along one direction [K] (sum 0), each point evaluated once; it grows with s.

    Points are u = log(s/(edge − s)), edge the s at which a weight is 0: log D is close to 2u at one end and to log u at
    the other, so that secants hit.
    """

    def __init__(self, experiment: Experiment, direction: Floats) -> None:
        self.experiment, self.direction = experiment, direction
        falling = direction < 0
        self.edge = float((experiment.weights[falling] / -direction[falling]).min())
        self._known: dict[float, float] = {}

    def _length(self, u: float) -> float:
        return float(self.edge / (1 + np.exp(-u)))

    def log_discrepancy(self, u: float) -> float:
        """log D_μ at the point u."""
        if u not in self._known:
            w = self.experiment.weights
            self._known[u] = log_joint_discrepancy(self.experiment, w, w + self._length(u) * self.direction)
        return self._known[u]

    def furthest(self, epsilon: float) -> float:
        """The largest s with D_μ ≤ ε, up to the edge of the simplex."""
        at_edge = self.log_discrepancy(NEXT_TO_EDGE)
        if at_edge == -np.inf or (epsilon > 0 and at_edge <= np.log(epsilon)):
            return self.edge
        low, high = self._bracket(np.log(epsilon)) if epsilon > 0 else (-np.inf, -np.inf)
        return 0.0 if low == -np.inf else self._length(self._root(float(np.log(epsilon)), low, high))

    def _root(self, target: float, low: float, high: float) -> float:
        """The u in the bracket with log D = target: secant steps, halved where they leave the bracket."""
        before, at = low, high
        for _ in range(200):
            rise = self.log_discrepancy(at) - self.log_discrepancy(before)
            following = at + (target - self.log_discrepancy(at)) * (at - before) / rise if rise != 0 else low
            if not low < following < high:
                following = (low + high) / 2
            before, at = at, following
            low, high = (at, high) if self.log_discrepancy(at) <= target else (low, at)
            miss = abs(self.log_discrepancy(at) - target)
            if miss < 1e-12 * max(1.0, abs(target)) or min(abs(at - before), high - low) < 1e-11:
                break
        return at

    def _bracket(self, target: float) -> tuple[float, float]:
        """Known points on both sides of the target; new ones where needed, guessed from log D ~ 2u below 0."""
        high = min(x for x, value in self._known.items() if value > target)
        while not any(value <= target for value in self._known.values()):
            if high < -80:
                return -np.inf, high
            step = (self.log_discrepancy(high) - target) / 2
            guess = min(0.0, high - max(step, 0.0) - 0.2)
            if self.log_discrepancy(guess) > target:
                high = guess
        low = max(x for x, value in self._known.items() if value <= target)
        return low, min(x for x, value in self._known.items() if value > target)


def joint_distance(experiment: Experiment, a: Floats, b: Floats) -> float:
    """TV(q_a, q_b) on all sites: ½ Σ_x |Σ_z (a_z − b_z) p_z(x)|."""
    return 0.5 * float(np.abs(np.exp(experiment.group(experiment.full)) @ (a - b)).sum())


class WitnessFamily:
    """The supremum over the witness family: exact for two modes, a search over directions for K > 2 (a lower bound).

    climbs: evaluations of the search from each of the directions to and from a mode (0: those directions only); tables
    of more than 20,000 rows do without, and beyond 300,000 only the last mode's two directions are tried.
    """

    def __init__(self, experiment: Experiment, climbs: int = 30) -> None:
        K, rows = len(experiment.weights), len(experiment.log_table)
        self.experiment, self.climbs = experiment, climbs if rows <= MOST_CLIMBED else 0
        directions = _directions(K)
        tried = directions if K == 2 or rows <= MOST_TURNED else directions[K - 1 :: K]
        self.rays = [Ray(experiment, d) for d in tried]

    def at(self, epsilon: float) -> Witness:
        """The largest distances with D_μ ≤ ε, each at its own maximiser; ``weights`` maximises the joint one."""
        w = self.experiment.weights
        rays = [_climb(ray, epsilon, self.climbs) if len(w) > 2 and self.climbs else ray for ray in self.rays]
        members = [w + ray.furthest(epsilon) * ray.direction for ray in rays]
        modes = [0.5 * float(np.abs(w - b).sum()) for b in members]
        joint = [min(joint_distance(self.experiment, w, b), most) for b, most in zip(members, modes, strict=True)]
        return Witness(members[int(np.argmax(joint))], max(joint), max(modes))


def witness_modulus(experiment: Experiment, epsilon: float, climbs: int = 30) -> Witness:
    """``WitnessFamily`` at one ε."""
    return WitnessFamily(experiment, climbs).at(epsilon)


def _directions(K: int) -> list[Floats]:
    if K == 2:
        return [np.array([-1.0, 1.0]), np.array([1.0, -1.0])]
    towards = [np.eye(K)[z] - (1 - np.eye(K)[z]) / (K - 1) for z in range(K)]
    return [*towards, *(-d for d in towards)]


def _climb(ray: Ray, epsilon: float, evaluations: int) -> Ray:
    """A better direction nearby, by a simplex search on the joint TV reached at ε."""
    experiment = ray.experiment

    def loss(free: Floats) -> float:
        d = np.append(free, -free.sum())
        size = np.abs(d).max()
        if size < 1e-12:
            return 0.0
        s = Ray(experiment, d / size).furthest(epsilon)
        return -joint_distance(experiment, experiment.weights, experiment.weights + s * d / size)

    options = {"maxfev": evaluations, "xatol": 1e-3, "fatol": 1e-6}
    best = minimize(loss, ray.direction[:-1], method="Nelder-Mead", options=options).x
    d = np.append(best, -best.sum())
    return Ray(experiment, d / np.abs(d).max())
