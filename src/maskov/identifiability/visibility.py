"""The low-visibility bound: what a little mass at small visible counts recovers inside the witness family."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maskov.identifiability.discrepancy import log_kl_weights
from maskov.identifiability.experiment import Experiment
from maskov.identifiability.log_space import log_difference
from maskov.identifiability.residual import log_residual

Floats = NDArray[np.float64]
MOST_COUNTS = 16
_HALF = np.geomspace(1e-3, 30, 32)


class LowVisibility(NamedTuple):
    """TV of the mode weights ≤ √(ε/(2 π_s η_s)) inside the witness family: the bound, the s it uses, π_s and η_s."""

    bound: float
    s: int
    mass: float
    floor: float


class LowVisibilityBound:
    """Bounds over s for two modes and visible sets that are uniform given their count.

    R(v) falls in v (data processing), so with d_s(λ) = R_λ(s) − R_λ(N), the discrepancy of ``visible:s``, for every λ

        D_μ(p‖q_λ) ≥ Σ_{v ≤ s} μ(v) d_v(λ) ≥ π_s d_s(λ) = π_s η_s(λ) KL(w‖λ) ≥ 2 π_s η_s(λ) TV(w, λ)²,

    η_s(λ) = d_s(λ)/KL(w‖λ): the mean along the path from w to λ, with weights θ1 − t, of the residual uncertainty at
    s relative to σ(t)(1 − σ(t)). d_s grows in |θ1 − θ0|, so D_μ ≤ ε confines λ to the interval where π_s d_s ≤ ε.
    With η_s the minimum of η_s(λ) over that interval (on a grid of 64 log-odds), TV(w, λ) ≤ √(ε/(2 π_s η_s)).
    """

    def __init__(self, experiment: Experiment) -> None:
        law, counts, N = np.exp(experiment.log_objective), experiment.visible, experiment.n_sites
        used = np.unique(counts[(law > 0) & (counts < N)])
        self.counts = used[:: -(-len(used) // MOST_COUNTS)] if len(used) else used
        self.masses = np.array([float(law[counts <= s].sum()) for s in self.counts])
        groups = [np.flatnonzero(counts == s) for s in self.counts]
        table, starts = _rows(experiment, [*(int(g) for part in groups for g in part), experiment.full])
        ends = np.cumsum([len(part) for part in groups])
        self.log_d, self.log_kl = np.empty((len(self.counts), 64)), np.empty(64)
        for k, t in enumerate(np.concatenate([-_HALF, _HALF])):
            b = _moved(experiment.weights, t)
            R = log_residual(table, starts, experiment.weights, b)
            means = [
                np.logaddexp.reduce(R[end - len(part) : end]) - np.log(len(part))
                for part, end in zip(groups, ends, strict=True)
            ]
            self.log_d[:, k], self.log_kl[k] = (
                log_difference(np.array(means), R[-1]),
                log_kl_weights(experiment.weights, b),
            )

    def at(self, epsilon: float) -> LowVisibility:
        """The smallest bound over s; 1 where no s helps."""
        best = LowVisibility(1.0, 0, 0.0, 0.0)
        for s, mass, log_d in zip(self.counts, self.masses, self.log_d, strict=True):
            floor = self._floor(log_d, epsilon / mass)
            bound = float(min(1.0, np.sqrt(epsilon / (2 * mass * floor)))) if floor > 0 else 1.0
            if bound < best.bound or best.mass == 0:
                best = LowVisibility(bound, int(s), float(mass), floor)
        return best

    def _floor(self, log_d: Floats, epsilon: float) -> float:
        """min of d_s(λ)/KL(w‖λ) over the λ that ε admits, and one grid point beyond on each side."""
        inside = log_d <= np.log(max(epsilon, 1e-300))
        for half in (slice(0, 32), slice(32, 64)):
            beyond = np.flatnonzero(~inside[half])
            if beyond.size:
                inside[half.start + beyond[0]] = True
        return float(np.exp((log_d - self.log_kl)[inside].min()))


def low_visibility_bound(experiment: Experiment, epsilon: float) -> LowVisibility:
    """``LowVisibilityBound`` at one ε."""
    return LowVisibilityBound(experiment).at(epsilon)


def _moved(w: Floats, t: float) -> Floats:
    """Two mode weights with their log-odds moved by t."""
    odds = np.log(w[1] / w[0]) + t
    return np.array([1 / (1 + np.exp(odds)), 1 / (1 + np.exp(-odds))])


def _rows(experiment: Experiment, groups: list[int]) -> tuple[Floats, NDArray[np.int64]]:
    tables = [experiment.group(g) for g in groups]
    return np.concatenate(tables), np.concatenate([[0], np.cumsum([len(t) for t in tables])[:-1]]).astype(np.int64)
