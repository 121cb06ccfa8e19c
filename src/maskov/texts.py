"""Texts to study: from files, from the bundled passages, from standard input."""

from __future__ import annotations

import gzip
import json
import os
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from itertools import chain, islice
from pathlib import Path
from typing import Any

from maskov.errors import InputError

LARGEST_FILE, MOST_TEXTS = 256 * 2**20, 1_000_000
_FASTA = (".fasta", ".fa", ".faa", ".fas")
_BUNDLED = {"en-tiny": "passages.jsonl", "antibody": "heavy_chains.fasta", "reactions": "reactions.txt"}


@dataclass(frozen=True)
class Passage:
    """One text. topic and name: labels; clamp: free sites to hold, numbered from 1 ("3-10,15").

    >>> str(Passage("A short text.", topic="food"))
    'A short text.'
    """

    text: str
    topic: str | None = None
    name: str | None = None
    clamp: str | None = None

    def __str__(self) -> str:
        return self.text


def passages(topic: str | None = None) -> list[Passage]:
    """The bundled English passages, 40–90 words each; of one topic, or of all.

    topic: one of ``topics()``. Raises ``InputError`` on another.

    >>> len(passages("food")), passages("food")[0].topic
    (12, 'food')
    """
    found = read_texts(_data("passages.jsonl"))
    if topic is None:
        return found
    chosen = [p for p in found if p.topic == topic]
    if not chosen:
        raise InputError("topic", expected="one of " + ", ".join(topics()), came=repr(topic))
    return chosen


def topics() -> list[str]:
    """The topics of the bundled passages, in alphabetical order."""
    return sorted({p.topic for p in read_texts(_data("passages.jsonl")) if p.topic})


def bundled_texts(model_name: str) -> list[Passage] | None:
    """Texts of the kind that a catalogue model was made for; None for other models."""
    file = _BUNDLED.get(model_name)
    return None if file is None else read_texts(_data(file))


def read_texts(source: str | os.PathLike[str]) -> list[Passage]:
    """Texts from a file: JSONL (``text``, and ``topic``, ``name``, ``clamp``), FASTA, or one text a line; ``.gz`` too.

    source: a path, ``-`` for standard input, or ``hf:DATASET[:split[:column]]``. A file of another ending is JSONL when
    it starts with ``{``, FASTA when it starts with ``>``. Raises ``InputError`` that names the line.
    """
    name = os.fspath(source)
    if isinstance(name, str) and name.startswith("hf:"):
        return _from_dataset(name)
    content = _standard_input() if name == "-" else _read(Path(name))
    reader, label = _reader(name, content), "standard input" if name == "-" else name
    found = [_checked(passage, label, line) for line, passage in islice(reader(content, label), MOST_TEXTS + 1)]
    if not found:
        raise InputError(label, expected="at least one text", came="none", remedy="one text a line, JSONL, or FASTA")
    if len(found) > MOST_TEXTS:
        raise InputError(label, expected=f"at most {MOST_TEXTS:,} texts", came="more", remedy="pass a part of them")
    return found


def _data(name: str) -> Path:
    return Path(str(resources.files("maskov") / "data" / name))


def _read(path: Path) -> str:
    if not path.exists():
        raise InputError(str(path), expected="a file of texts", came="nothing there", remedy="check the path")
    if not path.is_file():
        raise InputError(str(path), expected="a file of texts", came="a folder", remedy="pass one file")
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as file:
            raw = file.read(LARGEST_FILE + 1)
    except (OSError, EOFError, zlib.error) as error:
        came = getattr(error, "strerror", None) or str(error)
        raise InputError(str(path), expected="a readable file of texts", came=came) from error
    return _bounded(raw, str(path))


def _bounded(raw: bytes, label: str) -> str:
    """The text of what was read; a packed file may be small and what it unpacks to is not."""
    if len(raw) > LARGEST_FILE:
        remedy = "pass a part of it"
        raise InputError(label, expected=f"at most {LARGEST_FILE >> 20} MiB of text", came="more", remedy=remedy)
    return _decoded(raw, label)


def _standard_input() -> str:
    return _bounded(sys.stdin.buffer.read(LARGEST_FILE + 1), "standard input")


def _decoded(raw: bytes, label: str) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        remedy = "convert it, for example: iconv -f latin1 -t utf-8"
        came = f"byte 0x{raw[error.start]:02x} in line {line}"
        raise InputError(label, expected="UTF-8 text", came=came, remedy=remedy) from error


_Lines = Iterator[tuple[int, Passage]]


def _reader(name: str, content: str) -> Callable[[str, str], _Lines]:
    stem = name.removesuffix(".gz").lower()
    start = content.lstrip()[:1]
    if stem.endswith((".jsonl", ".ndjson")):
        return _jsonl
    if stem.endswith(_FASTA):
        return _fasta
    if stem.endswith(".txt"):
        return _lines
    return {"{": _jsonl, ">": _fasta}.get(start, _lines)


def _split(content: str) -> Iterator[tuple[int, str]]:
    """Numbers and lines, one after the other: a list of all would be many times as large as the file."""
    number, start = 1, 0
    while (end := content.find("\n", start)) >= 0:
        yield number, content[start:end]
        number, start = number + 1, end + 1
    yield number, content[start:]


def _lines(content: str, label: str) -> _Lines:
    for number, line in _split(content):
        if line.strip():
            yield number, Passage(line.strip())


def _jsonl(content: str, label: str) -> _Lines:
    for number, line in _split(content):
        if line.strip():
            yield number, _record(line, f"{label}, line {number}")


def _record(line: str, where: str) -> Passage:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(where, expected="one JSON object a line", came=str(error)[:80]) from error
    if not isinstance(value, dict) or not isinstance(value.get("text"), str):
        came = f"keys {', '.join(map(repr, value))[:80]}" if isinstance(value, dict) else type(value).__name__
        raise InputError(where, expected='a JSON object with a string "text"', came=came)
    for key in ("topic", "name", "clamp"):
        if value.get(key) is not None and not isinstance(value[key], str):
            raise InputError(f"{where}, {key}", expected="a string", came=type(value[key]).__name__)
    return Passage(value["text"], value.get("topic"), value.get("name"), value.get("clamp"))


def _fasta(content: str, label: str) -> _Lines:
    name, first, parts = None, 0, list[str]()
    for number, line in chain(_split(content), [(0, ">")]):
        line = line.strip()
        if line.startswith(">"):
            if name is not None:
                yield first, Passage("".join(parts), name=name)
            name, first, parts = line[1:].split(" ")[0], number, []
        elif line and not line.startswith(";"):
            if name is None:
                where = f"{label}, line {number}"
                raise InputError(where, expected="a FASTA header (>name) before a sequence", came=repr(line[:40]))
            parts.append(line.rstrip("*"))


def _checked(passage: Passage, label: str, line: int) -> Passage:
    where = f"{label}, line {line}"
    if not passage.text.strip():
        raise InputError(where, expected="a text", came="an empty one", remedy="remove it")
    try:
        passage.text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(where, expected="whole Unicode characters", came="a lone surrogate") from error
    return passage


def _from_dataset(name: str) -> list[Passage]:
    parts = name.removeprefix("hf:").split(":")
    if not parts[0] or len(parts) > 3:
        raise InputError(name, expected="hf:DATASET[:split[:column]]", came=name)
    dataset, split, column = (*parts, *("train", "text")[len(parts) - 1 :])
    try:
        import datasets
    except ImportError:
        raise InputError(name, expected="the datasets package", came="none", remedy="pip install datasets") from None
    try:
        rows: Any = datasets.load_dataset(dataset, split=split)
    except Exception as error:  # the library raises many kinds for a name that it can't resolve
        raise InputError(name, expected="a dataset that can be loaded", came=str(error).split("\n")[0][:120]) from error
    if column not in rows.column_names:
        raise InputError(name, expected="a column of " + ", ".join(rows.column_names), came=column)
    return [_checked(Passage(str(text)), name, k) for k, text in enumerate(rows[column], 1)]


def openings(texts: Sequence[Passage], words: int = 20) -> list[Passage]:
    """Each text cut after the first sentence end that has at least ``words`` words before it; labels are kept.

    >>> openings([Passage("One here. Two there. Three.")], words=3)[0].text
    'One here. Two there.'
    """
    return [replace(p, text=_opening(p.text, words)) for p in texts]


def _opening(text: str, words: int) -> str:
    sentences = text.split(". ")
    for k in range(1, len(sentences)):
        start = ". ".join(sentences[:k]) + "."
        if len(start.split()) >= words:
            return start
    return text
