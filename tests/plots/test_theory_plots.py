"""Figures of schedules and identifiability: drawn from the JSON alone, with what the record says on them."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from maskov.identifiability import bridge_table, identify, switch_rates
from maskov.plots import FIGURES, draw, plot
from maskov.plots.identifiability import plot_bridge, plot_mmse, plot_modulus, plot_tensorization
from maskov.plots.schedules import plot_schedules
from maskov.plots.style import COLOURS
from maskov.schedules import compare_schedules


def through_json(result: Any) -> dict[str, Any]:
    return dict(json.loads(json.dumps(result.to_dict(), allow_nan=False)))


@pytest.fixture(scope="module")
def identified() -> dict[str, Any]:
    return through_json(identify("product?sites=4&gap=0.3&weight=0.3", "0.9*hide:1+0.1*full"))


@pytest.fixture(scope="module")
def bridge() -> dict[str, Any]:
    return through_json(bridge_table([f"product?sites={N}&gap=0.3&weight=0.3" for N in (4, 8)], ["hide:1", "bert"]))


def test_schedules_are_cumulative_laws() -> None:
    table = compare_schedules(["bert", "uniform", "0.95*bert+0.05*full"], 64)
    ax = plot_schedules(through_json(table))
    bert, uniform, mixed = ax.lines
    assert mixed.get_ydata()[1] == pytest.approx(0.05) and bert.get_xdata()[1] == 54
    np.testing.assert_allclose(uniform.get_ydata()[1:-1], np.arange(1, 66) / 65)
    assert [line.get_color() for line in ax.lines] == list(COLOURS[:3])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["bert", "uniform", "0.95*bert+0.05*full"]


def test_residual_uncertainty_in_decades(identified: dict[str, Any]) -> None:
    ax = plot_mmse(identified)
    assert ax.lines[0].get_ydata()[0] == pytest.approx(np.log10(0.21))
    assert "visible sites" in ax.get_xlabel() and "MMSE" in ax.get_ylabel()


def test_modulus_has_all_four_curves(identified: dict[str, Any]) -> None:
    ax = plot_modulus(identified)
    assert len(ax.lines) == 4 and ax.get_xscale() == ax.get_yscale() == "log"
    assert "nats" in ax.get_xlabel()


def test_bridge_and_growth(bridge: dict[str, Any]) -> None:
    ax = plot_bridge(bridge)
    ratio, gap = ax.lines[:2]
    assert (np.array(gap.get_ydata()) <= ratio.get_ydata()).all()
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["4", "8"]
    assert len(plot_tensorization(bridge).lines) == 2


def test_values_below_the_smallest_float_are_drawn() -> None:
    record = through_json(identify("product?sites=2000&gap=0.45&weight=0.3", "bert", epsilons=[1e-3]))
    assert record["mmse"][-1]["value"] is None
    assert min(plot_mmse(record).lines[0].get_ydata()) < -400


def test_a_missing_gap_is_a_hole_in_the_line(bridge: dict[str, Any]) -> None:
    rows = [{**row, "spectral_gap": None} for row in bridge["rows"]]
    assert np.isnan(plot_bridge({"rows": rows}).lines[1].get_ydata()).all()


def test_switching_draws_each_schedule_above_what_its_ratio_allows() -> None:
    values = (np.arange(200)[:, None] // 20 + np.arange(8)) % 2
    rows = [through_json(switch_rates(values, rho, schedule="hide:1")) for rho in (0.1, None)]
    ax = draw(FIGURES["switching"][0], {"rows": rows})
    measured, least = ax.lines[0], next(line for line in ax.lines if line.get_linestyle() == "--")
    assert measured.get_ydata()[0] == pytest.approx(1 - 9 / 199 / 2 / 0.25, rel=0.01)  # 9 switches in 199 steps
    np.testing.assert_allclose(least.get_ydata(), [0.9 ** int(t) for t in measured.get_xdata()])
    dashed = [line for line in ax.lines if line.get_linestyle() == "--" and len(line.get_xdata())]
    assert len(dashed) == 1 and plot("switching", rows[0]).get_xscale() == "log"


@pytest.mark.parametrize("command", ["identify", "bridge"])
def test_every_registered_figure_draws(command: str, identified: dict[str, Any], bridge: dict[str, Any]) -> None:
    record = {"identify": identified, "bridge": bridge}[command]
    for figure in FIGURES[command]:
        assert draw(figure, record).lines
    assert plot(command, record).lines
