"""From text to token numbers: words, bytes, or any Hugging Face tokenizer."""

from __future__ import annotations

import importlib.util
import os
import re
import zlib
from array import array
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from maskov.errors import InputError

MOST_WORDS = 1 << 21
_WORD = re.compile(r"\w+|[^\w\s]")


class Tokenizer(Protocol):
    """Text to tokens, into a flat array of machine integers."""

    @property
    def name(self) -> str:
        """What ``--tokenizer`` said."""
        ...

    @property
    def vocabulary_size(self) -> int:
        """An upper end of the token numbers seen so far."""
        ...

    @property
    def orders(self) -> int:
        """The longest run of tokens that is worth a feature of its own."""
        ...

    def extend(self, flat: array[int], texts: Sequence[str]) -> list[int]:
        """Append the tokens of each text; returns how many each has."""
        ...


class Words:
    """Words (runs of letters, digits, underscores) and single marks, as they are spelled; spaces are not seen.

    Beyond 2^21 distinct words new ones share numbers by a hash, so that memory stays bounded.

    >>> flat = array("i"); words = Words(); words.extend(flat, ["Ab, ab.", "Ab"]), flat.tolist()
    ([4, 1], [0, 1, 2, 3, 0])
    """

    name, orders = "words", 2

    def __init__(self) -> None:
        self._numbers = _Numbers()

    @property
    def vocabulary_size(self) -> int:
        """Distinct words so far."""
        return max(1, len(self._numbers))

    def extend(self, flat: array[int], texts: Sequence[str]) -> list[int]:
        """Append the words of each text; returns how many each has."""
        sizes = []
        for text in texts:
            found = _WORD.findall(text)
            flat.extend(map(self._numbers.__getitem__, found))
            sizes.append(len(found))
        return sizes


class _Numbers(dict[str, int]):
    def __missing__(self, word: str) -> int:
        if len(self) >= MOST_WORDS:
            return zlib.crc32(word.encode("utf-8", "replace")) % MOST_WORDS
        self[word] = number = len(self)
        return number


class Bytes:
    """UTF-8 bytes, spaces and line ends among them.

    >>> flat = array("B"); Bytes().extend(flat, ["é"]), flat.tolist()
    ([2], [195, 169])
    """

    name, orders, vocabulary_size = "bytes", 4, 256

    def extend(self, flat: array[int], texts: Sequence[str]) -> list[int]:
        """Append the bytes of each text; returns how many each has."""
        coded = [text.encode("utf-8", "replace") for text in texts]
        for piece in coded:
            flat.frombytes(piece)
        return [len(piece) for piece in coded]


class Pretrained:
    """A Hugging Face tokenizer without its special tokens. encode: texts → lists of token numbers."""

    orders = 2

    def __init__(self, name: str, size: int, encode: Callable[[Sequence[str]], list[Sequence[int]]]) -> None:
        self.name, self.vocabulary_size, self._encode = name, size, encode

    def extend(self, flat: array[int], texts: Sequence[str]) -> list[int]:
        """Append the tokens of each text; returns how many each has."""
        found = self._encode(texts)
        for ids in found:
            flat.extend(ids)
        return [len(ids) for ids in found]


def find_tokenizer(name: str) -> Tokenizer:
    """The tokenizer of a name: ``words``, ``bytes``, a catalogue model, a folder, or a Hugging Face id.

    Raises ``InputError`` on a name that is nothing of these.
    """
    if not isinstance(name, str) or not name.strip():
        raise InputError("tokenizer", expected="words, bytes, a folder or a Hugging Face id", came=repr(name))
    if name == "words":
        return Words()
    if name == "bytes":
        return Bytes()
    if importlib.util.find_spec("tokenizers") is None:
        remedy = "run: pip install 'maskov[models]'; words and bytes need nothing"
        raise InputError(f"tokenizer {name[:80]}", expected="transformers", came="no tokenizers package", remedy=remedy)
    return _pretrained(name)


def _pretrained(name: str) -> Tokenizer:
    from maskov.models.catalog import find

    entry = find(name)
    folder = Path(entry[1]) if entry else Path(name).expanduser()
    file = folder / "tokenizer.json"
    if file.is_file():
        return _from_file(name, file)
    if entry:  # letters and reaction symbols have a tokenizer of ours, which comes with the model
        from maskov.models import load

        return _slow(name, load(name).codec.tokenizer)
    if name.startswith((".", "/", "~")) and not os.path.isdir(folder):
        raise InputError("tokenizer", expected="words, bytes, or a folder with a tokenizer", came=f"nothing at {name}")
    from maskov.models.sources import quiet_transformers, read_tokenizer

    with quiet_transformers():
        return _slow(name, read_tokenizer(str(folder) if os.path.isdir(folder) else name, False))


def _from_file(name: str, file: Path) -> Tokenizer:
    from tokenizers import Tokenizer as Fast

    try:
        fast: Any = Fast.from_file(str(file))
    except Exception as error:  # the library raises plain Exception on a damaged file
        raise InputError("tokenizer", expected="a readable tokenizer.json", came=str(error)[:120]) from error
    return _fast(name, fast)


def _fast(name: str, fast: Any) -> Tokenizer:
    fast.no_truncation()
    fast.no_padding()

    def encode(texts: Sequence[str]) -> list[Sequence[int]]:
        return [found.ids for found in fast.encode_batch_fast(list(texts), add_special_tokens=False)]

    return Pretrained(name, max(1, fast.get_vocab_size(with_added_tokens=True)), encode)


def _slow(name: str, tokenizer: Any) -> Tokenizer:
    fast = getattr(tokenizer, "backend_tokenizer", None)
    if fast is not None:
        return _fast(name, fast)

    def encode(texts: Sequence[str]) -> list[Sequence[int]]:
        return list(tokenizer(list(texts), add_special_tokens=False, verbose=False)["input_ids"])

    return Pretrained(name, max(1, len(tokenizer)), encode)


def flat_array(tokenizer: Tokenizer) -> array[int]:
    """An empty array that can hold the tokens: a byte each for bytes, four for others."""
    return array("B" if tokenizer.name == "bytes" else "i")


def as_numpy(flat: array[int]) -> NDArray[Any]:
    """The array without a copy."""
    return np.frombuffer(flat, dtype=np.uint8 if flat.typecode == "B" else np.int32)
