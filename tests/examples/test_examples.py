"""Every example writes its figure and a record that the schema accepts, and the record holds the claim."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from maskov.report import read_record, validate

EXAMPLES = Path(__file__).parents[2] / "examples"
MOST_SECONDS = 120


def run(name: str, folder: Path) -> dict[str, Any]:
    """Run one script; returns its record's results."""
    command = [sys.executable, f"{name}.py", "--out", str(folder)]
    subprocess.run(command, cwd=EXAMPLES, check=True, timeout=MOST_SECONDS, capture_output=True)
    record = read_record(folder / f"{name}.json")
    validate(record)
    assert record["inputs"]["example"] == name
    assert "</svg>" in (folder / f"{name}.svg").read_text(encoding="utf-8")
    return dict(record["results"])


def test_blindness_falls_at_the_chernoff_rate(tmp_path: Path) -> None:
    rows = run("blindness", tmp_path)["rows"]
    a, b = rows[-2:]
    rate = (a["discrepancy"]["log_value"] - b["discrepancy"]["log_value"]) / (b["v_min"] - a["v_min"])
    assert rate == pytest.approx(rows[0]["chernoff"], rel=0.02)
    assert all(row["modulus"][0]["lower"]["value"] > 0.69 for row in rows[4:])


def test_recovery_is_the_inverse_root_of_the_share(tmp_path: Path) -> None:
    rows = run("recovery", tmp_path)["rows"]
    errors = [row["modulus"][0]["lower_weights"]["value"] for row in rows]
    bounds = [row["modulus"][0]["upper_weights"]["value"] for row in rows]
    assert errors[0] / errors[2] == pytest.approx(10**0.5, rel=0.05)  # shares 0.001 and 0.01
    assert all(error <= bound for error, bound in zip(errors, bounds, strict=True))


def test_coercivity_is_a_sandwich(tmp_path: Path) -> None:
    for row in run("coercivity", tmp_path)["modulus"]:
        assert row["lower"]["value"] <= row["searched"]["value"] * (1 + 1e-9) <= row["upper"]["value"] * (1 + 1e-9)


def test_tensorization_grows_where_visibility_is_large(tmp_path: Path) -> None:
    rows = run("tensorization_growth", tmp_path)["rows"]
    logs = {
        spec: [r["tensorization"]["log_value"] for r in rows if r["schedule"] == spec] for spec in ("hide:1", "bert")
    }
    assert all(b > a for spec in logs for a, b in pairwise(logs[spec])) and logs["hide:1"][-1] > 25
    bounded = [r["tensorization"]["value"] for r in rows if r["schedule"] == "0.95*bert+0.05*full"]
    assert max(bounded) < 20 * (1 + 1e-6)


def test_counting_does_not_underflow(tmp_path: Path) -> None:
    for curve in run("exact_counting", tmp_path)["curves"]:
        last = curve["mmse"][-1]
        assert last["visible"] == 10_000 and last["kind"] == "exact"
        assert -last["log_value"] == pytest.approx(10_000 * curve["chernoff"], rel=0.03)


def test_the_gap_never_exceeds_the_blindness_ratio(tmp_path: Path) -> None:
    rows = run("bridge", tmp_path)["rows"]
    for row in rows:
        assert row["spectral_gap"]["kind"] == "exact"
        assert row["spectral_gap"]["log_value"] <= row["blindness_ratio"]["log_value"]
    by_n = {row["n_sites"]: row for row in rows if row["schedule"] == "hide:1"}
    assert by_n[64]["spectral_gap"]["value"] == pytest.approx(2.864378e-8, rel=2e-7)
