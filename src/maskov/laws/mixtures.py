"""Product mixtures: K modes, sites independent given the mode."""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

from maskov.errors import InputError
from maskov.laws.base import ExactLaw
from maskov.protocols import Flags, Tokens


class ProductMixture(ExactLaw):
    """p(x) = Σ_z w_z Π_i p_z(x_i): marginals and conditionals exact on any visible set, at any n.

    weights: [K] > 0, sum 1; log_sites: [K, V] (every site the same) or [K, n, V], log-probabilities; sites: n.

    >>> law = reference_mixture(4, gap=0.3, weight=0.3)
    >>> law.log_prob(np.ones((1, 4), int)).shape
    (1,)
    """

    def __init__(self, weights: ArrayLike, log_sites: ArrayLike, sites: int, text: str | None = None) -> None:
        self.weights = np.asarray(weights, dtype=np.float64)
        rows = np.asarray(log_sites, dtype=np.float64)
        if (self.weights <= 0).any() or abs(self.weights.sum() - 1) > 1e-9:
            raise InputError("mode weights", expected="positive numbers that sum to 1", came=str(self.weights.tolist()))
        self.exchangeable = rows.ndim == 2
        self.log_sites = np.broadcast_to(rows[:, None], (len(rows), sites, rows.shape[-1])) if self.exchangeable else rows
        if self.log_sites.shape[:2] != (len(self.weights), sites):
            raise InputError("site probabilities", expected=f"shape ({len(self.weights)}, {sites}, V)", came=str(rows.shape))
        self.n_sites, self.vocabulary_size = sites, rows.shape[-1]
        self._text = text

    @property
    def text(self) -> str:
        """The canonical form, or a digest where the parameters have none."""
        parts = np.ascontiguousarray(self.log_sites).tobytes() + self.weights.tobytes()
        return self._text or f"product?sha256={hashlib.sha256(parts).hexdigest()[:12]}"

    def log_mode_marginals(self, states: Tokens, visible: Flags) -> NDArray[np.float64]:
        """log p_z(x_S) of every mode: [B, K]."""
        columns = np.arange(self.n_sites)
        values = np.stack([rows[columns, states] for rows in self.log_sites], axis=-1)
        return np.where(visible[:, :, None], values, 0.0).sum(axis=1)

    def log_marginal(self, states: Tokens, visible: Flags) -> NDArray[np.float64]:
        """log p_S(x_S): [B]."""
        return logsumexp(self.log_mode_marginals(states, visible) + np.log(self.weights), axis=1)

    def predict(self, states: Tokens, hidden: Flags, sites: Tokens) -> NDArray[np.float64]:
        """log Σ_z P(z | x_S) p_z(x_i = v) + constant: [B, V], without enumeration."""
        posterior = self.log_mode_marginals(states, ~hidden) + np.log(self.weights)
        return logsumexp(posterior[:, :, None] + self.log_sites[:, sites].swapaxes(0, 1), axis=1)

    def logits(self, states: Tokens, sites: Tokens) -> NDArray[np.float64]:
        """The row with only the site hidden: [B, V]."""
        hidden = np.zeros(states.shape, dtype=bool)
        hidden[np.arange(len(states)), sites] = True
        return self.predict(states, hidden, sites)

    def with_weights(self, weights: ArrayLike) -> ProductMixture:
        """The same modes with other weights: a member q_λ of the witness family."""
        return ProductMixture(weights, self.log_sites, self.n_sites)

    def sample(self, rng: np.random.Generator, size: int) -> Tokens:
        """Independent draws, the mode first: [size, n]."""
        modes = rng.choice(len(self.weights), size=size, p=self.weights)
        cdf = np.cumsum(np.exp(self.log_sites), axis=2)[modes]
        u = rng.random((size, self.n_sites, 1))
        return np.minimum((u >= cdf).sum(axis=2), self.vocabulary_size - 1).astype(np.int64)


def reference_mixture(sites: int, gap: float, weight: float) -> ProductMixture:
    """The reference law: two symbols, X_i | Z iid Bernoulli(1/2 ± gap), weight = P(Z = 1), the mode with 1/2 + gap."""
    ones = np.array([0.5 - gap, 0.5 + gap])
    rows = np.log(np.stack([1 - ones, ones], axis=1))
    return ProductMixture([1 - weight, weight], rows, sites, text=f"product?sites={sites}&gap={gap:g}&weight={weight:g}")
