"""Texts from files: every format read, every bad file refused with its line."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maskov.errors import InputError
from maskov.texts import Passage, bundled_texts, openings, passages, read_texts, topics


def test_bundled_passages_are_what_is_promised() -> None:
    found = passages()
    assert len(found) >= 120 and len(topics()) >= 10
    assert {"politics", "health", "sports", "food", "science"} <= set(topics())
    assert all(40 <= len(p.text.split()) <= 90 for p in found)
    assert all(len(passages(topic)) >= 10 for topic in topics())
    assert len({p.text for p in found}) == len(found)


def test_unknown_topic_lists_the_topics() -> None:
    with pytest.raises(InputError, match=r"one of .*food"):
        passages("cooking")


def test_lines_jsonl_fasta_and_gz(tmp_path: Path) -> None:
    lines = tmp_path / "a.txt"
    lines.write_text("One.\n\n  Two. \r\n", encoding="utf-8")
    assert [p.text for p in read_texts(lines)] == ["One.", "Two."]
    records = tmp_path / "a.jsonl"
    records.write_text(json.dumps({"text": "One.", "topic": "x", "clamp": "1-2", "other": 3}) + "\n")
    assert read_texts(records) == [Passage("One.", "x", None, "1-2")]
    fasta = tmp_path / "a.fasta"
    fasta.write_text(">one a comment\nEVQL\nLES*\n>two\nQVQ\n")
    assert read_texts(fasta) == [Passage("EVQLLES", name="one"), Passage("QVQ", name="two")]
    packed = tmp_path / "b.fasta.gz"
    packed.write_bytes(gzip.compress(fasta.read_bytes()))
    assert read_texts(packed) == read_texts(fasta)


def test_the_start_of_a_file_without_an_ending_tells_its_format(tmp_path: Path) -> None:
    for content, expected in ((">a\nEVQ\n", "EVQ"), ('{"text": "hi there"}\n', "hi there"), ("plain\n", "plain")):
        (tmp_path / "data").write_text(content)
        assert read_texts(tmp_path / "data")[0].text == expected


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO("één\n".encode())))
    assert read_texts("-")[0].text == "één"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.txt", b"", "at least one text"),
        ("blank.txt", b" \n\n", "at least one text"),
        ("latin.txt", "été".encode("latin-1"), "UTF-8 text, got byte 0xe9 in line 1"),
        ("bad.jsonl", b'{"text": "a"}\n{oops}\n', "line 2"),
        ("deep.jsonl", b"[" * 100_000, "JSON object"),
        ("notext.jsonl", b'{"txt": "a"}\n', "'txt'"),
        ("number.jsonl", b'{"text": 3}\n', 'a string "text"'),
        ("list.jsonl", b"[1]\n", "list"),
        ("clamp.jsonl", b'{"text": "a", "clamp": 3}\n', "clamp: expected a string"),
        ("surrogate.jsonl", b'{"text": "a\\ud800b"}\n', "lone surrogate"),
        ("nohead.fasta", b"EVQL\n", "FASTA header"),
        ("noseq.fasta", b">one\n>two\nEV\n", "a text, got an empty one"),
        ("not.gz", b"plain", "readable file"),
    ],
)
def test_bad_files(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_texts(tmp_path / name)
    assert message in str(caught.value) and caught.value.exit_code == 2


def test_truncated_gz(tmp_path: Path) -> None:
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(b"some text\n" * 500)[:-12])
    with pytest.raises(InputError, match="readable file"):
        read_texts(tmp_path / "a.txt.gz")


def test_missing_and_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nothing there"):
        read_texts(tmp_path / "no.txt")
    with pytest.raises(InputError, match="got a folder"):
        read_texts(tmp_path)


def test_a_file_that_is_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("maskov.texts.LARGEST_FILE", 100)
    (tmp_path / "bomb.txt.gz").write_bytes(gzip.compress(b"a" * 10_000))
    with pytest.raises(InputError, match="at most"):
        read_texts(tmp_path / "bomb.txt.gz")


def test_dataset_names() -> None:
    with pytest.raises(InputError, match=r"hf:DATASET"):
        read_texts("hf:")
    with pytest.raises(InputError, match=r"hf:DATASET"):
        read_texts("hf:a:b:c:d")


@given(st.binary(max_size=200), st.sampled_from(["f.txt", "f.jsonl", "f.fasta", "f"]))
def test_any_bytes_give_texts_or_a_message(content: bytes, name: str) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        try:
            found = read_texts(path)
        except InputError:
            return
        assert found and all(p.text.strip() for p in found)


def test_openings_cut_at_sentences() -> None:
    text = "One two three. Four five six. Seven eight."
    assert openings([Passage(text, "t")], 5) == [Passage("One two three. Four five six.", "t")]
    assert openings([Passage(text)], 50)[0].text == text


def test_bundled_texts_of_each_model() -> None:
    assert len(bundled_texts("antibody") or []) >= 10
    assert len(bundled_texts("reactions") or []) >= 10
    assert bundled_texts("bert-base-uncased") is None
