"""Numbers and changes as words."""

from __future__ import annotations

import difflib
from typing import Any

from maskov.plots.style import superscript


def number(value: float | None, digits: int = 3) -> str:
    """A number as a person reads it; a dash where there is none.

    >>> number(0.03456), number(123456.0), number(None)
    ('0.0346', '123,456', '–')
    """
    if value is None:
        return "–"
    if value != 0 and (abs(value) < 1e-3 or abs(value) >= 1e7):
        mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
        return f"{mantissa}·10{superscript(int(exponent))}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.{digits}g}"


def quantity(q: dict[str, Any] | None) -> str:
    """A record's quantity with its origin.

    >>> quantity({"value": 0.5, "kind": "estimate", "stderr": 0.02, "n": 10})
    '0.5 ± 0.02'
    >>> quantity({"value": 0.5, "kind": "lower"}), quantity({"value": 0.5, "kind": "exact"})
    ('≥ 0.5', '0.5')
    """
    if q is None or q.get("value") is None:
        return "–"
    sign = {"lower": "≥ ", "upper": "≤ "}.get(q["kind"], "")
    spread = f" ± {number(q['stderr'], 2)}" if q.get("stderr") is not None else ""
    return f"{sign}{number(q['value'])}{spread}"


def origin(q: dict[str, Any] | None) -> str:
    """How a quantity was obtained."""
    names = {"exact": "exact", "lower": "lower bound", "upper": "upper bound", "estimate": "estimate"}
    return names.get((q or {}).get("kind", ""), "")


def marked(before: str | None, after: str) -> list[tuple[str, bool]]:
    """The words of ``after`` with whether each is new since ``before``.

    >>> marked("a small cat", "a big cat")
    [('a', False), ('big', True), ('cat', False)]
    """
    words = after.split()
    if before is None:
        return [(word, False) for word in words]
    matcher = difflib.SequenceMatcher(a=before.split(), b=words, autojunk=False)
    new = [True] * len(words)
    for block in matcher.get_matching_blocks():
        new[block.b : block.b + block.size] = [False] * block.size
    return list(zip(words, new, strict=True))


def shortened(text: str, most: int = 160) -> str:
    """``text`` cut at a word, with an ellipsis."""
    if len(text) <= most:
        return text
    cut = text[:most]
    return (cut.rsplit(" ", 1)[0] if " " in cut else cut) + " …"
