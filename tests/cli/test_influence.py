"""``maskov influence``: the record's keys, on a law and on the bundled model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from maskov.cli.influence import command
from maskov.report import validate


def test_record_of_a_law() -> None:
    result = CliRunner().invoke(
        command, ["law:curie-weiss?sites=8&beta=0.5", "--temperatures", "0.25,1,2", "--json", "-"]
    )
    record = json.loads(result.stdout)
    validate(record)
    found = record["results"]
    assert [p["temperature"] for p in found["curve"]] == [0.25, 1.0, 2.0]
    assert found["curve"][1]["row"]["kind"] == "exact" and found["critical_temperature"]["kind"] == "exact"
    assert found["mixing_time_bound"]["kind"] == "upper"


def test_record_of_a_network(tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("the cat sat.\n")
    arguments = ["en-tiny", "--texts", str(tmp_path / "t.txt"), "--temperatures", "1", "--contexts", "1", "--json", "-"]
    record = json.loads(CliRunner().invoke(command, arguments).stdout)
    validate(record)
    assert record["results"]["curve"][0]["row"]["kind"] == "lower"
    assert record["results"]["mixing_time_bound"] is None and record["results"]["mixing_time_reason"]


@pytest.mark.parametrize("text", ["", "1,,2", "hot", "1;2"])
def test_temperature_lists(text: str) -> None:
    result = CliRunner().invoke(command, ["law:curie-weiss?sites=8&beta=0.5", "--temperatures", text])
    assert result.exit_code == 2 and "numbers with commas" in result.output
