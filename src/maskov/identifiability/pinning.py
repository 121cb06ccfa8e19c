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
from maskov.quantities import Estimate, json_number

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Pinning:
    """MMSE(v) ≤ C e^{−c v} for v ≥ s_pin (assumption 5.1), and the floor MMSE(v) ≥ η for v ≤ s_pin (5.2).

    rate: c per site, an estimate with the 95 % interval of the fit; slopes: the smallest and largest local rate between
    consecutive counts; log_constant: log C, the smallest for which the bound holds at every count given.
    """

    s_pin: int
    rate: Estimate
    slopes: tuple[float, float]
    log_constant: float
    floor: float

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "s_pin": self.s_pin,
            "rate": self.rate.to_dict(),
            "slopes": [json_number(x) for x in self.slopes],
            "log_constant": json_number(self.log_constant),
            "floor": json_number(self.floor),
        }


def fit_pinning(
    visible: ArrayLike, log_mmse: ArrayLike, s_pin: int | None = None, log_stderr: ArrayLike | None = None
) -> Pinning:
    """Fit log MMSE(v) = log C − c v on v ≥ s_pin by (weighted) least squares, then raise C until the bound holds
    everywhere.

    visible: [m] counts, ascending; log_mmse: [m]; log_stderr: [m] standard errors of log_mmse, where it was measured;
    s_pin: default the smallest count where the MMSE is at most half of its first value. Raises ``InputError`` with
    fewer than three counts from s_pin on.

    >>> fit = fit_pinning([0, 8, 16, 24, 32], [0.0, -4.0, -8.0, -12.0, -16.0])
    >>> fit.s_pin, round(fit.rate.value, 6)
    (8, 0.5)
    """
    v, y = np.asarray(visible, dtype=np.float64), np.asarray(log_mmse, dtype=np.float64)
    halved = np.flatnonzero(y <= y[0] - np.log(2))
    start = s_pin if s_pin is not None else int(v[halved[0]]) if halved.size else int(v[-1]) + 1
    used = (v >= start) & np.isfinite(y)
    if used.sum() < 3:
        raise InputError(
            "pinning",
            expected="at least three counts at which the MMSE has fallen by half",
            came=str(int(used.sum())),
            remedy="measure larger visible counts",
        )
    sigma = None if log_stderr is None else np.maximum(np.asarray(log_stderr, dtype=np.float64)[used], 1e-12)
    rate = _slope(v[used], y[used], sigma)
    slopes = -np.diff(y[used]) / np.diff(v[used])
    below = v <= start
    return Pinning(
        int(start),
        rate,
        (float(slopes.min()), float(slopes.max())),
        float((y[used] + rate.value * v[used]).max()),
        float(np.exp(y[below].min())),
    )


def _slope(v: Floats, y: Floats, sigma: Floats | None) -> Estimate:
    """−slope of y on v with its standard error and 95 % interval (Student's t, or normal where errors are known)."""
    weight = np.ones(len(v)) if sigma is None else sigma**-2.0
    centred = v - np.average(v, weights=weight)
    spread = float((weight * centred**2).sum())
    slope = float((weight * centred * y).sum()) / spread
    residual = y - np.average(y, weights=weight) - slope * centred
    noise = float((weight * residual**2).sum()) / (len(v) - 2) if sigma is None else 1.0
    stderr = float(np.sqrt(noise / spread))
    reach = float(stats.t.ppf(0.975, len(v) - 2)) if sigma is None else 1.96
    return Estimate(-slope, stderr, len(v), (-slope - reach * stderr, -slope + reach * stderr))


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
