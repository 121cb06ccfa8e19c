"""The temperature above which influence contracts: exact on laws, bounded from below on searched networks."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from scipy.optimize import brentq

from maskov.quantities import Bound, Exact

# Halvings below the grid, and doublings above it, before a law is said to have no crossing.
_STEPS = 12
# tanh(20) is 1 in float64: an α that only rounds to 1, like a ring's at low temperature, is below it.
_ABOVE = 1 + 1e-9
Found = tuple[Exact | Bound | None, str]


def exact_critical_temperature(
    alpha: Callable[[float], float], temperatures: Sequence[float], alphas: Sequence[float]
) -> Found:
    """The highest τ* with α(τ*) = 1, to 1e-12 relative, or None and the reason.

    alpha: exact α at any temperature; temperatures: ascending; alphas: α there. Beyond the grid it is bracketed by
    halving and doubling; between the temperatures looked at, α is taken to cross once.

    >>> exact_critical_temperature(lambda t: 2 / t, [0.5, 1.0], [4.0, 2.0])[0].value.__round__(9)
    2.0
    """
    points = list(zip(temperatures, alphas, strict=True))
    while points[-1][1] > _ABOVE and len(points) < len(temperatures) + _STEPS:
        points.append((2 * points[-1][0], alpha(2 * points[-1][0])))
    while max(a for _, a in points) <= _ABOVE and len(points) < len(temperatures) + _STEPS:
        points.insert(0, (points[0][0] / 2, alpha(points[0][0] / 2)))
    if points[-1][1] > _ABOVE:
        return Bound(points[-1][0], side="lower"), ""
    above = [k for k, (_, a) in enumerate(points) if a > _ABOVE]
    if not above:
        return None, f"the exact influence is below 1 at every temperature from {points[0][0]:.3g} up"
    low, high = points[above[-1]][0], points[above[-1] + 1][0]
    if alpha(high) >= 1:
        return Exact(high), ""
    root = brentq(lambda log_tau: _log(alpha(math.exp(log_tau))), math.log(low), math.log(high), xtol=1e-13)
    return Exact(math.exp(root)), ""


def _log(alpha: float) -> float:
    return math.log(max(alpha, 1e-300))


def searched_critical_temperature(temperatures: Sequence[float], alphas: Sequence[float]) -> Found:
    """τ* is at least the highest temperature looked at where a lower bound of α reaches 1; None where none does.

    Nothing is interpolated: between two temperatures no α was seen.

    >>> str(searched_critical_temperature([0.5, 1.0, 2.0], [3.0, 1.2, 0.7])[0])
    '>= 1 (lower bound)'
    """
    above = [tau for tau, alpha in zip(temperatures, alphas, strict=True) if alpha > _ABOVE]
    if not above:
        return None, "the influence that was seen is below 1 at every temperature looked at, which certifies nothing"
    return Bound(max(above), side="lower"), ""
