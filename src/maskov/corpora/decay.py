"""Which law does a measured curve follow: A e^{−cv}, A v^{−b} or A e^{−c v^b}, each with or without a floor?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskov.quantities import Estimate
from maskov.results import jsonable

Floats = NDArray[np.float64]
FAMILIES = ("exponential", "power", "stretched")
TOLERANCE = 0.10
LEAST_DELTA = 4.0
LEAST_SHARE = 0.9
FEWEST_POINTS = 3
STRETCH = (0.2, 0.75)
_EXPONENTS = np.round(np.arange(0.05, 1.5001, 0.05), 3)
_FLOORS = np.array([0.0, 0.2, 0.4, 0.6, 0.7, 0.8, 0.85, 0.9, 0.94, 0.97, 0.99])
_MINIMUM = 1e-300


@dataclass(frozen=True)
class Fit:
    """One family fitted to a curve: MMSE(v) ≈ A e^{−cv}, A v^{−b} or A e^{−c v^b}, plus the floor f.

    amplitude, rate (c; None for the power law), exponent (b; None for the exponential), with 95 % intervals over
    documents; floor: f, 0 where AIC sees none; chi2: squared residuals over their covariance; aic: χ² + 2 parameters.
    """

    family: str
    amplitude: Estimate | None
    rate: Estimate | None
    exponent: Estimate | None
    floor: float
    chi2: float
    parameters: int
    aic: float

    def at(self, visible: Any) -> Floats:
        """The fitted value at visible counts ≥ 1; NaN where nothing was fitted."""
        v = np.asarray(visible, dtype=np.float64)
        if self.amplitude is None:
            return np.full(v.shape, np.nan)
        b = 1.0 if self.exponent is None else self.exponent.value
        drop = b * np.log(v) if self.rate is None else self.rate.value * v**b
        return np.asarray(np.exp(np.log(self.amplitude.value) - drop) + self.floor)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return dict(jsonable(vars(self)))


@dataclass(frozen=True)
class Decay:
    """The three fits of one curve and the verdict.

    verdict: ``exponential``, ``power``, ``stretched`` or ``cannot tell``; delta_aic: by how much the better of
    exponential and power beats the other; share: of document resamples in which it does; used: the visible counts
    fitted; reason: why there is no verdict, or what it rests on.
    """

    sampling: str
    exponential: Fit
    power: Fit
    stretched: Fit
    verdict: str
    delta_aic: float
    share: float
    used: tuple[int, ...]
    reason: str

    def fits(self) -> dict[str, Fit]:
        """By family."""
        return {name: getattr(self, name) for name in FAMILIES}


def fit_decay(sampling: str, visible: Floats, values: Floats, resamples: Floats, used: NDArray[np.bool_]) -> Decay:
    """Fit the three families to log MMSE by generalised least squares, and judge.

    visible: [m]; values: [m] the curve; resamples: [R, m] the curve on resampled documents; used: bool [m], points from
    the onset to the noise floor. The covariance of log MMSE is that of the resamples plus (10 %)² on each point: a law
    of two or three numbers is not asked to be right to better than that, so that a curve with tiny errors does not
    reject every law. Families compete with their own best choice of floor; AIC = χ² + 2 × parameters.
    """
    v = np.asarray(visible, dtype=np.float64)[used]
    if len(v) < FEWEST_POINTS:
        reason = f"{len(v)} counts lie between the onset and the noise floor; {FEWEST_POINTS} are needed"
        blank = {name: Fit(name, None, None, None, 0.0, 0.0, 0, 0.0) for name in FAMILIES}
        return Decay(sampling, **blank, verdict="cannot tell", delta_aic=0.0, share=0.0, used=_ints(v), reason=reason)
    y, Y = values[used][None], np.maximum(resamples[:, used], _MINIMUM)
    # A resample near 0 has a logarithm without bound: a point is known no worse than to a factor of e.
    spread = np.clip(np.log(Y) - np.log(y), -3, 3)
    C = np.cov(spread, rowvar=False).reshape(len(v), len(v)) + TOLERANCE**2 * np.eye(len(v))
    found = {name: _best(name, v, y, C) for name in FAMILIES}
    again = {name: _best(name, v, Y, C) for name in FAMILIES}
    fits = {name: _fit(name, found[name], again[name], len(Y)) for name in FAMILIES}
    verdict, delta, share, reason = _judge(fits, again)
    return Decay(sampling, **fits, verdict=verdict, delta_aic=delta, share=share, used=_ints(v), reason=reason)


def _ints(v: Floats) -> tuple[int, ...]:
    return tuple(int(x) for x in v)


def _best(family: str, v: Floats, Y: Floats, C: Floats) -> Floats:
    """The best fit of every curve [R, n] by AIC over floors: rows (aic, χ², parameters, log A, c or b, exponent, f)."""
    inverse_root = np.linalg.inv(np.linalg.cholesky(C))
    best, base = np.full((len(Y), 7), np.inf), 3 if family == "stretched" else 2
    exponents = _EXPONENTS if family == "stretched" else np.array([1.0])
    ramps = np.log(v)[None] if family == "power" else v ** exponents[:, None]
    for share in _FLOORS:
        parameters = base + (share > 0)
        if share > 0 and len(v) < parameters + 2:
            continue
        f = share * Y.min(axis=1)
        chi2, intercept, slope = _lines(ramps, Y, f, inverse_root)
        k = np.where(slope > 0, chi2, np.inf).argmin(axis=1)
        row = np.arange(len(Y))
        chi2, intercept, slope = (x[row, k] for x in (chi2, intercept, slope))
        aic = np.where(slope > 0, chi2 + 2 * parameters, np.inf)
        found = np.stack([aic, chi2, np.full(len(Y), parameters), intercept, slope, exponents[k], f], axis=1)
        better = aic < best[:, 0]
        best[better] = found[better]
    return best


def _lines(ramps: Floats, Y: Floats, f: Floats, inverse_root: Floats) -> tuple[Floats, Floats, Floats]:
    """Generalised least squares of log(Y − f) on intercept − slope · x, for every curve and ramp: χ², intercept, slope,
    each [R, B]. ramps: [B, n]; Y: [R, n]; f: [R].

    An error of log Y is Y/(Y − f) times as large in log(Y − f).
    """
    left = Y - f[:, None]
    white = inverse_root * (left / Y)[:, None, :]
    target, one = (white @ np.log(left)[:, :, None]).swapaxes(1, 2), white.sum(axis=2)[:, None, :]
    ramp = -(white @ ramps.T).swapaxes(1, 2)
    a, b, c = (one * one).sum(2), (one * ramp).sum(2), (ramp * ramp).sum(2)
    p, q = (one * target).sum(2), (ramp * target).sum(2)
    determinant = np.maximum(a * c - b * b, 1e-300)
    intercept, slope = (c * p - b * q) / determinant, (a * q - b * p) / determinant
    residual = target - intercept[:, :, None] * one - slope[:, :, None] * ramp
    return (residual**2).sum(axis=2), intercept, slope


def _fit(family: str, found: Floats, again: Floats, R: int) -> Fit:
    aic, chi2, parameters, intercept, slope, b, floor = (float(x) for x in found[0])
    if not np.isfinite(aic):  # no falling curve of this family
        return Fit(family, None, None, None, 0.0, 1e6, 2, 1e6)
    keep = again[np.isfinite(again[:, 0])]
    amplitude = _estimate(float(np.exp(min(intercept, 700.0))), np.exp(np.minimum(keep[:, 3], 700.0)), R)
    steep = _estimate(slope, keep[:, 4], R)
    shape = _estimate(b, keep[:, 5], R)
    rate = None if family == "power" else steep
    exponent = {"exponential": None, "power": steep, "stretched": shape}[family]
    return Fit(family, amplitude, rate, exponent, floor, chi2, int(parameters), aic)


def _estimate(value: float, draws: Floats, R: int) -> Estimate:
    if len(draws) < 2:
        return Estimate(value, float("inf"), R)
    low, high = np.quantile(draws, [0.025, 0.975])
    return Estimate(value, float(draws.std(ddof=1)), R, (float(low), float(high)))


def _judge(fits: dict[str, Fit], again: dict[str, Floats]) -> tuple[str, float, float, str]:
    """Verdict, ΔAIC, share of resamples, and the reason.

    Exponential against power decides. The stretched law is the verdict only where it beats both by as much, with an
    exponent clearly between: one near 1 is an exponential with a slowly varying factor, as exact product modes have.
    """
    winner, loser = sorted(("exponential", "power"), key=lambda name: fits[name].aic)
    delta = fits[loser].aic - fits[winner].aic
    share = float((again[winner][:, 0] < again[loser][:, 0]).mean())
    b = fits["stretched"].exponent
    gain = fits[winner].aic - fits["stretched"].aic
    if b is not None and STRETCH[0] <= b.value <= STRETCH[1] and gain >= LEAST_DELTA:
        rival = np.minimum(again["exponential"][:, 0], again["power"][:, 0])
        share = float((again["stretched"][:, 0] < rival).mean())
        if share >= LEAST_SHARE:
            return "stretched", gain, share, f"exponent {b.value:.2g}; {winner} is the better of the other two"
        return "cannot tell", gain, share, "a stretched exponential is as good in most resamples, not in nine of ten"
    if delta < LEAST_DELTA or share < LEAST_SHARE:
        return "cannot tell", delta, share, f"{winner} is better, but by less than {LEAST_DELTA:g} or too seldom"
    return winner, delta, share, f"{loser} is worse by {delta:.1f} in AIC"
