"""What a check returns when the law holds, and raises when it does not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from maskov.errors import ConformanceError
from maskov.protocols import Floats
from maskov.results import Result


@dataclass(frozen=True)
class Conformance(Result):
    """A law that held: the largest deviation seen, at most the tolerance, and the number of cases (0: skipped)."""

    law: str
    deviation: float
    tolerance: float
    checked: int


@dataclass(frozen=True)
class GoodnessOfFit(Result):
    """Draws that fit their law: p_value ≥ level, from ``draws`` of them in ``cells`` groups of outcomes."""

    law: str
    p_value: float
    level: float
    draws: int
    cells: int


def held(law: str, deviation: float, tolerance: float, checked: int, remedy: str) -> Conformance:
    """The verdict on a deviation; ``ConformanceError`` above the tolerance (or NaN)."""
    if not deviation <= tolerance:
        expected = f"a deviation of at most {tolerance:g}"
        raise ConformanceError(law, expected=expected, came=f"{deviation:.4g}", remedy=remedy)
    return Conformance(law, float(deviation), tolerance, checked)


def fitted(law: str, p_value: float, level: float, draws: int, cells: int, came: str, remedy: str) -> GoodnessOfFit:
    """The verdict on a p-value; ``ConformanceError`` below the level (or NaN)."""
    if not p_value >= level:
        expected = f"draws of that law (p-value of at least {level:g})"
        raise ConformanceError(law, expected=expected, came=f"p = {p_value:.2g}: {came}", remedy=remedy)
    return GoodnessOfFit(law, float(p_value), level, draws, cells)


def normalised(rows: Floats) -> NDArray[np.float64]:
    """log-softmax in float64 of rows [B, V], −inf kept; ``ConformanceError`` on NaN, +inf and rows without a token."""
    s = np.asarray(rows, dtype=np.float64)
    for broken, came in (
        (np.isnan(s), "NaN"),
        (s == np.inf, "+inf"),
        ((s == -np.inf).all(axis=1), "a row of −inf only"),
    ):
        if broken.any():
            expected = "finite logits (−inf where forbidden) with at least one allowed token"
            came = f"{came} in row {int(np.argwhere(broken)[0][0])}"
            raise ConformanceError(
                "rows are finite", expected=expected, came=came, remedy="look at the weights and masks"
            )
    return np.asarray(log_softmax(s, axis=1))


def log_gap(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """Largest |a − b| of log-probabilities, nats; +inf where one of them alone is −inf, 0 for empty arrays."""
    x, y = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if ((x == -np.inf) != (y == -np.inf)).any():
        return float("inf")
    finite = x > -np.inf
    return float(np.abs(x[finite] - y[finite]).max(initial=0.0))
