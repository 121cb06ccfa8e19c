"""From a joint law to every view of it: conditionals at a site, given any visible set, and tables."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskov.errors import InputError
from maskov.protocols import Flags, JointLaw, Tokens

MOST_STATES = 1 << 20


def check_enumerable(vocabulary_size: int, n_sites: int) -> int:
    """V^n, or ``InputError`` where it is above 2^20 (or V or n is below 1).

    >>> check_enumerable(3, 3)
    27
    """
    if vocabulary_size < 1 or n_sites < 1:
        raise InputError("law", expected="at least one symbol and one site", came=f"{vocabulary_size} and {n_sites}")
    # The logarithm first: V^n itself can be an integer of a million digits.
    if n_sites * np.log2(vocabulary_size) > 21 or vocabulary_size**n_sites > MOST_STATES:
        raise InputError(
            "law",
            expected=f"at most {MOST_STATES} states to enumerate",
            came=f"{vocabulary_size}^{n_sites} states",
            remedy="take fewer sites or symbols",
        )
    return int(vocabulary_size**n_sites)


def enumerate_states(vocabulary_size: int, n_sites: int) -> Tokens:
    """All states of [V]^n in lexicographic order, the first site most significant: int64 [V^n, n].

    Raises ``InputError`` beyond 2^20 states.

    >>> enumerate_states(2, 2).tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    """
    numbers = np.arange(check_enumerable(vocabulary_size, n_sites))
    return np.stack(np.unravel_index(numbers, (vocabulary_size,) * n_sites), axis=1).astype(np.int64)


def state_index(states: Tokens, vocabulary_size: int) -> Tokens:
    """Row of each state in ``enumerate_states``: Σ_i x_i V^{n−i}. states: [B, n]. Result: int64 [B].

    >>> state_index(np.array([[1, 0]]), 2).tolist()
    [2]
    """
    powers = vocabulary_size ** np.arange(states.shape[1] - 1, -1, -1, dtype=np.int64)
    return np.asarray(states @ powers, dtype=np.int64)


def check_states(law: Any, states: Tokens) -> Tokens:
    """The states as int64 [B, n] if they are states of the law; ``InputError`` on another shape, type or symbol."""
    x = np.asarray(states)
    if x.ndim != 2 or x.shape[1] != law.n_sites:
        raise InputError("states", expected=f"an array [B, {law.n_sites}] of symbols", came=f"shape {x.shape}")
    if x.dtype.kind not in "iub":
        raise InputError("states", expected="whole numbers", came=f"{x.dtype}")
    if x.size and (x.min() < 0 or x.max() >= law.vocabulary_size):
        raise InputError("states", expected=f"symbols 0 … {law.vocabulary_size - 1}", came=f"{x.min()} … {x.max()}")
    return x.astype(np.int64, copy=False)


def check_visible(states: Tokens, visible: Flags) -> Flags:
    """The visible sets as bool [B, n]; ``InputError`` on another shape or on numbers."""
    S = np.asarray(visible)
    if S.shape != states.shape or S.dtype != np.bool_:
        raise InputError("visible", expected=f"bool {list(states.shape)}", came=f"{S.dtype} {list(S.shape)}")
    return S


def number_text(value: float) -> str:
    """A number as short as it can be written without changing it.

    >>> number_text(0.3), number_text(2.0), number_text(1 / 3)
    ('0.3', '2', '0.3333333333333333')
    """
    short = f"{value:g}"
    return short if float(short) == value else repr(float(value))


def digest(*arrays: NDArray[Any]) -> str:
    """SHA-256 over the shapes and bytes of arrays: 64 hexadecimal digits."""
    state = hashlib.sha256()
    for array in arrays:
        state.update(f"{array.shape}{array.dtype}".encode() + np.ascontiguousarray(array).tobytes())
    return state.hexdigest()


class EnumerableLaw:
    """Mixin of every joint law: conditionals from ``log_prob`` and ``log_marginal`` by Bayes' rule, in float64.

    A subclass gives ``vocabulary_size``, ``n_sites``, ``text`` (canonical form), ``log_prob``, ``log_marginal`` and
    ``sample``; it overrides the rest where there is a faster formula. Rows are log-weights up to a constant, −inf for
    an impossible token. A context of probability 0 has no conditional: its row is −inf throughout, and whoever
    normalises it refuses it by name (a chain, a transition matrix).
    """

    vocabulary_size: int
    n_sites: int

    @property
    def text(self) -> str:
        """The canonical text form, which ``law`` reads back."""
        return type(self).__name__

    @property
    def name(self) -> str:
        """The string that loads it as a model."""
        return f"law:{self.text}"

    @property
    def fingerprint(self) -> str:
        """Says everything that the answers depend on: the canonical form, which a parametric law is determined by."""
        return self.text

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.text!r})"

    def log_prob(self, states: Tokens) -> NDArray[np.float64]:
        """log p(x): the marginal with every site visible. states: [B, n]. Result: [B], nats."""
        return self.log_marginal(states, np.ones(np.shape(states), dtype=bool))

    def log_marginal(self, states: Tokens, visible: Flags) -> NDArray[np.float64]:
        """log p_S(x_S), S the true columns of ``visible`` [B, n]. Result: [B], nats."""
        raise TypeError(f"{type(self).__name__} must define log_marginal")

    def score_tokens(self, states: Tokens, sites: Tokens, tokens: Tokens) -> NDArray[np.float64]:
        """log p(x with x_i = v) for the given v: [B, k], a conditional up to a constant per row."""
        return self.log_prob(_replaced(states, sites, tokens)).reshape(tokens.shape)

    def logits(self, states: Tokens, sites: Tokens) -> NDArray[np.float64]:
        """log p(x with x_i = v) for every v: [B, V]."""
        return self.score_tokens(states, sites, _every_token(len(states), self.vocabulary_size))

    def predict(self, states: Tokens, hidden: Flags, sites: Tokens) -> NDArray[np.float64]:
        """log p(x_S, x_i = v), S the sites that are not hidden: [B, V]."""
        B, V = len(states), self.vocabulary_size
        visible = np.repeat(~check_visible(np.asarray(states), hidden), V, axis=0)
        visible[np.arange(B * V), np.repeat(sites, V)] = True
        return self.log_marginal(_replaced(states, sites, _every_token(B, V)), visible).reshape(B, V)


def _every_token(rows: int, vocabulary_size: int) -> Tokens:
    return np.tile(np.arange(vocabulary_size, dtype=np.int64), (rows, 1))


def _replaced(states: Tokens, sites: Tokens, tokens: Tokens) -> Tokens:
    """Each state once per token, that token written at its site: [B·k, n]."""
    B, k = tokens.shape
    out = np.repeat(states, k, axis=0)
    out[np.arange(B * k), np.repeat(sites, k)] = tokens.ravel()
    return out


def only_hidden(states: Tokens, sites: Tokens) -> Flags:
    """Hidden sets with the site alone: bool [B, n]."""
    hidden = np.zeros(np.shape(states), dtype=bool)
    hidden[np.arange(len(states)), sites] = True
    return hidden


def draw_rows(log_weights: NDArray[np.float64], u: NDArray[np.float64]) -> Tokens:
    """One draw per row of log-weights by inverse CDF in float64. log_weights: [B, m]; u: [B] in [0, 1). Result: [B].

    >>> draw_rows(np.log([[0.25, 0.75]]), np.array([0.3])).tolist()
    [1]
    """
    weights = np.exp(log_weights - log_weights.max(axis=1, keepdims=True))
    cdf = np.cumsum(weights, axis=1)
    # The last positive weight ends the row: a target that rounds up to the total must not fall on an impossible value.
    last = weights.shape[1] - 1 - (weights[:, ::-1] > 0).argmax(axis=1)
    return np.minimum((u[:, None] * cdf[:, -1:] >= cdf).sum(axis=1), last).astype(np.int64)


def draw_values(log_weights: NDArray[np.float64], u: NDArray[np.float64]) -> Tokens:
    """Draws from one law by inverse CDF in float64. log_weights: [m]; u: any shape, in [0, 1). Result: that shape.

    >>> draw_values(np.log([0.25, 0.75]), np.array([[0.1, 0.3]])).tolist()
    [[0, 1]]
    """
    weights = np.exp(log_weights - log_weights.max())
    cdf = np.cumsum(weights)
    last = int(np.flatnonzero(weights)[-1])
    return np.minimum(np.searchsorted(cdf, u * cdf[-1], side="right"), last).astype(np.int64)


def as_log_table(law: JointLaw) -> NDArray[np.float64]:
    """log p as an array of shape (V,)·n; raises ``InputError`` for a law too large to enumerate."""
    states = enumerate_states(law.vocabulary_size, law.n_sites)
    return law.log_prob(states).reshape((law.vocabulary_size,) * law.n_sites)
