"""Mixtures of modes: what they share, and products (sites independent given the mode)."""

from __future__ import annotations

import copy
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_softmax, logsumexp

from maskov.errors import InputError
from maskov.laws.base import EnumerableLaw, check_states, check_visible, digest, draw_values, number_text, only_hidden
from maskov.protocols import Flags, Tokens


def check_weights(weights: ArrayLike) -> NDArray[np.float64]:
    """Mode weights [K] ≥ 0 that sum to 1, made to sum to 1 exactly; ``InputError`` otherwise."""
    w = np.asarray(weights, dtype=np.float64)
    if w.ndim != 1 or w.size == 0:
        raise InputError("mode weights", expected="a list of K ≥ 1 numbers", came=f"shape {w.shape}")
    if not (np.isfinite(w).all() and (w >= 0).all() and abs(float(w.sum()) - 1) <= 1e-9):
        raise InputError("mode weights", expected="numbers ≥ 0 that sum to 1", came=str(w.tolist()))
    return w / w.sum()


def log_of(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Logarithm with log 0 = −inf in silence."""
    with np.errstate(divide="ignore"):
        return np.log(values)


def check_probabilities(what: str, values: ArrayLike) -> NDArray[np.float64]:
    """log of probabilities whose last axis sums to 1; ``InputError`` otherwise."""
    p = np.asarray(values, dtype=np.float64)
    if not (np.isfinite(p).all() and (p >= 0).all() and (abs(p.sum(axis=-1) - 1) <= 1e-9).all()):
        raise InputError(what, expected="probabilities that sum to 1 over the symbols", came="others")
    return log_of(p / p.sum(axis=-1, keepdims=True))


class Mixture(EnumerableLaw):
    """p(x) = Σ_z w_z p_z(x): all that follows from the modes' own marginals p_z(x_S).

    A subclass gives ``log_mode_marginals`` and ``sample_modes``. ``weights``: float64 [K], in log space
    ``log_weights``; a mode of weight 0 is allowed (q_λ at the boundary).
    """

    weights: NDArray[np.float64]
    log_weights: NDArray[np.float64]
    _text: str | None

    def log_mode_marginals(self, states: Tokens, visible: Flags) -> NDArray[np.float64]:
        """log p_z(x_S) of every mode: [B, K], nats."""
        raise TypeError(f"{type(self).__name__} must define log_mode_marginals")

    def sample_modes(self, rng: np.random.Generator, modes: Tokens) -> Tokens:
        """One draw from each given mode: modes int64 [B] → [B, n]."""
        raise TypeError(f"{type(self).__name__} must define sample_modes")

    def log_marginal(self, states: Tokens, visible: Flags) -> NDArray[np.float64]:
        """log p_S(x_S) = log Σ_z w_z p_z(x_S): [B]."""
        return np.asarray(logsumexp(self.log_mode_marginals(states, visible) + self.log_weights, axis=1))

    def log_posterior(self, states: Tokens, visible: Flags) -> NDArray[np.float64]:
        """log P(Z = z | x_S): [B, K]; NaN where x_S has probability 0."""
        return np.asarray(log_softmax(self.log_mode_marginals(states, visible) + self.log_weights, axis=1))

    def with_weights(self, weights: ArrayLike) -> Self:
        """The same modes with other weights: the member q_λ of the witness family. weights: [K] ≥ 0, sum 1."""
        other = copy.copy(self)
        other.weights = check_weights(weights)
        if len(other.weights) != len(self.weights):
            raise InputError("mode weights", expected=f"{len(self.weights)} numbers", came=str(len(other.weights)))
        other.log_weights = log_of(other.weights)
        other._text = None
        return other

    def sample(self, rng: np.random.Generator, size: int) -> Tokens:
        """Independent draws, the mode first: [size, n]."""
        return self.sample_modes(rng, draw_values(self.log_weights, rng.random(size)))


class ProductMixture(Mixture):
    """p(x) = Σ_z w_z Π_i p_z(x_i): marginals and conditionals exact on any visible set, without enumeration, at any n.

    weights: [K], sum 1; probabilities: [K, V] with ``sites`` = n (exchangeable: every site the same) or [K, n, V].
    Raises ``InputError`` on weights or rows that are no probabilities and on shapes that do not fit.

    >>> law = reference_mixture(4, gap=0.3, weight=0.3)
    >>> round(float(np.exp(law.log_posterior(np.ones((1, 4), int), np.ones((1, 4), bool)))[0, 1]), 4)
    0.991
    """

    def __init__(
        self, weights: ArrayLike, probabilities: ArrayLike, sites: int | None = None, text: str | None = None
    ) -> None:
        self.weights = check_weights(weights)
        self.log_weights = log_of(self.weights)
        rows = check_probabilities("site probabilities", probabilities)
        K = len(self.weights)
        self.exchangeable = rows.ndim == 2
        if self.exchangeable and sites is None:
            raise InputError("sites", expected="the number of sites beside [K, V] probabilities", came="none")
        n = sites if self.exchangeable else rows.shape[1] if rows.ndim == 3 else 0
        if rows.ndim not in (2, 3) or len(rows) != K or n is None or n < 1 or sites not in (None, n):
            raise InputError(
                "site probabilities",
                expected=f"shape [{K}, V] with sites ≥ 1, or [{K}, n, V]",
                came=f"{rows.shape} with sites {sites}",
            )
        self.n_sites, self.vocabulary_size = n, rows.shape[-1]
        self.log_rows = rows
        self._text = text

    @property
    def log_sites(self) -> NDArray[np.float64]:
        """log p_z(x_i = v) of every site: [K, n, V] (a view where the sites are all the same)."""
        if not self.exchangeable:
            return self.log_rows
        K, V = self.log_rows.shape
        return np.broadcast_to(self.log_rows[:, None], (K, self.n_sites, V))

    @property
    def text(self) -> str:
        """The canonical form, or a digest where the parameters have none."""
        return self._text or f"product?sha256={self.fingerprint[:12]}"

    @property
    def fingerprint(self) -> str:
        """The canonical form, or the SHA-256 of the parameters."""
        return self._text or digest(self.weights, self.log_rows, np.array([self.n_sites]))

    def log_mode_marginals(self, states: Tokens, visible: Flags) -> NDArray[np.float64]:
        """log p_z(x_S) = Σ_{i ∈ S} log p_z(x_i): [B, K]."""
        x = check_states(self, states)
        S = check_visible(x, visible)
        if self.exchangeable:
            return self.log_count_marginals(_counts(x, S, self.vocabulary_size))
        columns = np.arange(self.n_sites)
        return np.stack([np.where(S, rows[columns, x], 0.0).sum(axis=1) for rows in self.log_rows], axis=1)

    def log_count_marginals(self, counts: Tokens) -> NDArray[np.float64]:
        """log p_z(x_S) from how often each symbol is seen (exchangeable laws). counts: [B, V]. Result: [B, K].

        It is the log-probability of one such x_S, not of the counts: add log(|S|! / Π_v counts_v!) for that.
        """
        impossible = self.log_rows == -np.inf
        values = counts @ np.where(impossible, 0.0, self.log_rows).T
        return np.asarray(np.where(counts @ impossible.T > 0, -np.inf, values), dtype=np.float64)

    def predict(self, states: Tokens, hidden: Flags, sites: Tokens) -> NDArray[np.float64]:
        """log p(x_S, x_i = v) = log Σ_z w_z p_z(x_S) p_z(x_i = v): [B, V], without enumeration."""
        modes = self.log_mode_marginals(states, ~np.asarray(hidden)) + self.log_weights
        rows = self.log_sites[:, sites].swapaxes(0, 1)
        return np.asarray(logsumexp(modes[:, :, None] + rows, axis=1))

    def logits(self, states: Tokens, sites: Tokens) -> NDArray[np.float64]:
        """The row with only the site hidden: [B, V]."""
        return self.predict(states, only_hidden(states, sites), sites)

    def score_tokens(self, states: Tokens, sites: Tokens, tokens: Tokens) -> NDArray[np.float64]:
        """Entries of ``logits``: [B, k]."""
        return np.take_along_axis(self.logits(states, sites), tokens, axis=1)

    def sample_modes(self, rng: np.random.Generator, modes: Tokens) -> Tokens:
        """One draw from each given mode: [B, n]."""
        out = np.empty((len(modes), self.n_sites), dtype=np.int64)
        u = rng.random(out.shape)
        for z in np.unique(modes):
            at = modes == z
            if self.exchangeable:
                out[at] = draw_values(self.log_rows[z], u[at])
            else:
                out[at] = np.stack([draw_values(row, v) for row, v in zip(self.log_rows[z], u[at].T, strict=True)], 1)
        return out


def _counts(states: Tokens, visible: Flags, vocabulary_size: int) -> Tokens:
    """How often each symbol is seen: [B, V]."""
    shown = np.where(visible, states, vocabulary_size) + (vocabulary_size + 1) * np.arange(len(states))[:, None]
    bins = np.bincount(shown.ravel(), minlength=len(states) * (vocabulary_size + 1))
    return bins.reshape(len(states), -1)[:, :vocabulary_size]


def reference_mixture(sites: int, gap: float, weight: float) -> ProductMixture:
    """The reference law: two symbols, X_i | Z iid Bernoulli(1/2 ± gap), weight = P(Z = 1), the mode with 1/2 + gap.

    >>> reference_mixture(64, 0.3, 0.3).text
    'product?sites=64&gap=0.3&weight=0.3'
    """
    if not 0 < gap < 0.5:
        raise InputError("gap", expected="a number above 0 and below 0.5", came=repr(gap))
    if not 0 < weight < 1:
        raise InputError("weight", expected="a number above 0 and below 1", came=repr(weight))
    rows = [[0.5 + gap, 0.5 - gap], [0.5 - gap, 0.5 + gap]]
    form = f"product?sites={sites}&gap={number_text(gap)}&weight={number_text(weight)}"
    return ProductMixture([1 - weight, weight], rows, sites, text=form)
