"""The residual uncertainty about the mode: posterior covariance, and the posterior's divergence between two weightings.

For weights a and b of the same modes and an outcome with posterior r (under a), let u_z = b_z/a_z relative to the
likeliest mode z0. The chain rule splits KL(a‖b) = KL(a's x_S ‖ b's x_S) + R(S), with the residual

    R(S) = E_a KL( P_a(Z|x_S) ‖ P_b(Z|x_S) ) = E_a [ log(1 + Σ r_z (u_z − 1)) − Σ r_z log u_z ].

So the discrepancy of a schedule is E_S R(S) − R(everything): a difference of small positive numbers, computed in log
space, where KL_N − KL_S would cancel.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from maskov.identifiability.log_space import exp_minus, group_logsumexp, log1p_minus, log_positive, rowwise_logsumexp

Floats = NDArray[np.float64]
Starts = NDArray[np.int64]


def log_posterior(log_table: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """log P(outcome) [R] and log P(z | outcome) [R, K] under mode weights [K]."""
    joint = log_table + np.log(weights)
    log_outcome = rowwise_logsumexp(joint)
    return log_outcome, joint - log_outcome[:, None]


def log_residual(log_table: Floats, starts: Starts, a: Floats, b: Floats) -> Floats:
    """log R of every group: [G]. log_table: [R, K]; starts: [G]; a, b: mode weights [K]; −inf where a = b."""
    log_outcome, log_r = log_posterior(log_table, a)
    return group_logsumexp(log_outcome + log_posterior_divergence(log_r, np.log(b / a)), starts)


def log_posterior_divergence(log_r: Floats, log_c: Floats) -> Floats:
    """log KL(r ‖ r·c / Σ r c) of posteriors [R, K] reweighted by c [K]: [R].

    With e^{u_z} = c_z relative to the likeliest mode, d = e^u − 1 and y = Σ r d ≥ −1 + 1/K, the divergence is log(1 +
    y) − Σ r u = Σ r (d − u) + (log(1 + y) − y). The second form has no cancellation for small u, the first none for
    large y; where all other modes have mass below e^−36 the sum Σ r (d − u) alone is exact to rounding, and is taken
    in logs.
    """
    if len(log_c) == 2:
        return _two_mode_divergence(log_r, log_c)
    top = log_r.argmax(axis=1)
    u = np.minimum(log_c[None, :] - log_c[:, None], 700.0)  # [z0, z]
    first = rowwise_logsumexp(log_r + log_positive(exp_minus(u))[top])
    near = np.flatnonzero(first >= -36.0)
    r, d = np.exp(log_r[near]), np.expm1(u)[top[near]]
    y = (r * d).sum(axis=1)
    small = np.exp(np.minimum(first[near], 700.0)) + log1p_minus(np.where(np.abs(y) <= 1, y, 0.0))
    large = np.log1p(y) - (r * u[top[near]]).sum(axis=1)
    first[near] = log_positive(np.where((r * np.abs(d)).sum(axis=1) <= 1, small, large))
    return first


def _two_mode_divergence(log_r: Floats, log_c: Floats) -> Floats:
    """The same for two modes, in a third of the time: r of the less likely mode, u its log-ratio to the other."""
    second = log_r[:, 1] < log_r[:, 0]
    log_rare = log_r.min(axis=1)
    u = np.minimum([log_c[1] - log_c[0], log_c[0] - log_c[1]], 700.0)
    size = log_positive(exp_minus(u))
    first = log_rare + np.where(second, size[0], size[1])
    near = np.flatnonzero(first >= -36.0)
    rare, side = np.exp(log_rare[near]), second[near]
    y = rare * np.where(side, *np.expm1(u))
    small = np.exp(np.minimum(first[near], 700.0)) + log1p_minus(np.where(np.abs(y) <= 1, y, 0.0))
    large = np.log1p(y) - rare * np.where(side, *u)
    first[near] = log_positive(np.where(np.abs(y) <= 1, small, large))
    return first


def log_visible_divergence(log_table: Floats, starts: Starts, a: Floats, b: Floats) -> Floats:
    """log KL(a's x_S ‖ b's x_S) of every group: [G]; E_a of y − log(1 + y), y = Σ r_z (b_z/a_z − 1), whose mean is
    0."""
    log_outcome, log_r = log_posterior(log_table, a)
    log_c = np.log(b / a)
    y = (np.exp(log_r) * np.expm1(log_c)).sum(axis=1)
    near = np.abs(y) < 0.5
    gain = np.where(near, -log1p_minus(np.where(near, y, 0.0)), y - rowwise_logsumexp(log_r + log_c))
    return group_logsumexp(log_outcome + log_positive(gain), starts)


def log_pair_overlaps(log_table: Floats, starts: Starts, weights: Floats) -> Floats:
    """log E[ r_y r_z ] of every pair of modes: [G, K, K] (y ≠ z; −inf on the diagonal). −E r_y r_z is their mean
    posterior covariance."""
    K = len(weights)
    log_outcome, log_r = log_posterior(log_table, weights)
    out = np.full((len(starts), K, K), -np.inf)
    for y in range(K):
        for z in range(y):
            out[:, y, z] = out[:, z, y] = group_logsumexp(log_outcome + log_r[:, y] + log_r[:, z], starts)
    return out


def log_mode_overlap(log_table: Floats, starts: Starts, weights: Floats) -> Floats:
    """log MMSE of every group: [G]. For two modes E Var(Z | x_S); for K modes half the trace of the mean posterior
    covariance."""
    pairs = log_pair_overlaps(log_table, starts, weights)
    return np.asarray(logsumexp(pairs.reshape(len(starts), -1), axis=1) - np.log(2))


def log_explained_variance(log_table: Floats, starts: Starts, weights: Floats, direction: Floats) -> Floats:
    """log Var E[η_Z | x_S] = log E[ (Σ η_z w_z (p_z(x_S)/p(x_S) − 1))² ] of every group: [G]; direction η: [K]."""
    log_outcome, log_r = log_posterior(log_table, weights)
    shift = np.expm1(log_r - np.log(weights)) @ (weights * (direction - weights @ direction))
    return group_logsumexp(log_outcome + 2 * log_positive(np.abs(shift)), starts)


def log_tilted_covariance(
    log_table: Floats, starts: Starts, weights: Floats, shift: Floats, direction: Floats
) -> Floats:
    """log E_p[ η' Cov_t(Z | x_S) η ] of every group: [G], the posterior under log-weights log w + shift, the mean
    under w.

    shift, direction η: [K]. Half the sum over pairs of (η_y − η_z)² r_y r_z: positive terms only.
    """
    log_outcome, log_r = log_posterior(log_table, weights)
    tilted = log_r + shift
    tilted = tilted - rowwise_logsumexp(tilted)[:, None]
    out = np.full(len(starts), -np.inf)
    for y in range(len(weights)):
        for z in range(y):
            if direction[y] != direction[z]:
                term = group_logsumexp(log_outcome + tilted[:, y] + tilted[:, z], starts)
                out = np.logaddexp(out, term + 2 * np.log(abs(direction[y] - direction[z])))
    return out
