"""Dwell segments of real runs on laws with known traps."""

from __future__ import annotations

import json

import numpy as np
import pytest

from maskov.basins import dwell_segments
from maskov.errors import InputError
from maskov.glauber import glauber
from maskov.models import load

HOT, COLD = 5.0, 0.25


@pytest.fixture(scope="module")
def model():
    return load("law:curie-weiss?sites=12&beta=1")


@pytest.fixture(scope="module")
def run(model):
    return glauber(model, ["000000000000", "010101010101"], temperature=[COLD, HOT], steps=600, seed=3)


def test_the_longest_are_the_cold_traps(model, run) -> None:
    result = dwell_segments(run, model, radius=1, longest=3)
    top = result.segments[0]
    assert top.temperature == COLD and top.perfect and top.text in ("0" * 12, "1" * 12)
    assert [s.length for s in result.segments] == sorted((s.length for s in result.segments), reverse=True)
    assert top.sweeps == top.length / 12 and top.sites == 12 and top.radius == 1


def test_margins_are_those_of_the_reference(model, run) -> None:
    """Curie–Weiss at all plus: s(+) − s(−) = 2β(n − 1)/n."""
    top = dwell_segments(run, model, radius=1, longest=1).segments[0]
    m = 2 * 11 / 12
    assert top.min_margin.value == pytest.approx(m)
    assert top.leave.value == pytest.approx(1 / (1 + np.exp(m / COLD)))


def test_every_state_of_a_segment_is_near_its_reference(model, run) -> None:
    states = [run.states_at(t) for t in range(run.steps + 1)]
    for s in dwell_segments(run, model, radius=2, longest=8).segments:
        centre = states[s.reference][s.chain]
        distances = [(states[t][s.chain] != centre).sum() for t in range(s.start, s.start + s.length)]
        assert max(distances) <= 2
        assert model.decode(centre) == s.text
        assert s.ended == (s.start + s.length - 1 < run.steps)


def test_cells_count_all_time_once(model, run) -> None:
    for cell in dwell_segments(run, model, radius=1).cells:
        assert cell.segments * cell.mean_length.value == pytest.approx(cell.chains * (run.steps + 1))
        assert cell.mean_length.value <= cell.typical_length.value <= cell.longest
    cold, hot = dwell_segments(run, model, radius=1).cells
    assert cold.typical_length.value > 10 * hot.typical_length.value


def test_a_share_of_the_sites_is_rounded_up(model, run) -> None:
    radii = [dwell_segments(run, model, radius=r, longest=1).segments[0].radius for r in (0, 0.05, 0.25, 0.26, 2)]
    assert radii == [0, 1, 3, 4, 2]


def test_the_record_is_json_with_quantities(model, run) -> None:
    record = dwell_segments(run, model, longest=2).to_dict()
    assert json.loads(json.dumps(record, allow_nan=False)) == record
    segment = record["segments"][0]
    assert {"temperature", "chain", "start", "length", "sites", "text", "perfect", "min_margin", "radius"} <= set(
        segment
    )
    assert segment["min_margin"]["kind"] == "exact"


@pytest.mark.parametrize("radius", [-1, 1.5, float("nan"), float("inf")])
def test_a_bad_radius_is_named(model, run, radius: float) -> None:
    with pytest.raises(InputError, match="radius"):
        dwell_segments(run, model, radius=radius)


def test_other_bad_input_is_named(model, run) -> None:
    with pytest.raises(InputError, match="longest"):
        dwell_segments(run, model, longest=0)
    with pytest.raises(InputError, match="decodes"):
        dwell_segments(run, model.law)
