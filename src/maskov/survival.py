"""Times that may be censored: Kaplan–Meier curves, medians and means. Never a mean over the met only."""

from __future__ import annotations

import math
import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maskov.quantities import Bound, Estimate
from maskov.randomness import Stream, generator

RESAMPLES = 499

Floats = NDArray[np.float64]


class Curve(NamedTuple):
    """S(t) = P(T > t) at the observed times; each float64 [k]. lower, upper: pointwise 95 % (log-log transformed)."""

    times: Floats
    survival: Floats
    lower: Floats
    upper: Floats


def survival_curve(times: Floats, met: NDArray[np.bool_]) -> Curve:
    """Kaplan–Meier estimate of P(T > t) [Kaplan & Meier 1958], Greenwood's variance on the log-log scale.

    times: [m]; met: bool [m], false where right-censored. Where S is 0 or 1, Greenwood's variance is 0: the
    interval is the exact binomial one of "none of m" and "all of m".

    >>> survival_curve(np.array([1.0, 2.0, 2.0]), np.array([True, True, False])).survival.round(3).tolist()
    [1.0, 0.667, 0.333]
    """
    if not met.any():
        one = np.ones(1)
        return Curve(np.zeros(1), one, one * 0.025 ** (1 / len(times)), one)
    curve = _ecdf(times, met).sf
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # where S is 0 or 1 the formula has no value: see below
        interval = curve.confidence_interval(method="log-log")
    low, high = (np.asarray(side.probabilities, dtype=np.float64) for side in (interval.low, interval.high))
    # Nothing met yet, or everything has: the exact binomial end of "all of m" and of "none of m".
    S, edge = np.asarray(curve.probabilities), 0.025 ** (1 / len(times))
    low = np.where(S >= 1, edge, np.where(S <= 0, 0.0, np.where(np.isfinite(low), low, 0.0)))
    high = np.where(S >= 1, 1.0, np.where(S <= 0, 1 - edge, np.where(np.isfinite(high), high, 1.0)))
    first = [
        np.concatenate([[start], values]) for start, values in ((0.0, curve.quantiles), (1.0, curve.probabilities))
    ]
    return Curve(first[0], first[1], np.concatenate([[1.0], low]), np.concatenate([[1.0], high]))


def _ecdf(times: Floats, met: NDArray[np.bool_]) -> Any:
    from scipy import stats  # half a second of import, which a command that reads no trace should not pay

    return stats.ecdf(stats.CensoredData.right_censored(times, ~met))


def restricted_mean(times: Floats, met: NDArray[np.bool_], horizon: float) -> Estimate:
    """E[min(T, h)] = ∫_0^h S(t) dt with Greenwood's error [Irwin 1949]: what a mean can be when runs are censored at h.

    times: [m]; met: bool [m]; horizon: h. With nothing censored it is the plain mean and its error.

    >>> restricted_mean(np.array([1.0, 3.0]), np.array([True, True]), 10.0).value
    2.0
    """
    curve = survival_curve(times, met)
    edges = np.append(curve.times, max(horizon, curve.times[-1]))
    areas = curve.survival * np.diff(edges)
    mean = float(areas.sum())
    beyond = areas[::-1].cumsum()[::-1]  # ∫ from each event time to the horizon
    died = np.array([((times == t) & met).sum() for t in curve.times], dtype=np.float64)
    at_risk = np.array([(times >= t).sum() for t in curve.times], dtype=np.float64)
    left = at_risk - died
    terms = np.divide(died * beyond**2, at_risk * left, out=np.zeros_like(beyond), where=left > 0)
    m = len(times)
    stderr = math.sqrt(terms.sum() * m / (m - 1)) if m > 1 else math.inf
    return Estimate(mean, stderr, m, (mean - 1.96 * stderr, mean + 1.96 * stderr))


def survival_median(times: Floats, met: NDArray[np.bool_]) -> float:
    """Smallest time with Kaplan–Meier survival ≤ 1/2, infinite where survival stays above.

    times: [m]; met: bool [m], false where right-censored.

    >>> survival_median(np.array([1.0, 2.0, 3.0, 3.0]), np.array([True, True, True, False]))
    2.0
    """
    if not met.any():
        return math.inf
    curve = _ecdf(times, met).sf
    below = np.flatnonzero(curve.probabilities <= 0.5 + 1e-12)
    return float(curve.quantiles[below[0]]) if below.size else math.inf


def weighted_medians(times: Floats, met: NDArray[np.bool_], weights: NDArray[np.int64]) -> Floats:
    """``survival_median`` of every resample at once: S(t) = Π_{s ≤ t} (1 − d_s/r_s), d_s of r_s at risk met at s.

    times: [m]; met: bool [m]; weights: int64 [R, m], how often each chain counts. Result: [R].
    """
    order = np.lexsort((~met, times))  # at a tie, those met leave before those censored
    ordered = weights[:, order].astype(np.float64)
    at_risk = ordered[:, ::-1].cumsum(axis=1)[:, ::-1]
    kept = 1 - np.where(met[order], ordered, 0) / np.maximum(at_risk, 1)
    survival = np.cumprod(kept, axis=1)
    below = survival <= 0.5 + 1e-12
    return np.where(below.any(axis=1), times[order][below.argmax(axis=1)], math.inf)


def median_or_bound(times: Floats, met: NDArray[np.bool_], longest: float, seed: int) -> Estimate | Bound:
    """Kaplan–Meier median with a bootstrap interval over runs; fewer than half met: the run's length bounds it.

    times: [m]; met: bool [m]; longest: where runs were cut, in the unit of the times.

    >>> str(median_or_bound(np.array([2.0, 9.0, 9.0]), np.array([True, False, False]), 9.0, 0))
    '>= 9 (lower bound)'
    """
    value = survival_median(times, met)
    if not math.isfinite(value):
        return Bound(longest, side="lower", n=len(times))
    if len(times) < 2:
        return Estimate(value, math.inf, 1)
    medians = weighted_medians(times, met, resamples(np.arange(len(times)), seed))
    stderr = float(medians.std(ddof=1)) if np.isfinite(medians).all() else math.inf
    ends = order_statistic(medians, 0.025), order_statistic(medians, 0.975)
    return Estimate(value, stderr, len(times), ends)


def met_fraction(met: NDArray[np.bool_]) -> Estimate:
    """Share of runs that were met within the run, with Wilson's 95 % interval."""
    from scipy import stats

    test = stats.binomtest(int(met.sum()), len(met))
    interval = test.proportion_ci(method="wilson")
    share = float(met.mean())
    return Estimate(
        share, math.sqrt(share * (1 - share) / len(met)), len(met), (float(interval.low), float(interval.high))
    )


def resamples(groups: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
    """How often each chain counts in each resample of whole groups: [RESAMPLES, m]."""
    names, which = np.unique(groups, return_inverse=True)
    rng = generator(seed, stream=Stream.BOOTSTRAP)
    counts = rng.multinomial(len(names), np.full(len(names), 1 / len(names)), size=RESAMPLES)
    return np.asarray(counts[:, which.ravel()], dtype=np.int64)


def order_statistic(values: Floats, level: float) -> float:
    """An order statistic, so that infinite replicas are never averaged."""
    return float(np.quantile(values, level, method="inverted_cdf"))
