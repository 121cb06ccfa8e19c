"""Texts from laws whose MMSE(v) is known without approximation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

from maskov.identifiability import BinaryCounts, MultinomialCounts
from maskov.identifiability.residual import log_mode_overlap

Floats = NDArray[np.float64]


def exact_mmse(model: MultinomialCounts | BinaryCounts, counts: list[int]) -> Floats:
    """MMSE(v) by exact counting."""
    one = np.zeros(1, dtype=np.int64)
    falling = sorted(counts, reverse=True)
    values = {v: float(np.exp(log_mode_overlap(model.log_table(v), one, model.weights)[0])) for v in falling}
    return np.array([values[v] for v in counts])


def spelled(symbols: NDArray[np.int64]) -> str:
    """Symbols as words."""
    return " ".join(f"w{s}" for s in symbols)


def product_texts(rows: Floats, documents: int, size: int, seed: int) -> dict[str, list[str]]:
    """Documents of independent words, one collection a row of probabilities [K, V]."""
    rng = np.random.default_rng(seed)
    return {
        f"mode{k}": [spelled(rng.choice(len(row), size=size, p=row)) for _ in range(documents)]
        for k, row in enumerate(rows)
    }


def product_exact(rows: Floats, counts: list[int]) -> Floats:
    """MMSE(v) of ``product_texts`` at equal weights."""
    weights = np.full(len(rows), 1 / len(rows))
    return exact_mmse(MultinomialCounts(weights, np.log(rows), max(counts)), counts)


def power_texts(b: float, documents: int, size: int, seed: int) -> dict[str, list[str]]:
    """Two words, P(w1) = 1/2 ± g with a strength g of each document's own, P(g ≤ s) = (2s)^{2b}: MMSE(v) ~ v^{-b}."""
    rng = np.random.default_rng(seed)
    out = {}
    for name, sign in (("minus", -1), ("plus", 1)):
        g = 0.5 * rng.random(documents) ** (1 / (2 * b))
        out[name] = [spelled((rng.random(size) < 0.5 + sign * x).astype(np.int64)) for x in g]
    return out


def power_exact(b: float, counts: list[int], sites: int) -> Floats:
    """MMSE(v) of ``power_texts`` at equal weights: the mixture over g by Gauss–Legendre in its quantile."""
    u, weight = np.polynomial.legendre.leggauss(2000)
    g = 0.5 * ((u + 1) / 2) ** (1 / (2 * b))
    ones = np.arange(sites + 1)
    choose = gammaln(sites + 1) - gammaln(ones + 1) - gammaln(sites - ones + 1)
    log_law = logsumexp(
        ones[:, None] * np.log(0.5 + g) + (sites - ones)[:, None] * np.log(0.5 - g) + np.log(weight / 2), axis=1
    )
    plus = choose + log_law
    return exact_mmse(BinaryCounts([0.5, 0.5], np.stack([plus[::-1], plus])), counts)
