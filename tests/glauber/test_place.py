"""Where traces lie: locks, URLs, runs that were killed before their first manifest."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from maskov.cli.main import main
from maskov.errors import InputError
from maskov.glauber import glauber, open_trace
from maskov.laws import CurieWeiss
from maskov.models import LawModel
from maskov.place import LOCK, only_writer, place_of

MODEL = LawModel(CurieWeiss(6, 0.9))
OPTIONS: dict[str, Any] = {"temperature": [0.5, 1.0], "chains": 3, "seed": 1, "window": 2, "chunk_steps": 20}
HOLD = """
import sys
from pathlib import Path
from maskov.place import only_writer
with only_writer(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.readline()
"""


def run(out: Any, steps: int = 60, **options: Any) -> Any:
    return glauber(MODEL, None, steps=steps, out=out, **{**OPTIONS, **options})


def same(a: Any, b: Any) -> bool:
    columns = zip(a.changes(), b.changes(), strict=True)
    return (
        a.steps == b.steps
        and all(np.array_equal(x, y) for x, y in columns)
        and all(np.array_equal(a.series[k], b.series[k]) for k in a.series)
    )


@pytest.fixture
def holder(tmp_path: Path) -> Any:
    """Another process that writes to a store, until it is told to stop."""
    run(tmp_path / "a.zarr", 20)
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path / "a.zarr")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None and process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.communicate()


def test_a_second_writer_is_refused_and_nothing_changes(holder: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.zarr"
    before = {p: p.read_bytes() for p in path.rglob("*") if p.is_file()}
    with pytest.raises(InputError, match="another process is writing now"):
        run(path, resume=True)
    assert before == {p: p.read_bytes() for p in path.rglob("*") if p.is_file()}
    assert open_trace(path).steps == 20  # readers are welcome
    holder.kill()
    holder.wait()
    assert same(run(path, resume=True), run(None))  # the lock ended with its process


def test_the_command_says_who_is_in_the_way(holder: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [
        "sample",
        "law:curie-weiss?sites=6&beta=0.9",
        "--steps",
        "60",
        "--resume",
        "--out",
        str(tmp_path / "a.zarr"),
    ]
    with pytest.raises(SystemExit) as left:
        main(words)
    told = capsys.readouterr().err
    assert left.value.code == 2 and "another process is writing now; wait until it ends" in told


def test_a_lock_leaves_nothing_behind_and_is_not_fooled_by_a_left_file(tmp_path: Path) -> None:
    (tmp_path / LOCK).write_text("")  # of a killed process
    with only_writer(tmp_path):
        with pytest.raises(InputError), only_writer(tmp_path):
            pass
        assert (tmp_path / LOCK).exists()
    assert not (tmp_path / LOCK).exists()


def test_a_run_killed_before_its_first_manifest_begins_anew(tmp_path: Path) -> None:
    expected = run(None)
    for k, kept in enumerate((set(), {"zarr.json"}, {"zarr.json", "state", "changed", LOCK})):
        path = tmp_path / f"{k}.zarr"
        run(path)
        for part in path.iterdir():
            if part.name not in kept:
                os.system(f"rm -r '{part}'")
        assert same(run(path, resume=True), expected)
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "state").mkdir()
    (mine / "letter.txt").write_text("dear")
    with pytest.raises(InputError):
        run(mine, resume=True)
    assert (mine / "letter.txt").read_text() == "dear"


def test_file_urls_are_folders(tmp_path: Path) -> None:
    url = f"file://{tmp_path}/a%20b.zarr"
    run(url)
    assert same(open_trace(url), run(None)) and open_trace(tmp_path / "a b.zarr").steps == 60
    with pytest.raises(InputError, match="which exists"):
        run(url)


@pytest.fixture
def shelf(tmp_path: Path) -> str:
    """A protocol of its own over a local folder: what an object store is to fsspec."""
    fsspec = pytest.importorskip("fsspec")
    from fsspec.implementations.local import LocalFileSystem

    root = tmp_path / "bucket"
    root.mkdir()

    class Bucket(LocalFileSystem):  # type: ignore[misc, unused-ignore]
        protocol = "bucket"

        def __init__(self, **options: Any) -> None:
            super().__init__(auto_mkdir=True, **options)

        @classmethod
        def _strip_protocol(cls, path: str) -> str:
            inside = path.removeprefix("bucket://").rstrip("/")
            return inside if inside.startswith("/") else f"{root}/{inside}"

    fsspec.register_implementation("bucket", Bucket, clobber=True)
    Bucket.clear_instance_cache()
    return "bucket://runs/a.zarr"


def test_a_trace_behind_a_url(shelf: str, tmp_path: Path) -> None:
    run(shelf, 20)
    assert (tmp_path / "bucket" / "runs" / "a.zarr" / "manifest.json").is_file()
    with pytest.raises(InputError, match="which exists"):
        run(shelf)
    assert same(run(shelf, resume=True), run(None)) and same(open_trace(shelf), run(None))
    assert same(open_trace(tmp_path / "bucket" / "runs" / "a.zarr"), run(None))


def test_a_damaged_object_is_found(shelf: str, tmp_path: Path) -> None:
    run(shelf)
    kept = tmp_path / "bucket" / "runs" / "a.zarr" / "changes" / "000001" / "c"
    (file,) = (p for p in kept.rglob("*") if p.is_file())
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(bytes(content))
    with pytest.raises(InputError, match="match"):
        open_trace(shelf).changes()


def test_the_command_writes_to_memory_and_reads_it(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("fsspec")
    for words in (
        ["sample", "law:curie-weiss?sites=6&beta=0.9", "--steps", "60", "--out", "memory://runs/b.zarr", "--quiet"],
        ["show", "memory://runs/b.zarr", "--chain", "0", "--at", "0,60"],
    ):
        with pytest.raises(SystemExit) as left:
            main(words)
        assert left.value.code == 0, capsys.readouterr().err
    assert "60" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("url", "message"),
    [("nosuch://x/run.zarr", "a URL that fsspec can open"), ("memory://nothing/here.zarr", "no such folder")],
)
def test_urls_that_lead_nowhere(url: str, message: str) -> None:
    pytest.importorskip("fsspec")
    with pytest.raises(InputError, match=message):
        open_trace(url)


def test_places() -> None:
    assert type(place_of("C:/runs/a.zarr")).__name__ == "Folder"
    assert type(place_of(Path("a://b"))).__name__ == "Folder"  # a path is a path
