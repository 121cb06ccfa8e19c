"""Topics as sets of anchor texts: from files, from mappings, from the package."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from maskov.errors import InputError

Anchors = dict[str, tuple[str, ...]]

FEWEST_ANCHORS = 3
MOST_TOPICS, MOST_ANCHORS, LARGEST_FILE, LONGEST_NAME = 200, 20_000, 16 * 2**20, 60
# Start topics that a record names and that are no topics: chains from other topics together, starts without a label.
ELSEWHERE, UNLABELLED = "elsewhere", "unlabelled"
_FORMS = 'JSON {"topic": ["text", …]}, JSONL {"topic": …, "text": …}, or FASTA with topic=NAME in each header'


def bundled_anchors() -> Anchors:
    """The twelve topics of the package, twenty anchor sentences each.

    >>> sorted(bundled_anchors())[:3], len(bundled_anchors()["politics"])
    (['arts', 'business', 'education'], 20)
    """
    path = resources.files("maskov") / "data" / "anchors.json"
    return check_anchors(json.loads(path.read_text(encoding="utf-8")), "the bundled topics")


def as_anchors(source: Any) -> Anchors:
    """Topics from None (the bundled ones), a path, or a mapping of names to texts. Raises ``InputError``.

    >>> as_anchors({"a": ["x", "y", "z"], "b": ["u", "v", "w"]})["a"]
    ('x', 'y', 'z')
    """
    if source is None:
        return bundled_anchors()
    if isinstance(source, (str, os.PathLike)):
        return read_topics(source)
    if isinstance(source, Mapping):
        return check_anchors(source, "topics")
    raise InputError("topics", expected="a file, or a mapping of topics to texts", came=type(source).__name__)


def read_topics(source: str | os.PathLike[str]) -> Anchors:
    """Topics from a file, or standard input with ``-``.

    source: JSON {topic: [texts]}, JSONL {topic, text} a line, or FASTA with ``topic=NAME`` in each header; at most 16
    MiB. Raises ``InputError`` that names the file and the line or topic.
    """
    name = os.fspath(source)
    content, label = read_bounded(name), "standard input" if name == "-" else name
    start = content.lstrip()[:1]
    if start == ">":
        return check_anchors(_collected(_fasta(content, label)), label)
    if start != "{":
        raise InputError(label, expected=_FORMS, came=repr(content.strip()[:40]) if content.strip() else "nothing")
    first = content.strip().split("\n", 1)[0]
    one_a_line = name.lower().endswith((".jsonl", ".ndjson")) or _is_row(first)
    found = _collected(_rows(content, label)) if one_a_line else _object(content, label)
    return check_anchors(found, label)


def read_bounded(name: str) -> str:
    """The UTF-8 text of a file of at most 16 MiB; ``InputError`` on folders, binary and larger files."""
    path = Path(name)
    if name != "-" and not path.is_file():
        raise InputError(name, expected="a file", came="a folder" if path.is_dir() else "nothing there")
    try:
        if name == "-":
            raw = sys.stdin.buffer.read(LARGEST_FILE + 1)
        else:
            with path.open("rb") as file:
                raw = file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise InputError(name, expected="a readable file", came=error.strerror or "an error") from error
    if len(raw) > LARGEST_FILE:
        raise InputError(name, expected=f"at most {LARGEST_FILE >> 20} MiB", came="more", remedy="pass fewer texts")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(name, expected="UTF-8 text", came=f"byte 0x{raw[error.start]:02x}") from error
    if "\x00" in text:
        raise InputError(name, expected="text", came="a NUL byte", remedy="is it a binary file?")
    return text


def _is_row(line: str) -> bool:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and isinstance(value.get("text"), str) and "topic" in value


def unique_pairs(label: str) -> Any:
    """A hook for ``json.loads`` that refuses a name given twice (JSON itself keeps the last)."""

    def build(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        names = [name for name, _ in pairs]
        twice = sorted({n for n in names if names.count(n) > 1}) if len(set(names)) < len(names) else []
        if twice:
            raise InputError(label, expected="each topic once", came=f"{twice[0][:40]!r} twice")
        return dict(pairs)

    return build


def _object(content: str, label: str) -> dict[str, Any]:
    try:
        value = json.loads(content, object_pairs_hook=unique_pairs(label))
    except (ValueError, RecursionError) as error:
        raise InputError(label, expected=_FORMS, came=str(error)[:80]) from error
    return dict(value)


def _rows(content: str, label: str) -> Iterable[tuple[str, str]]:
    for number, line in enumerate(content.split("\n"), 1):
        if not line.strip():
            continue
        where = f"{label}, line {number}"
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(where, expected="one JSON object a line", came=str(error)[:80]) from error
        if not isinstance(row, dict):
            raise InputError(where, expected='an object with "topic" and "text"', came=type(row).__name__)
        for key in ("topic", "text"):
            if not isinstance(row.get(key), str):
                came = type(row[key]).__name__ if key in row else "none"
                raise InputError(f"{where}, {key}", expected="a string", came=came)
        yield row["topic"], row["text"]


def _fasta(content: str, label: str) -> Iterable[tuple[str, str]]:
    for number, block in enumerate(content.lstrip()[1:].split("\n>"), 1):
        header, _, body = block.partition("\n")
        topic = re.search(r"\btopic=(\S+)", header)
        if topic is None:
            raise InputError(f"{label}, record {number}", expected="topic=NAME in the header", came=repr(header[:40]))
        yield topic.group(1), "".join(body.split()).rstrip("*")


def _collected(rows: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for topic, text in rows:
        found.setdefault(topic, []).append(text)
    return found


def check_anchors(found: Mapping[Any, Any], label: str) -> Anchors:
    """Topics that can be told apart: two or more, each of three or more different texts that no other topic has."""
    if not found:
        raise InputError(label, expected="at least two topics", came="none")
    if len(found) == 1:
        remedy = "a state is in a topic when it is nearer to it than to every other: add others"
        raise InputError(label, expected="at least two topics", came="one", remedy=remedy)
    if len(found) > MOST_TOPICS:
        raise InputError(label, expected=f"at most {MOST_TOPICS} topics", came=str(len(found)))
    anchors = {_name(name, label): _texts(texts, f"{label}, topic {str(name)[:40]!r}") for name, texts in found.items()}
    if len(anchors) < len(found):
        raise InputError(label, expected="each topic once", came="names that differ in spaces only")
    count = sum(map(len, anchors.values()))
    if count > MOST_ANCHORS:
        raise InputError(label, expected=f"at most {MOST_ANCHORS} anchors", came=str(count))
    _no_shared(anchors, label)
    return anchors


def _name(name: Any, label: str) -> str:
    if not isinstance(name, str):
        raise InputError(f"{label}, topic name", expected="a string", came=type(name).__name__)
    plain = name.strip()
    if not plain or len(plain) > LONGEST_NAME or not plain.isprintable():
        expected = f"1 to {LONGEST_NAME} printable characters"
        raise InputError(f"{label}, topic name", expected=expected, came=ascii(name[:40]))
    if plain in (ELSEWHERE, UNLABELLED):
        raise InputError(f"{label}, topic name", expected="another name", came=f"{plain!r}, which records use")
    return plain


def _texts(texts: Any, where: str) -> tuple[str, ...]:
    if isinstance(texts, str) or not isinstance(texts, (list, tuple)):
        raise InputError(where, expected="a list of texts", came=type(texts).__name__)
    wrong = [type(t).__name__ for t in texts if not isinstance(t, str)]
    if wrong:
        raise InputError(where, expected="texts that are strings", came=wrong[0])
    if any(not t.strip() for t in texts):
        raise InputError(where, expected="texts", came="an empty one")
    if any("\ud800" <= c <= "\udfff" for t in texts for c in t):
        raise InputError(where, expected="whole Unicode characters", came="a lone surrogate")
    if len(texts) < FEWEST_ANCHORS:
        raise InputError(where, expected=f"at least {FEWEST_ANCHORS} anchors", came=str(len(texts)))
    if len(set(texts)) < len(texts):
        raise InputError(where, expected="different anchors", came="the same text twice")
    return tuple(texts)


def _no_shared(anchors: Anchors, label: str) -> None:
    owner: dict[str, str] = {}
    for topic, texts in anchors.items():
        for text in texts:
            if text in owner:
                came = f"one text in {owner[text]!r} and in {topic!r}"
                raise InputError(label, expected="anchors of one topic each", came=came)
            owner[text] = topic
