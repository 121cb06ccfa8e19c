"""Free columns, forbidden tokens, clamps."""

from __future__ import annotations

import numpy as np
import pytest
from builders import V, masked
from hypothesis import given
from hypothesis import strategies as st

from maskov.errors import InputError
from maskov.models import apply_clamp, forbidden_tokens, parse_clamp
from maskov.protocols import State


def test_special_unused_and_unknown_ids_are_forbidden() -> None:
    names = ["[PAD]", "the", "[unused12]", "madeupword0001", "<null_1>", "<|reserved_3|>", None, "unused", "[other]"]
    assert forbidden_tokens(11, [0, 99, -1], names).tolist() == [
        True, False, True, True, True, True, True, False, False, True, True,
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["bert", "roberta"])
def test_a_model_forbids_exactly_what_is_not_a_word(name: str) -> None:
    model = masked(name)
    assert np.flatnonzero(model.forbidden).tolist() == [0, 1, 2, 3, 4, 5, V - 3, V - 2, V - 1]


def test_added_special_tokens_are_forbidden_and_added_words_are_not() -> None:
    from builders import tokenizer_of

    from maskov.models.text import TokenizerCodec

    tokenizer = tokenizer_of("bert")
    tokenizer.add_tokens(["violin"])
    tokenizer.add_special_tokens({"additional_special_tokens": ["<sep2>"]})
    codec = TokenizerCodec(tokenizer, V, 30)
    assert not codec.forbidden[tokenizer.convert_tokens_to_ids("violin")]
    assert codec.forbidden[tokenizer.convert_tokens_to_ids("<sep2>")]


def test_special_tokens_and_unknown_words_are_held() -> None:
    state = masked("bert").encode("the zebra sings")
    assert state.free.tolist() == [1, 3]
    assert state.tokens.dtype == state.free.dtype == np.int64


@given(st.sets(st.integers(1, 30), min_size=1))
def test_clamps_read_what_was_written(sites: set[int]) -> None:
    text = ", ".join(f"{k}" if k % 2 else f"{k} - {k}" for k in sorted(sites))
    assert parse_clamp(text, 30) == {k - 1 for k in sites}


@given(st.integers(1, 20), st.integers(0, 10))
def test_ranges_include_both_ends(first: int, more: int) -> None:
    assert parse_clamp(f"{first}-{first + more}", 40) == set(range(first - 1, first + more))


@pytest.mark.parametrize(
    ("clamp", "message"),
    [
        ("", "got nothing"),
        ("  ", "got nothing"),
        ("1,,2", "numbers and ranges.*got ''"),
        ("a", "numbers and ranges.*got 'a'"),
        ("1.5", "got '1.5'"),
        ("-3", "got '-3'"),
        ("1-2-3", "got '1-2-3'"),
        ("²", "numbers and ranges"),
        ("0-2", "site numbers from 1.*got '0-2'"),
        ("5-3", "goes up.*got '5-3'; write 3-5"),
        ("2,11", "within 1-10.*got '11'"),
        ("9999999999", "numbers and ranges"),
        (None, "got NoneType"),
    ],
)
def test_each_wrong_clamp_has_its_message(clamp, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_clamp(clamp, 10)


def test_a_clamp_holds_free_sites_by_their_number_in_the_text() -> None:
    state = State(np.array([2, 7, 8, 9, 3]), np.array([1, 2, 3]))
    assert apply_clamp(state, "1,3").free.tolist() == [2]
    assert apply_clamp(state, {0, 2}).free.tolist() == [2]
    assert apply_clamp(apply_clamp(state, "1"), "1").free.tolist() == [3]
    assert state.free.tolist() == [1, 2, 3]
    with pytest.raises(InputError, match=r"left to change.*all 3"):
        apply_clamp(state, "1-3")
    with pytest.raises(InputError, match=r"within 0-2.*got 3"):
        apply_clamp(state, [0, 3])
