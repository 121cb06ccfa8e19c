"""A run under bad conditions: a clock that jumps, a disk that fills or is read-only, two writers; nothing is lost."""

from __future__ import annotations

import datetime
import errno
import itertools
import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from reliability.runs import CHUNK, everything, in_child, numbers, run

import maskov
from maskov.errors import InputError, MaskovError, RunError
from maskov.glauber import open_trace
from maskov.workers import Unit, run_units

STEPS = 5 * CHUNK
CLOCKS = ("time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns")


def _backwards(patch: pytest.MonkeyPatch) -> None:
    """Every clock that Python code asks jumps by up to a year, mostly back."""
    chooser = random.Random(0)
    for name in CLOCKS:
        whole = int if name.endswith("_ns") else float
        unit = 10**9 if name.endswith("_ns") else 1
        steps = (unit * chooser.uniform(-3e7, 1e7) for _ in itertools.count())
        told = itertools.accumulate(steps, initial=unit * 1.6e9)
        patch.setattr(time, name, lambda told=told, whole=whole: whole(next(told)))


def test_a_clock_that_runs_backwards_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = everything(run(None, STEPS))
    with monkeypatch.context() as patch:
        _backwards(patch)
        first, second = time.time(), min(time.time() for _ in range(20))
        run(tmp_path / "a.zarr", STEPS)
    assert second < first and numbers(tmp_path / "a.zarr") == expected


@pytest.mark.parametrize("year", [1975, 2090])
def test_files_of_another_year_resume(year: int, tmp_path: Path) -> None:
    """The clock jumps between a run and its resuming: every file is decades older, or younger, than now."""
    run(tmp_path / "a.zarr", 2 * CHUNK)
    then = datetime.datetime(year, 1, 1, tzinfo=datetime.UTC).timestamp()
    for path in [tmp_path / "a.zarr", *(tmp_path / "a.zarr").rglob("*")]:
        os.utime(path, (then, then))
    run(tmp_path / "a.zarr", STEPS)
    assert numbers(tmp_path / "a.zarr") == everything(run(None, STEPS))


def test_units_under_a_clock_that_runs_backwards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    units = [Unit(f"u{k}", "maskov.workers.run:parse_workers", {"workers": k + 1}) for k in range(4)]
    run_units(units, folder=tmp_path / "a")
    with monkeypatch.context() as patch:
        _backwards(patch)
        run_units(units[:2], folder=tmp_path / "b")
        run_units(units, folder=tmp_path / "b", resume=True)
    assert {p.name: p.read_bytes() for p in (tmp_path / "a").iterdir()} == {
        p.name: p.read_bytes() for p in (tmp_path / "b").iterdir()
    }


def test_a_run_that_asks_the_clock_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin: a run seeded by the time of day."""
    from maskov.glauber import glauber
    from maskov.laws import CurieWeiss
    from maskov.models import LawModel

    def timed() -> list[Any]:
        seed = abs(int(time.time()))
        return everything(glauber(LawModel(CurieWeiss(6, 0.9)), None, steps=40, seed=seed, window=2, chunk_steps=20))

    expected = timed()
    _backwards(monkeypatch)
    assert timed() != expected


def _failing(patch: pytest.MonkeyPatch, name: str, code: int, after: int) -> None:
    """A call of the operating system that fails for files below a store, from its ``after``-th use on."""
    plain, used = getattr(os, name), itertools.count()

    def call(*arguments: Any, **options: Any) -> Any:
        if next(used) >= after:
            raise OSError(code, os.strerror(code))
        return plain(*arguments, **options)

    patch.setattr(os, name, call)


@pytest.mark.parametrize("after", [0, 1, 2])
@pytest.mark.parametrize(
    ("code", "kind", "told"),
    [
        (errno.ENOSPC, RunError, "disk is full.*--resume"),
        (errno.EDQUOT, RunError, "disk is full.*--resume"),
        (errno.EROFS, InputError, "a folder that can be written"),
        (errno.EACCES, InputError, "a folder that can be written"),
    ],
    ids=["full", "quota", "read-only", "forbidden"],
)
def test_a_disk_that_refuses_loses_nothing(
    after: int, code: int, kind: type[MaskovError], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From some manifest on, nothing can be made durable any more."""
    path = tmp_path / "a.zarr"
    run(path, CHUNK)
    with monkeypatch.context() as patch:
        _failing(patch, "fsync", code, after)
        with pytest.raises(kind, match=told):
            run(path, STEPS)
    assert open_trace(path).steps >= CHUNK
    open_trace(path).verify()
    run(path, STEPS)
    assert numbers(path) == everything(run(None, STEPS))


def test_a_full_disk_keeps_the_units_that_are_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    units = [Unit(f"u{k}", "maskov.workers.run:parse_workers", {"workers": k + 1}) for k in range(4)]
    with monkeypatch.context() as patch:
        _failing(patch, "fsync", errno.ENOSPC, 2)
        with pytest.raises(RunError, match=r"u2\.json: could not be written"):
            run_units(units, folder=tmp_path / "a")
    assert sorted(p.name for p in (tmp_path / "a").iterdir()) == ["u0.json", "u1.json"]
    assert run_units(units, folder=tmp_path / "a", resume=True) == run_units(units)


def test_of_two_runs_on_one_store_the_second_is_refused(tmp_path: Path) -> None:
    """Both are whole runs in processes of their own; the first is stopped in its second chunk meanwhile."""
    path, (reached, said), (go, let) = tmp_path / "a.zarr", os.pipe(), os.pipe()
    stops = itertools.count()

    def wait(progress: Any) -> None:
        if next(stops) == 1:
            os.write(said, b"x")
            os.read(go, 1)

    first = in_child(lambda: run(path, STEPS, wait) and None)
    os.read(reached, 1)
    source = Path(maskov.__file__).parent.parent
    code = f"import sys; sys.path[:0] = [{str(source)!r}, {str(Path(__file__).parents[2])!r}]\n"
    code += f"from pathlib import Path\nfrom reliability.runs import run\nrun(Path({str(path)!r}), {STEPS})"
    second = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert second.returncode == 1 and "another process is writing now" in second.stderr
    os.write(let, b"x")
    assert os.waitpid(first, 0)[1] == 0
    assert numbers(path) == everything(run(None, STEPS))
