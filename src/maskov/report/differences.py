"""Two records of the same question: where their numbers differ."""

from __future__ import annotations

import math
from typing import Any, NamedTuple


class Difference(NamedTuple):
    """path: keys to the value, joined by dots; before, after: what the two records say there."""

    path: str
    before: Any
    after: Any


def differences(before: Any, after: Any, tolerance: float = 0.0, path: str = "") -> list[Difference]:
    """Where two JSON values differ: numbers by more than ``tolerance`` of the larger one, all else at all.

    >>> differences({"a": [1.0, 2.0]}, {"a": [1.0, 2.5]})
    [Difference(path='a.1', before=2.0, after=2.5)]
    >>> differences({"a": 1.0}, {"a": 1.0 + 1e-9}, tolerance=1e-6)
    []
    """
    if isinstance(before, dict) and isinstance(after, dict):
        keys = [*before, *(key for key in after if key not in before)]
        parts = [(key, before.get(key, _MISSING), after.get(key, _MISSING)) for key in keys]
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        parts = [(str(k), a, b) for k, (a, b) in enumerate(zip(before, after, strict=True))]
    else:
        return [] if _same(before, after, tolerance) else [Difference(path, before, after)]
    found = [differences(a, b, tolerance, f"{path}.{key}" if path else str(key)) for key, a, b in parts]
    return [difference for part in found for difference in part]


_MISSING = "nothing"


def _same(a: Any, b: Any, tolerance: float) -> bool:
    numbers = all(isinstance(x, (int, float)) and not isinstance(x, bool) for x in (a, b))
    if numbers and tolerance > 0:
        return math.isclose(a, b, rel_tol=tolerance, abs_tol=tolerance * 1e-3)
    return bool(a == b and isinstance(a, bool) == isinstance(b, bool))
