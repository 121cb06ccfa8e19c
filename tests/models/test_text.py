"""Text to state and back: every text that a model cannot hold has its own message."""

from __future__ import annotations

import numpy as np
import pytest
from builders import BERT_SPECIAL, POSITIONS, TEXT, WORDS, V, masked, tokenizer_of, word_tokenizer
from hypothesis import given
from hypothesis import strategies as st

from maskov.errors import InputError
from maskov.models.text import TokenizerCodec, symbol_tokenizer

CODEC = TokenizerCodec(tokenizer_of("bert"), V, POSITIONS)
RESIDUES = TokenizerCodec(symbol_tokenizer([*BERT_SPECIAL[:5], *"ACDEF"], "[A-Z]"), 12, 20)


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=POSITIONS - 2))
def test_texts_come_back(words: list[str]) -> None:
    text = " ".join(words)
    state = CODEC.encode(text)
    assert CODEC.decode(state.tokens) == text
    assert state.free.tolist() == list(range(1, len(words) + 1))


@given(st.lists(st.integers(-3, V + 3), max_size=12))
def test_any_tokens_have_a_text(tokens: list[int]) -> None:
    text = CODEC.decode(np.array(tokens, dtype=np.int64))
    assert text.split() == [WORDS[t - 6] for t in tokens if 6 <= t < 6 + len(WORDS)] or "[unused0]" in text
    assert all(isinstance(CODEC.token_text(t), str) for t in tokens)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "some characters.*empty"),
        (" \n\t", "some characters.*empty"),
        ("bad \ud800 text", "valid Unicode.*lone surrogate at character 4.*UTF-8"),
        (None, "a string.*NoneType"),
        (b"bytes", "a string.*bytes"),
        ("zebra giraffe", "at least one token that may change"),
        ("bird " * 50, f"at most {POSITIONS} tokens.*52 tokens.*shorten"),
    ],
)
def test_each_wrong_text_has_its_message(text, message: str) -> None:
    with pytest.raises(InputError, match=message):
        CODEC.encode(text)


def test_nothing_is_cut_off_even_where_the_tokenizer_would() -> None:
    tokenizer = tokenizer_of("bert")
    tokenizer.model_max_length = 8
    tokenizer.backend_tokenizer.enable_truncation(8)
    tokenizer.backend_tokenizer.enable_padding(length=30)
    assert len(TokenizerCodec(tokenizer, V, POSITIONS).encode("bird " * 20).tokens) == 22


def test_special_tokens_spelled_in_a_text_are_not_obeyed() -> None:
    """A passage may hold "[MASK]" or "</s>"; a state may not."""
    with pytest.raises(InputError, match=r"special tokens.*\[MASK\]"):
        CODEC.encode("the [MASK] sings")
    from maskov.models import load

    model = load("en-tiny") if _bundled() else None
    if model is not None:
        state = model.encode("the [MASK] sings [SEP] again")
        assert model.mask_token_id not in state.tokens and (state.tokens == 102).sum() == 1


def _bundled() -> bool:
    from maskov.models import catalogue

    return catalogue()[0].available


def test_alphabets_are_written_without_spaces_and_in_upper_case() -> None:
    state = RESIDUES.encode(" acd\nEF ")
    assert state.tokens.tolist() == [2, 5, 6, 7, 8, 9, 3]
    assert RESIDUES.decode(state.tokens) == "ACDEF"
    assert RESIDUES.strict


def test_alphabets_of_spaced_letters_are_read_as_well() -> None:
    """BERT-like protein models want "A C D"; people write ACD."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    core = Tokenizer(models.WordLevel({t: k for k, t in enumerate([*BERT_SPECIAL[:5], *"ACDEF"])}, unk_token="[UNK]"))
    core.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    roles = {f"{role}_token": f"[{role.upper()}]" for role in ("pad", "unk", "cls", "sep", "mask")}
    codec = TokenizerCodec(PreTrainedTokenizerFast(tokenizer_object=core, **roles), 10, 20)
    for text in ("ACD", "A C D", "acd"):
        assert codec.encode(text).tokens.tolist() == [5, 6, 7]
    assert codec.decode(np.array([5, 6, 4, 7])) == "ACD"


def test_the_slow_tokenizer_of_esm_is_an_alphabet(tmp_path) -> None:
    from transformers import EsmTokenizer

    letters = ["<cls>", "<pad>", "<eos>", "<unk>", *"LAGVSERTIDPKQNFYMHWCXBUZO.-", "<null_1>", "<mask>"]
    (tmp_path / "vocab.txt").write_text("\n".join(letters))
    codec = TokenizerCodec(EsmTokenizer(str(tmp_path / "vocab.txt")), len(letters), 30)
    state = codec.encode("MKTAYIAK")
    assert state.tokens[0] == 0 and state.tokens[-1] == 2 and len(state.free) == 8
    assert codec.decode(state.tokens) == "MKTAYIAK"
    assert np.flatnonzero(codec.forbidden).tolist() == [0, 1, 2, 3, len(letters) - 2, len(letters) - 1]
    with pytest.raises(InputError, match=r"alphabet"):
        codec.encode("MK*T")


@pytest.mark.parametrize("text", ["ACX", "A1", "[MASK]A", "AÄ"])
def test_letters_outside_of_the_alphabet_are_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"symbols of the model's alphabet.*unknown letters"):
        RESIDUES.encode(text)


def test_a_tokenizer_of_another_model_is_refused() -> None:
    with pytest.raises(InputError, match=r"at most 10 tokens, the model's vocabulary, got one of 22"):
        TokenizerCodec(word_tokenizer(), 10, 20)


def test_a_tokenizer_of_special_tokens_only_is_refused() -> None:
    empty = symbol_tokenizer(BERT_SPECIAL[:5], "[A-Z]")
    with pytest.raises(InputError, match=r"besides special ones"):
        TokenizerCodec(empty, 10, 20)


def test_the_text_of_a_model_is_that_of_its_codec() -> None:
    model = masked("bert")
    assert model.decode(model.encode(TEXT).tokens) == TEXT
    assert model.token_text(6) == "the" and model.token_text(V - 1) == f"<{V - 1}>"
