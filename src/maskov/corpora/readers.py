"""Documents from files, one after the other: folders, globs, JSONL, FASTA, plain text, each with ``.gz``."""

from __future__ import annotations

import glob
import gzip
import json
import os
import zlib
from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

from maskov.errors import InputError

MOST_SKIPPED = 0.1
_JSONL = (".jsonl", ".ndjson")
_FASTA = (".fasta", ".fa", ".faa", ".fas")
_PROBE, LONGEST_DOCUMENT = 8192, 64 * 2**20


class Source(NamedTuple):
    """The files of one collection. many: a folder or a glob, where a plain file is one document; size: bytes."""

    label: str
    files: tuple[Path, ...]
    many: bool
    size: int


class Piece(NamedTuple):
    """One document, the bytes of its file (0 unless it is the file's last), and why the file was left out (or '')."""

    text: str
    size: int = 0
    skipped: str = ""


def find_source(name: str, path: str | os.PathLike[str]) -> Source:
    """The files that a path means: a file, a folder (every visible file below it), or a glob such as ``d/**/*.py``.

    Raises ``InputError`` where there is none.
    """
    text, place = os.fspath(path), Path(os.fspath(path)).expanduser()
    if os.path.isfile(place):
        return Source(text, (place,), False, place.stat().st_size)
    if os.path.isdir(place):
        found = [p for p in sorted(place.rglob("*")) if not any(s.startswith(".") for s in p.relative_to(place).parts)]
    elif glob.has_magic(text):
        found = sorted(Path(p) for p in glob.glob(str(place), recursive=True))
    else:
        remedy = "check the path; a glob such as 'folder/**/*.txt' needs quotes"
        raise InputError(
            f"collection {name}", expected="a file, a folder or a glob", came=f"nothing at {text}", remedy=remedy
        )
    files = tuple(p for p in found if p.is_file())
    if not files:
        raise InputError(f"collection {name}", expected="files", came=f"none in {text}", remedy="check the pattern")
    return Source(text, files, True, sum(p.stat().st_size for p in files))


def read_documents(name: str, source: Source, field: str = "text") -> Iterator[Piece]:
    """Documents of a source in the order of its files, read line by line.

    A plain file of a folder or glob is one document; alone, its documents are separated by blank lines, or are its
    lines where there is no blank line. JSONL gives one a record, FASTA one a sequence. A file that can't be read is an
    ``InputError`` where it is alone; of many it is left out and told.
    """
    for path in source.files:
        size = path.stat().st_size
        try:
            for text in _documents(path, source.many, field):
                yield Piece(text)
            yield Piece("", size)
        except InputError as error:
            if not source.many:
                message = (f"collection {name}, {error.what}", error.expected, error.came, error.remedy)
                what, expected, came, remedy = message
                raise InputError(what, expected=expected, came=came, remedy=remedy) from error
            yield Piece("", size, f"{error.what}: {error.came}")


def check_skipped(name: str, skipped: list[str], files: int) -> None:
    """``InputError`` where more than a tenth of the files could not be read."""
    if len(skipped) > MOST_SKIPPED * files:
        expected = "files of UTF-8 text"
        came = f"{len(skipped)} of {files} that are none, the first {skipped[0]}"
        raise InputError(f"collection {name}", expected=expected, came=came, remedy="narrow the glob, or convert them")


def _documents(path: Path, many: bool, field: str) -> Iterator[str]:
    stem = path.name.removesuffix(".gz").lower()
    if stem.endswith(_JSONL) or (not many and not stem.endswith((".txt", *_FASTA)) and _starts_with(path, b"{")):
        return _records(path, field)
    if stem.endswith(_FASTA):
        return _sequences(path)
    if many:
        return iter([_joined(path, (line for _, line in _lines(path)))])
    return _blocks(path) if _has_blank_line(path) else (line for _, line in _lines(path))


def _open(path: Path) -> BinaryIO:
    return cast(BinaryIO, gzip.open(path, "rb")) if path.suffix == ".gz" else path.open("rb")


def _guarded(path: Path, read: Callable[[BinaryIO], Iterator[bytes]]) -> Iterator[bytes]:
    """What ``read`` yields from the open file; any failure to read becomes an ``InputError``."""
    try:
        with _open(path) as file:
            yield from read(file)
    except (OSError, EOFError, zlib.error) as error:
        came = getattr(error, "strerror", None) or str(error)
        raise InputError(str(path), expected="a readable file", came=came[:120]) from error


def _head(path: Path) -> bytes:
    return next(_guarded(path, lambda file: iter([file.read(_PROBE)])))


def _starts_with(path: Path, mark: bytes) -> bool:
    return _head(path).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(mark)


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Line numbers from 1 and lines, decoded; ``InputError`` at the first that is no UTF-8 text."""
    if b"\0" in _head(path):
        raise InputError(
            str(path), expected="text", came="binary data (a zero byte)", remedy="pass text files, JSONL or FASTA"
        )
    for number, raw in enumerate(_guarded(path, _bounded_lines), 1):
        _check_length(path, len(raw))
        try:
            yield number, raw.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            came = f"byte 0x{raw[error.start]:02x} in line {number}"
            remedy = "convert it, for example: iconv -f latin1 -t utf-8"
            raise InputError(str(path), expected="UTF-8 text", came=came, remedy=remedy) from error


def _bounded_lines(file: BinaryIO) -> Iterator[bytes]:
    """Lines, none read further than one byte past the bound: a packed file may hold one of any length."""
    return iter(lambda: file.readline(LONGEST_DOCUMENT + 1), b"")


def _check_length(path: Path, length: int) -> None:
    if length > LONGEST_DOCUMENT:
        expected = f"documents of at most {LONGEST_DOCUMENT >> 20} MiB"
        raise InputError(str(path), expected=expected, came="a longer one", remedy="cut it into documents")


def _joined(path: Path, lines: Iterator[str]) -> str:
    """One document of its lines."""
    parts, length = [], 0
    for line in lines:
        length += len(line)
        _check_length(path, length)
        parts.append(line)
    return "".join(parts)


def _has_blank_line(path: Path) -> bool:
    """Whether a blank line stands between two lines with text."""
    begun = blank = False
    for _, line in _lines(path):
        if line.strip():
            if blank:
                return True
            begun = True
        else:
            blank = begun
    return False


def _blocks(path: Path) -> Iterator[str]:
    for full, lines in groupby((line for _, line in _lines(path)), key=lambda line: bool(line.strip())):
        if full:
            yield _joined(path, lines)


def _records(path: Path, field: str) -> Iterator[str]:
    for number, line in _lines(path):
        if line.strip():
            yield _record(line, f"{path}, line {number}", field)


def _record(line: str, where: str, field: str) -> str:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(where, expected="one JSON object a line", came=str(error)[:80]) from error
    text = value.get(field) if isinstance(value, dict) else None
    if not isinstance(text, str):
        came = f"keys {', '.join(map(repr, value))[:80]}" if isinstance(value, dict) else type(value).__name__
        remedy = "name the field of the text with --field"
        raise InputError(where, expected=f'a JSON object with a string "{field}"', came=came, remedy=remedy)
    return text.encode("utf-8", "replace").decode("utf-8")  # JSON can spell half a surrogate pair


def _sequences(path: Path) -> Iterator[str]:
    for header, lines in groupby((line for _, line in _lines(path)), key=lambda line: line.startswith(">")):
        parts = (line.strip().rstrip("*") for line in lines if not line.startswith(";"))
        if not header and (sequence := _joined(path, parts)):
            yield sequence
