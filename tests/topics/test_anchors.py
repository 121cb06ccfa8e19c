"""Topic files: every form reads the same, every fault is an error of its own."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from maskov.errors import InputError
from maskov.texts import topics
from maskov.topics import anchors as room
from maskov.topics import as_anchors, bundled_anchors, read_prior, read_topics

GOOD = {"sea": ["a wave", "the tide", "salt water"], "sky": ["a cloud", "the wind", "clear air"]}
TUPLES = {topic: tuple(texts) for topic, texts in GOOD.items()}


def write(folder: Path, content: Any, name: str = "topics.json") -> str:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(path)


def test_the_bundled_topics_are_those_of_the_passages() -> None:
    found = bundled_anchors()
    assert sorted(found) == topics() and {len(texts) for texts in found.values()} == {20}
    assert as_anchors(None) == found


def test_json_jsonl_and_fasta_read_alike(tmp_path: Path) -> None:
    rows = [{"topic": topic, "text": text} for topic, texts in GOOD.items() for text in texts]
    lines = "\n".join(map(json.dumps, rows)) + "\n\n"
    assert read_topics(write(tmp_path, json.dumps(GOOD, indent=1))) == TUPLES
    assert read_topics(write(tmp_path, lines, "topics.jsonl")) == TUPLES
    assert read_topics(write(tmp_path, lines, "topics.data")) == TUPLES
    assert as_anchors(GOOD) == TUPLES
    records = ">a1 topic=IGHV1\nEVQ\nLV\n>a2 topic=IGHV1 human\nEVQ\n>a3 topic=IGHV1\nQQQ*\n"
    records += ">b1 topic=IGHV3\nKKK\n>b2 topic=IGHV3\nKKR\n>b3 topic=IGHV3\nKRR\n"
    assert read_topics(write(tmp_path, records, "f.fasta")) == {
        "IGHV1": ("EVQLV", "EVQ", "QQQ"),
        "IGHV3": ("KKK", "KKR", "KRR"),
    }


FAULTS = {
    "empty": (b"", "got nothing"),
    "blank": (b" \n \n", "got nothing"),
    "no topics": (b"{}", "at least two topics, got none"),
    "one topic": (json.dumps({"sea": GOOD["sea"]}).encode(), "at least two topics, got one"),
    "topic twice": (b'{"a": ["x", "y", "z"], "a": ["u", "v", "w"]}', "'a' twice"),
    "names that differ in spaces": (b'{"a": ["x", "y", "z"], "a ": ["u", "v", "w"]}', "differ in spaces"),
    "numbers for texts": (b'{"a": ["x", 3, "z"], "b": ["u", "v", "w"]}', "strings, got int"),
    "one string for texts": (b'{"a": "xyz", "b": ["u", "v", "w"]}', "a list of texts, got str"),
    "nested": (b'{"a": {"x": 1}, "b": ["u", "v", "w"]}', "a list of texts, got dict"),
    "two anchors": (b'{"a": ["x", "y"], "b": ["u", "v", "w"]}', "at least 3 anchors, got 2"),
    "empty anchor": (b'{"a": ["x", " ", "z"], "b": ["u", "v", "w"]}', "an empty one"),
    "same anchor twice": (b'{"a": ["x", "x", "z"], "b": ["u", "v", "w"]}', "the same text twice"),
    "shared anchor": (b'{"a": ["x", "y", "z"], "b": ["z", "v", "w"]}', "one text in 'a' and in 'b'"),
    "surrogate": (b'{"a": ["x", "\\ud800", "z"], "b": ["u", "v", "w"]}', "a lone surrogate"),
    "control character in a name": (b'{"\\u001b[31m": ["x", "y", "z"], "b": ["u", "v", "w"]}', "printable"),
    "reserved name": (b'{"elsewhere": ["x", "y", "z"], "b": ["u", "v", "w"]}', "another name"),
    "long name": (json.dumps({"n" * 61: GOOD["sea"], "b": GOOD["sky"]}).encode(), "1 to 60"),
    "broken JSON": (b'{"a": ["x", "y"', "JSON"),
    "list": (b'["a", "b"]', "JSON"),
    "plain text": (b"politics\nhealth\n", "JSON"),
    "deep": (b'{"a":' + b"[" * 100_000, "JSON"),
    "latin-1": (b'{"a": ["\xe9t\xe9", "y", "z"]}', "byte 0xe9"),
    "NUL": (b'{"a": ["x\x00"]}', "a NUL byte"),
    "header without topic": (b">a1 IGHV1\nEVQ\n", "topic=NAME"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_has_its_own_message(tmp_path: Path, fault: str) -> None:
    content, message = FAULTS[fault]
    with pytest.raises(InputError) as caught:
        read_topics(write(tmp_path, content))
    assert message in str(caught.value) and caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("line", "message"),
    [("[1]", "line 2: expected an object"), ('{"topic": "a"}', "line 2, text"), ('{"text": "x", "topic": 3}', "int")],
)
def test_faults_in_lines_name_the_line(tmp_path: Path, line: str, message: str) -> None:
    with pytest.raises(InputError, match=r"topics\.jsonl") as caught:
        read_topics(write(tmp_path, '{"topic": "a", "text": "x"}\n' + line, "topics.jsonl"))
    assert message in str(caught.value)


def test_large_and_missing_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="a folder"):
        read_topics(tmp_path)
    with pytest.raises(InputError, match="nothing there"):
        read_topics(tmp_path / "none.json")
    monkeypatch.setattr(room, "LARGEST_FILE", 100)
    with pytest.raises(InputError, match="more; pass fewer"):
        read_topics(write(tmp_path, "{" + " " * 200))
    if os.path.exists("/dev/zero"):
        with pytest.raises(InputError, match="a file"):
            read_topics("/dev/zero")


def test_counts_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    many = {f"t{k}": [f"{k} a", f"{k} b", f"{k} c"] for k in range(6)}
    monkeypatch.setattr(room, "MOST_ANCHORS", 17)
    with pytest.raises(InputError, match="at most 17 anchors, got 18"):
        as_anchors(many)
    monkeypatch.setattr(room, "MOST_TOPICS", 5)
    with pytest.raises(InputError, match="at most 5 topics, got 6"):
        as_anchors(many)
    with pytest.raises(InputError, match="a file, or a mapping"):
        as_anchors(7)
    with pytest.raises(InputError, match="topic name: expected a string"):
        as_anchors({1: GOOD["sea"], 2: GOOD["sky"]})


@pytest.mark.parametrize("content", ['{"a": 0.1, "a": 0.2}', "[1]", "{", ""])
def test_faults_of_a_prior_file(tmp_path: Path, content: str) -> None:
    with pytest.raises(InputError):
        read_prior(write(tmp_path, content))
    assert read_prior(write(tmp_path, '{"a": 0.25}')) == {"a": 0.25}
