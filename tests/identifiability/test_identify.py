"""The one call: its record, its warnings, its messages."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys

import numpy as np
import pytest

from maskov.errors import InputError
from maskov.identifiability import Identification, TableModes, identify
from maskov.laws import ProductMixture, law, reference_mixture

KEYS = {"kl_weights", "kl_joint", "discrepancy", "discrepancy_tokens", "blindness_ratio", "tensorization"}
KEYS |= {"spectral_gap", "mmse", "modulus"}


@pytest.fixture(scope="module")
def found() -> Identification:
    return identify("product?sites=4&gap=0.3&weight=0.3", "0.9*hide:1+0.1*full", against=0.5)


def test_record_has_the_contract(found: Identification) -> None:
    record = found.to_dict()
    assert set(record) >= KEYS
    json.dumps(record, allow_nan=False)
    assert {"visible", "value"} <= set(record["mmse"][0])
    assert record["mmse"][0]["value"] == pytest.approx(0.21)
    for row in record["modulus"]:
        assert row["lower"]["kind"] == "lower" and row["upper"]["kind"] == "upper"
        assert row["lower"]["value"] <= row["searched"]["value"] <= row["upper"]["value"]
    assert record["kl_weights"]["kind"] == "exact"
    assert record["kl_weights"]["value"] == pytest.approx(0.7 * np.log(1.4) + 0.3 * np.log(0.6))
    assert record["spectral_gap"]["value"] <= record["blindness_ratio"]["value"]
    assert record["tensorization"]["kind"] == "lower"
    assert record["tensorization"]["value"] >= 1 / record["spectral_gap"]["value"] * (1 - 1e-12)


def test_result_is_frozen_and_readable(found: Identification) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.law = "other"  # type: ignore[misc]
    assert "blindness_ratio" in found.table() and "<" in found._repr_html_()


def test_same_seed_same_answer_where_sampled() -> None:
    p = "markov?sites=18&symbols=2&stay=0.9,0.6&weight=0.3"
    a, b = (identify(p, "fixed:0.5", epsilons=[1e-2], seed=3) for _ in range(2))
    assert a.to_dict() == b.to_dict() and a.how == "sampling"
    record = a.to_dict()
    assert record["discrepancy"]["kind"] == "estimate"
    assert record["spectral_gap"] is None and any("spectral gap" in text for text in a.warnings)
    assert record["pinning"] is None or record["pinning"]["floor"]["kind"] in ("exact", "estimate")


def test_a_law_without_modes_gives_its_gap_and_says_so() -> None:
    found = identify("random?sites=3&symbols=2&seed=1", "hide:1")
    assert found.discrepancy is None and found.spectral_gap is not None
    assert "no modes" in found.warnings[0]
    json.dumps(found.to_dict(), allow_nan=False)


def test_an_upper_bound_of_the_gap_where_the_kernel_is_too_large() -> None:
    found = identify(reference_mixture(1000, 0.1, 0.3), "uniform:0.3,0.8", epsilons=[1e-3])
    record = found.to_dict()["spectral_gap"]
    assert record["kind"] == "upper" and any("spectral gap" in text for text in found.warnings)
    assert record["log_value"] == found.blindness_ratio.log_value  # type: ignore[union-attr]


def test_loss_weights_leave_the_chain_alone() -> None:
    a, b = (
        identify(reference_mixture(12, 0.3, 0.3), text, against=0.5, epsilons=[1e-3])
        for text in ("uniform", "uniform*1/t")
    )
    assert a.blindness_ratio == b.blindness_ratio and a.spectral_gap == b.spectral_gap
    assert b.discrepancy_tokens.value == pytest.approx(b.kl_joint.value, rel=1e-12)  # type: ignore[union-attr]
    assert any("loss weights" in text for text in b.warnings)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"against": 0.0}, "above 0 and below 1, got 0"),
        ({"against": 1.5}, "above 0 and below 1, got 1.5"),
        ({"against": [0.2, 0.3, 0.5]}, "2 numbers, got 3"),
        ({"against": [0.2, 0.3]}, "sum to 1, got a sum of 0.5"),
        ({"epsilons": [-0.1]}, "an excess loss of 0 or more"),
    ],
)
def test_bad_numbers(options: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        identify(reference_mixture(8, 0.3, 0.3), "uniform", **options)


@pytest.mark.parametrize(
    ("name", "spec", "message"),
    [
        ("produkt?sites=4", "uniform", "product"),
        ("product?sites=4&gap=0.3&weight=1.5", "uniform", "weight"),
        ("product?sites=4&gap=0.3&weight=0.3", "unifrom", "did you mean uniform"),
        ("product?sites=4&gap=0.3&weight=0.3", "hide:9", "at most 4 hidden sites"),
        ("potts?sites=200&symbols=3&beta=1", "hide:1", "at most 1100 states to enumerate"),
        ("incompatible?sites=3&symbols=2", "hide:1", "a joint law"),
    ],
)
def test_bad_names(name: str, spec: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        identify(name, spec)


def test_bad_modes() -> None:
    with pytest.raises(InputError, match="shape"):
        TableModes([0.5, 0.5], np.zeros((2, 2, 3)))
    with pytest.raises(InputError, match="above 0 and below 1"):
        TableModes([1.0, 0.0], np.zeros((2, 2)))
    with pytest.raises(InputError, match="above 0 and below 1"):
        identify(ProductMixture([1.0, 0.0], [[0.5, 0.5], [0.2, 0.8]], 4), "uniform")


def test_three_modes() -> None:
    p = ProductMixture([0.5, 0.3, 0.2], [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]], 12)
    found = identify(p, "fixed:0.25", against=[0.4, 0.3, 0.3], epsilons=[1e-3])
    assert found.how == "counting" and found.discrepancy is not None and found.kl_joint is not None
    assert found.discrepancy.value < found.kl_joint.value <= found.kl_weights.value  # type: ignore[union-attr]
    assert law(reference_mixture(3, 0.1, 0.3).text).n_sites == 3


def test_three_modes_too_blind_for_the_eigenvalue_give_an_upper_bound() -> None:
    rows = [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]]
    near, far = (
        identify(ProductMixture([0.5, 0.3, 0.2], rows, N), "hide:1", epsilons=()).to_dict()["blindness_ratio"]
        for N in (12, 150)
    )
    assert near["kind"] == "exact" and far["kind"] == "upper" and far["value"] < 1e-9


def test_nothing_here_imports_torch() -> None:
    code = (
        "import sys, maskov, maskov.laws, maskov.schedules, maskov.identifiability\n"
        "maskov.schedules.compare_schedules(['bert'], 16)\n"
        "maskov.identifiability.identify('product?sites=8&gap=0.3&weight=0.3', 'hide:1', epsilons=[0.01])\n"
        "assert not {'torch', 'transformers', 'matplotlib'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
