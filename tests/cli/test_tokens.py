"""``maskov tokens``: the answer, its record and figures, messages for bad input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner

from maskov.cli.tokens import command
from maskov.errors import InputError

SPINS = "law:curie-weiss?sites=8&beta=1.5"


def run(*arguments: str) -> Any:
    return CliRunner().invoke(command, list(arguments))


@pytest.fixture(scope="module")
def record() -> dict[str, Any]:
    result = run(SPINS, "--replicas", "8", "--quiet", "--json", "-")
    assert result.exit_code == 0, result.exception
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_record_has_the_keys_and_fits_the_schema(record) -> None:
    import maskov

    schema = Path(maskov.__file__).parent / "report" / "record.schema.json"
    jsonschema.validate(record, json.loads(schema.read_text(encoding="utf-8")))
    results = record["results"]
    assert record["command"] == "tokens" and record["inputs"]["sites"] == results["sites"] == 8
    assert [row["text"] for row in results["ranking"]] == ["0", "1"]
    for row in results["ranking"]:
        assert row["probability"]["kind"] == "exact" and row["logit_margin"]["value"] == pytest.approx(2 * 1.5 * 7 / 8)
    for p in results["profiles"]:
        wanted = {"token", "text", "k", "up", "down", "drift", "states", "certificate", "window", "measured_escape"}
        assert wanted <= set(p) and len(p["k"]) == len(p["up"]) == len(p["drift"]) == 9
        assert p["certificate"]["kind"] == "lower" and p["window"] == [5, 8] and p["rising"] == [5, 7]


def test_figures_are_drawn_from_the_record_alone(record) -> None:
    from maskov.plots.basins import plot_token_drift, plot_tokens

    results = json.loads(json.dumps(record["results"]))
    results["ranking"][0]["text"] = results["profiles"][0]["text"] = "$_{"  # a token is text, not a formula
    for plot in (plot_tokens, plot_token_drift):
        ax = plot(results)
        ax.figure.canvas.draw()
        assert ax.get_xlabel() and ax.get_ylabel()
    results["profiles"] = []
    plot_token_drift(results).figure.canvas.draw()


def test_text_output_names_tokens_and_says_what_is_certified() -> None:
    result = run(SPINS, "--profiles", "1", "--top", "1", "--replicas", "4", "--temperature", "0.8")
    assert result.exit_code == 0, result.exception
    assert "p = " in result.stdout and "(certificate)" in result.stdout and "basin '1'" not in result.stdout


def test_a_hotter_law_holds_less() -> None:
    cold, hot = (
        json.loads(run(SPINS, "--profiles", "0", "--temperature", t, "--json", "-", "--quiet").stdout)["results"]
        for t in ("0.5", "2")
    )
    assert cold["ranking"][0]["probability"]["value"] > hot["ranking"][0]["probability"]["value"]
    assert cold["profiles"] == []


def test_bad_temperature_is_named() -> None:
    result = run(SPINS, "--temperature", "0")
    assert isinstance(result.exception, InputError) and "temperature" in str(result.exception)


def test_help_shows_an_example() -> None:
    assert "maskov tokens en-tiny" in run("--help").stdout
