"""Drift of traces whose answer is known: frozen chains, chains of independent sites, hand-made paths."""

from __future__ import annotations

import json

import numpy as np
import pytest

from maskov.drift import Cached, OneHot, drift_curves
from maskov.errors import InputError
from maskov.glauber import glauber
from maskov.models import load

N = 12
FREE = f"law:ising-ring?sites={N}&beta=0"  # independent fair sites: everything is known


@pytest.fixture(scope="module")
def model():
    return load(FREE)


@pytest.fixture(scope="module")
def run(model):
    rng = np.random.default_rng(0)
    texts = [model.decode(x) for x in rng.integers(2, size=(60, N))]
    return glauber(model, texts, temperature=[1.0], steps=20 * N, seed=5)


def test_drift_of_independent_sites_follows_its_law(model, run) -> None:
    """A site is redrawn by time t with chance 1 − (1 − 1/n)^t and then differs with chance 1/2."""
    curve = drift_curves(run, model, times=[0, 1, 6, 12, 24, 60, 240]).curves[0]
    law = 0.5 * (1 - (1 - 1 / N) ** curve.times)
    for t, estimate, expected in zip(curve.times, curve.drift, law, strict=True):
        assert (
            abs(estimate.value - expected) <= 4.5 * estimate.stderr
            if t
            else estimate.value == pytest.approx(0, abs=1e-12)
        )
    assert curve.drift[-1].stderr == pytest.approx(np.sqrt(0.25 / N / 60), rel=0.4)


def test_both_plateaus_are_the_distance_of_independent_states(model, run) -> None:
    result = drift_curves(run, model)
    for plateau in (result.plateau, result.curves[0].late_plateau):
        assert abs(plateau.value - 0.5) < 4.5 * plateau.stderr < 0.1


def test_medians_in_sweeps_are_steps_over_sites(model, run) -> None:
    curve = drift_curves(run, model, fraction=0.5).curves[0]
    assert curve.hitting_median_sweeps.value == pytest.approx(curve.hitting_median.value / N)
    assert curve.bracket[0] < curve.hitting_median.value == curve.bracket[1]
    assert curve.met_fraction.value == np.mean([h["met"] for h in curve.hits]) == 1.0


def test_a_frozen_chain_never_drifts_and_is_censored(model, fake_trace) -> None:
    starts = np.eye(N, dtype=np.int64)[:4]
    frozen = fake_trace(np.repeat(starts[None], 51, axis=0), np.ones(4))
    result = drift_curves(frozen, model)
    curve = result.curves[0]
    assert all(abs(q.value) < 1e-12 for q in curve.drift)
    assert curve.hitting_median is None and curve.met_fraction.value == 0
    assert curve.hits == ({"step": 50, "met": False},) * 4
    assert result.to_dict()["curves"][0]["hitting_median"] is None


def test_a_hand_made_path_is_measured_as_counted(model, fake_trace) -> None:
    path = np.zeros((9, 2, N), dtype=np.int64)
    path[:, 1] = 1  # two starts that differ everywhere: plateau 1, level 0.5
    for t in range(1, 9):
        path[t:, 0, t] = 1
        path[t:, 1, :t] = 0 if t <= 3 else path[t, 1, :t]
    curve = drift_curves(fake_trace(path, np.ones(2)), model, times=range(9), fraction=0.5).curves[0]
    assert [h["step"] for h in curve.hits] == [6, 8] and [h["met"] for h in curve.hits] == [True, False]
    assert curve.drift[3].value == pytest.approx(3 / N)


def test_temperatures_keep_apart(model, fake_trace) -> None:
    path = np.zeros((5, 4, N), dtype=np.int64)
    path[:, 1::2, 0] = 1
    path[2:, 2:, 1:] = 1
    curves = drift_curves(fake_trace(path, np.array([0.5, 0.5, 2.0, 2.0])), model, times=range(5), fraction=0.1).curves
    assert [c.temperature for c in curves] == [0.5, 2.0]
    assert curves[0].met_fraction.value == 0 and curves[1].hitting_median.value == 2


def test_late_plateau_needs_no_second_start(model) -> None:
    one = glauber(model, ["0" * N], temperature=1.0, steps=120, chains=12, seed=1)
    with pytest.raises(InputError, match="two different starts"):
        drift_curves(one, model)
    result = drift_curves(one, model, plateau_from="late")
    curve = result.curves[0]
    assert result.plateau is None and curve.passages == 1 and curve.hitting_median is not None
    assert abs(curve.late_plateau.value - 0.5) < 0.1


def test_passages_can_stand_for_independent_texts(model) -> None:
    one = glauber(model, ["0" * N], temperature=1.0, steps=30, chains=3)
    result = drift_curves(one, model, passages=["0" * N, "1" * N, "01" * (N // 2)])
    assert result.plateau.value == pytest.approx((1 + 0.5 + 0.5) / 3)


def test_equal_texts_are_encoded_once(model, fake_trace) -> None:
    cached = Cached(OneHot(model))
    frozen = fake_trace(np.repeat(np.eye(N, dtype=np.int64)[None, :4], 1001, axis=0), np.ones(4))
    drift_curves(frozen, model, embedder=cached)
    assert cached.misses == 4


def test_the_record_is_json_with_the_contracts_words(model, run) -> None:
    record = drift_curves(run, model).to_dict()
    assert json.loads(json.dumps(record, allow_nan=False)) == record
    assert record["embedder"] == "onehot" and record["plateau"]["kind"] == "estimate"
    assert {"temperature", "times", "sweeps", "drift", "hitting_median", "met_fraction"} <= set(record["curves"][0])


def test_same_seed_same_result(model, run) -> None:
    a, b = (drift_curves(run, model, seed=3).to_dict() for _ in range(2))
    assert a == b


def test_networks_with_ragged_texts_run_through(save_encoder, tmp_path) -> None:
    """A random masked model, texts of two lengths, its own hidden states as the embedder; then its dwell segments."""
    from maskov.basins import dwell_segments

    network = load(str(save_encoder(tmp_path / "mlm", "BertForMaskedLM")))
    trace = glauber(network, ["abcdefgh", "jihg"], temperature=[0.05, 3.0], steps=40, seed=2)
    result = drift_curves(trace, network, "pooled")
    assert result.embedder == "pooled" and [c.sites for c in result.curves] == [6.0, 6.0]
    assert result.curves[1].drift[-1].value > 0
    assert {s.sites for s in dwell_segments(trace, network, longest=12).segments} == {4, 8}


def test_results_show_a_line_per_temperature(model, run) -> None:
    text = str(drift_curves(run, model))
    assert "embedder" in text and "τ = 1 " in text and "median" in text and "60 chains" in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fraction": 0}, "fraction"),
        ({"fraction": 1.5}, "fraction"),
        ({"plateau_from": "middle"}, "plateau_from: expected starts or late"),
        ({"times": []}, "times"),
        ({"times": [0.5]}, "whole steps"),
        ({"times": [0, 10**6]}, "the run's length"),
        ({"times": [-1]}, "times"),
        ({"embedder": 3}, "embedder"),
        ({"embedder": "./nowhere"}, "not there"),
    ],
)
def test_bad_input_is_named(model, run, options, message: str) -> None:
    with pytest.raises(InputError, match=message):
        drift_curves(run, model, **options)


def test_a_bare_law_cannot_write_texts(model, run) -> None:
    with pytest.raises(InputError, match="decodes states"):
        drift_curves(run, model.law)
