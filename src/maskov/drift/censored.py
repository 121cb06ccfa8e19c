"""Normal regression of values that are only known to lie in an interval, for many weightings at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

Floats = NDArray[np.float64]

_LOG_ROOT_2PI = 0.5 * np.log(2 * np.pi)
_ITERATIONS, _TOLERANCE = 60, 1e-9
# Widths below this are not resolved: a step in log t of two neighbouring whole times is larger.
_LEAST_WIDTH = 1e-3
# Keeps a slope that the data do not bound (all met at one length, none at the next) finite; it moves others by 1e-6.
_RIDGE = 1e-6


class NormalFit(NamedTuple):
    """One fit per weighting, each [R]: mean a + b x, standard deviation ``width``, log-likelihood. b is 0 without a
    slope; a and b are infinite, the likelihood NaN, where no weight is on a met value.
    """

    a: Floats
    b: Floats
    width: Floats
    log_likelihood: Floats


def fit_normal(low: Floats, high: Floats, weights: Floats, x: Floats | None = None) -> NormalFit:
    """Maximum likelihood of y ~ N(a + b x, s²) where each y is known to lie in (low, high] [Tobin 1958].

    In (1/s, a/s, b/s) the log-likelihood is concave [Olsen 1978; Burridge 1981], so Newton's method with halved steps
    finds the one maximum.

    low, high: [m], equal where y is known, high infinite where right-censored; weights: [R, m] counts of a resample;
    x: [m], None without a slope.

    >>> f = fit_normal(np.array([0.0, 1.0, 1.5]), np.array([0.0, 1.0, np.inf]), np.ones((1, 3)))
    >>> bool(f.a[0] > 1.0)
    True
    """
    low, high = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
    problem = _Problem(low, high, np.zeros_like(low) if x is None else x, x is not None)
    seen = (weights * np.isfinite(high)).sum(axis=1) > 0
    theta, value = _maximise(problem, weights[seen])
    out = [np.full(len(weights), fill) for fill in (np.inf, 0.0 if x is None else np.inf, np.nan, np.nan)]
    gamma = theta[:, 0]
    found = (theta[:, 1] / gamma, theta[:, 2] / gamma, 1 / gamma, value)
    for column, values in zip(out, found, strict=True):
        column[seen] = values
    return NormalFit(*out)


class _Problem:
    """Value, gradient and curvature of the log-likelihood at θ = (1/s, a/s, b/s), where z = θ·(y, −1, −x)."""

    def __init__(self, low: Floats, high: Floats, x: Floats, slope: bool) -> None:
        self.exact, self.slope = low == high, slope
        self.x_scale = max(float(np.abs(x).max()), 1e-300)
        finite_low, finite_high = (np.where(np.isfinite(v), v, 0.0) for v in (low, high))
        self.left, self.right = np.isfinite(low), np.isfinite(high)
        ones = -np.ones_like(low)
        self.f_low, self.f_high = (np.stack([v, ones, -x], axis=1) for v in (finite_low, finite_high))
        y = np.where(self.right, finite_high, finite_low)
        spread = max(float(y.std()), 10 * _LEAST_WIDTH)
        self.start = np.array([1 / spread, float(y.mean()) / spread, 0.0])

    def value(self, theta: Floats, weights: Floats) -> Floats:
        """Penalised log-likelihood of each weighting: [R]."""
        return (weights * self._terms(theta)[0]).sum(axis=1) - 0.5 * _RIDGE * (theta[:, 2] * self.x_scale) ** 2

    def _terms(self, theta: Floats) -> tuple[Floats, Floats, Floats]:
        """Log-likelihoods [R, m], and z at both ends (infinite where an end is open)."""
        z_low = np.where(self.left, theta @ self.f_low.T, -np.inf)
        z_high = np.where(self.right, theta @ self.f_high.T, np.inf)
        log_mass = log_interval(z_low, z_high)
        log_density = np.log(theta[:, :1]) - 0.5 * np.where(self.exact, z_high, 0.0) ** 2 - _LOG_ROOT_2PI
        return np.where(self.exact, log_density, log_mass), z_low, z_high

    def newton(self, theta: Floats, weights: Floats) -> tuple[Floats, Floats]:
        """Gradient [R, 3] and curvature [R, 3, 3] (minus the Hessian)."""
        terms, z_low, z_high = self._terms(theta)
        zh, zl = (np.where(np.isfinite(z), z, 0.0) for z in (z_high, z_low))
        # φ(z)/mass at each end of an interval, 0 at an open one (whose exponential, not asked for, could overflow).
        h, low = (
            np.exp(np.where(np.isfinite(z) & ~self.exact, -0.5 * v**2 - _LOG_ROOT_2PI - terms, -np.inf))
            for z, v in ((z_high, zh), (z_low, zl))
        )
        d_high = np.where(self.exact, -zh, h)
        gradient = (weights * d_high) @ self.f_high - (weights * low) @ self.f_low
        hh = np.where(self.exact, 1.0, h * (zh + h))
        ll, hl = low * (low - zl), -h * low
        curvature = _outer(weights * hh, self.f_high, self.f_high) + _outer(weights * ll, self.f_low, self.f_low)
        mixed = _outer(weights * hl, self.f_high, self.f_low)
        curvature += mixed + mixed.transpose(0, 2, 1)
        known = (weights * self.exact).sum(axis=1)
        gradient[:, 0] += known / theta[:, 0]
        curvature[:, 0, 0] += known / theta[:, 0] ** 2
        ridge = _RIDGE * self.x_scale**2 if self.slope else 1.0
        gradient[:, 2] = gradient[:, 2] - ridge * theta[:, 2] if self.slope else 0.0
        if not self.slope:
            curvature[:, 2, :] = curvature[:, :, 2] = 0.0
        curvature[:, 2, 2] += ridge
        return gradient, curvature


def _outer(weights: Floats, a: Floats, b: Floats) -> Floats:
    """Σ_k w_rk a_ki b_kj: [R, i, j]."""
    products = (a[:, :, None] * b[:, None, :]).reshape(len(a), -1)
    return np.asarray((weights @ products).reshape(-1, a.shape[1], b.shape[1]))


def log_interval(low: Floats, high: Floats) -> Floats:
    """log(Φ(high) − Φ(low)) without cancellation in either tail; −inf where low = high.

    >>> round(float(log_interval(np.array(30.0), np.array(np.inf))), 3)
    -454.321
    """
    flip = low > 0
    a, b = np.where(flip, -high, low), np.where(flip, -low, high)
    upper, lower = log_ndtr(b), log_ndtr(a)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(np.isneginf(lower), upper, upper + np.log(-np.expm1(lower - upper))))


def _maximise(problem: _Problem, weights: Floats) -> tuple[Floats, Floats]:
    """θ [R, 3] and the log-likelihoods [R]; every weighting stops by itself."""
    theta = np.repeat(problem.start[None], len(weights), axis=0)
    value = problem.value(theta, weights)
    active = np.arange(len(weights))
    for _ in range(_ITERATIONS):
        if not active.size:
            break
        gradient, curvature = problem.newton(theta[active], weights[active])
        curvature += 1e-10 * np.eye(3) * np.trace(curvature, axis1=1, axis2=2)[:, None, None]
        step = np.linalg.solve(curvature, gradient[..., None])[..., 0]
        gain = (step * gradient).sum(axis=1)
        theta[active], value[active] = _halved(
            problem, theta[active], value[active], np.asarray(step, dtype=np.float64), weights[active]
        )
        active = active[gain > _TOLERANCE]
    return theta, value


def _halved(problem: _Problem, theta: Floats, value: Floats, step: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """The longest of the steps 1, ½, ¼, … that does not lower the likelihood; 1/s stays within its bounds."""
    new, best, open_rows = theta.copy(), value.copy(), np.ones(len(theta), dtype=bool)
    for k in range(30):
        trial = theta[open_rows] + 0.5**k * step[open_rows]
        inside = (trial[:, 0] > 0.2 * theta[open_rows, 0]) & (trial[:, 0] <= 1 / _LEAST_WIDTH)
        trial[:, 0] = np.clip(trial[:, 0], 0.2 * theta[open_rows, 0], 1 / _LEAST_WIDTH)
        found = problem.value(trial, weights[open_rows])
        better = found >= best[open_rows] - 1e-12
        rows = np.flatnonzero(open_rows)[better & (inside | (k > 0))]
        keep = better & (inside | (k > 0))
        new[rows], best[rows] = trial[keep], found[keep]
        open_rows[rows] = False
        if not open_rows.any():
            break
    return new, best
