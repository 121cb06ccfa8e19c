"""Pinning and floor: how fast the residual mode uncertainty falls with the visible count."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

from maskov.errors import InputError
from maskov.identifiability.log_quantities import scientific
from maskov.quantities import Estimate, Exact
from maskov.results import jsonable

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Pinning:
    """MMSE(v) ≤ C e^{−c v} for v ≥ s_pin (assumption 5.1), and the floor MMSE(v) ≥ η for v ≤ s_pin (5.2).

    s_interval: where the smallest such count lies, between the counts given and within their errors; rate: c per site,
    and fitted: log C of the least-squares line, estimates with 95 % intervals; slopes: the smallest and largest local
    rate between consecutive counts; log_constant: log C, the smallest for which the bound holds at every count given;
    floor: η, exact or with its interval where the MMSE was measured.
    """

    s_pin: int
    s_interval: tuple[int, int]
    rate: Estimate
    fitted: Estimate
    slopes: tuple[float, float]
    log_constant: float
    floor: Exact | Estimate

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return dict(jsonable(vars(self)))

    def __str__(self) -> str:
        low, high = self.rate.interval or (self.rate.value, self.rate.value)
        bound = f"MMSE(v) <= {scientific(self.log_constant)} exp(-{self.rate.value:.6g} v) from v = {self.s_pin} on"
        return f"{bound} (rate 95 %: {low:.6g} … {high:.6g}); floor {self.floor.value:.4g} below"


def fit_pinning(
    visible: ArrayLike, log_mmse: ArrayLike, s_pin: int | None = None, log_stderr: ArrayLike | None = None
) -> Pinning:
    """Fit log MMSE(v) = log C − c v on v ≥ s_pin by (weighted) least squares, then raise C until the bound holds
    everywhere.

    visible: [m] counts, ascending; log_mmse: [m]; log_stderr: [m] standard errors of log_mmse, where it was measured;
    s_pin: default the smallest count where the MMSE is at most half of its first value. Raises ``InputError`` with
    fewer than three counts from s_pin on.

    >>> fit = fit_pinning([0, 8, 16, 24, 32], [0.0, -4.0, -8.0, -12.0, -16.0])
    >>> fit.s_pin, fit.s_interval, round(fit.rate.value, 6), round(fit.floor.value, 6)
    (8, (1, 8), 0.5, 0.018316)
    """
    v, y = np.asarray(visible, dtype=np.float64), np.asarray(log_mmse, dtype=np.float64)
    sigma = np.zeros(len(v)) if log_stderr is None else np.asarray(log_stderr, dtype=np.float64)
    start = s_pin if s_pin is not None else _first_below(v, y, y[0] - np.log(2))
    used = (v >= start) & np.isfinite(y)
    if used.sum() < 3:
        raise InputError(
            "pinning",
            expected="at least three counts at which the MMSE has fallen by half",
            came=str(int(used.sum())),
            remedy="measure larger visible counts",
        )
    rate, fitted = _line(v[used], y[used], sigma[used] if (sigma[used] > 0).all() else None)
    slopes = -np.diff(y[used]) / np.diff(v[used])
    return Pinning(
        start,
        (start, start) if s_pin is not None else _half_interval(v, y, 1.96 * sigma),
        rate,
        fitted,
        (float(slopes.min()), float(slopes.max())),
        float((y[used] + rate.value * v[used]).max()),
        _floor(y, sigma, v <= start, log_stderr is None),
    )


def _first_below(v: Floats, y: Floats, level: float) -> int:
    """The smallest count with y at most the level; one beyond the last where there is none."""
    below = np.flatnonzero(y <= level)
    return int(v[below[0]]) if below.size else int(v[-1]) + 1


def _half_interval(v: Floats, y: Floats, reach: Floats) -> tuple[int, int]:
    """Ends for the smallest count at half of the first MMSE: from above the last sure miss to the first sure hit."""
    level = y[0] - np.log(2)
    earliest = _first_below(v, y - reach, level)
    before = v[v < earliest]
    return int(before[-1]) + 1 if before.size else earliest, _first_below(v, y + reach, level)


def _floor(y: Floats, sigma: Floats, below: NDArray[np.bool_], exact: bool) -> Exact | Estimate:
    """The smallest MMSE among the counts below, with the interval of that count's logarithm."""
    k = int(np.flatnonzero(below)[np.argmin(y[below])])
    value = float(np.exp(y[k]))
    if exact:
        return Exact(value)
    ends = np.exp(y[k] + 1.96 * sigma[k] * np.array([-1, 1]))
    return Estimate(value, value * float(sigma[k]), 1, (float(ends[0]), float(ends[1])))


def _line(v: Floats, y: Floats, sigma: Floats | None) -> tuple[Estimate, Estimate]:
    """−slope and intercept of y on v with standard errors and 95 % intervals: Student's t, or normal where errors are
    known, widened where the line misses by more than they allow."""
    weight = np.ones(len(v)) if sigma is None else sigma**-2.0
    middle, level = np.average(v, weights=weight), np.average(y, weights=weight)
    spread = float((weight * (v - middle) ** 2).sum())
    slope = float((weight * (v - middle) * y).sum()) / spread
    residual = y - level - slope * (v - middle)
    noise = float((weight * residual**2).sum()) / (len(v) - 2)
    noise = noise if sigma is None else max(1.0, noise)
    reach = float(stats.t.ppf(0.975, len(v) - 2)) if sigma is None else 1.96
    errors = np.sqrt(noise * np.array([1 / spread, 1 / weight.sum() + middle**2 / spread]))
    values = np.array([-slope, level - slope * middle])
    return tuple(  # type: ignore[return-value]
        Estimate(float(x), float(e), len(v), (float(x - reach * e), float(x + reach * e)))
        for x, e in zip(values, errors, strict=True)
    )


def chernoff_information(log_p: ArrayLike, log_q: ArrayLike) -> float:
    """−min_s log Σ_a p(a)^{1−s} q(a)^s, the limit of the rate c for two product modes. log_p, log_q: [V].

    >>> p, q = np.log([0.8, 0.2]), np.log([0.2, 0.8])
    >>> bool(np.isclose(chernoff_information(p, q), -0.5 * np.log(1 - 4 * 0.3**2)))
    True
    """
    return chernoff_point(log_p, log_q)[1]


def chernoff_point(log_p: ArrayLike, log_q: ArrayLike) -> tuple[float, float]:
    """The s that minimises Σ_i log Σ_a p_i(a)^{1−s} q_i(a)^s, and minus that minimum. log_p, log_q: [V] or [n, V]."""
    a, b = (np.atleast_2d(np.asarray(x, dtype=np.float64)) for x in (log_p, log_q))
    both = (a > -np.inf) & (b > -np.inf)
    if not both.any(axis=1).all():
        return 0.5, float(np.inf)
    a, b = np.where(both, a, -np.inf), np.where(both, b, 0.0)

    def affinity(s: float) -> float:
        with np.errstate(invalid="ignore"):
            return float(np.asarray(logsumexp((1 - s) * a + s * b, axis=1)).sum())

    found = minimize_scalar(affinity, bounds=(0, 1), method="bounded", options={"xatol": 1e-10})
    return float(found.x), -float(found.fun)
