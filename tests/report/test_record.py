"""Records: whole or not at all, never NaN, checked against the schema."""

from __future__ import annotations

import json
import math
from pathlib import Path

import jsonschema
import pytest

from maskov.errors import InputError, RunError, StoreError
from maskov.quantities import Bound, Estimate, Exact
from maskov.report import make_record, read_record, validate, write_record


def _record() -> dict[str, object]:
    return make_record("models", {"seed": 0}, {"models": []}, [])


def test_round_trip(tmp_path: Path) -> None:
    write_record(_record(), tmp_path / "r.json")
    assert read_record(tmp_path / "r.json") == _record()
    assert [p.name for p in tmp_path.iterdir()] == ["r.json"]


def test_nan_and_infinity_become_null(tmp_path: Path) -> None:
    quantities = {"a": Exact(math.nan), "b": Bound(math.inf, "upper"), "c": Estimate(1.0, math.inf, 3)}
    record = make_record("models", {}, {"models": [], **quantities, "x": [math.nan]}, [])
    write_record(record, tmp_path / "r.json")
    text = (tmp_path / "r.json").read_text()
    assert "NaN" not in text and "Infinity" not in text
    assert json.loads(text)["results"]["a"] == {"value": None, "kind": "exact"}
    assert "stderr" not in json.loads(text)["results"]["c"]


def test_a_bare_nan_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="JSON"):
        write_record({"results": math.nan}, tmp_path / "r.json")
    assert list(tmp_path.iterdir()) == []


def test_a_failed_write_keeps_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_record(_record(), tmp_path / "r.json")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(RunError, match="No space left"):
        write_record(make_record("models", {}, {"models": [1]}, []), tmp_path / "r.json")
    monkeypatch.undo()
    assert read_record(tmp_path / "r.json") == _record()
    assert [p.name for p in tmp_path.iterdir()] == ["r.json"]


def test_targets_that_cannot_be(tmp_path: Path) -> None:
    for target in (tmp_path, tmp_path / "no" / "r.json"):
        with pytest.raises(InputError):
            write_record(_record(), target)


@pytest.mark.parametrize("content", ["", "{", "[]", "3", '{"maskov": "0"}', "\x00\xff"])
def test_unreadable_records(tmp_path: Path, content: str) -> None:
    (tmp_path / "r.json").write_text(content)
    with pytest.raises(StoreError):
        read_record(tmp_path / "r.json")
    with pytest.raises(StoreError):
        read_record(tmp_path / "none.json")


@pytest.mark.parametrize(
    "broken",
    [
        {"command": "nothing"},
        {"warnings": "text"},
        {"results": {}},
        {"extra": 1},
        {"inputs": {"model": {"name": "x"}}},
    ],
)
def test_the_schema_rejects(broken: dict[str, object]) -> None:
    validate(_record())
    with pytest.raises(jsonschema.ValidationError):
        validate({**_record(), **broken})


def test_the_schema_knows_every_kind_of_quantity() -> None:
    cell = {"temperature": 1.0, "stationary": True}
    names = ("change_rate", "entropy", "stay", "production", "production_raw", "drift")
    good = make_record("entropy", {}, {"cells": [{**cell, **dict.fromkeys(names, Exact(1.0))}]}, [])
    validate(good)
    good["results"]["cells"][0]["entropy"]["kind"] = "guess"
    with pytest.raises(jsonschema.ValidationError):
        validate(good)
