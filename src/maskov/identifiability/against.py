"""The other mode weights λ: what the caller gave, or five points away."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskov.errors import InputError
from maskov.identifiability.modes import check_weights

Floats = NDArray[np.float64]


def default_against(weights: Floats) -> Floats:
    """The weights with the last mode's moved by 0.05 towards 1/2, the others scaled to fit.

    >>> default_against(np.array([0.7, 0.3])).round(6).tolist()
    [0.65, 0.35]
    """
    last = weights[-1] + (0.05 if weights[-1] <= 0.5 else -0.05)
    return np.append(weights[:-1] * (1 - last) / (1 - weights[-1]), last)


def read_against(against: Any, K: int) -> Floats:
    """λ as weights [K]: one number is P(Z = 1) of two modes; ``InputError`` outside (0, 1) or with another number of
    modes."""
    values = np.atleast_1d(np.asarray(against, dtype=np.float64))
    if values.size == 1 and K == 2:
        if not 0 < values[0] < 1:
            raise InputError(
                "mode weight λ",
                expected="a number above 0 and below 1",
                came=f"{values[0]:g}",
                remedy="pass --against 0.5",
            )
        return np.array([1 - values[0], values[0]])
    return check_weights(values, K)


def far(against: Any) -> float:
    """−log of the smallest weight asked for, beyond e^28: how far below their peak outcomes still matter (nats)."""
    values = np.atleast_1d(np.asarray(0.5 if against is None else against, dtype=np.float64))
    smallest = float(np.minimum(values, 1 - values if values.size == 1 else 1.0).min())
    return max(0.0, -float(np.log(smallest)) - 28) if smallest > 0 else 0.0
