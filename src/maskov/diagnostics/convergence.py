"""ESS and R-hat of one scalar in one group of chains, and how large R-hat gets by noise alone."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from maskov.protocols import Tokens

Floats = NDArray[np.float64]
_TAIL = (0.05, 0.95)


class Convergence(NamedTuple):
    """ESS and R-hat of one scalar; NaN where there are not enough chains.

    ess_bulk, ess_tail: of all chains together; replicas: the largest R-hat among replicas of one start; starts: R-hat
    of chains of different starts; r_hat: the largest of all, of the two halves where there is one chain; noise: what
    that R-hat stays below in mixed chains, at ``level``; apart: whether any R-hat exceeds its own noise.
    """

    ess_bulk: float
    ess_tail: float
    r_hat: float
    replicas: float
    starts: float
    noise: float
    apart: bool


def convergence(values: Floats, starts: Tokens | None = None, level: float = 0.001) -> Convergence:
    """Rank-normalised split R-hat and ESS [Vehtari et al. 2021], never over chains that were pooled before.

    values: [m, D], one row a chain; starts: int64 [m], chains of one start share a number. A scalar that is the same
    number in every chain has nothing to estimate: R-hat 1, ESS its D·m draws; one that differs between chains that
    never change has R-hat ∞.

    >>> rng = np.random.default_rng(0)
    >>> apart = rng.normal(size=(2, 200)) + np.array([[0.0], [9.0]])
    >>> found = convergence(apart, np.array([0, 1]))
    >>> found.r_hat > 1.5 > found.noise, found.apart
    (True, True)
    """
    m, which = len(values), np.zeros(len(values), dtype=np.int64) if starts is None else starts
    kinds, counts = np.unique(which, return_counts=True)
    sets = {"all": values if m > 1 else halves(values)}
    sets |= {f"replicas {k}": values[which == k] for k in kinds[counts > 1] if len(kinds) > 1}
    found = {name: r_hat(part) for name, part in sets.items()}
    worst = max(found, key=lambda name: found[name])
    limits = {name: noise_limit(values if m == 1 else part, level / len(sets)) for name, part in sets.items()}
    replicas = [value for name, value in found.items() if name != "all"] or ([found["all"]] if m > 1 else [np.nan])
    return Convergence(
        ess(values, "bulk"),
        ess(values, "tail"),
        found[worst],
        max(replicas) if counts.max() > 1 else np.nan,
        found["all"] if len(kinds) > 1 else np.nan,
        limits[worst],
        any(found[name] > limits[name] for name in sets),
    )


def ess(values: Floats, method: str) -> float:
    """Effective draws of [m, D], at least 1 and at most 1.5 times m·D (antithetic chains have more than their count).

    Chains that never change have told one thing each, or nothing is to be told: m, or m·D where all say the same.
    """
    from arviz_stats.base import array_stats

    if (np.ptp(values, axis=1) == 0).all():
        return float(values.size if np.ptp(values) == 0 else len(values))

    extra = {"prob": _TAIL} if method == "tail" else {}
    found = float(array_stats.ess(values, method=method, chain_axis=0, draw_axis=1, **extra))
    return float(np.clip(found, 1.0, 1.5 * values.size)) if np.isfinite(found) else 1.0


def r_hat(values: Floats) -> float:
    """Rank-normalised split R-hat of [m ≥ 2, D]; ∞ where chains that never change differ, 1 where nothing does."""
    from arviz_stats.base import array_stats

    if np.ptp(values) == 0:
        return 1.0
    if (np.ptp(values, axis=1) == 0).all():
        return np.inf
    with np.errstate(invalid="ignore", divide="ignore"):  # folding may leave a constant, of which R-hat is 0/0
        return float(np.nan_to_num(array_stats.rhat(values, method="rank", chain_axis=0, draw_axis=1), nan=1.0))


def halves(values: Floats) -> Floats:
    """Each chain cut in two: [m, D] → [2m, D // 2]."""
    size = values.shape[1] // 2
    return np.concatenate([values[:, :size], values[:, -size:]])


def noise_limit(values: Floats, level: float) -> float:
    """R-hat that mixed chains exceed with probability ``level``: √(1 − 1/D + F/ē), for 2m half chains of D draws each.

    R-hat² is 1 − 1/D plus the variance of the half chains' means over that within them. With ē effective draws a half,
    ē times that ratio is F-distributed with 2m − 1 and 2m(ē − 1) degrees. ē comes from the chains about their own
    means, so that what chains disagree on does not widen the limit.
    """
    if (np.ptp(values, axis=1) == 0).all():
        return 1.0
    parts, size = 2 * len(values), values.shape[1] // 2
    scores = _normal_scores(values)
    folded = _normal_scores(np.abs(values - np.median(values)))  # R-hat looks at both
    effective = max(min(_own(scores), _own(folded)) / parts, 1.0)
    F = float(stats.f.ppf(1 - level, parts - 1, max(parts * (effective - 1), 2.0)))
    return float(np.sqrt(1 - 1 / size + F / effective))


def _own(scores: Floats) -> float:
    """Effective draws of chains about their own means."""
    about = scores - scores.mean(axis=1, keepdims=True)
    return ess(about, "mean") if np.ptp(about) > 1e-12 else float(scores.size)


def _normal_scores(values: Floats) -> Floats:
    ranks = stats.rankdata(values, method="average").reshape(values.shape)
    return np.asarray(stats.norm.ppf((ranks - 0.375) / (values.size + 0.25)))
