"""Exact influence matrices of laws: how far one site can move the conditional of another."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from maskov.errors import InputError
from maskov.laws import CurieWeiss, IsingRing, check_enumerable, enumerate_states

Matrix = NDArray[np.float64]
# Contexts × tokens of one site: 2²² float64 are 32 MB.
LARGEST = 1 << 22


def dobrushin_matrix(law: Any, temperature: float = 1.0) -> Matrix:
    """c_ij(τ) = sup TV(p_{i,τ}(·|x_{-i}), p_{i,τ}(·|x′_{-i})), x, x′ different at j only; c_ii = 0 [Dobrushin 1970].

    law: conditionals of ``n_sites`` sites, few enough to enumerate (Curie–Weiss and the Ising ring: any number);
    temperature: τ > 0.
    Result: float64 [n, n], row i: the site that is moved, column j: the site that moves it. Exact up to rounding.
    Raises ``InputError`` on a law too large to enumerate.

    >>> from maskov.laws import IsingRing
    >>> float(dobrushin_matrix(IsingRing(5, 0.7))[0, 1].round(12) - np.tanh(1.4).round(12) / 2) < 1e-9
    True
    """
    inner = getattr(law, "law", law)
    if isinstance(inner, CurieWeiss):
        return _curie_weiss(inner, temperature)
    if isinstance(inner, IsingRing):
        return _ising_ring(inner, temperature)
    n, v = int(law.n_sites), int(law.vocabulary_size)
    if n < 2 or v**n > LARGEST:
        raise InputError("influence", expected=f"2 sites or more and at most {LARGEST} states", came=f"{v}^{n} states")
    check_enumerable(v, n)
    C = np.zeros((n, n))
    for i in range(n):
        rows = _site_rows(law, i, temperature)
        for j in range(n):
            if j != i:
                C[i, j] = _largest_tv(np.moveaxis(rows, j - (j > i), 0).reshape(v, -1, v))
    return C


def _site_rows(law: Any, i: int, temperature: float) -> NDArray[np.float64]:
    """p_{i,τ}(· | x_{-i}) for every context: [V, …, V, V], one axis per other site, tokens last."""
    n, v = int(law.n_sites), int(law.vocabulary_size)
    others = enumerate_states(v, n - 1)
    states = np.insert(others, i, 0, axis=1)
    rows = np.asarray(law.logits(states, np.full(len(states), i)), dtype=np.float64)
    return np.asarray(softmax(rows / temperature, axis=1).reshape((v,) * n))


def _largest_tv(rows: NDArray[np.float64]) -> float:
    """max over pairs of values of the moving site and over contexts. rows: [V, contexts, V]."""
    return max(float(np.abs(rows[a + 1 :] - rows[a]).sum(axis=-1).max() / 2) for a in range(len(rows) - 1))


def _curie_weiss(law: CurieWeiss, temperature: float) -> Matrix:
    """All pairs are alike, and only the number of pluses among the others counts: the largest step of p(+ | k).

    For even n the odd field passes 0 symmetrically and the step is tanh(β/n) [Levin, Luczak & Peres 2010].
    """
    n = law.n_sites
    field = 2.0 * np.arange(n) - (n - 1)
    plus = expit(2 * law.beta / (n * temperature) * field)
    step = float(np.abs(np.diff(plus)).max()) if n > 1 else 0.0
    return step * (1 - np.eye(n))


def _ising_ring(law: IsingRing, temperature: float) -> Matrix:
    """The field β(σ + σ′) of the two neighbours is 0 or ±2β: one of them moves p(+) by tanh(2β/τ)/2, others by 0."""
    n = law.n_sites
    C, i = np.zeros((n, n)), np.arange(n)
    C[i, (i + 1) % n] = C[i, i - 1] = abs(np.tanh(2 * law.beta / temperature)) / 2
    return C
