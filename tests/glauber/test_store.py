"""Traces on disk: damage is an error that names its place, nothing is overwritten, an interrupt loses nothing."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from maskov.errors import InputError, MaskovError, RunError, StoreError
from maskov.glauber import glauber, open_trace
from maskov.laws import CurieWeiss
from maskov.models import LawModel

MODEL = LawModel(CurieWeiss(6, 0.9))
OPTIONS: dict[str, Any] = {"temperature": [0.5, 1.0], "chains": 3, "seed": 1, "window": 2, "chunk_steps": 20}


def run(out: Path, steps: int = 100, model: Any = MODEL, **changes: Any) -> Any:
    return glauber(model, None, steps=steps, out=out, **{**OPTIONS, **changes})


def everything(trace: Any) -> list[Any]:
    """All that a trace says, as bytes."""
    parts = [x.tobytes() for t in range(0, trace.steps + 1, 7) for x in trace.states_at(t)]
    parts += [v.tobytes() for v in trace.series.values()]
    return [*parts, *(c.tobytes() for c in trace.changes()), trace.temperatures.tobytes(), trace.chain_ids.tobytes()]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("runs") / "a.zarr"
    run(path)
    return path


@pytest.fixture
def copy(whole: Path, tmp_path: Path) -> Path:
    shutil.copytree(whole, tmp_path / "c.zarr")
    return tmp_path / "c.zarr"


def test_every_damaged_file_is_found_or_harmless(tmp_path: Path) -> None:
    """Flip a byte, cut, or remove each file in turn: reading it all gives an error with exit code 2, or the same."""
    whole = tmp_path / "whole.zarr"
    run(whole, 40)  # two chunks hold every kind of file
    expected, found = everything(open_trace(whole)), 0
    rng = np.random.default_rng(0)
    for file in sorted(p.relative_to(whole) for p in whole.rglob("*") if p.is_file()):
        for damage in ("flip", "cut", "remove"):
            path = tmp_path / f"{damage}.zarr"
            shutil.rmtree(path, ignore_errors=True)
            shutil.copytree(whole, path)
            _damage(path / file, damage, rng)
            try:
                got = everything(open_trace(path))
            except StoreError as error:
                assert error.exit_code == 2 and str(path) in str(error)
                found += 1
                continue
            assert got == expected, (file, damage)
    assert found > 60


def _damage(file: Path, damage: str, rng: np.random.Generator) -> None:
    content = bytearray(file.read_bytes())
    if damage == "flip" and content:
        content[int(rng.integers(len(content)))] ^= 0x41
    if damage == "remove":
        file.unlink()
    else:
        file.write_bytes(content[: len(content) // 2] if damage == "cut" else content)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: m.update(schema=99), "schema 99"),
        (lambda m: m["chunks"].reverse(), "damaged"),
        (lambda m: m.pop("chunks"), "damaged"),
        (lambda m: m.update(temperatures="hot"), "damaged"),
        (lambda m: m.update(surprise=1), "damaged"),
    ],
)
def test_manifests(copy: Path, change: Any, message: str) -> None:
    manifest = json.loads((copy / "manifest.json").read_text())
    change(manifest)
    (copy / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(StoreError, match=message) as caught:
        open_trace(copy)
    assert "manifest.json" in str(caught.value)


def test_what_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no such folder"):
        open_trace(tmp_path / "none.zarr")
    with pytest.raises(StoreError, match="without one"):
        open_trace(tmp_path)
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError):
        open_trace(tmp_path / "file")


def test_nothing_is_overwritten(copy: Path, tmp_path: Path) -> None:
    before = {p: p.read_bytes() for p in copy.rglob("*") if p.is_file()}
    with pytest.raises(InputError, match="--resume"):
        run(copy)
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").write_text("mine")
    with pytest.raises(MaskovError):
        run(tmp_path / "notes")
    with pytest.raises(MaskovError):
        run(tmp_path / "notes", resume=True)
    assert [p.name for p in (tmp_path / "notes").iterdir()] == ["a.txt"]
    assert before == {p: p.read_bytes() for p in copy.rglob("*") if p.is_file()}


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"seed": 2}, "seed"),
        ({"temperature": [0.5, 1.1]}, "temperatures"),
        ({"chains": 4}, "chains"),
        ({"model": LawModel(CurieWeiss(6, 0.8))}, "model"),
    ],
)
def test_another_run_does_not_resume(copy: Path, changes: dict[str, Any], name: str) -> None:
    before = {p: p.read_bytes() for p in copy.rglob("*") if p.is_file()}
    with pytest.raises(StoreError, match=name):
        run(copy, 200, resume=True, **changes)
    assert before == {p: p.read_bytes() for p in copy.rglob("*") if p.is_file()}


@pytest.mark.parametrize("fail_at", [1, 3, 8, 14, 23])
def test_a_full_disk_loses_nothing(whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fail_at: int) -> None:
    """The n-th array or manifest write finds the disk full; after space is made the run ends as if nothing had been."""
    import zarr

    from maskov.glauber import store as store_module

    calls = 0

    def counted(function: Any) -> Any:
        def wrapper(*arguments: Any, **options: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls == fail_at:
                raise OSError(errno.ENOSPC, "No space left on device")
            return function(*arguments, **options)

        return wrapper

    run(tmp_path / "a.zarr", 20)
    with monkeypatch.context() as patch:
        patch.setattr(zarr.Array, "__setitem__", counted(zarr.Array.__setitem__))
        patch.setattr(store_module, "write_manifest", counted(store_module.write_manifest))
        with pytest.raises(RunError, match="disk is full") as caught:
            run(tmp_path / "a.zarr", resume=True)
    assert "--resume" in str(caught.value) and caught.value.exit_code == 1
    assert open_trace(tmp_path / "a.zarr").steps % 20 == 0
    assert everything(run(tmp_path / "a.zarr", resume=True)) == everything(open_trace(whole))


def test_memory_and_disk_give_the_same(whole: Path) -> None:
    assert everything(glauber(MODEL, None, steps=100, **OPTIONS)) == everything(open_trace(whole))


SCRIPT = """
import sys, time
from maskov.glauber import glauber
from maskov.laws import CurieWeiss
from maskov.models import LawModel
from maskov.errors import MaskovError
out, steps = sys.argv[1], int(sys.argv[2])
def slow(p):
    print(p.step, flush=True)
    time.sleep(0.01)
try:
    glauber(LawModel(CurieWeiss(6, 0.9)), None, steps=steps, out=out, resume=True, temperature=[0.5, 1.0], chains=3,
            seed=1, window=2, chunk_steps=20, progress=slow)
except MaskovError as error:
    print(error, file=sys.stderr)
    sys.exit(error.exit_code)
"""


@contextmanager
def _running(out: Path, steps: int) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", SCRIPT, str(out), str(steps)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        yield process


def _finish(out: Path, steps: int) -> None:
    with _running(out, steps) as process:
        told = process.communicate(timeout=120)
    assert process.returncode == 0, told


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_finishes_the_chunk_and_says_how_to_go_on(tmp_path: Path, number: int) -> None:
    with _running(tmp_path / "a.zarr", 1600) as process:
        assert process.stdout is not None
        for _ in range(3):
            process.stdout.readline()
        process.send_signal(number)
        _, told = process.communicate(timeout=120)
    assert process.returncode == 130 and "resume" in told
    done = open_trace(tmp_path / "a.zarr").steps
    assert 60 <= done < 1600 and done % 20 == 0 and f"{done} steps are complete" in told
    _finish(tmp_path / "a.zarr", 1600)
    assert everything(open_trace(tmp_path / "a.zarr")) == everything(glauber(MODEL, None, steps=1600, **OPTIONS))


def test_kill_at_any_moment_loses_at_most_a_chunk(tmp_path: Path) -> None:
    rng, path = np.random.default_rng(3), tmp_path / "a.zarr"
    for _ in range(6):
        with _running(path, 1600) as process:
            assert process.stdout is not None
            seen = process.stdout.readline()
            time.sleep(float(rng.uniform(0, 0.15)))
            process.kill()
            rest = process.communicate(timeout=120)[0].split()
        assert open_trace(path).steps >= max(map(int, [seen or 0, *rest]))
    _finish(path, 1600)
    assert everything(open_trace(path)) == everything(glauber(MODEL, None, steps=1600, **OPTIONS))


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_read_only_folder(tmp_path: Path) -> None:
    (tmp_path / "locked").mkdir(mode=0o500)
    with pytest.raises(InputError, match="can be written"):
        run(tmp_path / "locked" / "a.zarr")


def test_errors_of_permission_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from maskov.glauber import store as store_module

    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(store_module, "write_manifest", refuse)
    with pytest.raises(InputError, match="a folder that can be written"):
        run(tmp_path / "a.zarr")


def test_no_object_arrays_are_read(whole: Path) -> None:
    """Nothing in a store is a pickle: every array has a fixed-size number type."""
    for file in whole.rglob("zarr.json"):
        kind = json.loads(file.read_text())
        if kind["node_type"] == "array":
            assert kind["data_type"] in ("int32", "int64", "float64")
