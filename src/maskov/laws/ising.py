"""Ising spins with neighbours (0 = −, 1 = +): the ring by transfer matrix, the torus by enumeration."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from maskov.laws.base import (
    EnumerableLaw,
    check_enumerable,
    check_states,
    check_visible,
    draw_rows,
    draw_values,
    enumerate_states,
    number_text,
)
from maskov.laws.spins import check_beta, check_count
from maskov.laws.tabular import Tabular
from maskov.protocols import Flags, Tokens


def _spins(states: Tokens) -> NDArray[np.float64]:
    """±1 from 0/1."""
    return np.asarray(2.0 * states - 1.0, dtype=np.float64)


class IsingRing(EnumerableLaw):
    """Ising spins on a ring: p(σ) ∝ exp(β Σ_i σ_i σ_{i+1}), P(+ | rest) = 1/(1 + e^{−2β(σ_{i−1} + σ_{i+1})}).

    Partition function and marginals by transfer matrix in log space (all terms positive: no cancellation at any β).
    Raises ``InputError`` on sites < 3 or a bad β.

    >>> ring = IsingRing(3, 0.5)
    >>> round(float(np.exp(ring.log_marginal(np.array([[1, 0, 0]]), np.array([[True, False, False]])))[0]), 12)
    0.5
    """

    vocabulary_size = 2

    def __init__(self, sites: int, beta: float) -> None:
        self.n_sites, self.beta = check_count("sites", sites, 3), check_beta(beta)
        self._transfer = self.beta * np.array([[1.0, -1.0], [-1.0, 1.0]])
        self._log_z = float(logsumexp(np.diagonal(_log_power(self._transfer, self.n_sites))))

    @property
    def text(self) -> str:
        """``ising-ring?sites=…&beta=…``."""
        return f"ising-ring?sites={self.n_sites}&beta={number_text(self.beta)}"

    def log_marginal(self, states: Tokens, visible: Flags) -> NDArray[np.float64]:
        """log p_S(x_S): the log trace of the product of transfer matrices with the seen spins held: [B]."""
        x = check_states(self, states)
        S = check_visible(x, visible)
        symbols = np.arange(2)
        start = np.where(np.eye(2, dtype=bool), 0.0, -np.inf)
        product = np.broadcast_to(start, (len(x), 2, 2))
        for i in range(self.n_sites):
            held = np.where(~S[:, i, None] | (x[:, i, None] == symbols), 0.0, -np.inf)
            product = _log_product(product + held[:, None, :], self._transfer)
        return np.asarray(logsumexp(np.diagonal(product, axis1=1, axis2=2), axis=1)) - self._log_z

    def log_prob(self, states: Tokens) -> NDArray[np.float64]:
        """log p(x): [B]."""
        spins = _spins(check_states(self, states))
        return self.beta * (spins * np.roll(spins, -1, axis=1)).sum(axis=1) - self._log_z

    def logits(self, states: Tokens, sites: Tokens) -> NDArray[np.float64]:
        """(−h, h) with h = β(σ_{i−1} + σ_{i+1}): [B, 2]."""
        spins, rows, at = _spins(check_states(self, states)), np.arange(len(states)), np.asarray(sites)
        field = self.beta * (spins[rows, at - 1] + spins[rows, (at + 1) % self.n_sites])
        return np.stack([-field, field], axis=1)

    def sample(self, rng: np.random.Generator, size: int) -> Tokens:
        """Independent draws: the first spin is fair, each next one sees the last and the closing bond: [size, n]."""
        x = np.empty((size, self.n_sites), dtype=np.int64)
        x[:, 0] = draw_values(np.zeros(2), rng.random(size))
        closing = [self._transfer]
        for _ in range(self.n_sites - 2):
            closing.append(_log_product(closing[-1][None], self._transfer)[0])
        for i in range(1, self.n_sites):
            rows = self._transfer[x[:, i - 1]] + closing[self.n_sites - 1 - i][:, x[:, 0]].T
            x[:, i] = draw_rows(rows, rng.random(size))
        return x


def _log_product(left: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
    """log of the product of matrices given by logs. left: [B, 2, 2]; right: [2, 2]. Result: [B, 2, 2]."""
    return np.logaddexp(left[:, :, :1] + right[0], left[:, :, 1:] + right[1])


def _log_power(matrix: NDArray[np.float64], power: int) -> NDArray[np.float64]:
    """log of a matrix power by repeated squaring; matrix: log entries [2, 2], power ≥ 1."""
    if power == 1:
        return matrix
    half = _log_power(matrix, power // 2)
    square = _log_product(half[None], half)[0]
    return _log_product(square[None], matrix)[0] if power % 2 else square


class IsingTorus(EnumerableLaw):
    """Ising spins on a rows × cols grid with both ends joined, by enumeration (at most 20 sites).

    p(σ) ∝ exp(β Σ_i σ_i (σ_right + σ_down)); site number r·cols + c. Every spin has four neighbours, so along a side of
    length 2 the one neighbour counts twice. Raises ``InputError`` on a side below 2, a bad β, or more than 2^20 states.

    >>> IsingTorus(2, 3, 0.4).logits(np.ones((1, 6), int), np.array([0])).round(2).tolist()
    [[-1.6, 1.6]]
    """

    vocabulary_size = 2

    def __init__(self, rows: int, cols: int, beta: float) -> None:
        self.rows, self.cols, self.beta = check_count("rows", rows, 2), check_count("cols", cols, 2), check_beta(beta)
        self.n_sites = self.rows * self.cols
        check_enumerable(2, self.n_sites)

    @property
    def text(self) -> str:
        """``ising-torus?rows=…&cols=…&beta=…``."""
        return f"ising-torus?rows={self.rows}&cols={self.cols}&beta={number_text(self.beta)}"

    @cached_property
    def _table(self) -> Tabular:
        weights = self.log_weight(enumerate_states(2, self.n_sites))
        return Tabular(weights.reshape((2,) * self.n_sites))

    def log_weight(self, states: Tokens) -> NDArray[np.float64]:
        """β Σ_i σ_i (σ_right + σ_down): [B]."""
        grid = _spins(check_states(self, states)).reshape(-1, self.rows, self.cols)
        bonds = grid * (np.roll(grid, -1, axis=2) + np.roll(grid, -1, axis=1))
        return self.beta * bonds.sum(axis=(1, 2))

    def log_prob(self, states: Tokens) -> NDArray[np.float64]:
        """log p(x): [B]."""
        return self._table.log_prob(states)

    def log_marginal(self, states: Tokens, visible: Flags) -> NDArray[np.float64]:
        """log p_S(x_S) by sums over the table: [B]."""
        return self._table.log_marginal(states, visible)

    def logits(self, states: Tokens, sites: Tokens) -> NDArray[np.float64]:
        """(−h, h) with h = β × sum of the four neighbours: [B, 2]."""
        spins, at, b = _spins(check_states(self, states)), np.asarray(sites), np.arange(len(states))
        r, c = at // self.cols, at % self.cols
        across = spins[b, r * self.cols + (c + 1) % self.cols] + spins[b, r * self.cols + (c - 1) % self.cols]
        along = spins[b, (r + 1) % self.rows * self.cols + c] + spins[b, (r - 1) % self.rows * self.cols + c]
        field = self.beta * (across + along)
        return np.stack([-field, field], axis=1)

    def sample(self, rng: np.random.Generator, size: int) -> Tokens:
        """Independent draws from the table: [size, n]."""
        return self._table.sample(rng, size)
