"""Laws with modes: mixtures p = Σ_z w_z p_z whose members q_λ share every within-mode conditional."""

from __future__ import annotations

import hashlib
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

from maskov.errors import InputError
from maskov.laws import Mixture, enumerate_states, state_index
from maskov.protocols import Flags, JointLaw, Tokens

Floats = NDArray[np.float64]


@runtime_checkable
class ModeLaw(JointLaw, Protocol):
    """A joint law that knows its modes."""

    @property
    def weights(self) -> Floats:
        """w: [K], sums to 1."""
        ...

    def log_mode_marginals(self, states: Tokens, visible: Flags) -> Floats:
        """log p_z(x_S): [B, K]."""
        ...


def check_weights(weights: ArrayLike, K: int | None = None) -> Floats:
    """Mode weights as float64 [K]: each above 0 and below 1, sum 1; ``InputError`` otherwise."""
    w = np.atleast_1d(np.asarray(weights, dtype=np.float64))
    if w.ndim != 1 or len(w) < 2 or (K is not None and len(w) != K):
        raise InputError("mode weights", expected=f"{K or 'two or more'} numbers", came=f"{w.size}")
    if not ((w > 0) & (w < 1)).all():
        raise InputError("mode weight", expected="a number above 0 and below 1", came=", ".join(f"{x:g}" for x in w))
    if abs(w.sum() - 1) > 1e-9:
        raise InputError("mode weights", expected="weights that sum to 1", came=f"a sum of {w.sum():.6g}")
    return w / w.sum()


class TableModes(Mixture):
    """A mixture of K tabular laws: every mode any law of a few sites.

    weights: [K]; log_tables: [K, V, …, V], unnormalised log-probabilities, normalised per mode here.

    >>> law = TableModes([0.3, 0.7], np.log([[0.9, 0.1], [0.2, 0.8]]))
    >>> round(float(np.exp(law.log_prob(np.array([[0]])))[0]), 3)
    0.41
    """

    def __init__(self, weights: ArrayLike, log_tables: ArrayLike) -> None:
        tables = np.asarray(log_tables, dtype=np.float64)
        self.weights = check_weights(weights, len(tables))
        self.log_weights, self._text = np.log(self.weights), None
        if tables.ndim < 2 or len(set(tables.shape[1:])) != 1 or tables.shape[1] < 2 or np.isnan(tables).any():
            raise InputError("mode tables", expected="shape (K, V, …, V) with V ≥ 2 and no NaN", came=str(tables.shape))
        self.vocabulary_size, self.n_sites = tables.shape[1], tables.ndim - 1
        self.log_mode_tables = tables - logsumexp(tables, axis=tuple(range(1, tables.ndim)), keepdims=True)

    @property
    def text(self) -> str:
        """What it is, with a digest of its tables: it has no text form to parse."""
        parts = self.log_mode_tables.tobytes() + self.weights.tobytes()
        return (
            f"modes?sites={self.n_sites}&symbols={self.vocabulary_size}&sha256={hashlib.sha256(parts).hexdigest()[:12]}"
        )

    def mode_table(self, visible: Flags) -> Floats:
        """log p_z(x_S) of every x_S of one visible set [n]: [V^|S|, K]."""
        hidden = tuple(1 + np.flatnonzero(~visible))
        marginal = logsumexp(self.log_mode_tables, axis=hidden) if hidden else self.log_mode_tables
        return np.asarray(marginal).reshape(len(self.weights), -1).T

    def log_mode_marginals(self, states: Tokens, visible: Flags) -> Floats:
        """log p_z(x_S): [B, K]."""
        out = np.empty((len(states), len(self.weights)))
        patterns, which = np.unique(visible, axis=0, return_inverse=True)
        for k, pattern in enumerate(patterns):
            rows = np.flatnonzero(which.ravel() == k)
            out[rows] = self.mode_table(pattern)[
                state_index(states[np.ix_(rows, np.flatnonzero(pattern))], self.vocabulary_size)
            ]
        return out

    def sample_modes(self, rng: np.random.Generator, modes: Tokens) -> Tokens:
        """One draw from each given mode: [B, n]."""
        cdf = np.exp(self.log_mode_tables).reshape(len(self.weights), -1).cumsum(axis=1)
        cells = [
            min(int(np.searchsorted(cdf[z], u)), cdf.shape[1] - 1)
            for z, u in zip(modes, rng.random(len(modes)), strict=True)
        ]
        shape = self.log_mode_tables.shape[1:]
        return np.stack(np.unravel_index(np.array(cells, dtype=np.int64), shape), axis=1).astype(np.int64)


def mode_table(law: ModeLaw, visible: Flags) -> Floats:
    """log p_z(x_S) of every x_S in lexicographic order, for one visible set [n]: [V^|S|, K]."""
    if hasattr(law, "mode_table"):
        return np.asarray(law.mode_table(visible))
    shown = (
        enumerate_states(law.vocabulary_size, int(visible.sum())) if visible.any() else np.zeros((1, 0), dtype=np.int64)
    )
    states = np.zeros((len(shown), law.n_sites), dtype=np.int64)
    states[:, visible] = shown
    return law.log_mode_marginals(states, np.tile(visible, (len(shown), 1)))
