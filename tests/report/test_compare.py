"""Comparisons: every audit's own numbers in its own column, bounds as bounds, what is missing as missing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from maskov.cli.main import cli
from maskov.errors import InputError
from maskov.report.compare import comparison_page, comparison_sentences, curves, table, write_comparison
from maskov.report.record import make_record, write_record


def _estimate(value: float, stderr: float = 0.01) -> dict[str, Any]:
    return {"value": value, "kind": "estimate", "stderr": stderr, "interval": [value - 0.02, value + 0.02], "n": 9}


def _results(defect: float, rate: float, meeting: dict[str, Any] | None) -> dict[str, Any]:
    rectangle = {"mean_abs": _estimate(defect), "relative_mean": _estimate(defect / 4), "noise_ratio": 1e4 * defect}
    cell = {"temperature": 1.0, "change_rate": _estimate(rate), "production": _estimate(0.3), "stationary": False}
    met = {"temperature": 2.0, "met_fraction": _estimate(0.75), "median_sweeps": meeting}
    return {"rectangle": rectangle, "entropy": {"cells": [cell]}, "couple": {"cells": [met]}}


def _record(name: str, results: dict[str, Any]) -> dict[str, Any]:
    inputs = {
        "model": {"name": name, "fingerprint": "f"},
        "seed": 0,
        "plan": {"budget": "quick"},
        "texts": {"count": 3},
    }
    return make_record("audit", inputs, results, [])


LOWER = {"value": 9.0, "kind": "lower"}


def test_cells_are_the_audits_own() -> None:
    audits = [("one", _results(0.25, 0.5, _estimate(4))), ("two", {**_results(0.5, 0.1, LOWER), "rectangle": None})]
    del audits[1][1]["rectangle"]
    rows = {row[0]: row[1:] for row in table(audits)}
    assert rows["mean |Δ| (nats)"] == ["0.25 ± 0.01", "not studied"]
    assert rows["coldest τ at which half the pairs met"] == ["τ = 2: 4 ± 0.01 sweeps", "τ = 2: ≥ 9 sweeps"]
    assert "perfect traps found" not in rows  # nobody looked
    assert all("still settling" in cell for cell in rows["entropy production σ (nats/step)"])


def test_curves_need_two_audits_and_keep_bounds() -> None:
    one, two = _results(0.25, 0.5, _estimate(4)), _results(0.5, 0.1, LOWER)
    drawn = {curve["name"]: curve for curve in curves([("one", one), ("two", two)])}
    assert drawn["compare-meeting"]["series"][1]["points"] == [[2.0, LOWER]]
    assert "compare-influence" not in drawn
    two["couple"]["cells"][0]["median_sweeps"] = None
    assert "compare-meeting" not in {curve["name"] for curve in curves([("one", one), ("two", two)])}


@pytest.mark.parametrize(("other", "within"), [(0.255, True), (0.9, False)])
def test_a_difference_within_its_error_is_said_to_be(other: float, within: bool) -> None:
    told = comparison_sentences([("one", _results(0.25, 0.5, None)), ("two", _results(other, 0.1, None))])
    assert ("within its error" in told[0]) is within
    assert told[1].startswith("one changes most")


def test_the_page_escapes_and_names_every_audit(tmp_path: Path) -> None:
    for folder, name in (("a", "<b>bold</b>"), ("b", "plain")):
        (tmp_path / folder).mkdir()
        write_record(_record(name, _results(0.2, 0.5, _estimate(3))), tmp_path / folder / "results.json")
    page = write_comparison([tmp_path / "a", tmp_path / "b"], tmp_path / "c.html").read_text(encoding="utf-8")
    assert "<b>bold" not in page and "&lt;b&gt;bold" in page and "plain" in page
    assert page.count("<svg") == 3


def test_two_of_one_model_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    for folder in ("first", "second"):
        (tmp_path / folder).mkdir()
        write_record(_record("m", _results(0.2, 0.5, None)), tmp_path / folder / "results.json")
    page = write_comparison([tmp_path / "first", tmp_path / "second"], tmp_path / "c.html").read_text(encoding="utf-8")
    assert "m (first)" in page and "m (second)" in page


def test_what_cannot_be_compared_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    write_record(make_record("rectangle", {}, {}, []), tmp_path / "a" / "results.json")
    with pytest.raises(InputError, match="an audit's results"):
        write_comparison([tmp_path / "a", tmp_path / "a"], tmp_path / "c.html")
    with pytest.raises(InputError, match="two audits"):
        write_comparison([tmp_path / "a"], tmp_path / "c.html")
    with pytest.raises(InputError, match="leave --out away"):
        CliRunner().invoke(cli, ["report", str(tmp_path / "a"), "--out", "x.html"], catch_exceptions=False)
    assert comparison_page([("m", json.loads(json.dumps(_record("m", {}))))] * 2).count("<table") == 2
