"""The exact block chain of a small model: its transition matrix by enumeration of states and hidden sets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, logsumexp

from maskov.errors import InputError
from maskov.glauber.block_refill import choose_refill, joint_law
from maskov.laws.base import as_log_table, enumerate_states, state_index
from maskov.protocols import Flags
from maskov.schedules import Schedule, schedule

Floats = NDArray[np.float64]
MOST_STATES = 1024


def block_matrix(
    model: Any, n_sites: int, spec: str | Schedule, temperature: float = 1.0, refill: str = "auto"
) -> Floats:
    """P(x, y) = Σ_S μ(S) 1[x_S = y_S] q_H(y_H | x_S), H the hidden sites: dense [V^n, V^n], states as enumerated.

    q is the softmax of log p/τ over the fillings of H (joint), or the mean over orders of Π softmax(s_i/τ)
    (sequential): q_H(y) = |H|^{-1} Σ_{i ∈ H} p_i(y_i | y_{−H}) q_{H∖i}(y). Raises ``InputError`` beyond 1,024 states.

    >>> from maskov.laws import law
    >>> block_matrix(law("curie-weiss?sites=2&beta=0"), 2, "full")[0].tolist()
    [0.25, 0.25, 0.25, 0.25]
    """
    V = int(model.vocabulary_size)
    if V**n_sites > MOST_STATES:
        raise InputError("transition matrix", expected=f"at most {MOST_STATES} states", came=f"{V}^{n_sites}")
    states, sets = enumerate_states(V, n_sites), schedule(spec).set_law(n_sites)
    kind = _Joint if choose_refill(model, refill) == "joint" else _Sequential
    log_q: Callable[[Flags], Floats] = kind(model, states, temperature)
    kernel = np.zeros((len(states), len(states)))
    for visible, log_mass in zip(sets.visible, sets.log_mass, strict=True):
        shown = state_index(states[:, visible], V)
        kernel += np.where(shown[:, None] == shown, np.exp(log_mass + log_q(~visible)), 0.0)
    return kernel


class _Joint:
    def __init__(self, model: Any, states: NDArray[np.int64], temperature: float) -> None:
        law = joint_law(model, MOST_STATES)
        self.states, self.V, self.scores = states, int(law.vocabulary_size), as_log_table(law).ravel() / temperature

    def __call__(self, hidden: Flags) -> Floats:
        """log q_H(y_H | y_{−H}) at every state y."""
        shown = state_index(self.states[:, ~hidden], self.V)
        classes = shown.argsort(kind="stable").reshape(-1, self.V ** int(hidden.sum()))
        log_q = np.empty(len(self.states))
        log_q[classes] = log_softmax(self.scores[classes], axis=1)
        return log_q


class _Sequential:
    def __init__(self, model: Any, states: NDArray[np.int64], temperature: float) -> None:
        self.model, self.states, self.temperature = model, states, temperature
        self.known: dict[bytes, Floats] = {}

    def __call__(self, hidden: Flags) -> Floats:
        """log q_H(y_H | y_{−H}) at every state y, the mean over orders."""
        key = hidden.tobytes()
        if key not in self.known:
            sites = np.flatnonzero(hidden)
            terms = [self._row(hidden, int(i)) + self(_without(hidden, int(i))) for i in sites]
            mean = logsumexp(terms, axis=0) - np.log(len(sites)) if terms else np.zeros(len(self.states))
            self.known[key] = np.asarray(mean)
        return self.known[key]

    def _row(self, hidden: Flags, site: int) -> Floats:
        B = len(self.states)
        rows = self.model.predict(self.states, np.tile(hidden, (B, 1)), np.full(B, site))
        log_p = log_softmax(np.asarray(rows, dtype=np.float64) / self.temperature, axis=1)
        return np.asarray(log_p[np.arange(B), self.states[:, site]])


def _without(hidden: Flags, site: int) -> Flags:
    rest = hidden.copy()
    rest[site] = False
    return rest
