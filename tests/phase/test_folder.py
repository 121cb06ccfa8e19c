"""Cells are units: resumed, reordered and spread over processes they give the same files; a folder holds one study."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from maskov.errors import InputError, Interrupted, StoreError
from maskov.phase import phase_diagram
from maskov.workers import run_units

LAW = "law:curie-weiss?sites=4&beta=0.8"


def diagram(folder: Path | None, **options: Any) -> Any:
    asked = {"temperatures": [1.0, 2.0, 3.0], "sites": [6, 8], "pairs": 4, "embedder": "onehot"} | options
    return phase_diagram(LAW, folder=folder, **asked)


def files(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}


def stop_after(count: int) -> Any:
    def progress(done: int, total: int) -> None:
        if done == count:
            raise KeyboardInterrupt

    return progress


def test_an_interrupt_keeps_whole_cells_and_resume_equals_an_uninterrupted_run(tmp_path: Path) -> None:
    whole = diagram(tmp_path / "whole")
    with pytest.raises(Interrupted, match=r"3 cells are complete.*--resume") as stopped:
        diagram(tmp_path / "cut", progress=stop_after(4))  # the study's own file is the first
    assert stopped.value.exit_code == 130
    before = files(tmp_path / "cut")
    assert len(before) == 4 and not [name for name in before if name.startswith(".")]
    resumed = diagram(tmp_path / "cut", resume=True)
    assert files(tmp_path / "cut") == files(tmp_path / "whole")
    assert resumed == whole == diagram(None)


def test_a_stop_inside_a_chain_says_how_to_resume_the_diagram(tmp_path: Path, monkeypatch: Any) -> None:
    """The engine hears Ctrl-C itself and speaks of steps; the diagram speaks of cells."""

    def stopped(*_: Any, **__: Any) -> None:
        raise Interrupted(7, "the same call with resume=True")

    monkeypatch.setattr("maskov.phase.cell.glauber", stopped)
    with pytest.raises(Interrupted, match="0 cells are complete; resume with: the same command with --resume"):
        diagram(tmp_path / "a")


def test_a_cell_is_its_own_whatever_ran_before(tmp_path: Path) -> None:
    from maskov.phase import sweep

    seen: list[Any] = []

    def backwards(units: Any, **options: Any) -> Any:
        seen.extend(units)
        return run_units(units[::-1], **options)[::-1]

    ahead = diagram(tmp_path / "ahead")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sweep, "run_units", backwards)
        assert diagram(tmp_path / "back") == ahead
    assert files(tmp_path / "ahead") == files(tmp_path / "back") and len(seen) == 7
    alone = diagram(None, temperatures=[2.0], sites=[8]).cells[0]
    assert alone == ahead.cell(2.0, 8)


def test_two_processes_write_the_same_files(tmp_path: Path) -> None:
    few = {"temperatures": [1.0, 2.0], "sites": [6]}
    assert diagram(tmp_path / "one", **few) == diagram(tmp_path / "two", workers=2, **few)
    assert files(tmp_path / "one") == files(tmp_path / "two")


@pytest.mark.parametrize(
    ("other", "named"),
    [
        ({"seed": 1}, "seed 0"),
        ({"pairs": 5}, "pairs 4"),
        ({"coupling": "gumbel"}, "coupling maximal"),
    ],
)
def test_a_folder_of_another_study_is_refused_by_name(tmp_path: Path, other: dict[str, Any], named: str) -> None:
    first = {"temperatures": [2.0], "sites": [6, 8]}
    diagram(tmp_path / "a", **first)
    held = files(tmp_path / "a")
    with pytest.raises(StoreError, match=named):
        diagram(tmp_path / "a", resume=True, **first | other)
    assert files(tmp_path / "a") == held


def test_a_folder_grows_by_temperatures_and_lengths(tmp_path: Path, monkeypatch: Any) -> None:
    from maskov.phase import cell

    diagram(tmp_path / "a", temperatures=[2.0], sites=[6, 8])
    held, run, done = files(tmp_path / "a"), cell.run_cell, []

    def counted(**arguments: Any) -> Any:
        done.append((arguments["temperature"], arguments["sites"]))
        return run(**arguments)

    monkeypatch.setattr(cell, "run_cell", counted)
    grown = diagram(tmp_path / "a", temperatures=[1.0, 2.0], sites=[6, 8, 10], resume=True)
    assert sorted(done) == [(1.0, 6), (1.0, 8), (1.0, 10), (2.0, 10)]
    assert held.items() <= files(tmp_path / "a").items()
    assert grown == diagram(None, temperatures=[1.0, 2.0], sites=[6, 8, 10])
    assert len(diagram(tmp_path / "a", temperatures=[2.0], sites=[6, 8], resume=True).cells) == 2


def test_a_folder_of_another_model_or_damaged_is_refused(tmp_path: Path) -> None:
    few = {"temperatures": [2.0], "sites": [6], "pairs": 4}
    phase_diagram(LAW, folder=tmp_path / "a", **few)
    with pytest.raises(StoreError, match="model law:curie-weiss"):
        phase_diagram(LAW.replace("0.8", "0.7"), folder=tmp_path / "a", resume=True, **few)
    with pytest.raises(InputError, match="--resume"):
        phase_diagram(LAW, folder=tmp_path / "a", **few)
    cell = tmp_path / "a" / "sites=6_temperature=2.json"
    content = json.loads(cell.read_text())
    content["result"]["meeting"]["steps"][0] += 1
    cell.write_text(json.dumps(content))
    with pytest.raises(StoreError, match="matches its sum"):
        phase_diagram(LAW, folder=tmp_path / "a", resume=True, **few)
    (tmp_path / "a" / "study.json").write_text("{")
    with pytest.raises(StoreError, match=r"study\.json"):
        phase_diagram(LAW, folder=tmp_path / "a", resume=True, **few)


def test_a_model_that_changed_under_its_name_is_refused() -> None:
    from maskov.models import load
    from maskov.phase.cell import loaded

    assert loaded(LAW, load(LAW).fingerprint, "cpu", "float32").n_sites == 4
    with pytest.raises(StoreError, match="model of this study"):
        loaded(LAW, "another", "cpu", "float32")


def test_the_command_line_resumes_and_writes_a_record(tmp_path: Path) -> None:
    from maskov.report.record import read_record, validate

    call = [sys.executable, "-m", "maskov", "phase", LAW, "--temperatures", "1,2", "--sites", "6,8", "--pairs", "4"]
    call += ["--out", str(tmp_path / "a"), "--json", str(tmp_path / "r.json"), "--resume"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    for _ in range(2):
        done = subprocess.run(call, capture_output=True, text=True, env=environment, timeout=120)
        assert done.returncode == 0, done.stderr
    record = read_record(tmp_path / "r.json")
    validate(record)
    assert [c["sites"] for c in record["results"]["cells"]] == [6, 6, 8, 8]
    assert "warning: n = 6: τ_c is below" in done.stderr and "sweeps to meet" in done.stdout
    wrong = subprocess.run([*call, "--seed", "3"], capture_output=True, text=True, env=environment, timeout=120)
    assert wrong.returncode == 2 and "seed 0" in wrong.stderr and "Traceback" not in wrong.stderr
