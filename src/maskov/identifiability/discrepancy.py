"""Risk and discrepancy inside the witness family, exactly: joint and token form, the decomposition, the local ratio."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from maskov.errors import InputError
from maskov.identifiability.experiment import Experiment
from maskov.identifiability.log_space import exp_minus, log_difference, log_positive, log_sum
from maskov.identifiability.residual import (
    log_explained_variance,
    log_mode_overlap,
    log_pair_overlaps,
    log_residual,
    log_tilted_covariance,
    log_visible_divergence,
)

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


def log_kl_weights(a: Floats, b: Floats) -> float:
    """log KL(a ‖ b) of mode weights [K].

    >>> round(float(np.exp(log_kl_weights(np.array([0.7, 0.3]), np.array([0.5, 0.5])))), 6)
    0.082283
    """
    return float(log_positive((a * exp_minus(np.log(b / a))).sum()))


def log_kl_joint(experiment: Experiment, a: Floats, b: Floats) -> float:
    """log KL(q_a ‖ q_b) on all sites."""
    rows = experiment.group(experiment.full)
    return float(log_visible_divergence(rows, np.zeros(1, dtype=np.int64), a, b)[0])


Drop = Callable[[Indices, Indices], Floats]


def log_drop(experiment: Experiment, a: Floats, b: Floats) -> Drop:
    """A function of groups S, T, S inside T: log [ R(S) − R(T) ] = log [ KL on T − KL on S ], from the smaller of
    the two.

    Where x tells the weights apart R is small; where it hardly does, KL(q_a ‖ q_b on S) is. Their sum is KL(a ‖ b).
    """
    R = log_residual(experiment.log_table, experiment.starts, a, b)
    if R[experiment.full] < log_kl_weights(a, b) - np.log(2):
        return lambda source, target: log_difference(R[source], R[target])
    seen = log_visible_divergence(experiment.log_table, experiment.starts, a, b)
    return lambda source, target: log_difference(seen[target], seen[source])


def log_joint_discrepancy(experiment: Experiment, a: Floats, b: Floats) -> float:
    """log D_μ(q_a ‖ q_b), joint form: E_S [ R(S) − R(all) ] with the objective masses.

    a, b: mode weights [K]; D_μ(p ‖ q_λ) is a = w, b = λ.
    """
    groups = np.flatnonzero(experiment.log_objective > -np.inf)
    drop = log_drop(experiment, a, b)(groups, np.full(len(groups), experiment.full))
    return log_sum(experiment.log_objective[groups] + drop)


def log_token_discrepancy(experiment: Experiment, a: Floats, b: Floats) -> float:
    """log of the token form: E_S Σ_{i∉S} [ R(S) − R(S ∪ {i}) ] with the objective masses. a, b: mode weights [K]."""
    links = experiment.links
    drop = log_drop(experiment, a, b)(links.source, links.target)
    return log_sum(experiment.log_objective[links.source] + links.log_times + drop)


def log_tilted_integral(experiment: Experiment, a: Floats, b: Floats, nodes: int = 64) -> float:
    """log of the right side of the decomposition: E_S ∫_0^1 (1−s) E_p[ η'Cov_s(Z|x_S)η − η'Cov_s(Z|x)η ] ds, η = log
    b/a.

    For two modes this is E_S ∫_{θ0}^{θ1} (θ1 − t) E_p[Var_t(Z|x_S) − Var_t(Z|x)] dt. The integrand may be negative at
    some s, so the sum is taken with signs at a common scale.
    """
    eta = np.log(b / a)
    eta = eta - eta[0]
    s, weight = np.polynomial.legendre.leggauss(nodes)
    s, weight = (s + 1) / 2, weight / 2
    curves = np.stack(
        [log_tilted_covariance(experiment.log_table, experiment.starts, a, t * eta, eta) for t in s]
    )  # [nodes, G]
    inside = experiment.log_objective > -np.inf
    scale = (curves[:, inside] + experiment.log_objective[inside]).max()
    mass = np.exp(np.where(inside, experiment.log_objective, -np.inf))[None, inside]
    gain = mass * (np.exp(curves[:, inside] - scale) - np.exp(curves[:, [experiment.full]] - scale))
    total = float((weight * (1 - s)) @ gain.sum(axis=1))
    return float(np.log(total) + scale) if total > 0 else -np.inf


class Blindness(NamedTuple):
    """The local ratio ρ_μ = (MMSE_μ − MMSE_N)/(w(1−w) − MMSE_N) in logs, and whether it is the exact minimum over
    directions."""

    log_ratio: float
    exact: bool


def blindness_ratio(experiment: Experiment) -> Blindness:
    """ρ_μ = lim_{λ→w} D_μ(p‖q_λ)/KL(p‖q_λ); for K > 2 the smallest over directions of the weights.

    With C_S = E Cov(Z|x_S): the least generalised eigenvalue of (E_S C_S − C_N, C_0 − C_N) over directions that x can
    see. The masses are the objective's (``experiment.sampling()`` for the chain's). Where rounding hides that
    eigenvalue, the smallest value over splits of the modes into two, an upper bound of it. 1 where x says nothing
    about the mode.
    """
    log_law = experiment.log_objective
    pairs = log_pair_overlaps(experiment.log_table, experiment.starts, experiment.weights)
    used = log_law > -np.inf
    with np.errstate(divide="ignore"):
        nothing = np.log(np.outer(experiment.weights, experiment.weights))
    K = len(experiment.weights)
    splits = [np.array([code >> z & 1 for z in range(K)], dtype=np.float64) for code in range(1, 2 ** (K - 1))]
    ratios = [_ratio(experiment, pairs, nothing, eta) for eta in splits]
    if K > 2:
        found = _least_directions(pairs[used], log_law[used], pairs[experiment.full], nothing)
        # An eigenvector that rounding made up may have a difference of 0: that is no ratio.
        ratios += [ratio for eta in found if (ratio := _ratio(experiment, pairs, nothing, eta)) > -np.inf]
    best = min((ratio for ratio in ratios if not np.isnan(ratio)), default=0.0)
    return Blindness(best, K == 2 or best > np.log(1e-9))


def token_ratio(experiment: Experiment) -> float:
    """log of lim_{λ→w} D^tok_μ(p‖q_λ)/KL(p‖q_λ) = E_S Σ_{i∉S} [MMSE(S) − MMSE(S ∪ {i})] / (w(1−w) − MMSE_N), two modes.

    Revealing token i to S brings the local information MMSE(S) − MMSE(S ∪ {i}), the drop in residual uncertainty.
    Masses are the objective's. Raises ``InputError`` for K > 2, where the drop is a matrix.
    """
    if len(experiment.weights) != 2:
        raise InputError("token ratio", expected="a law with two modes", came=f"{len(experiment.weights)} modes")
    links, values = experiment.links, mmse(experiment)
    drop = log_difference(values[links.source], values[links.target])
    seen = log_difference(np.log(experiment.weights).sum(), values[experiment.full])
    return log_sum(experiment.log_objective[links.source] + links.log_times + drop) - float(seen)


def _ratio(experiment: Experiment, pairs: Floats, nothing: Floats, direction: Floats) -> float:
    """log ρ for f = Σ_z η_z P(Z = z | x), η = direction [K]; NaN where x can't see f.

    From the residual side, Σ (η_y − η_z)² E r_y r_z over pairs, or, where x explains less than half of the variance
    of η_Z, from the explained side Var E[f | x_S].
    """
    with np.errstate(divide="ignore"):
        squares = 2 * np.log(np.abs(direction[:, None] - direction[None, :]))
    residual = np.array([log_sum(p + squares) for p in pairs])
    end, start = residual[experiment.full], log_sum(nothing + squares)
    bottom = float(log_difference(start, end))
    if bottom > start - np.log(2):
        return log_sum(experiment.log_objective + log_difference(residual, end)) - bottom
    explained = log_explained_variance(experiment.log_table, experiment.starts, experiment.weights, direction)
    whole = explained[experiment.full]
    if whole < start - 70:
        return np.nan
    return log_sum(experiment.log_objective + log_difference(whole, explained)) - float(whole)


def _least_directions(pairs: Floats, log_law: Floats, full: Floats, nothing: Floats) -> list[Floats]:
    """Directions of the least generalised eigenvalues, among those that x identifies to rounding; none where that
    fails."""
    bottom = _laplacian(nothing) - _laplacian(full)
    top = sum(np.exp(m) * (_laplacian(p) - _laplacian(full)) for m, p in zip(log_law, pairs, strict=True))
    values, vectors = eigh(bottom)
    keep = values > 1e-7 * values[-1]
    scaled = vectors[:, keep] / np.sqrt(values[keep])
    _, inner = eigh(scaled.T @ top @ scaled)
    return list((scaled @ inner).T)


def _laplacian(log_weights: Floats) -> Floats:
    weights = np.exp(log_weights)
    return np.diag(weights.sum(axis=1)) - weights


def mmse(experiment: Experiment) -> Floats:
    """log MMSE of every group: [G]."""
    return log_mode_overlap(experiment.log_table, experiment.starts, experiment.weights)
