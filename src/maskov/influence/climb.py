"""Coordinate ascent on one pair of sites: other tokens at the moving site, then other contexts elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskov.influence.contexts import site_rows
from maskov.influence.variation import oscillation, total_variations
from maskov.protocols import State, Tokens

# Tokens tried at each site that is climbed.
CANDIDATES = 16


def climb(
    model: Any,
    context: State,
    pair: tuple[int, int],
    token: int,
    allowed: Tokens,
    temperatures: NDArray[np.float64],
    target: int,
    rng: np.random.Generator,
) -> tuple[NDArray[np.float64], float, int]:
    """The largest TV of site i at every temperature [T], the largest D, and the rows spent.

    pair: (i, j), site i moved by site j; token: what replaces x_j; target: index of the temperature that is climbed.
    """
    x, (i, j) = context.tokens.copy(), pair
    best, most, rows = np.zeros(len(temperatures)), 0.0, 0
    elsewhere = rng.permutation([k for k in range(len(context.free)) if k not in (i, j)])[:2]
    for site in (j, *elsewhere, j):
        tried = rng.choice(allowed, size=min(CANDIDATES, len(allowed)), replace=False)
        pairs = [_pair(x, context, j, token)] + [_changed(x, context, j, token, int(site), int(v)) for v in tried]
        a, b = (np.stack([p[side] for p in pairs]) for side in (0, 1))
        p, q = (site_rows(model, side, np.full(len(side), context.free[i])) for side in (a, b))
        tv = total_variations(p, q, temperatures)
        best, most, rows = (
            np.maximum(best, tv.max(axis=1)),
            max(most, float(oscillation(p, q).max())),
            rows + 2 * len(a),
        )
        top = int(tv[target].argmax())
        x, token = a[top].copy(), int(b[top][context.free[j]])
    return best, most, rows


def _pair(x: Tokens, context: State, j: int, token: int) -> tuple[Tokens, Tokens]:
    other = x.copy()
    other[context.free[j]] = token
    return x, other


def _changed(x: Tokens, context: State, j: int, token: int, site: int, value: int) -> tuple[Tokens, Tokens]:
    """The pair with another token at j, or in another context."""
    if site == j:
        return _pair(x, context, j, value)
    y = x.copy()
    y[context.free[site]] = value
    return _pair(y, context, j, token)
