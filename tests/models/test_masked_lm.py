"""Micro-batches, padding, numbers that are not finite, double copies, fingerprints, and adapters that break a law."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from builders import POSITIONS, V, cases, gap, masked, network_of, plain_rows, tokenizer_of

from maskov.conformance import check_ignores_own_token, check_padding_independent
from maskov.errors import ConformanceError, InputError
from maskov.models.masked_lm import MaskedLM
from maskov.models.text import TokenizerCodec


class ForgetsToMask(MaskedLM):
    """Reads the token at the site itself."""

    def logits(self, states, sites):
        return self._predict(states, np.zeros(states.shape, dtype=bool), sites)


class AttendsToPadding(MaskedLM):
    """Passes no attention mask."""

    def _inputs(self, masked):
        return {"input_ids": self.tensor(masked)}


def test_an_adapter_that_forgets_to_mask_is_caught() -> None:
    model = masked("bert", ForgetsToMask)
    with pytest.raises(ConformanceError, match=r"mask the site"):
        check_ignores_own_token(model, *cases(model), tolerance=1e-4)


def test_an_adapter_that_attends_to_padding_is_caught() -> None:
    model = masked("bert", AttendsToPadding)
    with pytest.raises(ConformanceError, match=r"padding"):
        check_padding_independent(model, *cases(model), tolerance=1e-4)


def test_even_special_tokens_at_the_site_change_nothing() -> None:
    """A padding token at the site is masked like any other, not taken for padding."""
    model = masked("roberta")
    states, sites = cases(model)
    rows = model.logits(states, sites)
    for token in (model.pad_token_id, model.mask_token_id, 0):
        other = states.copy()
        other[np.arange(len(states)), sites] = token
        assert np.array_equal(model.logits(other, sites), rows)


@pytest.mark.parametrize("tokens", [1, 25, 10**6])
def test_micro_batches_change_nothing(tokens: int) -> None:
    whole, parts = masked("bert"), masked("bert", batch_tokens=tokens)
    states, sites = cases(whole, rows=9)
    assert np.allclose(parts.logits(states, sites), whole.logits(states, sites), atol=1e-5)
    words = np.full((9, 2), 8)
    assert np.allclose(parts.score_tokens(states, sites, words), whole.score_tokens(states, sites, words), atol=1e-5)


def test_micro_batches_are_bounded_by_tokens_and_by_values() -> None:
    model = masked("bert", batch_tokens=100)
    assert [part.stop - part.start for part in model.parts(23, 10, 5)] == [10, 10, 3]
    assert [part.stop for part in model.parts(2, 10, 1 << 24)] == [1, 2]
    assert [part.stop for part in model.parts(2, 1000, 1 << 30)] == [1, 2]
    assert list(model.parts(0, 10, 5)) == []


def test_no_states_give_no_rows() -> None:
    model = masked("bert")
    states, sites = np.zeros((0, 5), dtype=np.int64), np.zeros(0, dtype=np.int64)
    assert model.logits(states, sites).shape == (0, V)
    assert model.score_tokens(states, sites, np.zeros((0, 2), dtype=np.int64)).shape == (0, 2)


def test_other_integer_types_and_strides_are_read() -> None:
    model = masked("bert")
    states, sites = cases(model)
    turned = np.asfortranarray(states.astype(np.int32))
    assert np.array_equal(model.logits(turned, sites.astype(np.int16)), model.logits(states, sites))


def test_the_double_copy_is_close_independent_and_silent() -> None:
    model = masked("bert")
    states, sites = cases(model)
    twin = model.in_float64()
    rows, exact, allowed = model.logits(states, sites), twin.logits(states, sites), ~model.forbidden
    assert exact.dtype == np.float64
    assert 0 < gap(rows, exact, allowed) < 1e-4
    assert next(model.model.parameters()).dtype == torch.float32
    assert twin.fingerprint != model.fingerprint and twin.name == model.name
    tokens = np.tile([7, 8], (len(states), 1))
    assert np.abs(twin.score_tokens(states, sites, tokens) - exact[:, 7:9]).max() < 1e-12


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_short_types_give_float32_rows_near_the_exact_ones(dtype: torch.dtype) -> None:
    model = masked("bert")
    states, sites = cases(model)
    short = MaskedLM(network_of("bert").to(dtype), model.codec, "short")
    rows, allowed = short.logits(states, sites), ~model.forbidden
    assert rows.dtype == np.float32
    assert gap(rows, model.logits(states, sites), allowed) < 0.5


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_logits_that_are_not_finite_name_the_model_and_the_site(value: float) -> None:
    model = masked("bert")
    states, sites = cases(model)
    with torch.no_grad():
        model.model.cls.predictions.bias[8] = value
    with pytest.raises(
        InputError, match=rf"model bert: expected finite logits, got NaN or infinity at site {sites[0]} "
    ):
        model.logits(states, sites)
    with pytest.raises(InputError, match=rf"site {sites[2]} of state 2"):
        model.score_tokens(states, sites, np.array([[7], [9], [8], [8], [7], [7]]))
    assert np.isfinite(model.score_tokens(states, sites, np.full((6, 1), 7))).all()


def test_a_logit_that_is_not_finite_at_a_forbidden_token_does_no_harm() -> None:
    model = masked("bert")
    states, sites = cases(model)
    rows = model.logits(states, sites)
    with torch.no_grad():
        model.model.cls.predictions.bias[0] = -np.inf
    assert np.array_equal(model.logits(states, sites), rows)


def test_forbidden_tokens_can_be_given() -> None:
    forbidden = np.ones(V, dtype=bool)
    forbidden[[7, 9]] = False
    model = masked("bert", forbidden=forbidden)
    rows = model.logits(*cases(masked("bert")))
    assert (np.isfinite(rows) == ~forbidden).all()
    with pytest.raises(InputError, match=r"at least one token left"):
        masked("bert", forbidden=np.ones(V, dtype=bool))
    with pytest.raises(InputError, match=rf"bool \[{V}\]"):
        masked("bert", forbidden=np.zeros(3, dtype=bool))


def test_fingerprints_tell_weights_types_and_tokenizers_apart() -> None:
    model, same = masked("bert"), masked("bert")
    assert model.fingerprint == same.fingerprint and len(model.fingerprint) == 64
    with torch.no_grad():
        same.model.cls.predictions.bias[8] += 1e-6
    assert masked("bert", MaskedLM).fingerprint == model.fingerprint
    seen = {model.fingerprint, MaskedLM(same.model, model.codec, "x").fingerprint}
    other = tokenizer_of("bert")
    other.add_tokens(["violin"])
    seen.add(MaskedLM(network_of("bert"), TokenizerCodec(other, V, POSITIONS - 2), "x").fingerprint)
    seen.add(MaskedLM(network_of("bert").half(), model.codec, "x").fingerprint)
    seen.add(masked("electra").fingerprint)
    assert len(seen) == 5


def test_a_tokenizer_shared_with_an_embedder_keeps_its_fingerprint_and_its_texts() -> None:
    """Embedders set truncation and padding on the tokenizer."""
    model, used = masked("bert"), masked("bert")
    used.codec.tokenizer(["the bird", "the"], padding=True, truncation=True, max_length=3)
    assert used.fingerprint == model.fingerprint
    assert len(used.encode("the old river runs").tokens) == 6


@pytest.mark.parametrize(
    ("states", "sites", "message"),
    [
        (np.zeros(4, dtype=np.int64), np.zeros(1, dtype=np.int64), r"whole numbers \[B, L\]"),
        (np.zeros((1, 4)), np.zeros(1, dtype=np.int64), r"states: .*float64"),
        (np.full((1, 4), V), np.zeros(1, dtype=np.int64), f"tokens 0 … {V - 1}"),
        (np.full((1, 4), -1), np.zeros(1, dtype=np.int64), "got -1 … -1"),
        (np.zeros((1, 4), dtype=np.int64), np.array([4]), "columns 0 … 3"),
        (np.zeros((1, 4), dtype=np.int64), np.array([-1]), "sites: "),
        (np.zeros((1, 4), dtype=np.int64), np.zeros(2, dtype=np.int64), r"sites: .*\[1\], got int64 \[2\]"),
        (np.zeros((1, 90), dtype=np.int64), np.zeros(1, dtype=np.int64), "at most 38 columns, got 90"),
    ],
)
def test_states_and_sites_are_checked(states, sites, message: str) -> None:
    model = masked("bert")
    with pytest.raises(InputError, match=message):
        model.logits(states, sites)


def test_hidden_sets_and_candidates_are_checked() -> None:
    model = masked("bert")
    states, sites = cases(model)
    hidden = np.zeros(states.shape, dtype=bool)
    with pytest.raises(InputError, match=r"the site itself"):
        model.predict(states, hidden, sites)
    with pytest.raises(InputError, match=r"hidden: expected bool"):
        model.predict(states, hidden.astype(int), sites)
    with pytest.raises(InputError, match=r"tokens: .*\[6, k\]"):
        model.score_tokens(states, sites, np.zeros(6, dtype=np.int64))
    with pytest.raises(InputError, match=rf"tokens: expected tokens 0 … {V - 1}"):
        model.score_tokens(states, sites, np.full((6, 1), V))
    with pytest.raises(InputError, match=r"batch_tokens"):
        masked("bert", batch_tokens=0)


def test_an_architecture_without_attention_mask_refuses_padding() -> None:
    model = masked("fnet")
    states, sites = cases(model)
    assert model.pad_token_id is None
    padded = np.concatenate([states, np.zeros((len(states), 1), dtype=np.int64)], axis=1)
    with pytest.raises(InputError, match=r"without padding.*column 10.*one length"):
        model.logits(padded, sites)


def test_a_word_that_doubles_as_padding_is_not_hidden() -> None:
    tokenizer = tokenizer_of("bert")
    tokenizer.pad_token = "[SEP]"
    model = MaskedLM(network_of("bert"), TokenizerCodec(tokenizer, V, POSITIONS), "bert")
    states, sites = cases(model)
    allowed = ~model.forbidden
    assert model.pad_token_id is None
    assert gap(model.logits(states, sites), plain_rows(model, states, sites), allowed) < 1e-5


def test_a_mask_token_is_needed_within_the_vocabulary() -> None:
    tokenizer = tokenizer_of("bert")
    tokenizer.mask_token = None
    with pytest.raises(InputError, match=r"mask token within the vocabulary.*without one"):
        MaskedLM(network_of("bert"), TokenizerCodec(tokenizer, V, POSITIONS), "bert")
    late = tokenizer_of("bert")
    late.add_special_tokens({"mask_token": "<late>"})
    assert MaskedLM(network_of("bert"), TokenizerCodec(late, V, POSITIONS), "bert").mask_token_id == V - 3
