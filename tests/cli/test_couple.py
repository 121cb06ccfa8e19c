"""``maskov couple``: the answer, its record, messages for bad input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner

from maskov.cli.couple import command
from maskov.errors import InputError

SPINS = "law:curie-weiss?sites=16&beta=0.5"


def run(*arguments: str) -> Any:
    return CliRunner().invoke(command, list(arguments))


def record_of(*arguments: str) -> dict[str, Any]:
    result = run(*arguments, "--quiet", "--json", "-")
    assert result.exit_code == 0, result.exception
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_record_has_the_keys_and_fits_the_schema() -> None:
    import maskov

    record = record_of(SPINS, "--coupling", "uniform", "--pairs", "20", "--temperature", "1", "--temperature", "2")
    schema = Path(maskov.__file__).parent / "report" / "record.schema.json"
    jsonschema.validate(record, json.loads(schema.read_text(encoding="utf-8")))
    results = record["results"]
    assert record["command"] == "couple" and record["inputs"]["pairs"] == 20 and results["starts"] == "worst"
    assert [cell["temperature"] for cell in results["cells"]] == [1.0, 2.0]
    for cell in results["cells"]:
        assert set(cell) >= {"temperature", "sites", "median_steps", "met_fraction", "n_pairs", "max_steps", "censored"}
        assert cell["sites"] == 16 and cell["n_pairs"] == 20 and cell["censored"] == 0
        assert cell["median_steps"]["kind"] == "estimate" and cell["met_fraction"]["value"] == 1
        assert set(cell["survival"]) == {"steps", "survival", "lower", "upper"}
        assert cell["tv_bound"] is None


def test_two_hot_chains_meet_sooner() -> None:
    cold, hot = record_of(SPINS, "--temperature", "0.6", "--temperature", "3", "--pairs", "40")["results"]["cells"]
    assert hot["median_steps"]["value"] < cold["median_steps"]["value"]


def test_short_runs_are_censored_and_say_so() -> None:
    result = run(SPINS, "--pairs", "10", "--steps", "5", "--temperature", "0.3")
    assert "0 of 10 pairs met" in result.stdout and ">= 5 steps" in result.stdout
    assert "warning: τ = 0.3: 10 of 10 pairs had not met" in result.stderr
    cell = record_of(SPINS, "--pairs", "10", "--steps", "5", "--temperature", "0.3")["results"]["cells"][0]
    assert cell["median_steps"] == {"value": 5.0, "kind": "lower", "n": 10}


def test_lag_gives_a_bound() -> None:
    bound = record_of(SPINS, "--pairs", "30", "--lag", "32")["results"]["cells"][0]["tv_bound"]
    assert bound["lag"] == 32 and bound["censored"] == 0 and bound["bound"][-1] == 0 < bound["upper"][-1]


def test_same_seed_same_record_and_the_file() -> None:
    runs = [record_of(SPINS, "--pairs", "5", "--coupling", "gumbel", "--seed", s) for s in ("3", "3", "4")]
    assert runs[0] == runs[1] and runs[0]["results"] != runs[2]["results"]


def test_texts_from_a_file_and_a_clamp(tmp_path: Path) -> None:
    file = tmp_path / "texts.txt"
    file.write_text("0000000011111111\n1010101010101010\n", encoding="utf-8")
    record = record_of(SPINS, "--texts", str(file), "--pairs", "4", "--clamp", "1-4", "--temperature", "4")
    cell = record["results"]["cells"][0]
    assert record["results"]["starts"] == "texts" and cell["sites"] == 12 and cell["censored"] == 0
    assert record_of(SPINS, "--texts", str(file), "--starts", "worst:1")["results"]["starts"] == "worst"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--temperature", "0"], "temperature"),
        (["--starts", "best"], "worst:TOKEN"),
        (["--starts", "permutation"], "--texts"),
        (["--texts", "nothing-here.txt"], "nothing there"),
    ],
)
def test_bad_input(arguments: list[str], message: str) -> None:
    error = run(SPINS, *arguments).exception
    assert isinstance(error, InputError) and message in str(error) and error.exit_code == 2


def test_unknown_coupling_names_the_known_ones() -> None:
    result = run(SPINS, "--coupling", "best")
    assert result.exit_code == 2 and "maximal" in result.stderr and "gumbel" in result.stderr


def test_help_has_an_example() -> None:
    assert "maskov couple en-tiny" in run("--help").stdout
