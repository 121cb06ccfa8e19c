"""Birth–death chains: how long until a counter leaves a window downwards, in closed form."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from maskov.errors import InputError


def leaving_times(up: ArrayLike, down: ArrayLike) -> NDArray[np.float64]:
    """E[steps until the counter is below the window] from each of its m levels: float64 [..., m].

    Level k goes up with up_k (at the top: 0) and down with down_k. The time from k to k − 1 is
    t_k = 1/down_k + (up_k/down_k) t_{k+1} = Σ_{j≥k} (1/down_j) Π_{k≤i<j} up_i/down_i, all terms positive; the time from
    level k is Σ_{j≤k} t_j. Computed in logarithms, so that only the answer itself can overflow, to infinity.

    up, down: [..., m], probabilities per step, lowest level first. Raises ``InputError`` on numbers that are none.

    >>> leaving_times([0.5, 0.0], [0.25, 0.5]).round(9).tolist()
    [8.0, 10.0]
    """
    u, d = _check(up, down)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        log_u, log_d = np.log(u), np.log(d)
        steps = np.empty(u.shape)
        steps[..., -1] = -log_d[..., -1]
        for k in range(u.shape[-1] - 2, -1, -1):
            # A way up that is never taken leads nowhere, however long it takes to come back from there.
            detour = np.where(u[..., k] > 0, log_u[..., k] + steps[..., k + 1], -np.inf)
            steps[..., k] = np.logaddexp(0.0, detour) - log_d[..., k]
        return np.asarray(np.exp(np.logaddexp.accumulate(steps, axis=-1)))


def rising_stretch(up: ArrayLike, down: ArrayLike) -> tuple[int, int] | None:
    """The topmost run of levels k0 … k1 with up_k > down_k, or None where nothing rises.

    k0 is the foot of the barrier around the top: beneath it the drift points down, so a chain that gets there leaves.
    Above k1 the drift may point down again, towards a count at which the chain hovers. Level 0 is never part of it:
    nothing is beneath.

    >>> rising_stretch([0.1, 0.1, 0.4, 0.3, 0.1, 0.0], [0.0, 0.2, 0.3, 0.2, 0.2, 0.3])
    (2, 3)
    """
    u, d = _check(up, down)
    rises = u > d
    rises[0] = False
    if not rises.any():
        return None
    k1 = int(np.flatnonzero(rises)[-1])
    return int(np.flatnonzero(~rises[:k1])[-1]) + 1, k1


def _check(up: ArrayLike, down: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    u, d = np.asarray(up, dtype=np.float64), np.asarray(down, dtype=np.float64)
    fits = u.shape == d.shape and u.ndim >= 1 and u.shape[-1] >= 1
    if not fits or not ((u >= 0) & (d >= 0) & (u + d <= 1 + 1e-12)).all():
        came = f"shapes {u.shape} and {d.shape}" if not fits else "other numbers"
        raise InputError("rates", expected="probabilities up and down of each level, up + down ≤ 1", came=came)
    return u, d
