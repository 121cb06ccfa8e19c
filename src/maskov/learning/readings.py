"""Which mode weights a trained learner believes in: three readings of one predictor.

* full mask: what it says with nothing visible, mapped to mode weights. The loss trains it only through π_0.
* chain: the stationary law of single-site Glauber dynamics on its conditionals given all other sites. Exact
  conditionals determine the weights, but where ρ of ``hide:1`` is e^{−cN} an error of that size in rarely visited
  contexts moves them arbitrarily.
* any order: the law of texts that it writes from nothing, sites revealed one at a time in random order. It uses every
  visible count, so it is meaningful where the schedule trained all of them.

A witness is a joint law, and all three agree. A table or a network need not have a joint law, and then they differ:
under ``hide:1`` only the chain reads what was trained, under ``full`` only the full mask. Each reading projects a law
onto the witness family: the λ that maximises E log Σ_z λ_z p_z.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import softmax

from maskov.glauber import glauber
from maskov.glauber.kernel import count_chain, stationary_law, transition_matrix
from maskov.laws import draw_rows, enumerate_states
from maskov.learning.modes import Modes
from maskov.learning.tabular import CountTable
from maskov.protocols import State, Tokens

Floats = NDArray[np.float64]
MOST_STATES = 1024


def project(mass: Floats, log_rows: Floats) -> Floats:
    """The mode weights λ [K] that maximise Σ_r mass_r log Σ_z λ_z e^{log_rows[r, z]}, a concave problem.

    mass: [R], sums to 1; log_rows: [R, K].

    >>> project(np.array([0.38, 0.62]), np.log([[0.2, 0.8], [0.8, 0.2]])).round(6).tolist()
    [0.7, 0.3]
    """
    used = mass > 0
    mass, ratios = mass[used], np.exp(log_rows[used] - log_rows[used].max(axis=1, keepdims=True))
    return _two(mass, ratios) if ratios.shape[1] == 2 else _expectation_maximisation(mass, ratios)


def _two(mass: Floats, ratios: Floats) -> Floats:
    def slope(x: float) -> float:
        return float((mass * (ratios[:, 1] - ratios[:, 0]) / (ratios[:, 0] * (1 - x) + ratios[:, 1] * x)).sum())

    low, high = 1e-12, 1 - 1e-12
    x = low if slope(low) <= 0 else high if slope(high) >= 0 else float(brentq(slope, low, high, xtol=1e-14))
    return np.array([1 - x, x])


def _expectation_maximisation(mass: Floats, ratios: Floats, iterations: int = 5000) -> Floats:
    weights = np.full(ratios.shape[1], 1 / ratios.shape[1])
    for _ in range(iterations):
        joint = weights * ratios
        new = mass @ (joint / joint.sum(axis=1, keepdims=True))
        done, weights = np.abs(new - weights).max() < 1e-12, new
        if done:
            break
    return np.asarray(weights / weights.sum())


def full_mask_weight(learner: Any, modes: Modes) -> Floats | None:
    """λ [K] from the rows at full mask; None where single sites do not tell the modes apart."""
    N, log_rows = modes.law.n_sites, _single_sites(modes)
    if np.linalg.matrix_rank(np.exp(log_rows), tol=1e-6) < len(modes.weights):
        return None
    states, sites = np.zeros((N, N), dtype=np.int64), np.arange(N)
    rows = softmax(np.asarray(learner.predict(states, np.ones((N, N), dtype=bool), sites), dtype=np.float64), axis=1)
    return project(rows.ravel() / N, log_rows)


def _single_sites(modes: Modes) -> Floats:
    """log p_z(x_i = a): [N · V, K]."""
    N, V = modes.law.n_sites, modes.law.vocabulary_size
    states, visible = np.tile(np.arange(V), N)[:, None].repeat(N, axis=1), np.eye(N, dtype=bool).repeat(V, axis=0)
    return modes.log_marginals(states, visible)


def chain_weight(learner: Any, modes: Modes) -> Floats | None:
    """λ [K] of the stationary law of Glauber dynamics on the learner's conditionals, exactly; None where too large."""
    N, V = modes.law.n_sites, modes.law.vocabulary_size
    if isinstance(learner, CountTable) and V == 2:
        ones = np.arange(N)
        plus = np.exp(learner.log_rows(np.stack([N - 1 - ones, ones], axis=1)))[:, 1]
        pi = stationary_law(count_chain(plus)) if N < MOST_STATES else None
        return None if pi is None else project(pi, _whole_counts(modes))
    if V**N > MOST_STATES:
        return None
    pi = stationary_law(transition_matrix(learner, N))
    return project(pi, _whole(modes, enumerate_states(V, N)))


def _whole(modes: Modes, states: Tokens) -> Floats:
    return modes.log_marginals(states, np.ones(states.shape, dtype=bool))


def _whole_counts(modes: Modes) -> Floats:
    """log p_z of a text with k ones, k = 0 … N: [N + 1, K]."""
    ones = np.arange(modes.law.n_sites + 1)
    return modes.log_count_marginals(np.stack([modes.law.n_sites - ones, ones], axis=1))


def sampled_chain_weight(learner: Any, modes: Modes, sweeps: int, seed: int, chains: int = 32) -> Floats:
    """λ [K] from Glauber chains on the learner, started from texts of each mode in equal numbers.

    The second half of the run is read. Where the chain hardly mixes this is the weight of the starts, 1/K each.
    """
    N, K = modes.law.n_sites, len(modes.weights)
    rng = np.random.Generator(np.random.Philox(key=seed))
    starts = modes.law.sample_modes(rng, np.arange(chains) % K)
    trace = glauber(learner, [State(x, np.arange(N)) for x in starts], sweeps=sweeps, seed=seed)
    times = np.linspace(trace.steps // 2, trace.steps, 51).astype(int)
    seen = np.concatenate([np.stack([trace.state(c, int(t)) for c in range(chains)]) for t in times])
    return project(np.full(len(seen), 1 / len(seen)), _whole(modes, seen))


def any_order_weight(learner: Any, modes: Modes, rng: np.random.Generator, size: int = 1000) -> Floats:
    """λ [K] of the law of texts that the learner writes in random order: exact for tables of counts, else sampled."""
    if isinstance(learner, CountTable):
        counts, mass = any_order_counts(learner)
        return project(mass, modes.log_count_marginals(counts))
    states = any_order_texts(learner, rng, size)
    return project(np.full(size, 1 / size), _whole(modes, states))


def any_order_counts(learner: CountTable) -> tuple[Tokens, Floats]:
    """Counts of the texts that a table of counts writes, with their probabilities: [R, V], [R]."""
    N, V = learner.n_sites, learner.vocabulary_size
    counts: Tokens = np.zeros((1, V), dtype=np.int64)
    mass: Floats = np.ones(1)
    for _ in range(N):
        q = np.exp(learner.log_rows(counts)) * mass[:, None]
        more = (counts[:, None, :] + np.eye(V, dtype=np.int64)).reshape(-1, V)
        counts, which = np.unique(more, axis=0, return_inverse=True)
        mass = np.asarray(np.bincount(which.ravel(), weights=q.ravel()), dtype=np.float64)
    return counts, mass / mass.sum()


def any_order_texts(learner: Any, rng: np.random.Generator, size: int) -> Tokens:
    """Texts written by a predictor from full mask, one random hidden site at a time: int64 [size, N]."""
    N = learner.n_sites
    order = rng.random((size, N)).argsort(axis=1)
    states, hidden, rows = np.zeros((size, N), dtype=np.int64), np.ones((size, N), dtype=bool), np.arange(size)
    for k in range(N):
        sites = order[:, k]
        logits = np.asarray(learner.predict(states, hidden, sites), dtype=np.float64)
        states[rows, sites] = draw_rows(logits, rng.random(size))
        hidden[rows, sites] = False
    return states
