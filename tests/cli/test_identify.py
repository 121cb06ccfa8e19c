"""``maskov identify``: the answer, its record, its speed, messages for bad input."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import pytest
from click.testing import CliRunner

from maskov.cli.identify import command
from maskov.errors import InputError

LAW = ["--law", "product?sites=64&gap=0.3&weight=0.3", "--schedule", "hide:1"]


def test_table_says_the_numbers_of_the_bridge() -> None:
    result = CliRunner().invoke(command, [*LAW, "--against", "0.5"])
    assert result.exit_code == 0
    assert "3.877798e-08" in result.stdout and "2.864378e-08" in result.stdout
    assert "modulus" in result.stdout and max(map(len, result.stdout.splitlines())) <= 120


def test_record() -> None:
    result = CliRunner().invoke(command, [*LAW, "--epsilon", "0.001", "--epsilon", "0.01", "--json", "-"])
    record = json.loads(result.stdout)
    results = record["results"]
    assert record["command"] == "identify" and record["inputs"]["epsilons"] == [0.001, 0.01]
    assert [row["epsilon"] for row in results["modulus"]] == [0.001, 0.01]
    for key in ("kl_weights", "kl_joint", "discrepancy", "discrepancy_tokens", "blindness_ratio", "tensorization"):
        assert {"value", "kind", "log_value"} <= set(results[key])
    assert results["spectral_gap"]["value"] == pytest.approx(2.864378e-8, rel=1e-6)
    assert results["mmse"][64]["visible"] == 64


def test_law_prefix_is_welcome() -> None:
    arguments = ["--law", "law:product?sites=8&gap=0.3&weight=0.3", "--schedule", "bert", "--quiet"]
    assert CliRunner().invoke(command, arguments).exit_code == 0


def test_warnings_go_to_stderr_and_quiet_drops_them() -> None:
    arguments = ["--law", "random?sites=3&symbols=2&seed=0", "--schedule", "hide:1"]
    loud, quiet = (CliRunner().invoke(command, [*arguments, *more]) for more in ([], ["--quiet"]))
    assert "no modes" in loud.stderr and quiet.stderr == "" and quiet.exit_code == 0


def test_ten_thousand_sites_in_five_seconds() -> None:
    law = ["--law", "product?sites=10000&gap=0.1&weight=0.3", "--schedule", "fixed:0.15", "--quiet"]
    code = f"from maskov.cli.identify import command; command({law!r}, standalone_mode=False)"
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", code], check=True, timeout=60, capture_output=True, text=True)
    assert time.perf_counter() - start < 5
    assert "2.5068" in done.stdout or "e-7" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([*LAW, "--against", "1.5"], "above 0 and below 1"),
        ([*LAW, "--against", "half"], "a number, or numbers with commas"),
        ([*LAW, "--epsilon", "-1"], "an excess loss of 0 or more"),
        (["--law", "product?sites=64&gap=0.7&weight=0.3", "--schedule", "bert"], "gap"),
        (["--law", "produc?sites=64", "--schedule", "bert"], "product"),
        (["--law", "potts?sites=90&symbols=3&beta=1", "--schedule", "bert"], "1100 states to enumerate"),
        ([*LAW[:2], "--schedule", "uniform:0.8,0.3"], "write 0.3,0.8"),
    ],
)
def test_bad_input(arguments: list[str], message: str) -> None:
    error = CliRunner().invoke(command, arguments).exception
    assert isinstance(error, InputError) and message in str(error) and error.exit_code == 2


def test_help_has_an_example() -> None:
    assert "maskov identify --law" in CliRunner().invoke(command, ["--help"]).stdout
