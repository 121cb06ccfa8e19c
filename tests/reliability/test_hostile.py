"""Stores and files that were made to harm: refused with a message, no code of theirs run, in bounded memory."""

from __future__ import annotations

import gzip
import io
import json
import os
import pickle
import resource
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numcodecs.zstd import Zstd
from reliability.runs import run

import maskov
import maskov.texts
from maskov.cli.main import main
from maskov.errors import InputError, StoreError
from maskov.glauber import open_trace
from maskov.glauber.guard import BoundedZstd, check_room

SOURCE = Path(maskov.__file__).parent
LAW = "law:curie-weiss?sites=6&beta=0.5"


class Marker:
    """Writes a file when unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return Path.touch, (self.path,)


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    run(tmp_path / "a.zarr", 60)
    return tmp_path / "a.zarr"


def _read_all(path: Path) -> None:
    trace = open_trace(path)
    trace.verify()
    trace.to_xarray().load()


def _describe(path: Path, name: str, **changes: Any) -> None:
    kind = path / name / "zarr.json"
    kind.write_text(json.dumps(json.loads(kind.read_text()) | changes))


def _codec(name: str, **options: Any) -> dict[str, Any]:
    return {"name": name, "configuration": options}


PICKLED = [
    {"codecs": [_codec("numcodecs.pickle", protocol=2)]},
    {"codecs": [_codec("bytes", endian="little"), _codec("pickle")]},
    {"codecs": [_codec("numcodecs.pickle", protocol=2)], "data_type": "object", "fill_value": None},
    {"data_type": {"name": "numpy.object", "configuration": {}}, "fill_value": None},
    {"data_type": "string", "fill_value": "", "codecs": [_codec("vlen-utf8")]},
    {"codecs": [_codec("bytes", endian="little"), _codec("numcodecs.lzma"), _codec("crc32c")]},
    {"codecs": [_codec("bytes", endian="little"), _codec("gzip", level=1)]},
]


@pytest.mark.parametrize("changes", PICKLED, ids=lambda c: str([x["name"] for x in c.get("codecs", [])] or c)[:40])
@pytest.mark.parametrize("name", ["state", "changed", "temperature", "changes/000000"])
def test_other_codecs_and_types_are_refused(stored: Path, tmp_path: Path, changes: dict[str, Any], name: str) -> None:
    """Each chunk of the array is a pickle that would write a file."""
    marker = tmp_path / "marker"
    _describe(stored, name, **changes)
    chunks = [p for p in (stored / name / "c").rglob("*") if p.is_file()]
    for chunk in chunks:
        chunk.write_bytes(pickle.dumps(Marker(marker)))
    with pytest.raises(StoreError) as refused:
        _read_all(stored)
    assert chunks and not marker.exists() and len(str(refused.value)) < 1000


def test_arrays_of_the_second_format_are_not_looked_at(stored: Path, tmp_path: Path) -> None:
    """Zarr v2 has object arrays with a pickle filter: readers that trust it run this one."""
    marker = tmp_path / "marker"
    payload = pickle.dumps(Marker(marker))
    (stored / "state" / "zarr.json").unlink()
    old = {"zarr_format": 2, "shape": [1], "chunks": [1], "dtype": "|O", "compressor": None, "order": "C"}
    (stored / "state" / ".zarray").write_text(json.dumps(old | {"fill_value": 0, "filters": [{"id": "pickle"}]}))
    (stored / "state" / "0").write_bytes(payload)
    with pytest.raises(StoreError):
        _read_all(stored)
    assert not marker.exists()
    pickle.loads(payload)
    assert marker.exists()  # the payload was live


def _frame(size: int) -> bytes:
    """A Zstandard frame of zeros with the sum that stores put behind it."""
    from google_crc32c import value as crc32c

    packed = bytes(Zstd(level=1).encode(np.zeros(size, dtype=np.uint8)))
    return packed + int(crc32c(packed)).to_bytes(4, "little")


def test_a_chunk_does_not_expand_beyond_its_array(stored: Path) -> None:
    bomb = _frame(2**28)
    assert len(bomb) < 2**16
    for chunk in [p for p in (stored / "state" / "c").rglob("*") if p.is_file()]:
        chunk.write_bytes(bomb)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(StoreError, match="where there is room for"):
        open_trace(stored).state(0, 60)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # kB


def test_without_the_bound_it_would(stored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin: the codec as zarr has it makes room for whatever a frame claims."""
    monkeypatch.setattr("maskov.glauber.guard.content_size", lambda head: 0)
    for chunk in [p for p in (stored / "state" / "c").rglob("*") if p.is_file()]:
        chunk.write_bytes(_frame(2**25))
    with pytest.raises(StoreError) as refused:
        open_trace(stored).state(0, 60)
    assert "where there is room for" not in str(refused.value) and BoundedZstd(level=1)


def test_sizes_that_a_manifest_claims_too_are_bounded(stored: Path) -> None:
    """Shape and manifest agree on a run of 10^13 steps; nothing is reserved for it."""
    manifest = json.loads((stored / "manifest.json").read_text())
    manifest.pop("sum")
    manifest["chunks"][-1][0] = manifest["steps"] = 10**13
    (stored / "manifest.json").write_text(json.dumps(manifest))
    for name in ("changed", "stay", "entropy", "production", "production_raw"):
        _describe(stored, name, shape=[5 * 10**12, 6], chunk_grid=_regular([10**12, 6]))
    with pytest.raises(StoreError, match="more than half of this machine's memory"):
        open_trace(stored).verify()


def _regular(shape: list[int]) -> dict[str, Any]:
    return {"name": "regular", "configuration": {"chunk_shape": shape}}


@pytest.mark.parametrize("selection", [0, slice(0, 2), slice(0, 10**9), ()])
def test_room_is_counted_in_whole_chunks(selection: Any) -> None:
    class Array:
        shape, chunks, dtype = (10**12, 6), (10**12, 6), np.dtype("f8")

    with pytest.raises(ValueError, match="half"):
        check_room(Array, selection)
    Array.shape = Array.chunks = (10, 6)
    check_room(Array, selection)


# Each command below is a process of its own that may have so many bytes of addresses: what it needs on a small input,
# and a fraction of what each bomb would take.
LIMITED = """
import resource, sys
limit = int(sys.argv.pop(1))
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
from maskov.cli.main import main
main(sys.argv[1:])
"""
ROOM, LARGEST_FILE = 4 * 2**30, "LARGEST_FILE"


def _limited(*words: str, cwd: Path, room: int = ROOM) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(SOURCE.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = os.environ | {"PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", LIMITED, str(room), *words]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=120)


def _packed(path: Path, block: bytes, times: int) -> None:
    """``block`` again and again, packed; one deflated piece is repeated, so that making it costs nothing."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    head = packer.compress(block * 64) + packer.flush(zlib.Z_FULL_FLUSH)
    piece = packer.compress(block * 64) + packer.flush(zlib.Z_FULL_FLUSH)
    path.write_bytes(b"\x1f\x8b\x08\0\0\0\0\0\x02\xff" + head + piece * (times // 64))


@pytest.mark.parametrize("block", [b"a" * 2**20, b"a\n" * 2**19, b"\n" * 2**20], ids=["one line", "short", "empty"])
def test_packed_texts_unpack_in_bounded_memory(block: bytes, tmp_path: Path) -> None:
    """64 GiB in some MiB."""
    _packed(tmp_path / "a.txt.gz", block, 2**16)
    assert (tmp_path / "a.txt.gz").stat().st_size < 2**27
    done = _limited("sample", LAW, "--texts", "a.txt.gz", "--steps", "5", "--out", "x.zarr", cwd=tmp_path)
    assert done.returncode == 2 and "at most 256 MiB of text" in done.stderr, done.stderr[-500:]


def test_a_text_a_byte_is_too_many_texts(tmp_path: Path) -> None:
    """A file below the bound on bytes, with 100 million texts."""
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(b"a\n" * 10**8, 1))
    done = _limited("sample", LAW, "--texts", "a.txt.gz", "--steps", "5", "--out", "x.zarr", cwd=tmp_path)
    assert done.returncode == 2 and "at most 1,000,000 texts" in done.stderr, done.stderr[-500:]


def test_a_packed_document_unpacks_in_bounded_memory(tmp_path: Path) -> None:
    """Collections are read line by line, so that only one line, or one document, can be too long."""
    _packed(tmp_path / "a.txt.gz", b"a" * 2**20, 2**16)
    (tmp_path / "b.txt").write_text("a\n\nb\n")
    done = _limited("corpus", "a=a.txt.gz", "b=b.txt", cwd=tmp_path)
    assert done.returncode == 2 and "documents of at most 64 MiB" in done.stderr, done.stderr[-500:]


def test_the_limit_bites(tmp_path: Path) -> None:
    """The twin: a process that takes what a bomb would have given it ends with 1 and another message."""
    code = f"import maskov.texts as t; t.{LARGEST_FILE} = 2**40"
    assert hasattr(maskov.texts, LARGEST_FILE)
    _packed(tmp_path / "a.txt.gz", b"a" * 2**20, 2**13)
    path = os.pathsep.join([str(SOURCE.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    words = ["sample", LAW, "--texts", "a.txt.gz", "--steps", "5", "--out", "x.zarr"]
    command = [sys.executable, "-c", LIMITED.replace("main(sys", f"{code}\nmain(sys"), str(ROOM), *words]
    done = subprocess.run(
        command, cwd=tmp_path, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 1 and "out of memory" in done.stderr


@pytest.mark.parametrize("name", ["a.txt.gz", "a.jsonl.gz", "a.fasta.gz"])
@pytest.mark.parametrize("content", [b"", b"\x1f\x8b", gzip.compress(b"text")[:-9] + b"\xff" * 9, b"no gzip"])
def test_broken_packed_files_are_refused(name: str, content: bytes, tmp_path: Path) -> None:
    from maskov.corpora.readers import find_source, read_documents
    from maskov.texts import read_texts

    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError):
        read_texts(tmp_path / name)
    if content:
        with pytest.raises(InputError):
            list(read_documents("a", find_source("a", tmp_path / name)))


def _npz(path: Path, header: bytes | None = None, zeros: int = 0) -> None:
    import zipfile

    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.zeros(max(zeros, 4)))
    content = buffer.getvalue() if header is None else buffer.getvalue().replace(b"(4,)", header)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("table.npy", content)


@pytest.mark.parametrize("kind", ["claims", "is"])
def test_tables_are_bounded(kind: str, tmp_path: Path) -> None:
    """A header of 10^12 numbers over four of them; 32 Mi zeros packed into 250 kB."""
    _npz(tmp_path / "law.npz", *((b"(1000000000000,)",) if kind == "claims" else (None, 2**25)))
    assert (tmp_path / "law.npz").stat().st_size < 2**19
    done = _limited("sample", "law:table?file=law.npz", "--steps", "5", "--out", "x.zarr", cwd=tmp_path)
    assert done.returncode == 2 and "law file: expected" in done.stderr, done.stderr[-500:]


NESTED = ["[" * 100_000, '{"a":' * 100_000, '{"topic": ' + "[" * 100_000 + "]" * 100_000 + "}"]


@pytest.mark.parametrize("content", NESTED, ids=["lists", "objects", "closed"])
@pytest.mark.parametrize(
    ("file", "words"),
    [
        ("a.jsonl", ["sample", LAW, "--texts", "a.jsonl", "--steps", "5", "--out", "x.zarr"]),
        ("audit/results.json", ["report", "audit"]),
        ("audit/results.json", ["rerun", "audit/results.json"]),
        ("t.json", ["topics", "a.zarr", "--topics", "t.json"]),
        ("a.zarr/manifest.json", ["show", "a.zarr"]),
        ("a.zarr/zarr.json", ["show", "a.zarr"]),
        ("a.zarr/state/zarr.json", ["show", "a.zarr"]),
        ("model/config.json", ["rectangle", "./model", "--texts", "t.txt"]),
        ("c.json", ["advise", "--corpus", "c.json", "--schedule", "bert"]),
        ("cells/study.json", ["phase", LAW, "--temperatures", "1,2", "--sites", "4", "--resume", "--out", "cells"]),
        ("c.jsonl", ["corpus", "a=c.jsonl", "b=c.jsonl"]),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_json_of_any_depth_is_refused(
    file: str, words: list[str], content: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    run(Path("a.zarr"), 20)
    Path("t.txt").write_text("a text\n")
    Path(file).parent.mkdir(exist_ok=True)
    Path(file).write_text(content)
    with pytest.raises(SystemExit) as left:
        main(words)
    told = capsys.readouterr().err
    assert left.value.code == 2 and "error: " in told and len(told) < 1000, told[-600:]
