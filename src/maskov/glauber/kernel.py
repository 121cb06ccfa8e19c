"""The exact chain of a small law: transition matrix, stationary law, gap, distance to stationarity, mixing time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import spsolve
from scipy.special import softmax

from maskov.errors import InputError
from maskov.laws.base import enumerate_states, state_index
from maskov.protocols import Conditionals

Matrix = sparse.csr_array


def site_matrix(conditionals: Conditionals, n_sites: int, site: int, temperature: float = 1.0) -> Matrix:
    """Transition matrix of one update at a fixed site: P_i(x, y) = p_{i,τ}(y_i | x_{-i}), sparse [V^n, V^n].

    States are numbered as in ``enumerate_states``.
    """
    V = conditionals.vocabulary_size
    states = enumerate_states(V, n_sites)
    count = len(states)
    probabilities = softmax(np.asarray(conditionals.logits(states, np.full(count, site)), dtype=np.float64) / temperature, axis=1)
    targets = np.repeat(states, V, axis=0)
    targets[:, site] = np.tile(np.arange(V), count)
    rows = np.repeat(np.arange(count), V)
    return sparse.csr_array((probabilities.ravel(), (rows, state_index(targets, V))), shape=(count, count))


def transition_matrix(conditionals: Conditionals, n_sites: int, temperature: float = 1.0, scan: str = "random") -> Matrix:
    """P(x, y) of one step of the random-scan chain, (1/n) Σ_i P_i, or of one systematic sweep, P_1 P_2 ⋯ P_n.

    Result: sparse [V^n, V^n], rows sum to 1.

    >>> from maskov.laws import law
    >>> transition_matrix(law("curie-weiss?sites=3&beta=0.5"), 3).sum(axis=1).round(12).tolist()
    [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    """
    parts = [site_matrix(conditionals, n_sites, i, temperature) for i in range(n_sites)]
    if scan == "random":
        return sparse.csr_array(sum(parts[1:], parts[0]) / n_sites)
    if scan != "systematic":
        raise InputError("scan", expected="random or systematic", came=repr(scan))
    sweep = parts[0]
    for part in parts[1:]:
        sweep = sweep @ part
    return sparse.csr_array(sweep)


def stationary_law(P: Matrix) -> NDArray[np.float64]:
    """The law with πP = π, Σπ = 1, by a direct solve (the chain must be irreducible): [V^n]."""
    count = P.shape[0]
    system = sparse.lil_array((P.T - sparse.eye_array(count)).tolil())
    system[count - 1, :] = 1.0
    right = np.zeros(count)
    right[-1] = 1.0
    pi = np.maximum(spsolve(sparse.csc_array(system), right), 0.0)
    for _ in range(3):  # a few steps of the chain take the solve's last digits off
        pi = pi @ P
    return pi / pi.sum()


def is_reversible(P: Matrix, pi: NDArray[np.float64], tolerance: float = 1e-12) -> bool:
    """Whether π(x)P(x, y) = π(y)P(y, x) everywhere, up to ``tolerance``."""
    flow = sparse.csr_array(sparse.diags_array(pi) @ P)
    return bool(abs(flow - flow.T).max() <= tolerance)


def spectral_gap(P: Matrix, pi: NDArray[np.float64]) -> float:
    """1 − λ₂ of a reversible chain (symmetrised); for others 1 − max |λ| over λ ≠ 1, the absolute gap of the spectrum."""
    if is_reversible(P, pi):
        root = np.sqrt(pi)
        symmetric = (root[:, None] * P.toarray()) / root[None, :]
        return float(1 - np.linalg.eigvalsh((symmetric + symmetric.T) / 2)[-2])
    values = np.linalg.eigvals(P.toarray())
    return float(1 - np.sort(np.abs(values))[-2])


def total_variation_decay(P: Matrix, pi: NDArray[np.float64], start: int, steps: int) -> NDArray[np.float64]:
    """TV(P^t(x, ·), π) for t = 0 … steps from state number ``start``: [steps + 1]."""
    law = np.zeros(len(pi))
    law[start] = 1.0
    out = np.empty(steps + 1)
    for t in range(steps + 1):
        out[t] = 0.5 * np.abs(law - pi).sum()
        law = law @ P
    return out


def mixing_time(P: Matrix, pi: NDArray[np.float64], epsilon: float = 0.25, starts: NDArray[np.int64] | None = None, most: int = 10**6) -> int:
    """t_mix(ε) = min { t : max_x TV(P^t(x, ·), π) ≤ ε }, over all starts or the given ones."""
    laws = np.eye(len(pi)) if starts is None else np.eye(len(pi))[starts]
    for t in range(most):
        if 0.5 * np.abs(laws - pi).sum(axis=1).max() <= epsilon:
            return t
        laws = laws @ P
    raise InputError("mixing time", expected=f"at most {most} steps", came="a slower chain", remedy="raise `most`, or look at the spectral gap")


def entropy_production_rate(P: Matrix, pi: NDArray[np.float64]) -> float:
    """σ = Σ_x π(x) Σ_y P(x, y) log(P(x, y)/P(y, x)) ≥ 0 per step, in nats: 0 iff the chain is reversible."""
    forward = sparse.coo_array(P)
    x, y = forward.coords
    backward = np.asarray(P.T.tocsr()[x, y]).ravel()
    moved = x != y
    return float((pi[x] * forward.data * np.log(np.where(moved, forward.data / np.where(moved, backward, 1), 1.0))).sum())


def magnetisation_chain(sites: int, beta: float) -> NDArray[np.float64]:
    """The Glauber chain of Curie–Weiss seen through the number of pluses: a birth–death chain, [n + 1, n + 1]."""
    k = np.arange(sites + 1, dtype=np.float64)
    plus_given_others = lambda others: 1 / (1 + np.exp(-2 * beta / sites * (2 * others - (sites - 1))))  # noqa: E731
    up = (sites - k) / sites * plus_given_others(k)
    down = k / sites * (1 - plus_given_others(k - 1))
    return np.diag(1 - up - down) + np.diag(up[:-1], 1) + np.diag(down[1:], -1)


def magnetisation_mixing_time(sites: int, beta: float, epsilon: float = 0.25) -> int:
    """t_mix(ε) of Curie–Weiss from all plus: exact, since both laws are uniform given the number of pluses.

    >>> magnetisation_mixing_time(32, 0.5)
    114
    """
    from maskov.laws.spins import CurieWeiss

    pi = np.exp(CurieWeiss(sites, beta).log_count_law())
    chain, law, t = magnetisation_chain(sites, beta), np.eye(sites + 1)[-1], 0
    while 0.5 * np.abs(law - pi).sum() > epsilon:
        law, t = law @ chain, t + 1
    return t
