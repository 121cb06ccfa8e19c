"""The last layer at the masked site only: the plain forward's rows, whatever the batch, and a twin that is not used."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from builders import ARCHITECTURES, POSITIONS, V, cases, gap, masked, network_of, plain_rows, tokenizer_of

from maskov.models import last_layer
from maskov.models.last_layer import LAST_LAYERS, LastLayer, last_layer_of
from maskov.models.masked_lm import MaskedLM
from maskov.models.text import TokenizerCodec

SHORT = [name for name, (kind, *_) in ARCHITECTURES.items() if kind in LAST_LAYERS]
LAYERS: dict[str, dict[str, Any]] = {"albert": {"num_hidden_layers": 4, "num_hidden_groups": 2, "inner_group_num": 2}}


def _model(name: str, **changes: Any) -> MaskedLM:
    return MaskedLM(network_of(name, **changes), TokenizerCodec(tokenizer_of(name), V, POSITIONS - 2), name)


def _whole(model: MaskedLM) -> MaskedLM:
    """The same model with its last layer at every site."""
    model.__dict__["last_layer"] = None
    return model


@pytest.mark.parametrize("name", SHORT)
@pytest.mark.parametrize("layers", [1, 2, 3])
def test_the_plain_forward(name: str, layers: int) -> None:
    model = _model(name, num_hidden_layers=layers)
    assert model.last_layer is not None
    states, sites = cases(model)
    assert gap(model.logits(states, sites), plain_rows(model, states, sites), ~model.forbidden) < 1e-5


@pytest.mark.parametrize("name", SHORT)
def test_in_double_precision(name: str) -> None:
    model = _model(name).in_float64()
    states, sites = cases(model)
    rows = model.logits(states, sites)
    assert rows.dtype == np.float64 and model.last_layer is not None
    assert gap(rows, _whole(model).logits(states, sites), ~model.forbidden) < 1e-10


def test_layers_that_share_weights() -> None:
    model = _model("albert", **LAYERS["albert"])
    states, sites = cases(model)
    assert model.last_layer is not None
    assert gap(model.logits(states, sites), plain_rows(model, states, sites), ~model.forbidden) < 1e-5


@pytest.mark.parametrize("name", SHORT)
def test_padding_and_several_hidden_sites(name: str) -> None:
    model = _model(name)
    states, sites = cases(model)
    states = np.pad(states, ((0, 0), (0, 3)), constant_values=model.pad_token_id)
    states[1:, -3:] = states[1:, 1:4]  # one padded row beside others
    hidden = np.zeros(states.shape, dtype=bool)
    hidden[:, 2:5] = True
    hidden[np.arange(len(states)), sites] = True
    rows = model.predict(states, hidden, sites)
    assert gap(rows, _whole(model).predict(states, hidden, sites), ~model.forbidden) < 1e-5


@pytest.mark.parametrize("implementation", ["eager", "sdpa"])
@pytest.mark.parametrize("name", ["bert", "modernbert", "esm"])
def test_either_attention(name: str, implementation: str) -> None:
    model = _model(name, attn_implementation=implementation)
    states, sites = cases(model)
    assert model.last_layer is not None
    assert gap(model.logits(states, sites), plain_rows(model, states, sites), ~model.forbidden) < 1e-5


@pytest.mark.parametrize("name", ["bert", "albert", "esm", "distilbert"])
def test_a_row_does_not_depend_on_its_batch(name: str) -> None:
    """To rounding everywhere; the engine's memory makes a run's bits depend on it where a kernel's rounding does."""
    model = masked(name)
    states, sites = cases(model, rows=9)
    rows, allowed = model.logits(states, sites), ~model.forbidden
    for size in (1, 2, 3, 4, 7):
        assert gap(model.logits(states[:size], sites[:size]), rows[:size], allowed) < 1e-5


def test_the_network_is_left_as_it_was() -> None:
    model = _model("bert")
    states, sites = cases(model)
    before, prints = plain_rows(model, states, sites), model.fingerprint
    model.logits(states, sites)
    assert "forward" not in vars(model.model.bert.encoder.layer[-1])
    assert np.array_equal(plain_rows(model, states, sites), before)
    assert MaskedLM(model.model, model.codec, "again").fingerprint == prints


def test_a_decoder_runs_whole() -> None:
    network = network_of("bert")
    assert last_layer_of(network) is not None
    network.config.is_decoder = True
    assert last_layer_of(network) is None
    assert last_layer_of(network_of("distilbert")) is None


def _forgets_the_residual(layer: Any, hidden: torch.Tensor, sites: Any, mask: Any, angles: Any) -> torch.Tensor:
    return LAST_LAYERS["BertForMaskedLM"].at_site(layer, hidden, sites, mask, angles) - sites.of(hidden)


def _fails(*_: Any) -> torch.Tensor:
    raise TypeError("another release of the library")


@pytest.mark.parametrize("wrong", [_forgets_the_residual, _fails])
def test_what_fails_its_trial_is_not_used(monkeypatch: pytest.MonkeyPatch, wrong: Any) -> None:
    twin: LastLayer = LAST_LAYERS["BertForMaskedLM"]._replace(at_site=wrong)
    monkeypatch.setitem(last_layer.LAST_LAYERS, "BertForMaskedLM", twin)
    model = _model("bert")
    assert model.last_layer is None
    states, sites = cases(model)
    assert gap(model.logits(states, sites), plain_rows(model, states, sites), ~model.forbidden) < 1e-5


@pytest.mark.parametrize("name", ["bert", "modernbert", "deberta", "mpnet"])
def test_parts_of_several_widths(name: str) -> None:
    """One decoder for all of them, or none where the head is unknown: the rows of each part alone."""
    model = masked(name)
    states, sites = cases(model, rows=7)
    parts = [(states, sites), (states[:2, :6], np.array([1, 4])), (states[:1, :4], np.array([2]))]
    for rows, part in zip(model.logits_of_parts(parts), parts, strict=True):
        assert rows.shape == (len(part[1]), V) and (rows[:, model.forbidden] == -np.inf).all()
        assert gap(rows, model.logits(*part), ~model.forbidden) < 1e-5
