"""From an influence matrix to contraction numbers, and to a mixing time bound that accepts only what certifies."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from maskov.errors import InputError
from maskov.quantities import Bound, Exact

Matrix = NDArray[np.float64]
# Sums of rounded entries: an α that is 1 must not certify because it came out as 1 − 1e-16.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Influence:
    """An influence matrix with its origin. values: float64 [n, n]; kind: exact, upper, or lower (a sampled maximum).

    The origin has no default: a matrix that does not say where it comes from must not certify anything.
    """

    values: Matrix
    kind: str

    def __post_init__(self) -> None:
        C = self.values
        if C.ndim != 2 or C.shape[0] != C.shape[1] or not np.isfinite(C).all() or (C < 0).any():
            raise InputError("influence matrix", expected="a square matrix of numbers ≥ 0", came=f"shape {C.shape}")
        if self.kind not in ("exact", "upper", "lower"):
            raise InputError("influence matrix", expected="exact, upper or lower", came=self.kind)

    def quantity(self, value: float) -> Exact | Bound:
        """A monotone function of the entries has the origin of the entries."""
        return Exact(value) if self.kind == "exact" else Bound(value, side=self.kind)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Contraction:
    """α in four norms of C: below 1 the chain contracts [Dobrushin & Shlosman 1985; Hayes 2006].

    row: max row sum (‖C‖_∞); column: max column sum (‖C‖_1); spectral: largest singular value (‖C‖_2); radius: spectral
    radius, the smallest of all.
    """

    row: Exact | Bound
    column: Exact | Bound
    spectral: Exact | Bound
    radius: Exact | Bound


def contraction(C: Influence) -> Contraction:
    """The four numbers of an influence matrix, each with the matrix' origin.

    >>> contraction(Influence(np.array([[0.0, 0.5], [0.25, 0.0]]), "exact")).radius.value.__round__(6)
    0.353553
    """
    values = _checked(C).values
    return Contraction(
        row=C.quantity(float(values.sum(axis=1).max())),
        column=C.quantity(float(values.sum(axis=0).max())),
        spectral=C.quantity(float(np.linalg.norm(values, 2))),
        radius=C.quantity(float(np.abs(np.linalg.eigvals(values)).max())),
    )


def mixing_time_bound(C: Influence, epsilon: float = 0.25) -> Bound | None:
    """t_mix(ε) ≤ ⌈n (log n + log(1/ε))/(1 − α)⌉ single-site updates, the smallest over the norms; None where all α ≥ 1.

    E[d_{t+1}] ≤ (I − (I − C)/n) E[d_t] for the disagreements of coupled chains, so any norm with α < 1 gives it. The
    spectral radius works in the ∞-norm weighted by the Perron vector r and gains max r/min r inside the logarithm.
    Raises ``InputError`` on a sampled matrix: a lower bound of C certifies nothing.

    >>> mixing_time_bound(Influence(np.zeros((4, 4)), "exact")).value
    12.0
    """
    if _checked(C).kind == "lower":
        raise InputError(
            "influence matrix",
            expected="exact values or certified upper bounds",
            came="sampled maxima, which bound influence from below",
            remedy="use it as a diagnostic only",
        )
    if not 0 < epsilon < 1:
        raise InputError("epsilon", expected="a number in (0, 1)", came=str(epsilon))
    n = len(C.values)
    times = [_time(n, alpha, 1.0, epsilon) for alpha in _norms(C.values)] + [_perron_time(C.values, epsilon)]
    best = min(times)
    return Bound(float(math.ceil(best)), side="upper") if math.isfinite(best) else None


def _checked(C: Influence) -> Influence:
    if not isinstance(C, Influence):
        remedy = 'wrap it: Influence(matrix, "exact"), "upper" or "lower"'
        raise InputError("influence matrix", expected="a matrix with its origin", came=type(C).__name__, remedy=remedy)
    return C


def _norms(values: Matrix) -> tuple[float, float, float]:
    return float(values.sum(axis=1).max()), float(values.sum(axis=0).max()), float(np.linalg.norm(values, 2))


def _time(n: int, alpha: float, ratio: float, epsilon: float) -> float:
    spare = 1 - alpha - _ROUNDING
    return n * (math.log(n) + math.log(1 / epsilon) + math.log(ratio)) / spare if spare > 0 else math.inf


def _perron_time(values: Matrix, epsilon: float) -> float:
    """The weighted ∞-norm: α = max_i (C r)_i/r_i for a positive r, which is the radius when r is the Perron vector.

    A reducible C has no positive Perron vector, so r is taken of C with a small constant added; α is then computed for
    that r from C itself, so the bound is valid whatever r is.
    """
    n = len(values)
    best = math.inf
    for added in (1e-12, 1e-6, 1e-3, 1e-2):
        w, vectors = np.linalg.eig(values + added)
        r = np.abs(vectors[:, int(np.argmax(w.real))].real)
        if r.min() > 0:
            alpha = float((values @ r / r).max())
            best = min(best, _time(n, alpha, float(r.max() / r.min()), epsilon))
    return best
