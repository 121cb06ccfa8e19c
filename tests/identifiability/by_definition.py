"""Brute force by definition: every number of the room once more, from log p(x) and log p_S(x_S) alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskov.identifiability import TableModes
from maskov.laws import enumerate_states
from maskov.schedules import Schedule

Floats = NDArray[np.float64]


def random_modes(rng: np.random.Generator, K: int, V: int, N: int, spread: float) -> TableModes:
    """A K-mode mixture of arbitrary tables, or of products (every other draw)."""
    if rng.random() < 0.5:
        return TableModes(rng.dirichlet(np.full(K, 2.0)), spread * rng.standard_normal((K, *(V,) * N)))
    sites = spread * rng.standard_normal((K, N, V))
    tables = np.zeros((K, *(V,) * N))
    for i in range(N):
        tables = tables + sites[:, i].reshape(K, *(V if j == i else 1 for j in range(N)))
    return TableModes(rng.dirichlet(np.full(K, 2.0)), tables)


def marginals(p: Floats, states: NDArray[np.int64], visible: NDArray[np.bool_]) -> Floats:
    """p_S(x_S) at every state x: [X]."""
    if not visible.any():
        return np.full(len(p), p.sum())
    which = np.unique(states[:, visible], axis=0, return_inverse=True)[1].ravel()
    return np.bincount(which, weights=p)[which]


def discrepancies(p: Any, q: Any, schedule: Schedule) -> tuple[float, float, float]:
    """(joint form, token form, KL(p‖q)) by their definitions, the conditionals formed explicitly."""
    states = enumerate_states(p.vocabulary_size, p.n_sites)
    px, qx = np.exp(p.log_prob(states)), np.exp(q.log_prob(states))
    law = schedule.set_law(p.n_sites)
    joint = token = 0.0
    for S, mass in zip(law.visible, np.exp(law.log_objective), strict=True):
        pS, qS = marginals(px, states, S), marginals(qx, states, S)
        joint += mass * float((px * np.log((px / pS) / (qx / qS))).sum())
        for i in np.flatnonzero(~S):
            more = S.copy()
            more[i] = True
            ratio = (marginals(px, states, more) / pS) / (marginals(qx, states, more) / qS)
            token += mass * float((px * np.log(ratio)).sum())
    return joint, token, float((px * np.log(px / qx)).sum())


def bregman_discrepancy(p: Any, log_ratio: Floats, schedule: Schedule) -> float:
    """E_S E_p B(A_{x_S}) − E_p B(A_x), B the Bregman divergence of A(θ) = log Σ e^{θ_z} p_z, θ1 = θ0 + log_ratio.

    θ0 = log w; B_A(θ1, θ0) = A(θ1) − A(θ0) − ⟨∇A(θ0), θ1 − θ0⟩; the gradient is the posterior of the modes.
    """
    states = enumerate_states(p.vocabulary_size, p.n_sites)
    px, law = np.exp(p.log_prob(states)), schedule.set_law(p.n_sites)

    def mean_divergence(visible: NDArray[np.bool_]) -> float:
        modes = np.exp(p.log_mode_marginals(states, np.tile(visible, (len(states), 1)))) * p.weights
        posterior = modes / modes.sum(axis=1, keepdims=True)
        rise = np.log((modes * np.exp(log_ratio)).sum(axis=1)) - np.log(modes.sum(axis=1))
        return float(px @ (rise - posterior @ log_ratio))

    whole = mean_divergence(np.ones(p.n_sites, dtype=bool))
    masses = np.exp(law.log_objective)
    return sum(mass * (mean_divergence(S) - whole) for S, mass in zip(law.visible, masses, strict=True))
