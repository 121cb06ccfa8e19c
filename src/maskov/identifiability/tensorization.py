"""Approximate tensorisation: C_AT(μ), the smallest C with KL(ν‖p) ≤ C·D_μ(ν‖p) for every ν.

D_μ(ν‖p) = E_S [ KL(ν‖p) − KL(ν_S‖p_S) ]. It is a supremum, so what one can evaluate bounds it from below: the witness
family (ν = q_λ), its local limit 1/ρ_μ, the reciprocal spectral gap (the local limit over all ν), and a search over
all ν on small laws.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize, minimize_scalar
from scipy.special import log_softmax

from maskov.identifiability.discrepancy import log_joint_discrepancy, log_kl_joint
from maskov.identifiability.experiment import Experiment
from maskov.identifiability.search import BlockDivergence
from maskov.laws import as_log_table
from maskov.protocols import JointLaw
from maskov.randomness import Stream, generator
from maskov.schedules import Schedule

Floats = NDArray[np.float64]
REACH = 18.0


class WitnessTensorization(NamedTuple):
    """log of the largest KL(q_λ‖p)/D_μ(q_λ‖p) found, and its λ [K]."""

    log_value: float
    weights: Floats


def log_tensorization_ratio(experiment: Experiment, weights: Floats) -> float:
    """log KL(q_λ‖p)/D_μ(q_λ‖p) at λ = weights [K]; +∞ where the schedule sees nothing at all."""
    log_kl = log_kl_joint(experiment, weights, experiment.weights)
    log_d = log_joint_discrepancy(experiment, weights, experiment.weights)
    return log_kl - log_d if log_d > -np.inf else (np.inf if log_kl > -np.inf else -np.inf)


def witness_tensorization(experiment: Experiment, evaluations: int = 24) -> WitnessTensorization:
    """The largest ratio over λ ∝ w·e^{t·1_A}, A a set of modes: a LOWER bound of C_AT(μ).

    For two modes that is the whole witness family. t runs over ±18 (grid, then a bounded search beside the best point).
    """
    w = experiment.weights
    splits = [
        np.array([code >> z & 1 for z in range(len(w))], dtype=np.float64) for code in range(1, 2 ** (len(w) - 1))
    ]
    best = WitnessTensorization(-np.inf, w)
    for split in splits:
        found = _along(experiment, split, evaluations)
        best = found if found.log_value > best.log_value else best
    return best


def _along(experiment: Experiment, split: Floats, evaluations: int) -> WitnessTensorization:
    def weights(t: float) -> Floats:
        moved = experiment.weights * np.exp(t * split - max(0.0, t))
        return np.asarray(moved / moved.sum())

    grid = np.array([t for t in np.linspace(-REACH, REACH, 2 * (evaluations // 4)) if abs(t) > 1e-6])
    values = np.array([log_tensorization_ratio(experiment, weights(t)) for t in grid])
    if not np.isfinite(values).all():
        t = float(grid[int(np.argmax(values))])
        return WitnessTensorization(float(values.max()), weights(t))
    step, top = grid[1] - grid[0], grid[int(values.argmax())]
    ends = max(-REACH, top - step), min(REACH, top + step)
    found = minimize_scalar(
        lambda t: -_ratio_off_zero(experiment, weights, t),
        bounds=ends,
        method="bounded",
        options={"maxiter": evaluations // 2},
    )
    best = found.x if -found.fun > values.max() else top
    return WitnessTensorization(float(max(-found.fun, values.max())), weights(float(best)))


def _ratio_off_zero(experiment: Experiment, weights: Callable[[float], Floats], t: float) -> float:
    """The ratio, with t kept 1e−3 away from 0 (there it is 1/ρ, a 0/0 for floats)."""
    safe = np.copysign(max(abs(t), 1e-3), t)
    return log_tensorization_ratio(experiment, weights(float(safe)))


class SearchedTensorization(NamedTuple):
    """The largest KL(ν‖p)/D_μ(ν‖p) found over all ν (a lower bound), and its ν [X]."""

    value: float
    law: Floats


def searched_tensorization(
    law: JointLaw, schedule: Schedule, candidates: Floats | None = None, starts: int = 5, seed: int = 0
) -> SearchedTensorization:
    """Quasi-Newton ascent of KL(ν‖p)/D_μ(ν‖p) over the simplex of V^N states, from random and given starts [C, X].

    Raises ``InputError`` beyond 64 states. Exact for all practical purposes on tiny laws, yet a local search: a
    lower bound.
    """
    ratio = _Ratio(law, schedule)
    noise = generator(seed, stream=Stream.STUDY).standard_normal((starts, len(ratio.log_p)))
    first = ratio.log_p + noise * np.geomspace(0.03, 4, starts)[:, None]
    if candidates is not None:
        first = np.concatenate([np.log(np.maximum(candidates, 1e-300)), first])
    found = [minimize(ratio.loss, x, jac=True, method="L-BFGS-B", options={"maxiter": 120}) for x in first]
    best = min(found, key=lambda r: float(r.fun))
    return SearchedTensorization(float(np.exp(-best.fun)), np.exp(log_softmax(best.x)))


class _Ratio:
    """log KL(ν‖p)/D_μ(ν‖p) and its gradient in the log-weights of ν."""

    def __init__(self, law: JointLaw, schedule: Schedule) -> None:
        divergence = BlockDivergence(law, schedule)
        self.log_p = as_log_table(law).ravel()
        self.sums, self.total = divergence.sums, float(divergence.mass.sum())
        self.masses = divergence.row_mass
        self.log_sums = np.log(self.sums @ np.exp(self.log_p))

    def loss(self, x: Floats) -> tuple[float, Floats]:
        """−log ratio and its gradient: x [X]."""
        log_nu = log_softmax(x)
        nu = np.exp(log_nu)
        shown = np.maximum(self.sums @ nu, 1e-300)
        local, seen = log_nu - self.log_p, np.log(shown) - self.log_sums
        kl = float(nu @ local)
        D = self.total * kl - float((self.masses * shown) @ seen)
        if kl < 1e-7 or D <= 0:  # at ν = p the ratio is a 0/0 limit, bounded by 1/gap
            return 0.0, np.zeros_like(x)
        slope = local / kl - (self.total * local - (self.masses * seen) @ self.sums) / D
        return -float(np.log(kl / D)), -nu * (slope - nu @ slope)
