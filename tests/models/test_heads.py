"""The gathered head gives what the plain forward gives, on every architecture and through a saved folder."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from builders import (
    ARCHITECTURES,
    POSITIONS,
    TEXT,
    UNKNOWN,
    V,
    cases,
    gap,
    masked,
    network_of,
    plain_rows,
    save,
    tokenizer_of,
)

from maskov.conformance import check_model
from maskov.models import MaskovWarning, load
from maskov.models.heads import HEADS, decode_some, head_of

EVERY = pytest.mark.parametrize("name", ARCHITECTURES)


def test_every_registered_head_is_tested() -> None:
    assert set(HEADS) == {kind for kind, *_ in ARCHITECTURES.values()}


@EVERY
def test_logits_are_those_of_the_plain_forward(name: str) -> None:
    model = masked(name)
    states, sites = cases(model)
    rows, allowed = model.logits(states, sites), ~model.forbidden
    plain = plain_rows(model, states, sites)
    assert rows.dtype == np.float32 and rows.shape == (len(states), V)
    assert np.abs(plain[:, allowed]).max() > 0.5
    assert gap(rows, plain, allowed) < 1e-5
    assert (rows[:, ~allowed] == -np.inf).all()


@EVERY
def test_predictions_are_those_of_the_plain_forward_with_the_same_sites_masked(name: str) -> None:
    """ESM scales its embeddings by the share of masked tokens, so several hidden sites are a case of their own."""
    model = masked(name)
    states, sites = cases(model)
    hidden = np.zeros(states.shape, dtype=bool)
    hidden[:, 2:5] = True
    hidden[np.arange(len(states)), sites] = True
    rows, allowed = model.predict(states, hidden, sites), ~model.forbidden
    assert gap(rows, plain_rows(model, states, sites, hidden), allowed) < 1e-5


@EVERY
def test_the_laws_of_conditionals_hold(name: str) -> None:
    """Own token, batch, padding, scores against logits, forbidden tokens, hidden tokens."""
    model = masked(name)
    states, sites = cases(model, rows=4)
    checks = check_model(model, states, sites, tolerance=1e-4)
    assert {"own_token", "batch", "padding", "scores", "forbidden", "predict", "hidden"} <= set(checks)
    assert checks["padding"].checked == 4


@EVERY
def test_scores_are_gathered_logits(name: str) -> None:
    model = masked(name)
    states, sites = cases(model)
    tokens = np.random.default_rng(0).integers(V, size=(len(states), 4))
    tokens[0, 0] = model.mask_token_id
    scores = model.score_tokens(states, sites, tokens)
    expected = np.take_along_axis(model.logits(states, sites), tokens, axis=1)
    assert scores.dtype == np.float64
    assert (np.isneginf(scores) == model.forbidden[tokens]).all() and np.isneginf(scores[0, 0])
    allowed = ~model.forbidden[tokens]
    assert np.abs(scores[allowed] - expected[allowed]).max() < 1e-5
    many = np.tile(np.arange(V), (len(states), 1))
    assert np.allclose(model.score_tokens(states, sites, many), model.logits(states, sites), atol=1e-5)


@EVERY
def test_a_saved_folder_loads_as_the_same_model(name: str, tmp_path: Path) -> None:
    network = network_of(name)
    model = load(str(save(tmp_path, network, tokenizer_of(name))))
    states, sites = cases(model)
    allowed = ~model.forbidden
    assert model.architecture == ARCHITECTURES[name][0] and model.head is not None
    assert gap(model.logits(states, sites), plain_rows(model, states, sites), allowed) < 1e-5
    assert model.fingerprint == load(str(tmp_path)).fingerprint
    assert model.decode(model.encode(TEXT).tokens) == TEXT


@pytest.mark.parametrize(
    ("name", "limit"),
    [("bert", POSITIONS), ("roberta", POSITIONS - 2), ("esm-absolute", POSITIONS - 2), ("mpnet", POSITIONS - 2)],
)
def test_the_longest_text_fits_and_one_more_token_is_refused(name: str, limit: int, tmp_path: Path) -> None:
    """RoBERTa-like tables of positions lose the rows up to their padding row: 512 usable of 514."""
    from maskov.errors import InputError

    folder = save(tmp_path, network_of(name), tokenizer_of(name))
    if name in UNKNOWN:
        with pytest.warns(MaskovWarning):
            model = load(str(folder))
    else:
        model = load(str(folder))
    longest = model.encode(" ".join(["bird"] * (limit - 2)))
    assert np.isfinite(model.logits(longest.tokens[None], np.array([limit - 2])).max())
    with pytest.raises(InputError, match=rf"at most {limit} tokens.*{limit + 1} tokens.*shorten or split"):
        model.encode(" ".join(["bird"] * (limit - 1)))


@pytest.mark.parametrize("name", UNKNOWN)
def test_an_unknown_architecture_warns_once_and_is_right(name: str, tmp_path: Path) -> None:
    folder = save(tmp_path, network_of(name), tokenizer_of(name))
    with pytest.warns(MaskovWarning, match=r"unknown architecture") as caught:
        model = load(str(folder))
    assert len(caught) == 1 and model.head is None
    states, sites = cases(model)
    allowed = ~model.forbidden
    plain = plain_rows(model, states, sites)
    assert gap(model.logits(states, sites), plain, allowed) < 1e-5
    tokens = np.tile(np.flatnonzero(allowed)[:3], (len(states), 1))
    assert np.allclose(model.score_tokens(states, sites, tokens), np.take_along_axis(plain, tokens, 1), atol=1e-5)
    model.in_float64()


def test_a_class_of_the_same_name_from_elsewhere_is_unknown() -> None:
    bert = network_of("bert")
    other = type("BertForMaskedLM", (type(bert),), {"__module__": "brought_along"})
    bert.__class__ = other
    assert head_of(bert) is None


def test_few_and_many_candidates_agree() -> None:
    model = masked("bert")
    features = torch.randn(3, 16, generator=torch.Generator().manual_seed(0))
    tokens = torch.tensor([[7, 9], [8, 8], [20, 6]])
    many = tokens.repeat(1, V)
    few = decode_some(model.head, model.model, features, tokens)
    assert torch.allclose(decode_some(model.head, model.model, features, many)[:, :2], few, atol=1e-5)


@pytest.mark.parametrize("name", ["deberta-new-head", "deberta-v2-new-head"])
def test_original_deberta_checkpoints_are_known_by_their_tensors(name: str, tmp_path: Path) -> None:
    """Their configurations say nothing of the layout of the head."""
    folder = save(tmp_path, network_of(name), tokenizer_of(name))
    config = json.loads((folder / "config.json").read_text())
    del config["legacy"]
    (folder / "config.json").write_text(json.dumps(config))
    model = load(str(folder))
    states, sites = cases(model)
    exact = masked(name)
    assert gap(model.logits(states, sites), exact.logits(states, sites), ~model.forbidden) < 1e-5
