"""Between a tokenizer and states: checks at the door, free sites, readable text."""

from __future__ import annotations

import hashlib
from functools import cached_property
from typing import Any

import numpy as np

from maskov.errors import InputError
from maskov.models.sites import forbidden_tokens, free_columns
from maskov.protocols import Flags, State, Tokens

# Letter case, accents, digits, spaces, punctuation, another script: what normalisers and merges differ on.
_PROBE = "The Quick  brown fóx-jumps, 3.14 (naïve) ÄÖ Привет CC(=O)Cl>>N EVQLLES\n"


def check_text(text: str) -> str:
    """The text if it can be tokenised: a non-empty string without lone surrogates."""
    if not isinstance(text, str):
        raise InputError("text", expected="a string", came=type(text).__name__)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(
            "text",
            expected="valid Unicode",
            came=f"a lone surrogate at character {error.start}",
            remedy="read the file as UTF-8",
        ) from error
    if not text.strip():
        raise InputError("text", expected="some characters", came="an empty text")
    return text


class TokenizerCodec:
    """Text <-> state through a Hugging Face tokenizer.

    limit: tokens that the model has positions for; strict: refuse unknown symbols (alphabets) instead of keeping [UNK]
    as a held site; start: a token to put before the text instead of the tokenizer's own special tokens; bare: no
    special tokens at all. A vocabulary of single letters (proteins) is written and read without spaces, and is strict.
    """

    def __init__(
        self,
        tokenizer: Any,
        vocabulary_size: int,
        limit: int,
        *,
        strict: bool = False,
        start: int | None = None,
        bare: bool = False,
    ) -> None:
        self.tokenizer, self.vocabulary_size, self.limit, self.start = tokenizer, vocabulary_size, limit, start
        self._bare = bare or start is not None
        self.names = _token_names(tokenizer, vocabulary_size)
        added = tokenizer.added_tokens_decoder
        self.special = frozenset(map(int, tokenizer.all_special_ids)) | {i for i, t in added.items() if t.special}
        if self.forbidden.all():
            raise InputError(
                "tokenizer",
                expected="tokens besides special ones",
                came=f"{len(tokenizer)} tokens, all special",
                remedy="save the tokenizer beside the model",
            )
        self._spacing = self._letter_spacing()
        self.strict = strict or self._spacing is not None

    @cached_property
    def forbidden(self) -> Flags:
        """Tokens never to be written: bool [V]."""
        return forbidden_tokens(self.vocabulary_size, self.special, self.names)

    def encode(self, text: str) -> State:
        """The state of a text: every special token held, every other site free; nothing is ever cut off.

        Special tokens that the text spells ("[MASK]") are read as plain characters.
        """
        ids, own = self._tokenize(self._spelled(check_text(text)))
        self._check_special(text, [token for token, mine in zip(ids, own, strict=True) if mine])
        if len(ids) > self.limit:
            raise InputError(
                "text",
                expected=f"at most {self.limit} tokens, the model's positions",
                came=f"{len(ids)} tokens: {text[:40]!r}…",
                remedy="shorten or split the text",
            )
        free = free_columns(ids, self.special)
        if not free:
            raise InputError("text", expected="at least one token that may change", came=f"none in {text[:40]!r}")
        return State(np.array(ids, dtype=np.int64), np.array(free, dtype=np.int64))

    def decode(self, tokens: Tokens) -> str:
        """Readable text of any token sequence; special tokens and unknown ids are left out."""
        kept = [int(t) for t in tokens if 0 <= int(t) < len(self.names) and int(t) not in self.special]
        kept = [token for token in kept if self.names[token] is not None]
        if self._spacing is not None:
            return "".join(str(self.names[token]) for token in kept)
        return str(self.tokenizer.decode(kept, skip_special_tokens=True)).strip()

    def token_text(self, token: int) -> str:
        """One token as the tokenizer writes it."""
        name = self.names[token] if 0 <= token < len(self.names) else None
        return name if name is not None else f"<{token}>"

    def digest(self) -> bytes:
        """SHA-256 of the vocabulary in order, the special ids, the limit, and how a fixed text is tokenised."""
        probe = self._ids(_PROBE)["input_ids"]
        content = repr((self.names, sorted(self.special), self.limit, self.start, self._bare, list(probe)))
        return hashlib.sha256(content.encode("utf-8", errors="surrogatepass")).digest()

    def _spelled(self, text: str) -> str:
        """The text as the tokenizer wants it: letters of an alphabet upper case and spaced where it needs that."""
        if self._spacing is None:
            return text.strip() if self.strict else text
        letters = "".join(text.split())
        return self._spacing.join(letters.upper() if self._upper else letters)

    def _tokenize(self, text: str) -> tuple[list[int], list[bool]]:
        """Token ids, and which of them come from the text rather than from the tokenizer's frame."""
        given = self._ids(text, add_special_tokens=not self._bare, return_special_tokens_mask=True)
        ids, frame = [int(token) for token in given["input_ids"]], given["special_tokens_mask"]
        if self._bare:
            frame = [0] * len(ids)
        if self.start is not None:
            ids, frame = [self.start, *ids], [1, *frame]
        return ids, [not flag for flag in frame]

    def _ids(self, text: str, **options: bool) -> Any:
        """The tokenizer's answer: never cut or padded, and a special token's name is plain text."""
        options |= {"truncation": False, "padding": False, "verbose": False, "split_special_tokens": True}
        return self.tokenizer(text, **options)

    def _check_special(self, text: str, tokens: list[int]) -> None:
        """No token of the text may be special, [UNK] of an open vocabulary excepted (it becomes a held site)."""
        unknown = self.tokenizer.unk_token_id
        found = [t for t in tokens if t in self.special and (self.strict or t != unknown)]
        if found and found[0] == unknown:
            raise InputError(
                "text",
                expected="symbols of the model's alphabet",
                came=f"others in {text[:40]!r}",
                remedy="remove gaps and unknown letters",
            )
        if found:
            name = self.token_text(found[0])
            raise InputError(
                "text", expected="a text without special tokens", came=f"{name} in {text[:40]!r}", remedy="remove it"
            )

    def _letter_spacing(self) -> str | None:
        """What must stand between letters if every writable token is one letter; None for other vocabularies."""
        letters = [str(self.names[t]) for t in np.flatnonzero(~self.forbidden)]
        if len(letters) < 2 or any(len(letter) != 1 for letter in letters):
            return None
        self._upper = not any(letter.islower() for letter in letters)
        pair = [self.names.index(letter) for letter in letters[:2]]
        for spacing in ("", " "):
            if self._ids(spacing.join(letters[:2]), add_special_tokens=False)["input_ids"] == pair:
                return spacing
        return None


def _token_names(tokenizer: Any, vocabulary_size: int) -> list[str | None]:
    """The token of each id, ``None`` in holes; refuses a tokenizer that has ids which the model lacks."""
    vocabulary: dict[str, int] = tokenizer.get_vocab()
    size = max(vocabulary.values(), default=-1) + 1
    if size > vocabulary_size:
        raise InputError(
            "model folder",
            expected=f"a tokenizer of at most {vocabulary_size} tokens, the model's vocabulary",
            came=f"one of {size}",
            remedy="the tokenizer belongs to another model",
        )
    names: list[str | None] = [None] * size
    for name, token in vocabulary.items():
        names[token] = name
    return names


def symbol_tokenizer(vocabulary: list[str], pattern: str) -> Any:
    """A tokenizer of an alphabet: every match of ``pattern`` is one token, joined without spaces.

    vocabulary: tokens in order of id, with [PAD], [UNK], [CLS], [SEP], [MASK] among them.

    >>> tokenizer = symbol_tokenizer(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "C", "Cl"], "Cl?")
    >>> tokenizer("CClC")["input_ids"]
    [2, 5, 6, 5, 3]
    """
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    ids = {token: k for k, token in enumerate(vocabulary)}
    core = Tokenizer(models.WordLevel(ids, unk_token="[UNK]"))
    core.pre_tokenizer = pre_tokenizers.Split(Regex(pattern), behavior="isolated")
    frame = [("[CLS]", ids["[CLS]"]), ("[SEP]", ids["[SEP]"])]
    core.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=frame)
    core.decoder = decoders.Fuse()
    names = {f"{role}_token": f"[{role.upper()}]" for role in ("pad", "unk", "cls", "sep", "mask")}
    return PreTrainedTokenizerFast(tokenizer_object=core, **names)
