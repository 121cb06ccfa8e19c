"""Every place where maskov reads what others wrote, as a function of bytes that must answer or refuse."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from maskov.protocols import State


class Parser(NamedTuple):
    """name: of the parser; seeds: inputs that it reads; read: takes bytes; cost: inputs a second, about."""

    name: str
    seeds: tuple[bytes, ...]
    read: Callable[[bytes], Any]


_HERE = Path(tempfile.mkdtemp(prefix="maskov-fuzz-", dir="/dev/shm" if Path("/dev/shm").is_dir() else None))


def _file(name: str, read: Callable[[Path], Any]) -> Callable[[bytes], Any]:
    """A reader of files as a function of their content."""
    target = _HERE / name
    target.parent.mkdir(parents=True, exist_ok=True)

    def parse(data: bytes) -> Any:
        target.write_bytes(data)
        return read(target)

    return parse


def _text(read: Callable[[str], Any]) -> Callable[[bytes], Any]:
    """A reader of strings; bytes that are no UTF-8 come as the shell would hand them over."""
    return lambda data: read(data.decode("utf-8", errors="surrogateescape"))


def _schedule(text: str) -> Any:
    from maskov.schedules import schedule

    found = schedule(text)
    return found.visible_law(16), found.v_min(16)


def _law(text: str) -> Any:
    from maskov.laws import law

    return law(text).vocabulary_size


def _clamp(text: str) -> Any:
    from maskov.models.sites import apply_clamp

    return apply_clamp(State(np.arange(12), np.arange(12)), text)


def _workers(text: str) -> Any:
    from maskov.workers.run import parse_workers

    return parse_workers(text)


def _texts(path: Path) -> Any:
    from maskov.texts import read_texts

    return read_texts(path)


def _topics(path: Path) -> Any:
    from maskov.topics.anchors import read_topics

    return read_topics(path)


def _record(path: Path) -> Any:
    from maskov.report.record import read_record

    return read_record(path)


def _manifest(path: Path) -> Any:
    from maskov.glauber.manifest import read_manifest
    from maskov.place import place_of

    return read_manifest(place_of(path.parent))


def _unit(path: Path) -> Any:
    from maskov.workers import Shelf, Unit

    return Shelf(path.parent, resume=True).read(Unit("unit", "math:sqrt", {"x": 4}))


def _documents(path: Path) -> Any:
    from maskov.corpora.readers import find_source, read_documents

    return list(read_documents("a", find_source("a", path)))


def _table(path: Path) -> Any:
    from maskov.laws import law

    return law(f"table?file={path}")


TEXTS = b"the river runs under the old bridge.\na second passage of plain words.\n"
JSONL = (
    b'{"text": "the river runs", "topic": "nature"}\n{"text": "a vote was held", "topic": "politics", "clamp": "1-2"}\n'
)
FASTA = b">one topic=a\nEVQLLESGGGLVQPGG\nSLRLS\n>two\nQVQLQQSGAELARPG\n"
TOPICS = json.dumps({"a": ["one", "two", "three"], "b": ["four", "five", "six"]}).encode()
RECORD = json.dumps({"maskov": "0", "command": "couple", "inputs": {"seed": 0}, "results": {}, "warnings": []}).encode()
SCHEDULES = (b"fixed:0.15", b"bernoulli:0.15", b"uniform:0.3,0.8", b"truncnorm:0.55,0.25,0.5,1", b"0.95*bert+0.05*full")
SCHEDULES += (b"hide:1", b"visible:3", b"beta:2,3", b"poly:2", b"span:0.15,3", b"uniform*1/t", b"cosine*elbo", b"mae")
LAWS = (b"product?sites=64&gap=0.3&weight=0.3", b"curie-weiss?sites=50&beta=1.2", b"ising-ring?sites=20&beta=0.5")
LAWS += (b"potts?sites=6&symbols=3&beta=0.4", b"markov?sites=6", b"table?file=law.npz")


def _npz() -> bytes:
    import io

    buffer = io.BytesIO()
    np.savez(buffer, table=np.full((2, 2), 0.25))
    return buffer.getvalue()


def _stored_manifest() -> bytes:
    import maskov as mk

    path = _HERE / "run.zarr"
    if not path.exists():
        mk.glauber(mk.load("law:curie-weiss?sites=4&beta=0.5"), steps=40, seed=0, chunk_steps=20, window=1, out=path)
    return (path / "manifest.json").read_bytes()


def _stored_unit() -> bytes:
    from maskov.workers import Shelf, Unit

    folder = _HERE / "shelf"
    Shelf(folder, resume=True).write(Unit("unit", "math:sqrt", {"x": 4}), {"root": 2.0})
    return (folder / "unit.json").read_bytes()


def parsers() -> list[Parser]:
    """All of them."""
    return [
        Parser("schedule", SCHEDULES, _text(_schedule)),
        Parser("law", LAWS, _text(_law)),
        Parser("clamp", (b"3-10,15", b"1", b"2-2,4-6"), _text(_clamp)),
        Parser("workers", (b"4", b"ray", b"ray:8"), _text(_workers)),
        Parser("texts", (TEXTS, FASTA, JSONL), _file("a.txt", _texts)),
        Parser("jsonl", (JSONL,), _file("a.jsonl", _texts)),
        Parser("fasta", (FASTA,), _file("a.fasta", _texts)),
        Parser("topics", (TOPICS, JSONL, FASTA), _file("topics.json", _topics)),
        Parser("record", (RECORD,), _file("record.json", _record)),
        Parser("manifest", (_stored_manifest(),), _file("stored/manifest.json", _manifest)),
        Parser("unit", (_stored_unit(),), _file("shelf/unit.json", _unit)),
        Parser("documents", (TEXTS, FASTA), _file("docs.txt", _documents)),
        Parser("documents-jsonl", (JSONL,), _file("docs.jsonl", _documents)),
        Parser("table", (_npz(),), _file("law.npz", _table)),
    ]
