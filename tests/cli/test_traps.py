"""``maskov traps``: the answer, its record and figures, messages for bad input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner

from maskov.cli.traps import command
from maskov.errors import InputError

SPINS = "law:curie-weiss?sites=8&beta=1.5"


def run(*arguments: str) -> Any:
    return CliRunner().invoke(command, list(arguments))


@pytest.fixture(scope="module")
def record() -> dict[str, Any]:
    result = run(SPINS, "--temperature", "0.4", "--temperature", "1", "--starts", "8", "--quiet", "--json", "-")
    assert result.exit_code == 0, result.exception
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_record_has_the_keys_and_fits_the_schema(record) -> None:
    import maskov

    schema = Path(maskov.__file__).parent / "report" / "record.schema.json"
    jsonschema.validate(record, json.loads(schema.read_text(encoding="utf-8")))
    results = record["results"]
    assert record["command"] == "traps" and record["inputs"]["temperatures"] == [0.4, 1.0]
    assert sorted(trap["text"] for trap in results["traps"]) == ["00000000", "11111111"]
    for trap in results["traps"]:
        assert trap["perfect"] is True and trap["min_margin"]["kind"] == "exact" and len(trap["margins"]) == 8
        for cell in trap["leave"]:
            assert cell["probability"]["kind"] == cell["predicted_dwell"]["kind"] == "exact"
            assert cell["bound"]["kind"] == "upper" and cell["probability"]["value"] <= cell["bound"]["value"] + 1e-12
            assert cell["measured_dwell"]["kind"] == "estimate" and cell["exits"] == 64
    assert {"trap", "slope", "stderr", "min_margin"} <= set(results["escape"][0])
    assert results["n_starts"] == 8 and results["unsettled"] == 0


def test_figures_are_drawn_from_the_record_alone(record) -> None:
    from maskov.plots.basins import plot_escape, plot_traps

    ax = plot_traps(record["results"])
    assert "predicted" in ax.get_xlabel() and [t.get_text() for t in ax.get_legend().get_texts()] == [
        "τ = 0.4",
        "τ = 1",
    ]
    ax.figure.canvas.draw()
    ax = plot_escape(record["results"])
    assert "1/τ" in ax.get_xlabel() and "slope" in ax.get_legend().get_texts()[0].get_text()
    ax.figure.canvas.draw()


def test_figures_of_nothing_are_empty_not_errors() -> None:
    from maskov.plots.basins import plot_escape, plot_traps

    nothing = {"traps": [], "escape": [], "replicas": 4}
    for plot in (plot_traps, plot_escape):
        axes = plot(nothing)
        axes.figure.canvas.draw()
        assert axes.get_xlabel() and axes.get_ylabel()


def test_limit_and_text_output() -> None:
    result = run(SPINS, "--limit", "1", "--starts", "8", "--temperature", "1", "--steps", "20", "--replicas", "3")
    assert result.exit_code == 0, result.exception
    assert "trap 0" in result.stdout and "trap 1" not in result.stdout and "perfect traps  2" in result.stdout


def test_own_texts_are_the_starts(tmp_path: Path) -> None:
    texts = tmp_path / "texts.txt"
    texts.write_text("11111110\n", encoding="utf-8")
    result = run(SPINS, "--texts", str(texts), "--starts", "1", "--temperature", "0.5", "--quiet", "--json", "-")
    traps = json.loads(result.stdout)["results"]["traps"]
    assert [(t["text"], t["start"], t["basin"]) for t in traps] == [("11111111", "11111110", 1)]


def test_nothing_found_is_a_warning() -> None:
    result = run("law:curie-weiss?sites=6&beta=0", "--starts", "3", "--temperature", "5", "--replicas", "4")
    assert result.exit_code == 0 and "warning: no trap was found" in result.stderr


@pytest.mark.parametrize("temperature", ["0", "-1", "nan", "inf"])
def test_bad_temperatures_are_named(temperature: str) -> None:
    result = run(SPINS, "--temperature", temperature)
    assert isinstance(result.exception, InputError) and "temperature" in str(result.exception)


def test_help_shows_an_example() -> None:
    assert "maskov traps en-tiny" in run("--help").stdout
