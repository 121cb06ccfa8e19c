"""The exact chain of a small law: matrix, stationary law, gap, mixing time, entropy production."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse.linalg import spsolve
from scipy.special import expit, softmax

from maskov.errors import InputError
from maskov.laws.base import enumerate_states, state_index
from maskov.laws.spins import CurieWeiss, check_beta, check_count
from maskov.protocols import Conditionals

Matrix: TypeAlias = sparse.csr_array
Vector: TypeAlias = NDArray[np.float64]

# Elimination and eigenvalues take O(N³) time and O(N²) memory: above these sizes they would not end or not fit.
_MOST_ELIMINATED = 1024
_MOST_DENSE = 4096


def site_matrix(conditionals: Conditionals, n_sites: int, site: int, temperature: float = 1.0) -> Matrix:
    """Transition matrix of one update at a fixed site: P_i(x, y) = p_{i,τ}(y_i | x_{-i}), sparse [V^n, V^n].

    States are numbered as in ``enumerate_states``. Raises ``InputError`` on a temperature ≤ 0, on more than 2^20
    states, and on a context without a conditional (a state of probability 0).
    """
    if not (np.isfinite(temperature) and temperature > 0):
        raise InputError("temperature", expected="a finite number above 0", came=repr(temperature))
    V = conditionals.vocabulary_size
    states = enumerate_states(V, n_sites)
    logits = np.asarray(conditionals.logits(states, np.full(len(states), site)), dtype=np.float64)
    _check_rows(logits, states, site)
    probabilities = softmax(logits / temperature, axis=1)
    targets = np.repeat(states, V, axis=0)
    targets[:, site] = np.tile(np.arange(V), len(states))
    rows = np.repeat(np.arange(len(states)), V)
    shape = (len(states), len(states))
    matrix = sparse.csr_array((probabilities.ravel(), (rows, state_index(targets, V))), shape=shape)
    matrix.eliminate_zeros()
    return matrix


def _check_rows(logits: Vector, states: NDArray[np.int64], site: int) -> None:
    top = logits.max(axis=1)
    if not np.isfinite(top).all():
        state = states[int(np.flatnonzero(~np.isfinite(top))[0])].tolist()
        came = f"none at site {site} of state {state}"
        raise InputError(
            "transition matrix", expected="a conditional in every context", came=came, remedy="use a positive law"
        )


def transition_matrix(
    conditionals: Conditionals,
    n_sites: int,
    temperature: float = 1.0,
    scan: Literal["random", "systematic"] = "random",
) -> Matrix:
    """P(x, y) of one step of the random-scan chain, (1/n) Σ_i P_i, or of one systematic sweep, P_1 P_2 ⋯ P_n.

    conditionals: a law, or conditionals that belong to none; result: sparse [V^n, V^n], rows sum to 1.

    >>> from maskov.laws import law
    >>> transition_matrix(law("curie-weiss?sites=2&beta=0"), 2).toarray()[0].tolist()
    [0.5, 0.25, 0.25, 0.0]
    """
    parts = [site_matrix(conditionals, n_sites, i, temperature) for i in range(n_sites)]
    if scan == "random":
        return sparse.csr_array(sum(parts[1:], parts[0]) / n_sites)
    if scan != "systematic":
        raise InputError("scan", expected="random or systematic", came=repr(scan))
    sweep = parts[0]
    for part in parts[1:]:
        sweep = sparse.csr_array(sweep @ part)
    return sweep


def _dense(P: Matrix | Vector, most: int = _MOST_DENSE) -> Vector:
    if P.shape[0] > most:
        raise InputError(
            "transition matrix", expected=f"at most {most} states", came=str(P.shape[0]), remedy="take fewer sites"
        )
    return P if isinstance(P, np.ndarray) else np.asarray(P.toarray())


def stationary_law(P: Matrix | Vector) -> Vector:
    """The law with πP = π, Σ π = 1: [N]. Raises ``InputError`` on a chain that does not reach every state.

    Up to 1024 states by elimination without subtractions [Grassmann, Taksar & Heyman 1985], so that every entry has
    full relative precision even where the chain is all but stuck; beyond that by a sparse solve.
    """
    return _eliminated(_dense(P)) if P.shape[0] <= _MOST_ELIMINATED else _solved(sparse.csr_array(P))


def _eliminated(P: Vector) -> Vector:
    A = P.copy()
    for k in range(len(A) - 1, 0, -1):
        leave = A[k, :k].sum()
        if leave <= 0:
            raise InputError(
                "transition matrix", expected="a chain that reaches every state", came=f"state number {k} shut off"
            )
        A[:k, k] /= leave
        A[:k, :k] += np.outer(A[:k, k], A[k, :k])
    pi = np.ones(len(A))
    for k in range(1, len(A)):
        pi[k] = pi[:k] @ A[:k, k]
    if not (pi > 0).all():
        raise InputError(
            "transition matrix", expected="a chain that reaches every state", came="states that it never returns to"
        )
    return np.asarray(pi / pi.sum())


def _solved(P: Matrix) -> Vector:
    """One balance equation is implied by the others: drop it, set that entry to 1, normalise afterwards."""
    balance = sparse.csc_array(P.T - sparse.eye_array(P.shape[0]))
    rest = spsolve(balance[1:, 1:], -balance[1:, [0]].toarray().ravel())
    pi = np.maximum(np.concatenate([[1.0], rest]), 0.0)
    for _ in range(3):  # a few steps of the chain smooth the last digits of the solve
        pi = pi @ P
    return np.asarray(pi / pi.sum())


def is_reversible(P: Matrix | Vector, pi: Vector, tolerance: float = 1e-9) -> bool:
    """Whether π(x)P(x, y) = π(y)P(y, x) for every pair, up to a relative ``tolerance``."""
    flow = sparse.csr_array(sparse.diags_array(pi) @ sparse.csr_array(P))
    excess = abs(flow - flow.T) - tolerance * (flow + flow.T)
    return bool(excess.max() <= 1e-16 * flow.max())


def spectral_gap(P: Matrix | Vector, pi: Vector) -> float:
    """1 − λ₂ of a reversible chain; of another the *absolute* gap of the spectrum, 1 − max{|λ| : λ ≠ 1}.

    The reversible case has the eigenvalues of √(P(x, y)P(y, x)), which is symmetric. At most 4096 states. The absolute
    gap of a chain that is not reversible gives the rate of decay in the long run and no mixing-time bound by itself.
    """
    A = _dense(P)
    if len(A) < 2:
        return 1.0
    if is_reversible(P, pi):
        return float(1 - np.linalg.eigvalsh(np.sqrt(A * A.T))[-2])
    return float(1 - np.sort(np.abs(np.linalg.eigvals(A)))[-2])


def total_variation_decay(P: Matrix | Vector, pi: Vector, start: int, steps: int) -> Vector:
    """TV(P^t(x, ·), π) for t = 0 … steps from state number ``start``: [steps + 1], never increasing."""
    law = np.zeros(len(pi))
    law[start] = 1.0
    out = np.empty(steps + 1)
    for t in range(steps + 1):
        out[t] = 0.5 * np.abs(law - pi).sum()
        law = law @ P
    return out


def mixing_time(
    P: Matrix | Vector,
    pi: Vector,
    epsilon: float = 0.25,
    starts: Literal["all"] | ArrayLike = "all",
    most: int = 10**12,
) -> int:
    """t_mix(ε) = min { t : max_x TV(P^t(x, ·), π) ≤ ε } over all starts, or over the given state numbers.

    The distance never increases, so t is found by doubling and halving on powers of P. Raises ``InputError`` on ε
    outside (0, 1), on more than 4096 states, and where the chain needs more than ``most`` steps.
    """
    if not 0 < epsilon < 1:
        raise InputError("epsilon", expected="a number above 0 and below 1", came=repr(epsilon))
    power, powers = _dense(P), []
    laws = np.eye(len(pi)) if isinstance(starts, str) else np.eye(len(pi))[np.asarray(starts).ravel()]
    if _distance(laws, pi) <= epsilon:
        return 0
    while _distance(laws @ power, pi) > epsilon:
        powers.append(power)
        power = power @ power
        power /= power.sum(axis=1, keepdims=True)  # squaring doubles the error of a row's sum
        if 2 ** len(powers) > most:
            raise InputError(
                "mixing time", expected=f"at most {most} steps", came="a slower chain", remedy="look at the gap"
            )
    t = 0
    for k in range(len(powers) - 1, -1, -1):
        later = laws @ powers[k]
        if _distance(later, pi) > epsilon:
            laws, t = later, t + 2**k
    return t + 1


def _distance(laws: Vector, pi: Vector) -> float:
    return 0.5 * float(np.abs(laws - pi).sum(axis=1).max())


def entropy_production_rate(P: Matrix | Vector, pi: Vector) -> float:
    """σ = Σ_x π(x) Σ_y P(x, y) log(P(x, y)/P(y, x)) per step, in nats: ≥ 0, and 0 iff the chain is reversible.

    Summed as ½ Σ (f(x, y) − f(y, x)) log(f(x, y)/f(y, x)) with f = πP: equal for a stationary π, with no
    negative term; +inf where a move has no way back.
    """
    flow = sparse.csr_array(sparse.diags_array(pi) @ sparse.csr_array(P))
    flow.setdiag(0.0)
    flow.eliminate_zeros()
    x, y = flow.nonzero()
    there, back = np.asarray(flow[x, y]).ravel(), np.asarray(flow[y, x]).ravel()
    if (back == 0).any():
        return float("inf")
    return 0.5 * float(((there - back) * np.log(there / back)).sum())


def count_chain(plus: ArrayLike) -> Vector:
    """The random-scan chain of an exchangeable law of 0/1 sites, seen through the number k of ones: [n + 1, n + 1].

    plus: [n], P(x_i = 1 | k ones among the others) for k = 0 … n − 1. Up with (n − k)/n · plus_k, down with
    k/n · (1 − plus_{k−1}).

    >>> count_chain([0.5, 0.5]).tolist()
    [[0.5, 0.5, 0.0], [0.25, 0.5, 0.25], [0.0, 0.5, 0.5]]
    """
    p = np.asarray(plus, dtype=np.float64)
    n = len(p)
    up = (n - np.arange(n)) / n * p
    down = np.arange(1, n + 1) / n * (1 - p)
    stay = 1 - np.append(up, 0.0) - np.append(0.0, down)
    return np.diag(stay) + np.diag(up, 1) + np.diag(down, -1)


def magnetisation_chain(sites: int, beta: float) -> Vector:
    """The Glauber chain of Curie–Weiss seen through its number of pluses: birth–death, [n + 1, n + 1].

    Temperature τ is β/τ. Its stationary law is ``exp(CurieWeiss(sites, beta).log_count_law())``.
    """
    n, field = check_count("sites", sites, 1), check_beta(beta)
    return count_chain(expit(2 * field / n * (2.0 * np.arange(n) - (n - 1))))


def magnetisation_mixing_time(sites: int, beta: float, epsilon: float = 0.25) -> int:
    """t_mix(ε) of Curie–Weiss from all plus, in steps: exact, since all states with k pluses stay equally likely.

    >>> magnetisation_mixing_time(32, 0.5)
    114
    """
    pi = np.exp(CurieWeiss(sites, beta).log_count_law())
    return mixing_time(magnetisation_chain(sites, beta), pi, epsilon, starts=[sites])
