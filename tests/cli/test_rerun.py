"""A record can be made again: the same numbers, or a difference that is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from maskov.cli.main import cli
from maskov.errors import InputError
from maskov.report.differences import differences
from maskov.report.record import read_record, validate

LAW = "law:curie-weiss?sites=6&beta=0.5"


def maskov(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(cli, list(words), catch_exceptions=False, standalone_mode=False)
    return int(done.return_value or 0), done.output


@pytest.fixture
def record(tmp_path: Path) -> Path:
    target = tmp_path / "couple.json"
    maskov("couple", LAW, "--pairs", "4", "--steps", "300", "--json", str(target))
    return target


def test_a_record_says_how_it_was_made(record: Path) -> None:
    made = read_record(record)
    validate(made)
    assert made["inputs"]["arguments"][:4] == ["couple", LAW, "--pairs", "4"]
    assert {"python", "numpy"} <= set(made["inputs"]["versions"])


def test_a_rerun_is_the_same(record: Path, tmp_path: Path) -> None:
    code, told = maskov("rerun", str(record), "--json", str(tmp_path / "again.json"))
    assert code == 0 and told.strip().endswith("the results are the same")
    assert read_record(tmp_path / "again.json")["results"] == read_record(record)["results"]


def test_a_changed_number_is_named(record: Path) -> None:
    made = json.loads(record.read_text())
    made["results"]["cells"][0]["times"][0] += 1
    record.write_text(json.dumps(made))
    code, told = maskov("rerun", str(record))
    assert code == 1 and "cells.0.times.0" in told and "differ" in told
    assert maskov("rerun", str(record), "--tolerance", "0.9")[0] == 0


def test_a_run_and_an_audit_are_made_again_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from maskov.audit import plan

    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(plan.BUDGETS, "quick", 1e-6)
    maskov("sample", LAW, "--steps", "200", "--out", "a.zarr", "--json", "sample.json")
    assert maskov("rerun", "sample.json")[0] == 0
    maskov("audit", LAW)
    folder = next(path for path in tmp_path.iterdir() if path.name.startswith("audit"))
    before = (folder / "results.json").read_bytes()
    assert maskov("rerun", str(folder / "results.json"))[0] == 0
    assert (folder / "results.json").read_bytes() == before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"arguments": None}, "its command's words"),
        ({"arguments": []}, "its command's words"),
        ({"arguments": ["rerun", "x"]}, "the words of maskov couple"),
        ({"arguments": ["traps", "x"]}, "the words of maskov couple"),
        ({"arguments": ["couple", "en-tiny", "--texts", "-"]}, "standard input"),
    ],
)
def test_records_that_cannot_be_made_again(record: Path, change: dict[str, object], message: str) -> None:
    made = json.loads(record.read_text())
    made["inputs"] |= change
    record.write_text(json.dumps(made))
    with pytest.raises(InputError, match=message):
        maskov("rerun", str(record))


def test_differences_are_found_wherever_they_are() -> None:
    before = {"a": [1.0, {"b": None}], "c": True, "d": "x"}
    assert differences(before, before) == []
    for after in ({**before, "c": 1}, {**before, "e": 0}, {**before, "a": [1.0]}, {**before, "a": [1.0, {"b": 0}]}):
        assert len(differences(before, after)) == 1
