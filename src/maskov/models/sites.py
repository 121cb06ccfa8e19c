"""Which columns may change, and which tokens may be written."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

import numpy as np

from maskov.errors import InputError
from maskov.protocols import Flags, State

_UNUSED = re.compile(
    r"(\[unused\d+\]|<\|?(unused|reserved|extra_id|null)[-_ ]?\w*\|?>|madeupword\d+)", re.IGNORECASE | re.ASCII
)


def forbidden_tokens(vocabulary_size: int, special: Iterable[int], names: Sequence[str | None]) -> Flags:
    """Tokens that a chain must never write: special ones, unused ids, and ids without a token. bool [V].

    special: ids; names: the tokenizer's token of each id, ``None`` where it has none.

    >>> forbidden_tokens(4, [0], ["[PAD]", "a", "[unused1]"]).tolist()
    [True, False, True, True]
    """
    forbidden = np.ones(vocabulary_size, dtype=bool)
    for token, name in enumerate(names[:vocabulary_size]):
        forbidden[token] = name is None or bool(_UNUSED.fullmatch(name))
    forbidden[[t for t in special if 0 <= t < vocabulary_size]] = True
    return forbidden


def check_forbidden(forbidden: Flags, vocabulary_size: int) -> Flags:
    """The set as bool [V] if it is one and leaves a token to write; ``InputError`` otherwise."""
    flags = np.asarray(forbidden)
    if flags.dtype != np.bool_ or flags.shape != (vocabulary_size,):
        raise InputError(
            "forbidden tokens", expected=f"bool [{vocabulary_size}]", came=f"{flags.dtype} {list(flags.shape)}"
        )
    if flags.all():
        raise InputError("forbidden tokens", expected="at least one token left to write", came="every token forbidden")
    return flags


def free_columns(tokens: Sequence[int], special: Collection[int]) -> list[int]:
    """Columns that may change: everything except special tokens (padding, [UNK] and [MASK] among them).

    >>> free_columns([2, 7, 8, 3], special={2, 3})
    [1, 2]
    """
    return [column for column, token in enumerate(tokens) if token not in special]


def parse_clamp(clamp: str, n: int) -> set[int]:
    """Indices (from 0) of clamped free sites from numbers counted from 1: ``"3-10,15"``.

    n: number of free sites. Raises ``InputError`` on anything that is not such a list or lies outside 1 … n.

    >>> sorted(parse_clamp("1-3,5", 6))
    [0, 1, 2, 4]
    """
    if not isinstance(clamp, str):
        raise InputError("clamp", expected="a text such as 3-10,15", came=type(clamp).__name__)
    if not clamp.strip():
        raise InputError("clamp", expected="numbers and ranges such as 3-10,15", came="nothing", remedy="leave it out")
    return {index for part in clamp.split(",") for index in _parse_range(part.strip(), n)}


def _parse_range(part: str, n: int) -> range:
    match = re.fullmatch(r"(\d{1,9})\s*(?:-\s*(\d{1,9}))?", part, re.ASCII)
    if match is None:
        raise InputError("clamp", expected="numbers and ranges from 1 such as 3-10,15", came=repr(part[:40]))
    first, last = int(match[1]), int(match[2] or match[1])
    if first < 1:
        raise InputError("clamp", expected="site numbers from 1", came=repr(part))
    if first > last:
        raise InputError("clamp", expected="a range that goes up", came=repr(part), remedy=f"write {last}-{first}")
    if last > n:
        raise InputError("clamp", expected=f"sites within 1-{n}, the text's own tokens", came=repr(part))
    return range(first - 1, last)


def apply_clamp(state: State, clamp: str | Collection[int]) -> State:
    """The state with some free sites held; at least one must stay free.

    clamp: the text form, or indices from 0 into ``state.free``.

    >>> apply_clamp(State(np.array([9, 5, 6, 9]), np.array([1, 2])), "2").free.tolist()
    [1]
    """
    n = len(state.free)
    held = parse_clamp(clamp, n) if isinstance(clamp, str) else _check_indices(clamp, n)
    kept = np.array([column for index, column in enumerate(state.free) if index not in held], dtype=np.int64)
    if kept.size == 0:
        raise InputError("clamp", expected="at least one site left to change", came=f"all {n} clamped")
    return State(state.tokens, kept)


def _check_indices(indices: Collection[int], n: int) -> set[int]:
    held = {int(index) for index in indices}
    wrong = sorted(index for index in held if not 0 <= index < n)
    if wrong:
        raise InputError("clamp", expected=f"indices within 0-{n - 1} of free sites", came=str(wrong[0]))
    return held


def cut_state(state: State, length: int) -> State:
    """The state with ``length`` columns from its first to its last free one: those at the end go, special ones stay."""
    first = int(state.free[0])
    size = int(state.free[-1]) - first + 1
    if size <= length:
        return state
    tokens = np.delete(state.tokens, np.arange(first + length, first + size))
    return State(tokens, state.free[state.free < first + length])
