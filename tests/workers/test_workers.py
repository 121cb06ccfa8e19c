"""Units: one result whoever does them; nothing done is lost; nothing of another question is taken."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from maskov.errors import InputError, Interrupted, RunError, StoreError
from maskov.workers import Unit, run_units
from maskov.workers.run import parse_workers

HERE = str(Path(__file__).parent)


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here and in the workers."""
    monkeypatch.syspath_prepend(HERE)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([HERE, *filter(None, [os.environ.get("PYTHONPATH")])]))
    assert HERE in sys.path


def _squares(n: int = 5, call: str = "sample_units:square") -> list[Unit]:
    return [Unit(f"x={k}", call, {"x": float(k)}) for k in range(n)]


def _files(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}


def test_one_process_and_two_give_the_same_files(tmp_path: Path) -> None:
    one = run_units(_squares(), folder=tmp_path / "one")
    two = run_units(_squares(), folder=tmp_path / "two", workers=2)
    assert one == two == [{"square": k * k} for k in range(5)]
    assert _files(tmp_path / "one") == _files(tmp_path / "two")


def test_an_interrupt_keeps_what_is_done_and_resume_does_the_rest(tmp_path: Path) -> None:
    with pytest.raises(Interrupted, match=r"3 units are complete.*--resume"):
        run_units(_squares(call="sample_units:interrupt_at"), folder=tmp_path / "a")
    assert sorted(_files(tmp_path / "a")) == ["x=0.json", "x=1.json", "x=2.json"]
    before = (tmp_path / "a" / "x=1.json").stat().st_mtime_ns
    with pytest.raises(InputError, match="pass --resume"):
        run_units(_squares(), folder=tmp_path / "a")
    with pytest.raises(Interrupted):  # the same unit stops again, and only that one was tried
        run_units(_squares(call="sample_units:interrupt_at"), folder=tmp_path / "a", resume=True)
    assert (tmp_path / "a" / "x=1.json").stat().st_mtime_ns == before


def test_a_result_of_other_inputs_is_refused(tmp_path: Path) -> None:
    run_units(_squares(), folder=tmp_path / "a")
    other = [Unit("x=1", "sample_units:square", {"x": 7.0})]
    with pytest.raises(StoreError, match="same inputs"):
        run_units(other, folder=tmp_path / "a", resume=True)
    assert run_units(_squares(7), folder=tmp_path / "a", resume=True)[6] == {"square": 36}  # a larger grid goes on


@pytest.mark.parametrize("damage", ["flip", "cut", "key"])
def test_a_damaged_result_is_an_error(tmp_path: Path, damage: str) -> None:
    run_units(_squares(), folder=tmp_path / "a")
    file = tmp_path / "a" / "x=2.json"
    content = file.read_bytes()
    if damage == "flip":
        content = content.replace(b'"square": 4', b'"square": 5')
    elif damage == "cut":
        content = content[: len(content) // 2]
    else:
        content = json.dumps({k: v for k, v in json.loads(content).items() if k != "sum"}).encode()
    file.write_bytes(content)
    with pytest.raises(StoreError, match=r"x=2\.json.*delete this file"):
        run_units(_squares(), folder=tmp_path / "a", resume=True)


def test_a_worker_that_dies_is_replaced(tmp_path: Path) -> None:
    units = [Unit(f"u{k}", "sample_units:die_once", {"x": k, "marker": str(tmp_path / "dead")}) for k in range(4)]
    assert run_units(units, workers=2) == [{"square": k * k} for k in range(4)]
    assert (tmp_path / "dead").exists()


@pytest.mark.parametrize("workers", [1, 2])
def test_errors_of_a_unit_keep_their_kind(workers: int) -> None:
    with pytest.raises(InputError, match=r"something else, got 1\.0; ask again"):
        run_units([Unit("a", "sample_units:refuse", {"x": 1.0})], workers=workers)
    with pytest.raises(RunError, match="the disk is full"):
        run_units([Unit("a", "sample_units:fail", {})], workers=workers)
    with pytest.raises((RunError, ZeroDivisionError), match="oh"):
        run_units([Unit("a", "sample_units:broken", {})], workers=workers)


def test_workers_share_the_cores() -> None:
    found: list[dict[str, Any]] = run_units([Unit(f"u{k}", "sample_units:threads", {}) for k in range(4)], workers=2)
    assert {unit["threads"] for unit in found} == {max(1, (os.cpu_count() or 1) // 2)}
    assert os.getpid() not in {unit["process"] for unit in found}


@pytest.mark.parametrize("workers", ["", "two", "0", "-1", "ray:x", "ray:0"])
def test_wrong_workers(workers: str) -> None:
    with pytest.raises(InputError, match="workers"):
        parse_workers(workers)


@pytest.mark.parametrize("name", ["../up", "", ".hidden", "a/b", "a b", "x" * 200])
def test_names_that_are_no_files(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="unit"):
        run_units([Unit(name, "sample_units:square", {"x": 1.0})], folder=tmp_path / "a")


def _runs(folder: Path, marker: str) -> list[Unit]:
    folder.mkdir()
    calls = [{"out": str(folder / f"{k}.zarr"), "marker": marker if k == 0 else ""} for k in range(3)]
    return [Unit(f"run{k}", "sample_units:die_in_chunk", call) for k, call in enumerate(calls)]


def _stores(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_a_ray_worker_that_is_killed_loses_nothing(tmp_path: Path) -> None:
    """A cluster of two workers on this machine, one killed in the middle of a run: file for file as one process."""
    pytest.importorskip("ray")
    marker = tmp_path / "dead"
    one = run_units(_runs(tmp_path / "one", ""))
    two = run_units(_runs(tmp_path / "two", str(marker)), workers="ray:2")
    assert one == two and marker.exists()
    assert (tmp_path / "dead.0").read_text() == "60"  # the second worker began where the first had stored
    files = _stores(tmp_path / "one")
    assert files == _stores(tmp_path / "two") and len(files) > 30


def test_ray_and_one_process_give_the_same_files(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    units = [*_squares(), Unit("dies", "sample_units:die_once", {"x": 3.0, "marker": str(tmp_path / "dead")})]
    (tmp_path / "dead").touch()
    run_units(units, folder=tmp_path / "one")
    (tmp_path / "dead").unlink()
    run_units(units, folder=tmp_path / "ray", workers="ray:2")
    assert _files(tmp_path / "one") == _files(tmp_path / "ray") and (tmp_path / "dead").exists()
