"""Where coupled chains start: one shape, the same free sites, the same held tokens."""

from __future__ import annotations

import numpy as np
import pytest

from maskov.coupling import choose_pairs, make_pairs, meeting_times
from maskov.errors import InputError
from maskov.models import load
from maskov.protocols import State
from maskov.texts import Passage

CLS, SEP, UNK = 90, 91, 92


class Letters:
    """A codec alone: letters are tokens 0–25, '?' is an unknown (held) token, frames are held."""

    vocabulary_size, name = 100, "letters"

    def encode(self, text: str) -> State:
        body = [UNK if c == "?" else 80 if c == "!" else ord(c) - 97 for c in text]
        tokens = np.array([CLS, *body, SEP])
        return State(tokens, np.array([k for k, t in enumerate(tokens) if t < UNK - 2]))


def pairs(texts, starts="auto", clamp=None, count=None, seed=0):
    return choose_pairs(Letters(), texts, count, starts, clamp, seed)


def text(state: State) -> str:
    return "".join({CLS: "[", SEP: "]", UNK: "?", 80: "!"}.get(t, chr(97 + t)) for t in state.tokens.tolist())


def test_two_texts_of_one_length() -> None:
    kind, found = pairs(["abc", "def", "ghijk"], "texts", count=6)
    assert kind == "texts" and len(found) == 6
    for pair in found:
        assert len(pair.first.tokens) == len(pair.second.tokens)
        np.testing.assert_array_equal(pair.first.free, pair.second.free)
    assert text(found[0].second) == "[def]" and text(found[1].second) == "[abc]"  # the third text needs a cut


def test_the_longer_text_is_cut_and_keeps_its_frame() -> None:
    _, [pair] = pairs([("abc", "ghijk")])
    assert (text(pair.first), text(pair.second)) == ("[abc]", "[ghi]")


def test_unknown_tokens_are_held_in_both() -> None:
    _, [pair] = pairs([("a?cd", "efgh")])
    assert (text(pair.first), text(pair.second)) == ("[a?cd]", "[e?gh]")
    assert pair.second.free.tolist() == [1, 3, 4]


def test_clamped_sites_take_the_tokens_of_the_first() -> None:
    for given in ([("abcd", "efghij")], [(Passage("abcd", clamp="2-3"), "efghij")]):
        _, [pair] = pairs(given, clamp="2-3")
        assert (text(pair.first), text(pair.second)) == ("[abcd]", "[ebch]")
        assert pair.first.free.tolist() == pair.second.free.tolist() == [1, 4]


def test_permutation_keeps_the_tokens() -> None:
    kind, found = pairs(["abcdefgh"], count=3)
    assert kind == "permutation" and len({text(p.second) for p in found}) == 3
    assert all(sorted(text(p.second)) == sorted(text(p.first)) for p in found)
    _, held = pairs(["abcdefgh"], clamp="1-4")
    assert text(held[0].second)[1:5] == "abcd" and text(held[0].second) != text(held[0].first)


def test_worst_case() -> None:
    kind, found = pairs(["abc", "def"], "worst")
    assert kind == "worst" and [text(s) for s in found[0]] == ["[!!!]", "[abc]"]
    assert text(pairs(["abc"], "worst:z", clamp="1")[1][0].first) == "[azz]"


def test_on_a_law_all_last_against_all_first() -> None:
    model = load("law:potts?sites=4&symbols=3&beta=1")
    kind, found = choose_pairs(model, None, None, "auto", None, 0)
    assert kind == "worst" and len(found) == 100
    assert found[0].first.tokens.tolist() == [2] * 4 and found[0].second.tokens.tolist() == [0] * 4
    assert choose_pairs(model, ["0101"], 1, "worst:1", None, 0)[1][0].first.tokens.tolist() == [1] * 4


def test_states_and_defaults() -> None:
    states = [State(np.array([k, 1, 2]), np.array([0, 1, 2])) for k in range(40)]
    kind, found = pairs(states)
    assert kind == "texts" and len(found) == 16  # one State is no pair, though it is a tuple of two
    assert pairs([tuple(states[:2])])[0] == "pairs"


def test_the_same_seed_gives_the_same_pairs() -> None:
    texts = ["abc", "def", "ghi", "jkl", "mno"]
    chosen = [[text(p.second) for p in pairs(texts, seed=seed, count=20)[1]] for seed in (0, 0, 1)]
    assert chosen[0] == chosen[1] != chosen[2]


@pytest.mark.parametrize(
    ("texts", "options", "message"),
    [
        (["abc"], {"starts": "texts"}, "two different texts"),
        (["abc"], {"starts": "best"}, "worst:TOKEN"),
        (["abc"], {"starts": "texts:a"}, "worst:TOKEN"),
        (["abc"], {"starts": "worst:ab"}, "one token of letters"),
        (["abc"], {"count": 0}, "at least 1"),
        ([], {}, "at least one"),
        (None, {}, "texts"),
        ([("?b", "a?")], {}, "0 sites free in both"),
        ([("ab", "cde")], {"clamp": "3"}, "1-2"),
    ],
)
def test_bad_input(texts, options, message) -> None:
    with pytest.raises(InputError, match=message):
        pairs(texts, **options)


def test_a_law_has_no_passage_to_permute() -> None:
    with pytest.raises(InputError, match="worst case"):
        meeting_times(load("law:curie-weiss?sites=4&beta=1"), starts="permutation")


def test_a_text_of_one_token_has_no_permutation() -> None:
    with pytest.raises(InputError, match="can be permuted"):
        make_pairs(load("en-tiny"), ["go go go"], 2, "permutation", None, 0)
    pairs = make_pairs(load("en-tiny"), ["go on"], 12, "permutation", None, 0)
    assert all((p.first.tokens != p.second.tokens).any() for p in pairs)
