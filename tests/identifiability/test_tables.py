"""The published tables, all digits: 20-identifiability.md §5 (MMSE, reference law) and §7 (gap and ratio)."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import comb

import numpy as np
import pytest

from maskov.errors import InputError
from maskov.identifiability import (
    blindness_ratio,
    chernoff_information,
    count_experiment,
    count_log_gap,
    count_modes,
    dense_log_gap,
    fit_pinning,
    identify,
    mmse_curve,
    single_site_log_gap,
    view,
)
from maskov.identifiability.bridge import count_kernel, log_count_law, log_gap
from maskov.laws import reference_mixture
from maskov.quantities import Exact
from maskov.schedules import schedule

# g = 0.2, v = 32 is 0.00616944477… in exact rational arithmetic (below); the specification prints …945, rounded twice.
MMSE = {
    0.1: "0.16120782 0.12637712 0.08054807 0.03522128 0.00762621 0.00042853",
    0.2: "0.0751657 0.0312733 0.00616944 2.89420e-4 8.08931e-7 8.36497e-12",
    0.3: "0.0191431 0.00251621 5.34338e-5 3.10918e-8 1.40916e-14 3.96969e-27",
}
BRIDGE = {
    8: ("0.02054035", "0.03069849", "1.4945"),
    16: ("0.002221945", "0.003442286", "1.5492"),
    32: ("4.788198e-5", "6.870838e-5", "1.4350"),
    64: ("2.864378e-8", "3.877798e-8", "1.3538"),
}


def same_digits(value: float, printed: str) -> bool:
    """Whether ``value`` rounds to the printed number (half a unit of its last digit)."""
    mantissa, _, power = printed.partition("e")
    unit = 10.0 ** (int(power or 0) - len(mantissa.partition(".")[2]))
    return abs(value - float(printed)) <= 0.5000001 * unit


@pytest.mark.parametrize("gap", [0.1, 0.2, 0.3])
def test_residual_uncertainty(gap: float) -> None:
    seen = view(reference_mixture(256, gap, 0.3), schedule("hide:1"))
    assert seen is not None
    curve = mmse_curve(seen, np.array([8, 16, 32, 64, 128, 256]))
    for (_, quantity), printed in zip(curve, MMSE[gap].split(), strict=True):
        assert same_digits(quantity.value, printed)


@pytest.mark.parametrize("tenths", [1, 2, 3])
@pytest.mark.parametrize("v", [8, 32, 128])
def test_residual_uncertainty_in_rational_arithmetic(tenths: int, v: int) -> None:
    low, high, w = Fraction(5 - tenths, 10), Fraction(5 + tenths, 10), Fraction(3, 10)
    total = Fraction(0)
    for k in range(v + 1):
        p0, p1 = comb(v, k) * low**k * high ** (v - k), comb(v, k) * high**k * low ** (v - k)
        total += (1 - w) * w * p0 * p1 / ((1 - w) * p0 + w * p1)
    seen = view(reference_mixture(v, tenths / 10, 0.3), schedule("hide:1"))
    assert seen is not None
    assert mmse_curve(seen, np.array([v]))[0][1].value == pytest.approx(float(total), rel=1e-12)


@pytest.mark.parametrize("N", [8, 16, 32, 64])
def test_gap_and_blindness_ratio(N: int) -> None:
    model, hide_one = count_modes(reference_mixture(N, 0.3, 0.3)), schedule("hide:1")
    assert model is not None
    gap = float(np.exp(single_site_log_gap(log_count_law(model))))
    rho = float(np.exp(blindness_ratio(count_experiment(model, hide_one)).log_ratio))
    for value, printed in zip((gap, rho, rho / gap), BRIDGE[N], strict=True):
        assert same_digits(value, printed)
    log_law = log_count_law(model)
    assert log_gap(count_kernel(log_law, hide_one), np.exp(log_law)) == pytest.approx(np.log(gap), rel=1e-7)


@pytest.mark.parametrize("gap", [0.1, 0.2, 0.3])
def test_decay_rate_tends_to_the_chernoff_information(gap: float) -> None:
    law = reference_mixture(10_000, gap, 0.3)
    chernoff = chernoff_information(*law.log_rows)
    assert chernoff == pytest.approx(-0.5 * np.log(1 - 4 * gap**2), abs=1e-9)
    seen = view(law, schedule("hide:1"))
    assert seen is not None
    (_, a), (_, b) = mmse_curve(seen, np.array([5000, 10_000]))
    rate = (a.log_value - b.log_value) / 5000
    assert rate == pytest.approx(chernoff + 0.5 * np.log(2) / 5000, rel=1e-4)  # MMSE ~ v^{-1/2} e^{-cv}


def test_pinning_bound_and_floor_hold_at_every_count() -> None:
    seen = view(reference_mixture(64, 0.3, 0.3), schedule("hide:1"))
    assert seen is not None
    curve = mmse_curve(seen, np.arange(65))
    v, log_mmse = np.arange(65), np.array([q.log_value for _, q in curve])
    fit = fit_pinning(v, log_mmse)
    late = v >= fit.s_pin
    assert (log_mmse[late] <= fit.log_constant - fit.rate.value * v[late] + 1e-12).all()
    assert (np.exp(log_mmse[~late]) >= fit.floor.value).all() and isinstance(fit.floor, Exact)
    assert fit.fitted.interval is not None and fit.fitted.interval[0] < fit.log_constant
    assert fit.s_interval == (fit.s_pin, fit.s_pin)  # every count was given
    assert fit.slopes[0] <= fit.rate.value <= fit.slopes[1]
    assert fit.rate.interval is not None and fit.rate.interval[0] < fit.rate.value < fit.rate.interval[1]


def test_pinning_with_measured_errors_covers_the_truth() -> None:
    rng, v = np.random.default_rng(0), np.arange(1, 30)
    hits = 0
    for _ in range(200):
        noisy = -0.2 * v + 0.05 * rng.standard_normal(len(v))
        rate = fit_pinning(v, noisy, s_pin=1, log_stderr=np.full(len(v), 0.05)).rate
        assert rate.interval is not None
        hits += rate.interval[0] <= 0.2 <= rate.interval[1]
    assert 180 <= hits <= 199


def test_pinning_with_measured_errors_has_intervals_for_all_it_fits() -> None:
    """Truth: log C = 0, c = 0.2, s_pin = ⌈log 2 / 0.2⌉ = 4, η = e^{-0.8}; each covered about 95 times in 100."""
    rng, v = np.random.default_rng(1), np.arange(0, 30)
    hits = np.zeros(3)
    for _ in range(200):
        noisy = -0.2 * v + 0.05 * rng.standard_normal(len(v)) * (v > 0)
        free = fit_pinning(v, noisy, log_stderr=np.where(v > 0, 0.05, 0.0))
        fixed = fit_pinning(v, noisy, s_pin=4, log_stderr=np.where(v > 0, 0.05, 0.0))
        ends = fixed.fitted.interval, fixed.floor.interval  # type: ignore[union-attr]
        assert ends[0] is not None and ends[1] is not None
        hits += [
            ends[0][0] <= 0 <= ends[0][1],
            ends[1][0] <= np.exp(-0.8) <= ends[1][1],
            free.s_interval[0] <= 4 <= free.s_interval[1],
        ]
    assert 180 <= hits[0] <= 199 and 175 <= hits[1] <= 199 and hits[2] >= 190


def test_pinning_of_a_coarse_grid_says_where_s_pin_may_lie() -> None:
    fit = fit_pinning([0, 8, 16, 24, 32], -0.05 * np.array([0, 8, 16, 24, 32]))
    assert fit.s_pin == 16 and fit.s_interval == (9, 16)
    with pytest.raises(InputError, match="at least three counts"):
        fit_pinning([0, 1, 2, 3], [0.0, -0.1, -0.2, -0.3])


def test_blindness_and_recovery() -> None:
    """v_min ≥ s_pin: discrepancy O(e^{−c v_min}) at constant TV; some low-visibility mass: error O(√(ε/π_s))."""
    rows = []
    for N in (50, 100, 200):
        found = identify(reference_mixture(N, 0.2, 0.3), "fixed:0.15", against=0.5, epsilons=[1e-3])
        rows.append((found.v_min, found.discrepancy.log_value, found.modulus[0].lower.value))  # type: ignore[union-attr]
    rates = [-(b[1] - a[1]) / (b[0] - a[0]) for a, b in pairwise(rows)]
    assert rates[-1] == pytest.approx(-0.5 * np.log(1 - 4 * 0.2**2), rel=0.1)
    assert rows[-1][2] == pytest.approx(0.7, abs=1e-6)
    errors = []
    for share in (0.02, 0.08):
        text = f"{1 - share!r}*fixed:0.15+{share!r}*visible:4"
        errors.append(identify(reference_mixture(200, 0.2, 0.3), text, epsilons=[1e-5]).modulus[0].lower_weights.value)
    assert errors[0] / errors[1] == pytest.approx(2, rel=0.02)


def test_block_schedules_against_the_whole_chain() -> None:
    """The count chain's gap is the gap of the chain on all states: dense kernel at N = 8."""
    law = reference_mixture(8, 0.3, 0.3)
    for text in ("hide:1", "hide:3", "fixed:0.5", "uniform", "0.9*hide:1+0.1*full", "cosine"):
        mu, model = schedule(text), count_modes(law)
        assert model is not None
        whole, counted = dense_log_gap(law, mu), count_log_gap(model, mu)
        assert whole == pytest.approx(counted, rel=1e-9)
        assert counted <= blindness_ratio(count_experiment(model, mu)).log_ratio  # type: ignore[operator]


def test_growth_of_tensorization() -> None:
    """Exponential in N for large-visibility schedules, bounded with mass at low visibility."""
    blind, seeing = (
        [identify(reference_mixture(N, 0.3, 0.3), text, epsilons=[1e-3]).tensorization.log_value for N in (20, 40, 80)]  # type: ignore[union-attr]
        for text in ("fixed:0.15", "0.9*fixed:0.15+0.1*full")
    )
    assert blind[2] - blind[1] > 0.85 * 40 * 0.223 * 0.8
    assert max(seeing) < np.log(10) + 0.01
