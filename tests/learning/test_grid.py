"""The grid: one answer however it is cut, resumed or shared out; records that the schema accepts; the command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from maskov.cli.learn import command
from maskov.errors import InputError, StoreError
from maskov.learning import learn, learn_weights
from maskov.learning.grid import unit_name
from maskov.plots import draw, figures
from maskov.report import make_record, validate
from maskov.report.sections import CONTENTS, TITLES

LAW = "product?sites=8&gap=0.3&weight=0.3"
SPECS = ["hide:1", "0.5*hide:1+0.5*full"]
SMALL: dict[str, Any] = {"samples": 200, "epochs": 2, "fresh": 50}


def through_json(result: Any) -> dict[str, Any]:
    return dict(json.loads(json.dumps(result.to_dict(), allow_nan=False)))


@pytest.fixture(scope="module")
def whole() -> dict[str, Any]:
    return through_json(learn(LAW, SPECS, seeds=3, **SMALL))


def test_resumed_is_whole(tmp_path: Path, whole: dict[str, Any]) -> None:
    learn(LAW, SPECS[:1], seeds=2, out=tmp_path / "runs", **SMALL)
    files = {path: path.stat().st_mtime_ns for path in (tmp_path / "runs").iterdir()}
    assert len(files) == 2
    again = learn(LAW, SPECS, seeds=3, out=tmp_path / "runs", resume=True, **SMALL)
    assert through_json(again) == whole
    assert len(list((tmp_path / "runs").iterdir())) == 6
    assert {path: path.stat().st_mtime_ns for path in files} == files  # nothing that was done is done again


def test_an_interrupted_file_is_done_again_and_others_inputs_are_refused(tmp_path: Path, whole: dict[str, Any]) -> None:
    folder = tmp_path / "runs"
    learn(LAW, SPECS, seeds=3, out=folder, **SMALL)
    (folder / f"{unit_name(SPECS[0], 1)}.json").unlink()
    assert through_json(learn(LAW, SPECS, seeds=3, out=folder, resume=True, **SMALL)) == whole
    with pytest.raises(StoreError):
        learn(LAW, SPECS, seeds=3, out=folder, resume=True, **{**SMALL, "samples": 300})


def test_two_workers_give_the_same(whole: dict[str, Any]) -> None:
    assert through_json(learn(LAW, SPECS, seeds=3, workers=2, **SMALL)) == whole


def test_seeds_are_numbers_not_positions(whole: dict[str, Any]) -> None:
    late = through_json(learn(LAW, SPECS[1], seeds=1, seed=2, **SMALL))
    assert late["schedules"][0]["runs"][0] == whole["schedules"][1]["runs"][2]
    weights = learn_weights(LAW, SPECS[1], samples=200, seeds=1, seed=2, epochs=2, fresh=50)
    assert weights[0, 1] == late["schedules"][0]["runs"][0]["weight_full_mask"]


def test_schedules_share_texts_and_starts(whole: dict[str, Any]) -> None:
    first, second = (row["runs"] for row in whole["schedules"])
    assert [run["initial_weight"] for run in first] == [run["initial_weight"] for run in second]
    assert len({run["initial_weight"] for run in first}) == 3


def test_record_figures_and_section(whole: dict[str, Any]) -> None:
    record = make_record("learn", {"law": LAW, "seed": 0}, whole, [])
    validate(record)
    names = [figure.name for figure in figures("learn", whole)]
    assert names == ["learning-loss", "learning-weights"]
    for figure in figures("learn", whole):
        ax = draw(figure, whole)
        assert ax.get_xlabel() and ax.get_ylabel()
    content = CONTENTS["learn"](whole)
    assert len(content.rows) == 2 and all(len(row) == len(content.head) for row in content.rows)
    assert "learn" in TITLES and "hide:1" in str(content.rows)


def test_a_slope_needs_five_masses(whole: dict[str, Any]) -> None:
    assert whole["slope"] is None
    specs = [f"{1 - m:g}*hide:1+{m:g}*full" for m in (0.1, 0.2, 0.4, 0.6, 0.8)]
    found = learn(LAW, specs, seeds=3, **SMALL)
    record = through_json(found)
    validate(make_record("learn", {}, record, []))
    assert record["slope"]["kind"] == "estimate" and "slope of log error" in found.table()
    drawn = {figure.name: draw(figure, record) for figure in figures("learn", record)}
    assert drawn["learning-recovery"].get_xscale() == "log"
    assert drawn["learning-recovery"].get_legend().get_title().get_text().startswith("slope")
    assert "log–log slope" in " ".join(CONTENTS["learn"](record).says)


def test_unit_names_are_files_and_differ() -> None:
    specs = ["0.95*fixed:0.15+0.05*full", "uniform*1/t", "uniform:0.3,0.8", "span:0.15,3", "span:0.15"]
    names = {unit_name(spec, 3) for spec in specs}
    assert len(names) == 5 and not any(set(name) & set("*:/, ") for name in names)


SHORT = ["--seeds", "1", "--samples", "100", "--epochs", "1", "--quiet"]


def test_command_prints_a_table_and_writes_a_record(tmp_path: Path) -> None:
    arguments = ["--law", LAW, "--schedule", "hide:1", "--schedule", "full", *SHORT, "--json", str(tmp_path / "r.json")]
    result = CliRunner().invoke(command, arguments)
    assert result.exit_code == 0 and "witness learner" in result.stdout and "excess loss" in result.stdout
    record = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    validate(record)
    assert record["inputs"]["schedules"] == ["hide:1", "full"]
    run = record["results"]["schedules"][1]["runs"][0]
    assert run["final_loss"] == pytest.approx(run["optimal_loss"] + run["excess_loss"])


def test_command_resumes(tmp_path: Path) -> None:
    arguments = ["--law", LAW, "--schedule", "full", *SHORT, "--out", str(tmp_path / "runs"), "--json", "-"]
    first = CliRunner().invoke(command, arguments)
    refused = CliRunner().invoke(command, arguments).exception
    second = CliRunner().invoke(command, [*arguments, "--resume"])
    assert isinstance(refused, InputError) and "--resume" in str(refused)
    assert json.loads(first.stdout) == json.loads(second.stdout)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--law", "potts?sites=6&symbols=3&beta=1", "--schedule", "hide:1"], "mixture of two or more modes"),
        (["--law", LAW, "--schedule", "visible:8"], "a schedule hides at least one site"),
        (["--law", LAW, "--schedule", "hid:1"], "did you mean"),
        (["--law", LAW, "--schedule", "hide:1", "--resume"], "add --out FOLDER"),
        (["--law", LAW, "--schedule", "hide:1", "--rate", "0"], "above 0"),
        (["--law", LAW, "--schedule", "hide:1", "--loss", "joint", "--learner", "table"], "joint with table"),
        (["--law", LAW, "--schedule", "hide:1", "--workers", "many"], "workers"),
    ],
)
def test_bad_input(arguments: list[str], message: str) -> None:
    error = CliRunner().invoke(command, [*arguments, "--seeds", "1"]).exception
    assert isinstance(error, InputError) and message in str(error) and error.exit_code == 2


def test_help_has_an_example() -> None:
    assert "maskov learn --law" in CliRunner().invoke(command, ["--help"]).stdout
