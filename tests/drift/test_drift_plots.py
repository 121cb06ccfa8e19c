"""Plots of drift and dwell read the record alone."""

from __future__ import annotations

import io
import json

import pytest

from maskov.basins import dwell_segments
from maskov.drift import drift_curves
from maskov.glauber import glauber
from maskov.models import load
from maskov.plots.drift import plot_drift, plot_dwell

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def records():
    model = load("law:curie-weiss?sites=8&beta=1")
    run = glauber(model, ["00000000", "11110000", "01010101"], temperature=[0.3, 3.0], steps=80, seed=0)
    results = drift_curves(run, model, fraction=0.5), dwell_segments(run, model, longest=4)
    return [json.loads(json.dumps(r.to_dict())) for r in results]


def svg(ax) -> str:
    out = io.StringIO()
    ax.figure.savefig(out, format="svg")
    return out.getvalue()


def test_drift_has_units_a_line_per_temperature_and_the_plateau(records) -> None:
    ax = plot_drift(records[0])
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["τ = 0.3", "τ = 3", "independent passages", "0.5 of it: hit"]
    assert "sweeps" in ax.get_xlabel() and "cosine" in ax.get_ylabel() and "onehot" in ax.get_ylabel()
    assert ax.get_xscale() == "symlog" and "<svg" in svg(ax)


def test_drift_without_a_plateau_or_medians(records) -> None:
    record = json.loads(json.dumps(records[0]))
    record["plateau"] = None
    for curve in record["curves"]:
        curve["hitting_median_sweeps"] = None
    assert len(plot_drift(record).get_legend().get_texts()) == 2


def test_dwell_shows_the_longest_on_top_and_any_text(records) -> None:
    record = json.loads(json.dumps(records[1]))
    record["segments"][0]["text"] = r"costs $5 & <b>\alpha</b> " + "x" * 80
    record["segments"][1]["text"] = ""
    ax = plot_dwell(record)
    assert ax.yaxis_inverted() and "sweeps" in ax.get_xlabel()
    assert len(ax.get_yticklabels()) == 4 and "<svg" in svg(ax)


def test_plots_draw_into_given_axes(records) -> None:
    from matplotlib.figure import Figure

    for plot, record in zip((plot_drift, plot_dwell), records, strict=True):
        ax = Figure().subplots()
        assert plot(record, ax=ax) is ax
