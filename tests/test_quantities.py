import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maskov.quantities import Bound, Estimate, Exact, json_number, mean_estimate


def test_only_an_upper_bound_certifies() -> None:
    assert Bound(0.9, "upper").certifies_below(1.0)
    assert not Bound(1.0, "upper").certifies_below(1.0)
    assert not Bound(0.1, "lower").certifies_below(1.0)
    assert not hasattr(Exact(0.1), "certifies_below") and not hasattr(Estimate(0.1, 0.0, 9), "certifies_below")


def test_records_follow_the_contract() -> None:
    """40-interface: {"value", "kind", "stderr", "interval", "n"}, absent keys where they have no meaning."""
    assert Exact(0.5).to_dict() == {"value": 0.5, "kind": "exact"}
    assert Bound(0.5, "lower").to_dict() == {"value": 0.5, "kind": "lower"}
    assert Bound(0.5, "upper", n=4).to_dict() == {"value": 0.5, "kind": "upper", "n": 4}
    record = Estimate(0.71, 0.02, 400, (0.67, 0.75)).to_dict()
    assert record == {"value": 0.71, "kind": "estimate", "stderr": 0.02, "interval": [0.67, 0.75], "n": 400.0}


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_records_hold_no_bare_nan(value: float) -> None:
    assert json_number(value) is None
    records = [Exact(value), Bound(value, "upper"), Estimate(value, value, value, (value, value))]
    for quantity in records:
        json.dumps(quantity.to_dict(), allow_nan=False)
    assert "stderr" not in records[2].to_dict()


def test_numpy_scalars_become_plain_numbers() -> None:
    assert type(Exact(np.float32(0.5)).to_dict()["value"]) is float
    assert type(Bound(np.float64(1), "upper", n=np.int64(3)).to_dict()["n"]) is int


def test_quantities_are_frozen_and_say_their_kind() -> None:
    with pytest.raises(AttributeError):
        Exact(1.0).value = 2.0  # type: ignore[misc]
    assert (
        "exact" in str(Exact(1.0))
        and "lower bound" in str(Bound(1.0, "lower"))
        and "estimate" in str(Estimate(1, 0.1, 5))
    )
    assert str(Bound(2.0, "upper")).startswith("<=")


@settings(max_examples=20, deadline=None)
@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30))
def test_mean_estimate(values: list[float]) -> None:
    e = mean_estimate(values)
    assert e.value == pytest.approx(np.mean(values), abs=1e-6) and e.n == len(values)
    assert e.stderr == pytest.approx(np.std(values, ddof=1) / math.sqrt(len(values)), abs=1e-6)
    assert e.interval is not None and e.interval[0] <= e.value <= e.interval[1]


def test_mean_of_one_and_of_none() -> None:
    assert mean_estimate([2.0]).stderr == math.inf and "stderr" not in mean_estimate([2.0]).to_dict()
    with pytest.raises(ValueError, match="at least one value"):
        mean_estimate([])
