"""Influence by distance and by the class of the token that is changed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskov.influence.search import Found
from maskov.quantities import mean_estimate

BANDS = ((1, 1), (2, 3), (4, 7), (8, 15), (16, 10**9))


def by_distance(means: NDArray[np.float64], largest: NDArray[np.float64]) -> list[dict[str, Any]]:
    n = len(largest)
    distance = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    rows = []
    for low, high in BANDS:
        inside = (distance >= low) & (distance <= high)
        if inside.any():
            name = f"{low}" if low == high else f"{low}–{high}" if high < 10**9 else f"{low}+"
            top = float(largest[inside].max())
            rows.append(
                {"distance": name, "mean": float(means[:, inside].mean()), "maximum": top, "n": int(inside.sum())}
            )
    return rows


def by_class(model: Any, found: Found, near: int) -> list[dict[str, Any]]:
    """Mean influence that a token of each class has on the other sites, by what stood at the moving site."""
    groups: dict[str, list[float]] = {}
    for token, means in found.by_token:
        groups.setdefault(token_class(model.token_text(token)), []).append(float(means[near]))
    return [{"class": name, "mean": mean_estimate(v), "n": len(v)} for name, v in sorted(groups.items())]


def token_class(text: str) -> str:
    """word, subword, number, letter or punctuation.

    >>> [token_class(t) for t in ("##ing", "river", "12", "K", ",")]
    ['subword', 'word', 'number', 'letter', 'punctuation']
    """
    if text.startswith("##"):
        return "subword"
    core = text.strip("▁Ġ ")
    if core.isalpha():
        return "letter" if len(core) == 1 else "word"
    return "number" if core[:1].isdigit() else "punctuation"
