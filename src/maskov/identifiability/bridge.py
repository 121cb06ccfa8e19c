"""The bridge: the spectral gap of the block chain with schedule μ is at most the blindness ratio of training with μ.

Block heat-bath dynamics (keep S ~ μ, draw x_{S^c} from p(· | x_S)) has kernel P = E_S Π_S, Π_S f = E[f | x_S], an
average of orthogonal projections in L²(p): reversible, spectrum in [0, 1], Dirichlet form E_S E Var(f | x_S). With f
= P(Z = 1 | x) its Rayleigh quotient is ρ_μ, hence gap ≤ ρ_μ. The gap here is exact, by three roads:

* any law of few states: the dense kernel;
* exchangeable binary laws: the chain of the number of ones. Where the conditionals are stochastically increasing
(product
  mixtures, ferromagnets) the chain is monotone, so P^t of an increasing function tends to an increasing second
  eigenfunction;
  averaging it over permutations keeps it increasing, so the slowest function is one of the count alone;
* the same with ``hide:1``: a birth–death chain, in log space at any N.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.special import logsumexp

from maskov.identifiability.counting import BinaryCounts, CountModes, MultinomialCounts
from maskov.identifiability.log_space import log_sum
from maskov.laws import as_log_table, enumerate_states, state_index
from maskov.protocols import JointLaw
from maskov.schedules import Schedule
from maskov.schedules.base import log_choose

Floats = NDArray[np.float64]
MOST_DENSE = 1100
MOST_COUNT_WORK = 5e8


def is_binary(model: Any) -> bool:
    """Whether the counting view is of two symbols, so that the count of ones is a chain of its own."""
    return isinstance(model, BinaryCounts) or (isinstance(model, MultinomialCounts) and model.log_symbols.shape[1] == 2)


def log_count_law(model: CountModes) -> Floats:
    """log π(k), k = 0 … N ones among all sites: [N + 1]."""
    return np.asarray(logsumexp(model.log_table(model.n_sites) + np.log(model.weights), axis=1))


def single_site_log_gap(log_law: Floats, iterations: int = 4000) -> float:
    """log spectral gap of single-site Glauber dynamics (``hide:1``) on the count: log_law [N + 1] → scalar.

    Birth rate b_k = (N−k)/N · P(x_i = 1 | k ones elsewhere). For the increments g of an eigenfunction, γ^{-1} g_k =
    (π_k b_k)^{-1} Σ_i F(min(i,k)) (1 − F(max(i,k))) g_i, a positive matrix, so power iteration in log space has full
    relative accuracy however small γ is.

    >>> round(float(np.exp(single_site_log_gap(np.log([0.25, 0.5, 0.25])))), 12)  # two independent coins
    0.5
    """
    N = len(log_law) - 1
    k = np.arange(N)
    state = log_law - log_choose(N, np.arange(N + 1))
    log_birth = np.log1p(-k / N) + state[1:] - np.logaddexp(state[:-1], state[1:])
    log_below = np.logaddexp.accumulate(log_law)[:-1]
    log_above = np.logaddexp.accumulate(log_law[::-1])[::-1][1:]
    g, value = np.zeros(N), np.inf
    for _ in range(iterations):
        left = np.logaddexp.accumulate(log_below + g) + log_above
        right = np.append(np.logaddexp.accumulate((log_above + g)[::-1])[::-1][1:], -np.inf) + log_below
        image = np.logaddexp(left, right) - log_law[:-1] - log_birth
        previous, value = value, float(image.max() - g.max())
        g = image - image.max()
        if abs(value - previous) < 1e-14 * max(1.0, abs(value)):
            break
    return -value


def count_kernel(log_law: Floats, schedule: Schedule) -> Floats:
    """The symmetrised kernel √π P π^{-1/2} of the count under block dynamics: [N + 1, N + 1].

    Given v visible sites, j of the k ones stay visible (hypergeometric) and k' is drawn from π given j: P_v = H
    diag(1/π_v) Hᵀ diag(π).
    """
    N = len(log_law) - 1
    k = np.arange(N + 1)
    kernel = np.zeros((N + 1, N + 1))
    mass = schedule.visible_law(N)
    for v in map(int, np.flatnonzero(mass)):
        j = np.arange(v + 1)
        ones, zeros = k[:, None] - j, N - k[:, None] - (v - j)
        inside = (ones >= 0) & (zeros >= 0)
        log_h = np.where(
            inside, log_choose(v, j) + log_choose(N - v, np.clip(ones, 0, N - v)) - log_choose(N, k)[:, None], -np.inf
        )
        log_joint = log_law[:, None] + log_h
        half = np.exp(log_joint - log_law[:, None] / 2 - logsumexp(log_joint, axis=0) / 2)
        kernel += mass[v] * (half @ half.T)
    return kernel


def dense_kernel(law: JointLaw, schedule: Schedule) -> tuple[Floats, Floats]:
    """The symmetrised kernel of the block chain on all states with mass, and their probabilities: [X, X], [X]."""
    p = np.exp(as_log_table(law).ravel())
    states = enumerate_states(law.vocabulary_size, law.n_sites)
    kernel = np.zeros((len(p), len(p)))
    sets = schedule.set_law(law.n_sites)
    for visible, log_mass in zip(sets.visible, sets.log_mass, strict=True):
        shown = state_index(states[:, visible], law.vocabulary_size)
        classes = shown.argsort(kind="stable").reshape(law.vocabulary_size ** int(visible.sum()), -1)
        total = p[classes].sum(axis=1, keepdims=True)
        half = np.sqrt(np.divide(p[classes], total, out=np.zeros(classes.shape), where=total > 0))
        kernel[classes[:, :, None], classes[:, None, :]] += np.exp(log_mass) * half[:, :, None] * half[:, None, :]
    possible = p > 0
    return kernel[np.ix_(possible, possible)], p[possible]


def log_gap(kernel: Floats, pi: Floats) -> float:
    """log(1 − λ2) of a symmetrised kernel [X, X] with stationary law pi [X].

    Small gaps are read from the Dirichlet form of the second eigenvector, ½ Σ π_x P_xy (f_x − f_y)², which doesn't
    cancel.
    """
    X = len(pi)
    values, vectors = eigh(kernel, subset_by_index=[X - 2, X - 1])
    gap = 1 - values[0]
    if gap > 1e-5:
        return float(np.log(gap))
    root = np.sqrt(pi)
    f = vectors[:, 0] / root
    f = f - pi @ f
    form = 0.5 * float((np.outer(root, root) * kernel * (f[:, None] - f[None, :]) ** 2).sum())
    variance = float(pi @ f**2)
    return float(np.log(form) - np.log(variance)) if form > 0 and variance > 0 else -np.inf


def count_log_gap(model: CountModes, schedule: Schedule) -> float | None:
    """log gap of the count chain of an exchangeable binary law; ``None`` where the kernel is too large or the gap
    below 1e-22."""
    log_law = log_count_law(model)
    mass = schedule.visible_law(model.n_sites)
    if mass[-2] > 1 - 1e-15:
        return single_site_log_gap(log_law)
    if float((mass > 0) @ np.arange(len(mass))) * len(mass) ** 2 > MOST_COUNT_WORK:
        return None
    value = log_gap(count_kernel(log_law, schedule), np.exp(log_law - log_sum(log_law)))
    return value if value > np.log(1e-22) else None


def dense_log_gap(law: JointLaw, schedule: Schedule) -> float | None:
    """log gap of the whole block chain; ``None`` beyond 1100 states."""
    if law.vocabulary_size**law.n_sites > MOST_DENSE:
        return None
    return log_gap(*dense_kernel(law, schedule))
