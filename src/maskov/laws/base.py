"""From a joint law to every view of it: conditionals at a site, given any visible set, tables."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from maskov.errors import InputError
from maskov.protocols import Flags, JointLaw, Tokens

MOST_STATES = 1 << 20


def enumerate_states(vocabulary_size: int, n_sites: int) -> Tokens:
    """All states of [V]^n in lexicographic order (first site slowest): int64 [V^n, n].

    Raises ``InputError`` beyond 2^20 states.

    >>> enumerate_states(2, 2).tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    """
    count = vocabulary_size**n_sites
    if count > MOST_STATES:
        raise InputError(
            "law", expected=f"at most {MOST_STATES} states to enumerate", came=f"{vocabulary_size}^{n_sites} states", remedy="take fewer sites or symbols"
        )
    return np.indices((vocabulary_size,) * n_sites, dtype=np.int64).reshape(n_sites, -1).T.copy()


def state_index(states: Tokens, vocabulary_size: int) -> Tokens:
    """Row of each state in ``enumerate_states``: int64 [B]. states: [B, n]."""
    powers = vocabulary_size ** np.arange(states.shape[1] - 1, -1, -1, dtype=np.int64)
    return states @ powers


class ExactLaw:
    """Mixin of every joint law: conditionals from ``log_prob`` and ``log_marginal`` by Bayes' rule, in float64.

    A subclass gives ``vocabulary_size``, ``n_sites``, ``log_prob``, ``log_marginal``, ``sample`` and ``text`` (its canonical form).
    """

    vocabulary_size: int
    n_sites: int

    @property
    def text(self) -> str:
        """The canonical text form."""
        return type(self).__name__

    @property
    def name(self) -> str:
        """What the command line calls it."""
        return f"law:{self.text}"

    @property
    def fingerprint(self) -> str:
        """The canonical form says everything about a parametric law."""
        return self.text

    def log_prob(self, states: Tokens) -> NDArray[np.float64]:
        """log p(x): the marginal with every site visible. states: [B, n]. Result: [B], nats."""
        return self.log_marginal(states, np.ones(states.shape, dtype=bool))

    def log_marginal(self, states: Tokens, visible: Flags) -> NDArray[np.float64]:
        """log p_S(x_S); see ``JointLaw``."""
        table = np.asarray(as_log_table(self))
        return np.array([_table_marginal(table, x, s) for x, s in zip(states, visible, strict=True)])

    def score_tokens(self, states: Tokens, sites: Tokens, tokens: Tokens) -> NDArray[np.float64]:
        """log p(x with x_i = v) for the given v: [B, k]; a conditional up to a constant per row."""
        B, k = tokens.shape
        replaced = np.repeat(states, k, axis=0)
        replaced[np.arange(B * k), np.repeat(sites, k)] = tokens.ravel()
        return self.log_prob(replaced).reshape(B, k)

    def logits(self, states: Tokens, sites: Tokens) -> NDArray[np.float64]:
        """log p(x with x_i = v) for every v: [B, V]."""
        return self.score_tokens(states, sites, _every_token(len(states), self.vocabulary_size))

    def predict(self, states: Tokens, hidden: Flags, sites: Tokens) -> NDArray[np.float64]:
        """log p(x_S, x_i = v), S the sites that are not hidden: [B, V]."""
        B, V = len(states), self.vocabulary_size
        replaced = np.repeat(states, V, axis=0)
        rows = np.arange(B * V)
        replaced[rows, np.repeat(sites, V)] = _every_token(B, V).ravel()
        visible = np.repeat(~hidden, V, axis=0)
        visible[rows, np.repeat(sites, V)] = True
        return self.log_marginal(replaced, visible).reshape(B, V)


def _every_token(rows: int, vocabulary_size: int) -> Tokens:
    return np.tile(np.arange(vocabulary_size, dtype=np.int64), (rows, 1))


def _table_marginal(table: NDArray[np.float64], state: Tokens, visible: Flags) -> float:
    index = tuple(int(v) if s else slice(None) for v, s in zip(state, visible, strict=True))
    return float(logsumexp(table[index]))


def as_log_table(law: JointLaw) -> NDArray[np.float64]:
    """log p as an array of shape (V,)·n; raises ``InputError`` for a law too large to enumerate."""
    states = enumerate_states(law.vocabulary_size, law.n_sites)
    return law.log_prob(states).reshape((law.vocabulary_size,) * law.n_sites)
