"""``maskov schedule``: one readable table, one record, messages for bad input."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from maskov.cli.schedule import command
from maskov.errors import InputError

SPECS = ["bert", "mae", "uniform", "cosine", "uniform:0.3,0.8", "0.95*bert+0.05*full"]


def test_one_readable_table() -> None:
    result = CliRunner().invoke(command, [*SPECS, "--length", "512"])
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert len(lines) == 2 + len(SPECS)
    assert "v_min" in lines[1] and "π_0" in lines[1]
    assert lines[2].split()[:4] == ["bert", "fixed:0.15", "435", "435.00"]
    assert max(map(len, lines)) <= 120


def test_record_on_stdout_is_all_there_is() -> None:
    result = CliRunner().invoke(command, ["uniform", "full", "--length", "8", "--json", "-"])
    record = json.loads(result.stdout)
    assert record["command"] == "schedule" and record["inputs"]["length"] == 8
    first, second = record["results"]["schedules"]
    assert set(first) >= {"spec", "visible_law", "v_min", "mean_visible", "full_mask_mass"}
    assert [cell["visible"] for cell in first["visible_law"]] == list(range(9))
    assert sum(cell["mass"] for cell in first["visible_law"]) == pytest.approx(1)
    assert second["full_mask_mass"] == 1 and second["v_min"] == 0


def test_record_in_a_file_beside_the_table(tmp_path: Path) -> None:
    target = tmp_path / "s.json"
    result = CliRunner().invoke(command, ["bert", "--length", "64", "--json", str(target)])
    assert "bert" in result.stdout and json.loads(target.read_text())["results"]["length"] == 64


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["brt", "--length", "8"], "did you mean bert"),
        (["0.9*bert+0.2*full", "--length", "8"], "sum to 1"),
        (["bert", "--length", "0"], "a whole number of sites"),
        (["bert", "--length", "-5"], "a whole number of sites"),
        (["visible:9", "--length", "8"], "hides at least one site"),
    ],
)
def test_bad_input(arguments: list[str], message: str) -> None:
    error = CliRunner().invoke(command, arguments).exception
    assert isinstance(error, InputError) and message in str(error) and error.exit_code == 2


@pytest.mark.parametrize("arguments", [[], ["bert"], ["--length", "8"], ["bert", "--length", "many"]])
def test_bad_usage_exits_with_2(arguments: list[str]) -> None:
    assert CliRunner().invoke(command, arguments).exit_code == 2


def test_help_has_an_example() -> None:
    result = CliRunner().invoke(command, ["--help"])
    assert "maskov schedule bert mae uniform" in result.stdout


def test_runs_without_torch() -> None:
    code = (
        "import sys\n"
        "from maskov.cli.schedule import command\n"
        "assert 'numpy' not in sys.modules\n"
        "command(['bert', 'uniform', '--length', '64'], standalone_mode=False)\n"
        "assert not {'torch', 'transformers', 'matplotlib'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60, stdout=subprocess.DEVNULL)
