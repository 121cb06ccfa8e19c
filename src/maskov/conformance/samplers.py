"""The laws of samplers: draws and chains visit outcomes as often as their law says, tails included."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse, stats
from scipy.special import softmax

from maskov.conformance.verdict import GoodnessOfFit, fitted
from maskov.errors import ConformanceError, InputError
from maskov.protocols import Floats, Tokens

Sampler: TypeAlias = Callable[[Floats, np.random.Generator], Tokens]
_LEAST = 5.0


def group_outcomes(mass: NDArray[np.float64], least: float) -> Tokens:
    """Groups of outcomes, rarest first, each closed once it holds ``least``: group number of every outcome, int64 [m].

    >>> group_outcomes(np.array([9.0, 3.0, 3.0]), 5.0).tolist()
    [1, 0, 0]
    """
    order = np.argsort(mass, kind="stable")
    groups, group, held_mass = np.zeros(len(mass), dtype=np.int64), 0, 0.0
    for k in order:
        groups[k], held_mass = group, held_mass + mass[k]
        if held_mass >= least:
            group, held_mass = group + 1, 0.0
    if held_mass < least and group > 0:
        groups[groups == group] = group - 1
    return groups


def _as_law(probabilities: ArrayLike) -> NDArray[np.float64]:
    p = np.asarray(probabilities, dtype=np.float64)
    if p.ndim != 1 or not (p >= 0).all() or abs(float(p.sum()) - 1) > 1e-6:
        raise InputError("probabilities", expected="a vector of numbers ≥ 0 that sums to 1", came=f"shape {p.shape}")
    return p / p.sum()


def check_frequencies(counts: ArrayLike, probabilities: ArrayLike, level: float = 1e-4) -> GoodnessOfFit:
    """Independent draws follow a law, tail included.

    Two tests, each at level/2: chi-square on groups with five or more expected draws, and an exact binomial test of all
    rarer outcomes together. counts: int [m]; probabilities: [m]. Raises ``ConformanceError`` on a misfit or an
    impossible outcome.

    >>> check_frequencies([48, 52], [0.5, 0.5]).cells
    2
    """
    observed, p = np.asarray(counts, dtype=np.int64), _as_law(probabilities)
    if observed.shape != p.shape or observed.sum() == 0:
        raise InputError("counts", expected=f"[{len(p)}] with at least one draw", came=f"{observed.shape}")
    total, name = int(observed.sum()), "draws follow their law"
    if (observed[p == 0] > 0).any():
        came = f"outcome {int(np.flatnonzero((p == 0) & (observed > 0))[0])}"
        raise ConformanceError(name, expected="no outcome of probability 0", came=came)
    rare = total * p < _LEAST
    hits, tail = int(observed[rare].sum()), min(1.0, float(p[rare].sum()))
    p_tail = float(stats.binomtest(hits, total, tail).pvalue) if 0 < tail < 1 else 1.0
    groups = group_outcomes(total * p, _LEAST)
    o, e = np.bincount(groups, weights=observed), np.bincount(groups, weights=total * p)
    p_groups = float(stats.chi2.sf(((o - e) ** 2 / e).sum(), len(e) - 1)) if len(e) > 1 else 1.0
    came = (
        f"{hits} draws in the tail, {total * tail:.1f} expected" if p_tail < p_groups else f"{len(e)} groups compared"
    )
    remedy = "draw by inverse CDF in float64; float32 uniforms and clamps lose the tail"
    return fitted(name, min(1.0, 2 * min(p_tail, p_groups)), level, total, len(e), came, remedy)


def tail_row(gap: float = 18.0, tokens: int = 30_522) -> NDArray[np.float32]:
    """A row in which one token leads all others by ``gap`` nats: float32 [V].

    Of 40,000 draws about 18.6 should be another token; float32 Gumbel draws with clamps give about 1.
    """
    row = np.zeros(tokens, dtype=np.float32)
    row[0] = gap
    return row


def check_sampler(
    sample: Sampler, logits: Floats | None = None, draws: int = 40_000, seed: int = 0, level: float = 1e-4
) -> GoodnessOfFit:
    """A sampler of tokens draws softmax(row), tail included.

    sample(logits float [B, V], rng) → tokens int [B]; logits: one row [V], default ``tail_row()``. Raises
    ``ConformanceError`` with the number of rare draws that came and that were expected.

    >>> def inverse_cdf(logits, rng):
    ...     p = softmax(logits.astype(np.float64), axis=1)
    ...     return (rng.random((len(p), 1)) >= np.cumsum(p, axis=1)).sum(axis=1)
    >>> check_sampler(inverse_cdf, np.array([2.0, 0.0, 0.0]), draws=1000).draws
    1000
    """
    row = tail_row() if logits is None else np.asarray(logits)
    rng = np.random.default_rng(seed)
    counts = np.zeros(len(row), dtype=np.int64)
    size = max(1, 10_000_000 // len(row))
    for start in range(0, draws, size):
        B = min(size, draws - start)
        tokens = np.asarray(sample(np.tile(row, (B, 1)), rng))
        if tokens.shape != (B,) or tokens.min() < 0 or tokens.max() >= len(row):
            raise ConformanceError(
                "a sampler returns tokens", expected=f"[{B}] in 0 … {len(row) - 1}", came=f"{tokens.shape}"
            )
        counts += np.bincount(tokens, minlength=len(row))
    return check_frequencies(counts, softmax(row.astype(np.float64)), level)


def check_chain_frequencies(
    visits: Tokens,
    pi: ArrayLike,
    P: NDArray[np.float64] | sparse.csr_array | None = None,
    batches: int = 40,
    cells: int = 8,
    level: float = 1e-4,
) -> GoodnessOfFit:
    """A chain visits states as often as its stationary law says, its autocorrelation taken into account.

    visits: int [T] or [T, B], state numbers after burn-in; pi: [N]. States are grouped into at most ``cells`` groups.
    With the transition matrix P [N, N] the covariance of visit frequencies is exact (fundamental matrix, χ²). Without P
    it comes from the means of ``batches`` time windows per chain (Hotelling's T²), which must be much longer than
    the relaxation time. Raises ``ConformanceError`` on a misfit.
    """
    x, law = np.asarray(visits), _as_law(pi)
    x = x[:, None] if x.ndim == 1 else x
    if x.min() < 0 or x.max() >= len(law) or len(x) < 2 * batches:
        raise InputError(
            "visits", expected=f"{2 * batches} steps or more of states 0 … {len(law) - 1}", came=f"{x.shape}"
        )
    groups = group_outcomes(law, min(1 / cells, (1 - law.max()) * (1 - 1e-9)))
    member = np.eye(groups.max() + 1)[groups][:, 1:]  # one group is implied by the others
    expected = law @ member
    if P is None:
        p_value = _hotelling(_window_means(member[x], batches) - expected)
    else:
        off = member[x].mean(axis=(0, 1)) - expected
        covariance = _visit_covariance(member - expected, law, P)
        p_value = float(stats.chi2.sf(x.size * off @ np.linalg.solve(covariance, off), len(off)))
    remedy = "look for a wrong conditional, a peek at the current token, or too short a run"
    name, came = "a chain visits states as its stationary law says", f"{member.shape[1] + 1} groups compared"
    return fitted(name, p_value, level, x.size, member.shape[1] + 1, came, remedy)


def _window_means(inside: NDArray[np.float64], batches: int) -> NDArray[np.float64]:
    """Means over windows of time: inside [T, B, d] → [batches · B, d]."""
    T, B, d = inside.shape
    length = T // batches
    return inside[: length * batches].reshape(batches, length, B, d).mean(axis=1).reshape(-1, d)


def _hotelling(off: NDArray[np.float64]) -> float:
    """p-value of mean 0 for m independent rows of d numbers: T² (m − d)/(d(m − 1)) ~ F(d, m − d)."""
    m, d = off.shape
    S = np.atleast_2d(np.cov(off, rowvar=False)) + 1e-15 * np.eye(d)
    mean = off.mean(axis=0)
    T2 = m * mean @ np.linalg.solve(S, mean)
    return float(stats.f.sf(T2 * (m - d) / (d * (m - 1)), d, m - d))


def _visit_covariance(
    f: NDArray[np.float64], pi: NDArray[np.float64], P: NDArray[np.float64] | sparse.csr_array
) -> NDArray[np.float64]:
    """T × covariance of time means of f (mean 0 under π): ⟨f, Zf⟩ + ⟨f, Zf⟩ᵀ − ⟨f, f⟩, Z = (I − P + 1π)⁻¹. [d, d]."""
    A = P if isinstance(P, np.ndarray) else P.toarray()
    Zf = np.linalg.solve(np.eye(len(pi)) - A + pi, f)
    inner = f.T @ (pi[:, None] * Zf)
    return np.asarray(inner + inner.T - f.T @ (pi[:, None] * f))
