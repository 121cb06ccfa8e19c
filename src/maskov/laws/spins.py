"""Mean-field spin systems with known answers at any size: Curie–Weiss (symbols 0 = −, 1 = +) and Potts."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

from maskov.errors import InputError
from maskov.laws.base import EnumerableLaw, check_states, check_visible, draw_rows, draw_values, number_text
from maskov.protocols import Flags, Tokens


def check_beta(beta: float) -> float:
    """The inverse temperature as a float; ``InputError`` unless finite and at most 10^6 in size."""
    if not (np.isfinite(beta) and abs(beta) <= 1e6):
        raise InputError("beta", expected="a finite number from -1e6 to 1e6", came=repr(beta))
    return float(beta)


def check_count(what: str, value: int, least: int) -> int:
    """A whole number ≥ ``least``; ``InputError`` otherwise."""
    if isinstance(value, bool) or int(value) != value or value < least:
        raise InputError(what, expected=f"a whole number, at least {least}", came=repr(value))
    return int(value)


def log_binomial(n: NDArray[np.int64] | int, k: NDArray[np.int64]) -> NDArray[np.float64]:
    """log of n over k, −inf outside 0 ≤ k ≤ n; shapes broadcast."""
    inside = (k >= 0) & (k <= n)
    safe = np.where(inside, k, 0)
    value = gammaln(np.asarray(n) + 1.0) - gammaln(safe + 1.0) - gammaln(n - safe + 1.0)
    return np.where(inside, value, -np.inf)


class CurieWeiss(EnumerableLaw):
    """Mean-field Ising spins: p(σ) ∝ exp((β/n) Σ_{i<j} σ_i σ_j), so P(σ_i = + | rest) = 1/(1 + e^{−2(β/n)Σ_{j≠i}σ_j}).

    Exact for any n, since everything depends on the number of pluses only [Levin, Luczak & Peres 2010]. A chain at
    temperature τ is the chain of ``CurieWeiss(sites, beta / τ)``. Raises ``InputError`` on sites < 1 or a bad β.

    >>> law = CurieWeiss(4, 0.0)
    >>> round(float(np.exp(law.log_prob(np.zeros((1, 4), int)))[0]), 6)
    0.0625
    """

    vocabulary_size = 2

    def __init__(self, sites: int, beta: float) -> None:
        self.n_sites, self.beta = check_count("sites", sites, 1), check_beta(beta)
        k = np.arange(self.n_sites + 1)
        self._log_z = float(logsumexp(log_binomial(self.n_sites, k) + self._energy(k)))

    @property
    def text(self) -> str:
        """``curie-weiss?sites=…&beta=…``."""
        return f"curie-weiss?sites={self.n_sites}&beta={number_text(self.beta)}"

    def _energy(self, pluses: NDArray[np.int64]) -> NDArray[np.float64]:
        magnetisation = 2.0 * pluses - self.n_sites
        return np.asarray(self.beta / self.n_sites * (magnetisation**2 - self.n_sites) / 2)

    def log_count_law(self) -> NDArray[np.float64]:
        """log P(k pluses): [n + 1]."""
        k = np.arange(self.n_sites + 1)
        return log_binomial(self.n_sites, k) + self._energy(k) - self._log_z

    def log_prob(self, states: Tokens) -> NDArray[np.float64]:
        """log p(x): [B]."""
        return self._energy(check_states(self, states).sum(axis=1)) - self._log_z

    def log_marginal(self, states: Tokens, visible: Flags) -> NDArray[np.float64]:
        """log p_S(x_S) by summing over the number of hidden pluses: [B]."""
        x = check_states(self, states)
        S = check_visible(x, visible)
        shown, hidden = np.where(S, x, 0).sum(axis=1), (~S).sum(axis=1)
        extra = np.arange(hidden.max(initial=0) + 1)[None, :]
        terms = log_binomial(hidden[:, None], extra) + self._energy(shown[:, None] + extra)
        return np.asarray(logsumexp(terms, axis=1)) - self._log_z

    def logits(self, states: Tokens, sites: Tokens) -> NDArray[np.float64]:
        """(−h, h) with h = (β/n) Σ_{j≠i} σ_j: [B, 2]."""
        x = check_states(self, states)
        others = x.sum(axis=1) - x[np.arange(len(x)), sites]
        field = self.beta / self.n_sites * (2.0 * others - (self.n_sites - 1))
        return np.stack([-field, field], axis=1)

    def sample(self, rng: np.random.Generator, size: int) -> Tokens:
        """Independent draws, the number of pluses first: [size, n]."""
        counts = draw_values(self.log_count_law(), rng.random(size))
        return placed_at_random(np.stack([self.n_sites - counts, counts], axis=1), rng)


def placed_at_random(counts: Tokens, rng: np.random.Generator) -> Tokens:
    """Uniform states with these symbol counts. counts: [B, V], rows sum to n. Result: [B, n]."""
    ends = np.cumsum(counts, axis=1)
    rank = rng.random((len(counts), int(ends[0, -1]) if len(ends) else 0)).argsort(axis=1)
    return np.asarray((rank[:, :, None] >= ends[:, None, :-1]).sum(axis=2), dtype=np.int64)


class Potts(EnumerableLaw):
    """Mean-field Potts: p(x) ∝ exp((2β/n) Σ_{i<j} 1[x_i = x_j]), logits (2β/n) #{j ≠ i : x_j = v}.

    With two symbols it is Curie–Weiss at the same β. Exact for any n: the sum over compositions goes symbol by symbol,
    O(V n²). Raises ``InputError`` on sites < 1, symbols < 2 or a bad β.

    >>> Potts(5, 3, 1.0).logits(np.zeros((1, 5), int), np.array([0])).round(2).tolist()
    [[1.6, 0.0, 0.0]]
    """

    def __init__(self, sites: int, symbols: int, beta: float) -> None:
        self.n_sites, self.vocabulary_size = check_count("sites", sites, 1), check_count("symbols", symbols, 2)
        self.beta = check_beta(beta)

    @property
    def text(self) -> str:
        """``potts?sites=…&symbols=…&beta=…``."""
        return f"potts?sites={self.n_sites}&symbols={self.vocabulary_size}&beta={number_text(self.beta)}"

    def _pair_energy(self, count: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.asarray(self.beta / self.n_sites * count * (count - 1.0))

    def _log_placements(self, free: int, shown: Tokens) -> list[NDArray[np.float64]]:
        """log Σ over the hidden counts of the first v symbols, by their total m: V + 1 arrays [B, free + 1].

        shown: [B, V] visible counts. Each hidden count k carries 1/k!, so that free! restores the placements.
        """
        first = np.full((len(shown), free + 1), -np.inf)
        first[:, 0] = 0.0
        tables, k = [first], np.arange(free + 1)
        for v in range(self.vocabulary_size):
            weight = self._pair_energy(shown[:, v, None] + k) - gammaln(k + 1.0)
            before = tables[-1]
            columns = [logsumexp(before[:, : m + 1] + weight[:, m::-1], axis=1) for m in range(free + 1)]
            tables.append(np.stack(columns, axis=1))
        return tables

    @cached_property
    def _nothing_shown(self) -> list[NDArray[np.float64]]:
        return self._log_placements(self.n_sites, np.zeros((1, self.vocabulary_size), dtype=np.int64))

    @cached_property
    def _log_z(self) -> float:
        return float(self._nothing_shown[-1][0, -1] + gammaln(self.n_sites + 1.0))

    def log_prob(self, states: Tokens) -> NDArray[np.float64]:
        """log p(x): [B]."""
        x = check_states(self, states)
        return self._pair_energy(self._seen(x, np.ones(x.shape, dtype=bool))).sum(axis=1) - self._log_z

    def log_marginal(self, states: Tokens, visible: Flags) -> NDArray[np.float64]:
        """log p_S(x_S): [B]."""
        x = check_states(self, states)
        S = check_visible(x, visible)
        counts, hidden = self._seen(x, S), (~S).sum(axis=1)
        out = np.empty(len(x))
        for free in np.unique(hidden):
            rows = hidden == free
            out[rows] = self._log_placements(int(free), counts[rows])[-1][:, -1] + gammaln(free + 1.0)
        return out - self._log_z

    def _seen(self, x: Tokens, visible: Flags) -> Tokens:
        """Visible count of every symbol: [B, V]."""
        return np.stack([((x == v) & visible).sum(axis=1) for v in range(self.vocabulary_size)], axis=1)

    def logits(self, states: Tokens, sites: Tokens) -> NDArray[np.float64]:
        """(2β/n) × number of other sites with that symbol: [B, V]."""
        x, rows = check_states(self, states), np.arange(len(states))
        counts = self._seen(x, np.ones(x.shape, dtype=bool))
        counts[rows, x[rows, sites]] -= 1
        return np.asarray(2 * self.beta / self.n_sites * counts, dtype=np.float64)

    def sample(self, rng: np.random.Generator, size: int) -> Tokens:
        """Independent draws, the symbol counts first (last symbol to first): [size, n]."""
        left = np.full(size, self.n_sites)
        counts = np.zeros((size, self.vocabulary_size), dtype=np.int64)
        k = np.arange(self.n_sites + 1)
        for v in range(self.vocabulary_size - 1, -1, -1):
            before = self._nothing_shown[v][0]
            rest = left[:, None] - k
            rows = self._pair_energy(k) - gammaln(k + 1.0) + np.where(rest >= 0, before[np.maximum(rest, 0)], -np.inf)
            counts[:, v] = draw_rows(rows, rng.random(size))
            left -= counts[:, v]
        return placed_at_random(counts, rng)
