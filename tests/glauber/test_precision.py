"""The gap between number types: its definition on laws, and a network that is cast."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch
from scipy.special import softmax

from maskov.errors import InputError
from maskov.glauber.precision import dtype_gap
from maskov.laws import CurieWeiss, Potts, total_variation
from maskov.models import LawModel, load


def test_by_definition() -> None:
    a, b = LawModel(CurieWeiss(5, 1.0)), LawModel(CurieWeiss(5, 1.3))
    found = dtype_gap(a, b, ["01101", "00000"], temperature=0.7)
    gaps = []
    for text in ("01101", "00000"):
        x = a.encode(text).tokens[None]
        for i in range(5):
            p, q = (softmax(m.logits(x, np.array([i]))[0] / 0.7) for m in (a, b))
            gaps.append(total_variation(p, q))
    assert found.contexts == 10
    assert found.mean.value == pytest.approx(np.mean(gaps)) and found.largest.value == pytest.approx(max(gaps))
    assert dtype_gap(a, a, ["01101"]).largest.value == 0


def test_a_network_in_bfloat16() -> None:
    model, text = load("en-tiny"), "the river is old."
    half = copy.copy(model)
    half.model = copy.deepcopy(model.model).to(torch.bfloat16)
    found = dtype_gap(half, model, [text])
    assert 1e-4 < found.mean.value <= found.largest.value < 0.2
    assert found.first == "en-tiny bfloat16" and found.second == "en-tiny float32"
    assert found.to_dict()["largest"]["kind"] == "exact"
    assert dtype_gap(model.in_float64(), model, [text]).largest.value < 1e-5


def test_what_cannot_be_compared() -> None:
    model = LawModel(CurieWeiss(3, 1.0))
    with pytest.raises(InputError, match="at least one"):
        dtype_gap(model, model, [])
    with pytest.raises(InputError, match="temperature"):
        dtype_gap(model, model, ["000"], temperature=0.0)
    with pytest.raises(InputError, match="one vocabulary"):
        dtype_gap(LawModel(Potts(3, 4, 1.0)), model, ["000"])
