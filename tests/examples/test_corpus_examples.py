"""The corpus examples write their figure and a record that the schema accepts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from maskov.report import read_record, validate

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(name: str, folder: Path) -> dict[str, Any]:
    command = [sys.executable, f"{name}.py", "--out", str(folder)]
    subprocess.run(command, cwd=EXAMPLES, check=True, timeout=280, capture_output=True)
    record = read_record(folder / f"{name}.json")
    validate(record)
    assert "</svg>" in (folder / f"{name}.svg").read_text(encoding="utf-8")
    return dict(record["results"])


def test_bytes_of_two_languages(tmp_path: Path) -> None:
    results = run("corpus_de_en", tmp_path)
    assert results["verdict"] == "exponential" and results["tokenizer"] == "bytes"
    blind, open_ = results["schedules"][0], results["schedules"][3]
    assert blind["blindness_ratio"]["value"] < 0.01 < 0.05 < open_["blindness_ratio"]["value"]


@pytest.mark.slow
def test_words_of_code_and_prose(tmp_path: Path) -> None:
    results = run("corpus_code_prose", tmp_path)
    first = min((row for row in results["curve"] if row["sampling"] == "subset"), key=lambda row: row["visible"])
    assert first["mmse"]["value"] < 0.2 and len(results["schedules"]) == 4
