"""``maskov diagnose``: the answer, its record, figures and section, messages for bad input; ``sample --scan``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from maskov.cli.main import cli
from maskov.plots import FIGURES, draw
from maskov.report import validate
from maskov.report.sections import CONTENTS, TITLES

LAW = "law:curie-weiss?sites=8&beta=1"


def run(*arguments: str) -> Any:
    return CliRunner().invoke(cli, list(arguments), standalone_mode=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("runs")
    (path / "starts.txt").write_text("00000000\n11111111\n")
    options = ["--texts", str(path / "starts.txt"), "--chains", "4", "--steps", "2400", "--quiet"]
    done = run("sample", LAW, *options, "--temperature", "0.1", "--temperature", "3", "--out", str(path / "run.zarr"))
    assert done.exit_code == 0 and done.exception is None, done.exception
    return path


@pytest.fixture(scope="module")
def record(folder: Path) -> dict[str, Any]:
    done = run("diagnose", str(folder / "run.zarr"), "--quiet", "--json", "-")
    assert done.exception is None, done.exception
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_record_has_the_keys_and_fits_the_schema(record: dict[str, Any]) -> None:
    validate(record)
    assert record["command"] == "diagnose" and record["results"]["scan"] == "single"
    cold, warm = record["results"]["cells"]
    assert (cold["temperature"], warm["temperature"]) == (0.1, 3.0)
    assert cold["verdict"] == "stuck" and cold["needed_sweeps"] is None and len(cold["stuck"]) == 4
    assert {s["text"] for s in cold["stuck"]} == {"00000000", "11111111"}
    assert set(cold["stuck"][0]) == {"chain", "reason", "since_step", "kind", "text"}
    assert warm["verdict"] in ("mixed", "too short") and warm["needed_sweeps"]["kind"] == "estimate"
    low, high = warm["needed_sweeps"]["interval"]
    assert low < warm["needed_sweeps"]["value"] < high
    for scalar in warm["scalars"]:
        assert {"name", "ess_bulk", "ess_tail", "r_hat", "ess_per_sweep"} <= set(scalar)
        assert scalar["ess_bulk"]["kind"] == scalar["r_hat"]["kind"] == "estimate"
    broken = json.loads(json.dumps(record))
    broken["results"]["cells"][0]["verdict"] = "fine"
    with pytest.raises(Exception, match="fine"):
        validate(broken)


def test_figures_and_section_are_made_from_the_record_alone(record: dict[str, Any]) -> None:
    results = record["results"]
    for figure in FIGURES["diagnose"]:
        ax = draw(figure, results)
        ax.figure.canvas.draw()
        assert "temperature" in ax.get_xlabel() and ax.get_ylabel()
    content = CONTENTS["diagnose"](results)
    assert TITLES["diagnose"] and "stuck" in content.says[0] and "no number can be given" in content.says[0]
    assert all(len(row) == len(content.head) for row in content.rows)
    assert "∞" in {row[3] for row in content.rows}  # frozen in different states


def test_the_text_names_verdicts_and_stuck_texts(folder: Path) -> None:
    out = run("diagnose", str(folder / "run.zarr")).stdout
    assert "τ = 0.1: stuck" in out and "11111111" in out and "no number can be given" in out and "ESS/sweep" in out
    bare = run("diagnose", str(folder / "run.zarr"), "--no-texts").stdout
    assert "11111111" not in bare and "chain 0: no change" in bare


@pytest.mark.parametrize(
    ("options", "message"),
    [(["--discard", "1"], "discard"), (["--target-ess", "0"], "target ESS"), (["--target-r-hat", "1"], "R-hat")],
)
def test_bad_input_is_named(folder: Path, options: list[str], message: str) -> None:
    assert message in str(run("diagnose", str(folder / "run.zarr"), *options).exception)


def test_sample_takes_a_scan(folder: Path) -> None:
    out = str(folder / "block.zarr")
    done = run("sample", LAW, "--steps", "40", "--scan", "0.5*hide:2+0.5*full", "--out", out, "--json", "-", "--quiet")
    record = json.loads(done.stdout)
    validate(record)
    assert record["inputs"]["scan"] == "0.5*hide:2+0.5*full"
    shown = run("sample", LAW, "--steps", "80", "--scan", "systematic", "--out", out, "--resume")
    assert "scan" in str(shown.exception)
    assert "hide:k" in str(run("sample", LAW, "--steps", "4", "--scan", "hide", "--out", out + "2").exception)
