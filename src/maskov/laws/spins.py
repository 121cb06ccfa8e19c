"""Spin systems with known answers: Curie–Weiss, the Ising ring, mean-field Potts. Symbols 0 = −, 1 = +."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

from maskov.laws.base import ExactLaw
from maskov.protocols import Flags, Tokens


def log_binomial(n: NDArray[np.float64] | float, k: NDArray[np.float64]) -> NDArray[np.float64]:
    """log of n over k, −inf outside 0 ≤ k ≤ n."""
    inside = (k >= 0) & (k <= n)
    safe = np.where(inside, k, 0)
    value = gammaln(n + 1) - gammaln(safe + 1) - gammaln(n - safe + 1)
    return np.where(inside, value, -np.inf)


class CurieWeiss(ExactLaw):
    """Mean-field Ising spins: p(σ) ∝ exp((β/n) Σ_{i<j} σ_i σ_j), so P(σ_i = + | rest) = 1/(1 + e^{−2(β/n)Σ_{j≠i}σ_j}).

    Exact for any n, since everything depends on the number of pluses k only [Levin, Luczak & Peres 2010].

    >>> law = CurieWeiss(4, 0.0)
    >>> round(float(np.exp(law.log_prob(np.zeros((1, 4), int)))[0]), 6)
    0.0625
    """

    vocabulary_size = 2

    def __init__(self, sites: int, beta: float) -> None:
        self.n_sites, self.beta = sites, beta
        k = np.arange(sites + 1)
        self._log_z = float(logsumexp(log_binomial(sites, k) + self._energy(k)))

    @property
    def text(self) -> str:
        """``curie-weiss?sites=…&beta=…``."""
        return f"curie-weiss?sites={self.n_sites}&beta={self.beta:g}"

    def _energy(self, pluses: NDArray[np.int64]) -> NDArray[np.float64]:
        magnetisation = 2.0 * pluses - self.n_sites
        return self.beta / self.n_sites * (magnetisation**2 - self.n_sites) / 2

    def log_count_law(self) -> NDArray[np.float64]:
        """log P(k pluses): [n + 1]."""
        k = np.arange(self.n_sites + 1)
        return log_binomial(self.n_sites, k) + self._energy(k) - self._log_z

    def log_prob(self, states: Tokens) -> NDArray[np.float64]:
        """log p(x): [B]."""
        return self._energy(states.sum(axis=1)) - self._log_z

    def log_marginal(self, states: Tokens, visible: Flags) -> NDArray[np.float64]:
        """log p_S(x_S) by summing over the number of hidden pluses: [B]."""
        shown = np.where(visible, states, 0).sum(axis=1)
        hidden = (~visible).sum(axis=1)
        extra = np.arange(self.n_sites + 1)[None, :]
        terms = log_binomial(hidden[:, None], extra) + self._energy(shown[:, None] + extra)
        return logsumexp(terms, axis=1) - self._log_z

    def logits(self, states: Tokens, sites: Tokens) -> NDArray[np.float64]:
        """(−h, h) with h = (β/n) Σ_{j≠i} σ_j: [B, 2]."""
        spins = 2.0 * states.sum(axis=1) - self.n_sites - (2.0 * states[np.arange(len(states)), sites] - 1)
        field = self.beta / self.n_sites * spins
        return np.stack([-field, field], axis=1)

    def sample(self, rng: np.random.Generator, size: int) -> Tokens:
        """Independent draws, the count first: [size, n]."""
        law = np.exp(self.log_count_law())
        counts = rng.choice(self.n_sites + 1, size=size, p=law / law.sum())
        order = rng.random((size, self.n_sites)).argsort(axis=1)
        return (order < counts[:, None]).astype(np.int64)


class IsingRing(ExactLaw):
    """Ising spins on a ring: p(σ) ∝ exp(β Σ_i σ_i σ_{i+1}), P(+ | rest) = 1/(1 + e^{−2β(σ_{i−1} + σ_{i+1})}).

    Partition function and marginals by transfer matrix.

    >>> ring = IsingRing(3, 0.5)
    >>> round(float(np.exp(ring.log_marginal(np.array([[1, 0, 0]]), np.array([[True, False, False]])))[0]), 12)
    0.5
    """

    vocabulary_size = 2

    def __init__(self, sites: int, beta: float) -> None:
        self.n_sites, self.beta = sites, beta
        self._transfer = np.exp(beta * np.array([[1.0, -1.0], [-1.0, 1.0]]))
        self._log_z = self._log_weight(np.zeros((1, sites), dtype=np.int64), np.zeros((1, sites), dtype=bool))[0]

    @property
    def text(self) -> str:
        """``ising-ring?sites=…&beta=…``."""
        return f"ising-ring?sites={self.n_sites}&beta={self.beta:g}"

    def _log_weight(self, states: Tokens, visible: Flags) -> NDArray[np.float64]:
        """log of the weight summed over hidden spins: the trace of a product of transfer matrices, rescaled on the way."""
        product = np.broadcast_to(np.eye(2), (len(states), 2, 2)).copy()
        log_scale = np.zeros(len(states))
        for i in range(self.n_sites):
            allowed = ~visible[:, i, None] | (states[:, i, None] == np.arange(2))
            product = np.einsum("bij,bj,jk->bik", product, allowed.astype(np.float64), self._transfer)
            peak = product.max(axis=(1, 2))
            product /= peak[:, None, None]
            log_scale += np.log(peak)
        return log_scale + np.log(np.einsum("bii->b", product))

    def log_marginal(self, states: Tokens, visible: Flags) -> NDArray[np.float64]:
        """log p_S(x_S): [B]."""
        return self._log_weight(states, visible) - self._log_z

    def log_prob(self, states: Tokens) -> NDArray[np.float64]:
        """log p(x): [B]."""
        spins = 2.0 * states - 1
        return self.beta * (spins * np.roll(spins, -1, axis=1)).sum(axis=1) - self._log_z

    def logits(self, states: Tokens, sites: Tokens) -> NDArray[np.float64]:
        """(−h, h) with h = β(σ_{i−1} + σ_{i+1}): [B, 2]."""
        spins, rows = 2.0 * states - 1, np.arange(len(states))
        field = self.beta * (spins[rows, sites - 1] + spins[rows, (sites + 1) % self.n_sites])
        return np.stack([-field, field], axis=1)

    def sample(self, rng: np.random.Generator, size: int) -> Tokens:
        """Independent draws, site by site given the sites before: [size, n]."""
        states = np.zeros((size, self.n_sites), dtype=np.int64)
        visible = np.zeros((size, self.n_sites), dtype=bool)
        for i in range(self.n_sites):
            visible[:, i] = True
            ones, zeros = states.copy(), states.copy()
            ones[:, i], zeros[:, i] = 1, 0
            log_odds = self._log_weight(ones, visible) - self._log_weight(zeros, visible)
            states[:, i] = rng.random(size) < 1 / (1 + np.exp(-log_odds))
        return states


class Potts(ExactLaw):
    """Mean-field Potts: p(x) ∝ exp((2β/n) Σ_{i<j} 1[x_i = x_j]); with two symbols it is Curie–Weiss at the same β.

    log p is exact for any n (a sum over compositions, V ≤ 6 or so); its logits need no normaliser.

    >>> Potts(5, 3, 1.0).logits(np.zeros((1, 5), int), np.array([0])).round(2).tolist()
    [[1.6, 0.0, 0.0]]
    """

    def __init__(self, sites: int, symbols: int, beta: float) -> None:
        self.n_sites, self.vocabulary_size, self.beta = sites, symbols, beta
        self._log_z: float | None = None

    @property
    def text(self) -> str:
        """``potts?sites=…&symbols=…&beta=…``."""
        return f"potts?sites={self.n_sites}&symbols={self.vocabulary_size}&beta={self.beta:g}"

    def _log_weights(self, free: int, shown: NDArray[np.int64]) -> NDArray[np.float64]:
        """log Σ over the placements of ``free`` hidden sites, given the shown counts: shown [B, V] → [B].

        One symbol at a time: the generating function over the number of sites already placed.
        """
        placed = np.full((len(shown), free + 1), -np.inf)
        placed[:, 0] = 0.0
        extra = np.arange(free + 1)
        for v in range(self.vocabulary_size):
            count = shown[:, v, None] + extra
            weight = self.beta / self.n_sites * count * (count - 1) - gammaln(extra + 1)
            placed = np.stack([logsumexp(placed[:, : m + 1] + weight[:, m::-1], axis=1) for m in range(free + 1)], axis=1)
        return placed[:, free] + gammaln(free + 1)

    def log_marginal(self, states: Tokens, visible: Flags) -> NDArray[np.float64]:
        """log p_S(x_S): [B]."""
        if self._log_z is None:
            self._log_z = float(self._log_weights(self.n_sites, np.zeros((1, self.vocabulary_size), dtype=np.int64))[0])
        counts = ((states[:, :, None] == np.arange(self.vocabulary_size)) & visible[:, :, None]).sum(axis=1)
        hidden = (~visible).sum(axis=1)
        out = np.empty(len(states))
        for free in np.unique(hidden):
            rows = hidden == free
            out[rows] = self._log_weights(int(free), counts[rows])
        return out - self._log_z

    def logits(self, states: Tokens, sites: Tokens) -> NDArray[np.float64]:
        """(2β/n) × number of other sites with that symbol: [B, V]."""
        counts = (states[:, :, None] == np.arange(self.vocabulary_size)).sum(axis=1).astype(np.float64)
        counts[np.arange(len(states)), states[np.arange(len(states)), sites]] -= 1
        return 2 * self.beta / self.n_sites * counts

    def sample(self, rng: np.random.Generator, size: int) -> Tokens:
        """Independent draws, site by site given the sites before: [size, n]."""
        states = np.zeros((size, self.n_sites), dtype=np.int64)
        hidden = np.ones((size, self.n_sites), dtype=bool)
        for i in range(self.n_sites):
            rows = self.predict(states, hidden, np.full(size, i))
            cdf = np.cumsum(np.exp(rows - logsumexp(rows, axis=1, keepdims=True)), axis=1)
            states[:, i] = np.minimum((rng.random((size, 1)) >= cdf).sum(axis=1), self.vocabulary_size - 1)
            hidden[:, i] = False
        return states
