"""A schedule on a curve: its bounds against the exact answers of ``identify`` on the same law."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from planted import product_exact

from maskov.corpora import CollectionRow, CorpusUncertainty, CurvePoint, MeasuredBound, fit_decay, schedule_on_curve
from maskov.corpora.on_curve import Curve
from maskov.errors import InputError
from maskov.identifiability import identify
from maskov.laws import ProductMixture
from maskov.schedules import schedule

N = 32
COUNTS = [1, 2, 4, 8, 16, 32]
ROWS = np.array([[0.65, 0.35], [0.35, 0.65]])


def made(values: Any, stderr: float = 0.0, counts: list[int] = COUNTS, K: int = 2) -> CorpusUncertainty:
    """A result with a given subset curve and relative standard errors."""
    values = np.asarray(values, dtype=float)

    def bound(x: float) -> MeasuredBound:
        return MeasuredBound(x, "upper", 100, stderr * x, (x * (1 - 1.96 * stderr), x * (1 + 1.96 * stderr)))

    again = values * np.exp(0.01 * np.random.default_rng(0).normal(size=(100, len(values))))
    decay = fit_decay("subset", np.array(counts, float), values, again, np.ones(len(values), bool))
    return CorpusUncertainty(
        collections=tuple(CollectionRow(f"m{k}", 100, 3200, 0, 0, 100) for k in range(K)),
        weights=(1 / K,) * K,
        tokenizer="words",
        length=counts[-1],
        prior_mmse=(1 - 1 / K) / 2,
        prior_entropy=float(np.log(K)),
        curve=tuple(
            CurvePoint(v, "subset", bound(x), bound(2 * x), "unigram", 1, False)
            for v, x in zip(counts, values, strict=True)
        ),
        decays={"subset": decay},
    )


EXACT = made(product_exact(ROWS, COUNTS))
LAW = ProductMixture([0.5, 0.5], ROWS, N)


@pytest.mark.parametrize("spec", ["fixed:0.15", "fixed:0.75", "uniform", "0.9*fixed:0.15+0.1*full", "hide:1"])
def test_bounds_hold_on_an_exact_law(spec: str) -> None:
    on = schedule_on_curve(EXACT, spec, N, epsilons=[1e-4, 1e-3, 1e-2])
    truth = identify(LAW, spec, against=0.55, epsilons=[1e-4, 1e-3, 1e-2])
    assert truth.blindness_ratio is not None and truth.discrepancy is not None
    assert on.blindness_ratio.value >= truth.blindness_ratio.value
    assert on.blindness_plug_in.value == pytest.approx(truth.blindness_ratio.value, rel=0.25)
    up = next(row for row in on.excess_loss if row.mode == "m1" and row.shift > 0)
    assert up.upper.value >= truth.discrepancy.value and up.weight == pytest.approx(0.55)
    assert up.plug_in.value == pytest.approx(truth.discrepancy.value, rel=0.3)
    for row, exact in zip(on.modulus, truth.modulus, strict=True):
        assert row.lower.value <= exact.lower_weights.value * (1 + 1e-9) <= row.upper.value * (1 + 1e-9)
        if "full" in spec:  # where low counts carry the loss, the bound loses little
            assert row.lower.value > 0.5 * exact.lower_weights.value


def test_bounds_are_near_where_the_curve_is_measured() -> None:
    on, truth = schedule_on_curve(EXACT, "visible:8", N), identify(LAW, "visible:8", against=0.55, epsilons=[1e-3])
    assert truth.discrepancy is not None and on.mmse.value == pytest.approx(product_exact(ROWS, [8])[0])
    up = next(row for row in on.excess_loss if row.mode == "m1" and row.shift > 0)
    assert truth.discrepancy.value <= up.upper.value <= 1.45 * truth.discrepancy.value
    assert on.modulus[1].lower.value == pytest.approx(truth.modulus[0].lower_weights.value, rel=0.25)


def test_steps_never_fall_below_the_curve_between_counts() -> None:
    exact = np.concatenate([[0.25], product_exact(ROWS, list(range(1, N + 1)))])
    curve = Curve(EXACT, N)
    assert (curve.values >= exact - 1e-12).all() and curve.values[0] == 0.25
    assert np.abs(np.log(curve.smooth / exact)).max() < 0.15


def test_beyond_the_curve_the_bound_is_flat_and_the_estimate_goes_on() -> None:
    short = made(product_exact(ROWS, COUNTS)[:4], counts=COUNTS[:4])
    on = schedule_on_curve(short, "fixed:0.15", N)
    assert on.beyond == 1 and on.mmse.value == pytest.approx(product_exact(ROWS, [8])[0])
    curve = Curve(short, N)
    assert (np.diff(curve.smooth) <= 0).all() and curve.smooth[-1] < 0.3 * curve.smooth[8]


def test_errors_of_the_curve_reach_every_number() -> None:
    on = schedule_on_curve(made(product_exact(ROWS, COUNTS), stderr=0.1), "fixed:0.75", N)
    low, high = on.blindness_ratio.interval
    assert low == pytest.approx(on.blindness_ratio.value * 0.804) and high == pytest.approx(
        on.blindness_ratio.value * 1.196
    )
    for row in on.modulus:
        assert row.lower.interval[0] < row.lower.value < row.lower.interval[1]
    assert not on.blindness_ratio.certifies_below(on.blindness_ratio.value * 1.1)


def test_loss_weights_enter_the_price_and_not_the_ratio() -> None:
    plain, weighted = (schedule_on_curve(EXACT, spec, N) for spec in ("uniform", "uniform*1/t"))
    assert weighted.blindness_ratio.value == pytest.approx(plain.blindness_ratio.value)
    assert weighted.excess_loss[0].upper.value > plain.excess_loss[0].upper.value
    assert np.isfinite(schedule("uniform*1/t").objective_law(N)).all()


def test_three_modes_and_bad_input() -> None:
    three = made(0.33 * np.exp(-0.1 * np.array(COUNTS)), K=3)
    on = schedule_on_curve(three, "full", 8)
    assert on.blindness_ratio.value == pytest.approx(1) and len(on.excess_loss) == 6
    dear = max(on.excess_loss, key=lambda row: row.upper.value)
    assert dear.upper.value <= dear.kl_weights * (1 + 1e-9)
    for options in ({"shift": 1.5}, {"epsilons": [-1.0]}, {"length": 0}):
        with pytest.raises(InputError):
            schedule_on_curve(three, "full", **{"length": 8, **options})


def test_it_is_read_back_whole(tmp_path: Path) -> None:
    from maskov.corpora import read_corpus
    from maskov.errors import StoreError
    from maskov.report import make_record, validate, write_record

    on = tuple(schedule_on_curve(EXACT, spec, N) for spec in ("bert", "0.95*bert+0.05*full"))
    whole = CorpusUncertainty(**{**vars(EXACT), "schedules": on, "warnings": ("mind",)})
    record = make_record("corpus", {"seed": 0}, whole.to_dict(), ["mind"])
    validate(record)
    write_record(record, tmp_path / "r.json")
    back = read_corpus(tmp_path / "r.json")
    assert back.to_dict() == whole.to_dict() == record["results"] and back.warnings == ("mind",)
    assert schedule_on_curve(back, "bert", N).to_dict() == on[0].to_dict()
    for broken in ({}, {"command": "models", "results": {}}, {"command": "corpus", "results": {"curve": []}}):
        with pytest.raises(StoreError):
            read_corpus(broken)
    (tmp_path / "x.json").write_text("{")
    for path in ("x.json", "none.json"):
        with pytest.raises(StoreError):
            read_corpus(tmp_path / path)
