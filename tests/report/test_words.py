"""Numbers and summaries in words, and that they say when a number is weak."""

from __future__ import annotations

from typing import Any

from maskov.report.sections import stories
from maskov.report.summary import sentences
from maskov.report.words import marked, number, quantity, shortened


def _estimate(value: float, stderr: float) -> dict[str, Any]:
    return {"value": value, "kind": "estimate", "stderr": stderr, "n": 10}


def test_numbers() -> None:
    assert number(1.03e-5) == "1.03·10⁻⁵"
    assert number(0.0) == "0" and number(None) == "–" and number(50424.4) == "50,424"
    assert quantity({"value": 1e-300, "kind": "upper"}) == "≤ 1.00·10⁻³⁰⁰"
    assert quantity(None) == "–" and quantity({"value": None, "kind": "exact"}) == "–"


def test_shortened_cuts_at_a_word() -> None:
    assert shortened("one two three", 9) == "one two …"
    assert shortened("short", 9) == "short"
    assert len(shortened("x" * 500, 100)) <= 102


def test_marks() -> None:
    assert marked(None, "a b") == [("a", False), ("b", False)]
    assert [w for w, new in marked("the cat sat", "the dog sat down") if new] == ["dog", "down"]


def _record(results: dict[str, Any]) -> dict[str, Any]:
    return {"inputs": {"model": {"name": "m"}, "texts": {"count": 3}}, "results": results}


def test_a_short_run_is_called_short() -> None:
    chains = {"steps": 40, "sweeps": 1.0, "sites": 40.0, "chains": 6, "texts": []}
    assert "short run" in sentences(_record({"chains": chains}))[0]
    assert "short run" not in sentences(_record({"chains": {**chains, "sweeps": 50.0}}))[0]


def test_irreversibility_is_claimed_only_where_the_number_carries_it() -> None:
    def told(value: float, stderr: float, stationary: bool = True) -> str:
        cell = {"temperature": 1.0, "change_rate": _estimate(0.5, 0.01), "stationary": stationary}
        return sentences(_record({"entropy": {"cells": [{**cell, "production": _estimate(value, stderr)}]}}))[1]

    assert "not reversible" in told(0.4, 0.04)
    assert "not told apart from 0" in told(0.01, 0.02)
    assert "still settling" in told(0.4, 0.04, stationary=False)
    assert "not reversible" not in told(0.4, 0.04, stationary=False)


def test_stories_group_by_chain() -> None:
    rows = [
        {"temperature": 1.0, "chain": c, "step": t, "sweep": t / 2, "text": f"a {t}", "topic": None, "name": "n"}
        for c in (0, 1)
        for t in (0, 4)
    ]
    found = stories({"texts": rows})
    assert [s["chain"] for s in found] == [0, 1] and found[0]["topic"] == "n"
    assert found[0]["lines"][1]["words"] == [("a", False), ("4", True)]
