"""Documents from files: what is one, and what each kind of bad input is told."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

from maskov.corpora import corpus_uncertainty
from maskov.corpora.collect import FEWEST, part_of, read_collections, text_digest
from maskov.corpora.readers import check_skipped, find_source, read_documents
from maskov.corpora.tokens import Words
from maskov.errors import InputError


def documents(path: Path | str, field: str = "text") -> list[str]:
    pieces = read_documents("x", find_source("x", path), field)
    return [piece.text.strip() for piece in pieces if piece.text.strip()]


def lines(name: str, count: int = 60) -> str:
    return "".join(f"{name} text number {k}\n" for k in range(count))


def test_a_plain_file_has_paragraphs_or_lines(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("\ufeffone\ntwo\n\n\nthree\n")
    (tmp_path / "b.txt").write_text("\none\ntwo\nthree\n\n")
    assert documents(tmp_path / "a.txt") == ["one\ntwo", "three"]
    assert documents(tmp_path / "b.txt") == ["one", "two", "three"]


def test_a_file_of_a_folder_is_a_document(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / ".hidden").mkdir()
    (tmp_path / "deep" / "a.py").write_text("x = 1\n\ny = 2\n")
    (tmp_path / "b.md").write_text("prose")
    (tmp_path / ".hidden" / "c.py").write_text("no")
    assert documents(tmp_path) == ["prose", "x = 1\n\ny = 2"]
    assert documents(f"{tmp_path}/**/*.py") == ["x = 1\n\ny = 2"]


def test_jsonl_fasta_and_gz(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "one"}\n\n{"text": "t\\u00fc"}\n')
    (tmp_path / "b.fasta").write_text(">p1\nEVQ\nLLE*\n>p2\nAAA\n")
    with gzip.open(tmp_path / "c.txt.gz", "wt") as file:
        file.write("one\n\ntwo\n")
    (tmp_path / "d").write_text(json.dumps({"body": "three"}))
    assert documents(tmp_path / "a.jsonl") == ["one", "tü"]
    assert documents(tmp_path / "b.fasta") == ["EVQLLE", "AAA"]
    assert documents(tmp_path / "c.txt.gz") == ["one", "two"]
    assert documents(tmp_path / "d", "body") == ["three"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", b"text\0text", "binary data"),
        ("a.txt", b"good\n\xe4\n", "byte 0xe4 in line 2"),
        ("a.txt.gz", b"not gzip at all", "Not a gzipped file"),
        ("a.txt.gz", gzip.compress(b"text " * 9999, mtime=0)[:-20], "ended before the end-of-stream"),
        ("a.jsonl", b'{"text": "x"}\n{"txt": "y"}\n', "'txt'"),
        ("a.jsonl", b"{", "one JSON object a line"),
        ("a.txt", b"", "it is empty"),
        ("a.txt", b" \n \n", "it is empty"),
        ("a.txt", b"one\ntwo\n", f"at least {FEWEST} documents, got 2"),
        ("a.txt", b"same\n" * 80, "got 1 and 79 repeats"),
    ],
)
def test_bad_files(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    (tmp_path / "good.txt").write_text(lines("good"))
    with pytest.raises(InputError, match="collection bad") as error:
        corpus_uncertainty({"good": tmp_path / "good.txt", "bad": tmp_path / name})
    assert message in str(error.value) and error.value.exit_code == 2


def test_missing_paths(tmp_path: Path) -> None:
    for path in (tmp_path / "none", f"{tmp_path}/*.py"):
        with pytest.raises(InputError, match="collection x"):
            find_source("x", path)
    with pytest.raises(InputError, match="at least two"):
        corpus_uncertainty({"x": ["a"] * 60})


def test_a_few_bad_files_of_many_are_left_out_and_told(tmp_path: Path) -> None:
    for k in range(60):
        (tmp_path / f"{k:02}.txt").write_text(f"document number {k}")
    (tmp_path / "bad.txt").write_bytes(b"\xff\xfe\0")
    other = [f"other text {k}" for k in range(60)]
    found = corpus_uncertainty({"a": tmp_path, "b": other}, classifiers=["unigram"], longest=1)
    assert found.collections[0].skipped == 1 and any("1 files left out" in told for told in found.warnings)
    with pytest.raises(InputError, match="2 of 10 that are none"):
        check_skipped("a", ["x", "y"], 10)


def test_duplicates_within_and_across() -> None:
    shared = [f"shared  text {k}" for k in range(7)]
    a = [f"a {k}" for k in range(60)] + ["a  3\n", "a 3 "] + shared
    b = [f"b {k}" for k in range(60)] + [text.replace("  ", " ") for text in shared]
    first, second = read_collections({"a": a, "b": b}, Words(), 0, "text", None)
    assert (first.duplicates, first.shared, len(first.sizes)) == (2 + 7, 7, 60)
    assert (second.duplicates, second.shared, len(second.sizes)) == (7, 7, 60)
    turned = read_collections({"b": b, "a": a}, Words(), 0, "text", None)
    assert [c.duplicates for c in turned] == [7, 9]  # the order of the names is of no matter
    assert first.tokens.size == 120 == first.starts[-1]


def test_an_identical_collection_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(lines("same"))
    with pytest.raises(InputError, match="60 documents that another collection has too"):
        corpus_uncertainty({"a": tmp_path / "a.txt", "b": tmp_path / "a.txt"})


def test_parts_depend_on_text_and_seed_alone() -> None:
    digests = [text_digest(f"text {k}") for k in range(2000)]
    parts = [part_of(d, 0) for d in digests]
    assert parts == [part_of(text_digest(f" text\n{k} "), 0) for k in range(2000)]
    assert all(320 < parts.count(p) < 480 for p in range(5)) and parts != [part_of(d, 1) for d in digests]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "it is empty"),
        (b" \n\n \n", "it is empty"),
        (b"\x89PNG\r\n\x1a\n\0\0\0", "binary data (a zero byte); pass text files, JSONL or FASTA"),
        (b"gr\xfc\xdfe\n" * 60, "byte 0xfc in line 1; convert it, for example: iconv"),
        ("".join(f"text {k}\n" for k in range(FEWEST - 1)).encode(), f"at least {FEWEST} documents, got {FEWEST - 1}"),
        (lines("good").encode(), "60 documents that another collection has too, and 0 of its own"),
    ],
    ids=["empty", "blank", "binary", "latin-1", "tiny", "identical"],
)
def test_the_command_tells_of_a_bad_collection(tmp_path: Path, content: bytes, message: str) -> None:
    """A process of its own: exit code 2, one message on standard error, no traceback, nothing on standard output."""
    (tmp_path / "good.txt").write_text(lines("good"))
    (tmp_path / "bad.txt").write_bytes(content)
    pairs = [f"good={tmp_path}/good.txt", f"bad={tmp_path}/bad.txt"]
    command = [sys.executable, "-m", "maskov", "corpus", *pairs, "--quick", "--longest", "1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    flat = " ".join(done.stderr.split())
    assert message in flat and "Traceback" not in flat and "collection" in flat


def test_one_document_more_is_enough(tmp_path: Path) -> None:
    """The limit of the message before is the limit: 50 documents a collection are taken."""
    for name in ("good", "fair"):
        (tmp_path / f"{name}.txt").write_text(lines(name, FEWEST))
    found = corpus_uncertainty(
        {name: tmp_path / f"{name}.txt" for name in ("good", "fair")}, classifiers=["unigram"], longest=1
    )
    assert [row.documents for row in found.collections] == [FEWEST, FEWEST]
