"""Exact counting for exchangeable mixtures: the law of the symbol counts on v visible sites, in log space, to N =
10^4."""

from __future__ import annotations

from functools import cached_property
from math import comb
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

from maskov.errors import InputError
from maskov.laws import CurieWeiss, ProductMixture

Floats = NDArray[np.float64]
MOST_ROWS = 6_000_000


class CountModes(Protocol):
    """Modes of an exchangeable law, known by the counts on any v sites."""

    @property
    def weights(self) -> Floats:
        """w: [K]."""
        ...

    @property
    def n_sites(self) -> int:
        """N."""
        ...

    def rows(self, visible: int) -> int:
        """How many outcomes v sites have."""
        ...

    def log_table(self, visible: int) -> Floats:
        """log P_z(outcome) on v sites: [rows, K]; outcomes merge states with the same posterior."""
        ...


class MultinomialCounts:
    """K product modes with the same law at every site: log P_z(c) = log v!/Πc! + Σ_a c_a log p_z(a).

    weights: [K]; log_sites: [K, V]. Symbols with the same likelihood ratios between modes are merged first, since the
    posterior of the mode doesn't see which of them came; so the alphabet may be as large as one likes.

    >>> model = MultinomialCounts([0.7, 0.3], np.log([[0.8, 0.2], [0.2, 0.8]]), 10)
    >>> model.log_table(2).shape, bool(np.isclose(np.exp(model.log_table(2)).sum(), 2))
    ((3, 2), True)
    """

    def __init__(self, weights: Any, log_sites: Any, sites: int) -> None:
        self.weights, self.n_sites = np.asarray(weights, dtype=np.float64), sites
        self.log_symbols = _merge_symbols(np.asarray(log_sites, dtype=np.float64))

    def rows(self, visible: int) -> int:
        """Number of compositions of v into the merged symbols."""
        m = self.log_symbols.shape[1]
        return comb(visible + m - 1, m - 1)

    def log_table(self, visible: int) -> Floats:
        """log P_z(counts): [rows, K], rows possible under no mode left out."""
        if self.rows(visible) > MOST_ROWS:
            raise InputError(
                "law",
                expected=f"at most {MOST_ROWS} count outcomes",
                came=f"{self.rows(visible)} on {visible} sites",
                remedy="take fewer sites or symbols",
            )
        counts = compositions(visible, self.log_symbols.shape[1])
        coefficient = gammaln(visible + 1.0) - self._log_factorial[counts].sum(axis=1)
        table = coefficient[:, None] + log_likelihood(counts, self.log_symbols)
        table = table[(table > -np.inf).any(axis=1)]
        return np.asarray(table - logsumexp(table, axis=0))  # takes away what log-gamma of v! is off by

    @cached_property
    def _log_factorial(self) -> Floats:
        return np.asarray(gammaln(np.arange(self.n_sites + 1) + 1.0))


def log_likelihood(counts: NDArray[np.int64], log_rows: Floats) -> Floats:
    """Σ_a c_a log p_k(a), 0 · log 0 = 0: counts [R, m], log_rows [K, m] → [R, K]."""
    impossible = log_rows == -np.inf
    values = counts @ np.where(impossible, 0.0, log_rows).T
    return np.where(counts @ impossible.T > 0, -np.inf, values)


def compositions(total: int, parts: int) -> NDArray[np.int64]:
    """All vectors of ``parts`` counts that sum to ``total``: int64 [rows, parts].

    >>> compositions(2, 2).tolist()
    [[0, 2], [1, 1], [2, 0]]
    """
    if parts == 1:
        return np.array([[total]], dtype=np.int64)
    if parts == 2:
        first = np.arange(total + 1)
        return np.stack([first, total - first], axis=1)
    blocks = [np.insert(compositions(total - k, parts - 1), 0, k, axis=1) for k in range(total + 1)]
    return np.concatenate(blocks)


def _merge_symbols(log_sites: Floats) -> Floats:
    """log-probabilities [K, m] of classes of symbols with equal ratios between modes; symbols of no mass are
    dropped."""
    rows = log_sites[:, (log_sites > -np.inf).any(axis=0)]
    ratios = np.round(np.maximum(rows - rows.max(axis=0), -1e6), 12)
    _, which = np.unique(ratios, axis=1, return_inverse=True)
    with np.errstate(divide="ignore"):
        return np.stack([logsumexp(rows[:, which.ravel() == k], axis=1) for k in range(which.max() + 1)], axis=1)


class BinaryCounts:
    """K exchangeable binary modes by their laws of the number of ones.

    weights: [K]; log_counts: [K, N + 1], log P_z(k ones among all N). On v < N sites by taking sites away one at a
    time: P_v(k) = (1 − k/(v+1)) P_{v+1}(k) + (k+1)/(v+1) P_{v+1}(k+1), a recursion with positive terms.

    >>> model = BinaryCounts([0.5, 0.5], np.log([[0.25, 0.5, 0.25], [0.01, 0.18, 0.81]]))
    >>> np.exp(model.log_table(1)).round(3).tolist()
    [[0.5, 0.1], [0.5, 0.9]]
    """

    def __init__(self, weights: Any, log_counts: Any) -> None:
        self.weights = np.asarray(weights, dtype=np.float64)
        self.log_counts = np.asarray(log_counts, dtype=np.float64)
        self.n_sites = self.log_counts.shape[1] - 1
        self._tables = {self.n_sites: self.log_counts.T}

    def rows(self, visible: int) -> int:
        """v + 1."""
        return visible + 1

    def log_table(self, visible: int) -> Floats:
        """log P_z(k ones on v sites): [v + 1, K]."""
        start = min(v for v in self._tables if v >= visible)
        table = self._tables[start]
        for v in range(start - 1, visible - 1, -1):
            k = np.arange(v + 1)[:, None]
            table = np.logaddexp(table[:-1] + np.log1p(-k / (v + 1)), table[1:] + np.log((k + 1) / (v + 1)))
        self._tables[visible] = table
        return table


def sign_modes(law: Any) -> BinaryCounts:
    """Two modes of a symmetric binary law with ``log_count_law``: Z = 1 where ones are in the majority (ties shared
    evenly)."""
    log_law = law.log_count_law()
    log_law = (log_law + log_law[::-1]) / 2  # symmetric up to rounding
    ones = np.arange(len(log_law))
    with np.errstate(divide="ignore"):
        log_share = np.log(np.clip(0.5 + np.sign(2 * ones - law.n_sites) / 2, 0, 1))
        joint = np.stack([log_law + log_share[::-1], log_law + log_share])
    log_weights = logsumexp(joint, axis=1)
    return BinaryCounts([0.5, 0.5], joint - log_weights[:, None])


def count_modes(law: Any) -> CountModes | None:
    """The counting view of a law, ``None`` for one that is not an exchangeable mixture."""
    if isinstance(law, ProductMixture) and law.exchangeable:
        return MultinomialCounts(law.weights, law.log_rows, law.n_sites)
    if isinstance(law, (MultinomialCounts, BinaryCounts)):
        return law
    return sign_modes(law) if isinstance(law, CurieWeiss) else None
