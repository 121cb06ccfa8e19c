"""Means with errors over independent passages: the jackknife, and the plateau that a drift runs into."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

from maskov.drift.embed import Rows
from maskov.quantities import Estimate


def jackknife(value: float, left_out: ArrayLike) -> Estimate:
    """The delete-one jackknife [Efron & Stein 1981]: stderr² = (G−1)/G Σ_g (θ_{−g} − θ̄)², interval from Student's t.

    value: θ on all data; left_out: [G] θ without unit g. No error (infinite) below two units, or where nothing is left
    without one.

    >>> round(jackknife(2.0, [2.5, 2.0, 1.5]).stderr, 4)
    0.5774
    """
    theta = np.asarray(left_out, dtype=np.float64)
    units = len(theta)
    if units < 2 or not np.isfinite(theta).all():
        return Estimate(value, math.inf, units)
    stderr = math.sqrt((units - 1) / units * float(((theta - theta.mean()) ** 2).sum()))
    reach = float(stdtrit(units - 1, 0.975)) * stderr
    return Estimate(value, stderr, units, (value - reach, value + reach))


def grouped_mean(values: ArrayLike, groups: ArrayLike) -> Estimate:
    """Mean of all values, with the error of independent groups. values: [m]; groups: int64 [m].

    >>> grouped_mean([1.0, 1.0, 3.0, 3.0], [0, 0, 1, 1]).value
    2.0
    """
    x, which = np.asarray(values, dtype=np.float64), np.unique(groups, return_inverse=True)[1]
    sums, counts = np.bincount(which, weights=x), np.bincount(which)
    if len(sums) < 2:
        return Estimate(float(x.mean()), math.inf, 1)
    return jackknife(float(x.mean()), (x.sum() - sums) / (len(x) - counts))


def independent_distance(rows: Rows, groups: ArrayLike) -> Estimate | None:
    """Mean 1 − cos over pairs of different groups, a U-statistic, with the jackknife over groups.

    Each passage is in many pairs, so pairs are not independent; passages are.

    rows: unit rows [m, d], or [q, m, d] for q views of the same m chains (averaged); groups: int64 [m]. None below two
    groups.

    >>> independent_distance(np.eye(3), [0, 1, 2]).value
    1.0
    """
    views = rows if rows.ndim == 3 else rows[None]
    which = np.unique(groups, return_inverse=True)[1].ravel()
    pairs = (which[:, None] != which[None, :]).astype(np.float64)
    if not pairs.any():
        return None
    distance = np.mean([1 - view @ view.T for view in views], axis=0) * pairs
    top, bottom = _left_out(distance, which), _left_out(pairs, which)
    with np.errstate(invalid="ignore", divide="ignore"):
        left_out = top / bottom  # two groups: nothing is left without one, and no error is given
    return jackknife(float(distance.sum() / pairs.sum()), left_out)


def _left_out(table: NDArray[np.float64], which: NDArray[np.int64]) -> NDArray[np.float64]:
    """Sum of a symmetric table without each group, entries inside a group being 0: [G]."""
    return np.asarray(table.sum() - 2 * np.bincount(which, weights=table.sum(axis=1)))
