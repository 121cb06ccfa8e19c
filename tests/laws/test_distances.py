import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maskov.errors import InputError
from maskov.laws import hellinger, kullback_leibler, random_tabular, total_variation


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.05, 5))
def test_orders_of_the_distances(seed: int, concentration: float) -> None:
    """Pinsker TV² ≤ KL/2; H² ≤ TV ≤ √2 H; KL by its definition."""
    a, b = random_tabular(3, 2, seed, concentration).table, random_tabular(3, 2, seed + 1, concentration).table
    tv, kl, h = total_variation(np.exp(a), np.exp(b)), kullback_leibler(a, b), hellinger(a, b)
    assert 0 <= tv <= 1 and tv**2 <= kl / 2 + 1e-12 and h**2 <= tv + 1e-12 and tv <= np.sqrt(2) * h + 1e-12
    assert abs(kl - (np.exp(a) * (a - b)).sum()) < 1e-9 * max(1, kl)


def test_close_laws_do_not_cancel() -> None:
    """KL of a tilt by t is t²/2 × variance: 1e-16 is not lost in rounding."""
    p, t = np.array([0.3, 0.7]), 1e-8
    log_q = np.log(p) + t * np.array([1.0, 0.0])
    log_q -= np.log1p(0.3 * np.expm1(t))
    assert abs(kullback_leibler(np.log(p), log_q) / (t**2 / 2 * 0.21) - 1) < 0.2


def test_impossible_outcomes() -> None:
    half, sure = np.log([0.5, 0.5]), np.array([0.0, -np.inf])
    assert kullback_leibler(half, sure) == np.inf and kullback_leibler(sure, sure) == 0
    assert abs(kullback_leibler(sure, half) - np.log(2)) < 1e-15
    assert hellinger(sure, np.array([-np.inf, 0.0])) == 1.0


def test_shapes_and_nan() -> None:
    for f in (total_variation, kullback_leibler, hellinger):
        with pytest.raises(InputError, match="one shape"):
            f([0.0, 1.0], [1.0])
        with pytest.raises(InputError, match="NaN"):
            f([np.nan, 1.0], [1.0, 0.0])
