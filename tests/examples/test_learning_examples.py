"""The training examples hold their claims: minutes each, so run with -m slow."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from maskov.report import read_record, validate

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(name: str, folder: Path) -> dict[str, Any]:
    """Run one script; returns its record's results."""
    command = [sys.executable, f"{name}.py", "--out", str(folder)]
    subprocess.run(command, cwd=EXAMPLES, check=True, timeout=1200, capture_output=True)
    record = read_record(folder / f"{name}.json")
    validate(record)
    assert "</svg>" in (folder / f"{name}.svg").read_text(encoding="utf-8")
    return dict(record["results"])


@pytest.mark.slow
@pytest.mark.timeout(1300)
def test_error_falls_like_the_root_of_the_full_mask_mass(tmp_path: Path) -> None:
    found = run("learning_recovery", tmp_path)
    assert len(found["schedules"]) == 5 and len(found["schedules"][0]["runs"]) >= 10
    assert abs(found["slope"]["value"] + 0.5) < 0.1
    assert found["slope"]["interval"][0] < -0.5 < found["slope"]["interval"][1]


@pytest.mark.slow
@pytest.mark.timeout(1300)
def test_blind_schedules_are_at_the_optimum_with_the_weights_they_began_with(tmp_path: Path) -> None:
    found = run("learning_blind", tmp_path)
    for spec in (0, 1):
        row = found["witness"]["schedules"][spec]
        assert row["excess_loss"]["value"] < 1e-6 * row["optimal_loss"]["value"]
        assert abs(row["initial_slope"]["value"] - 1) < 0.01 and abs(row["spread_ratio"]["value"] - 1) < 0.01
    for record in found.values():
        blind, sighted = (record["schedules"][k]["weight_error"]["value"] for k in (0, 2))
        assert sighted < 0.05 < blind
