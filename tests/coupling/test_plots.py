"""Figures of meeting times and of the lagged bound read the record alone."""

from __future__ import annotations

import io
import json

import pytest

from maskov.coupling import meeting_times
from maskov.models import load
from maskov.plots.coupling import plot_meeting, plot_tv_bound

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def record():
    model = load("law:curie-weiss?sites=12&beta=1")
    found = meeting_times(model, temperatures=[0.4, 2.0], n_pairs=12, max_steps=150, lag=12)
    return json.loads(json.dumps(found.to_dict()))


def svg(ax) -> str:
    out = io.StringIO()
    ax.figure.savefig(out, format="svg")
    return out.getvalue()


def test_survival_curves_start_at_one_and_mark_censoring(record) -> None:
    cold, warm = record["cells"]
    assert cold["censored"] > 0 and warm["censored"] == 0
    ax = plot_meeting(record)
    ticks = [line for line in ax.lines if line.get_marker() == "|"]
    assert len(ticks) == 1 and ticks[0].get_xdata()[0] == pytest.approx(150 / 12)
    assert ticks[0].get_ydata()[0] == pytest.approx(cold["censored"] / 12)
    curves = [line for line in ax.lines if line.get_marker() != "|"]
    assert [line.get_ydata()[0] for line in curves] == [1, 1] and curves[1].get_ydata()[-1] == 0
    assert [t.get_text() for t in ax.get_legend().get_texts()] == [
        f"τ = 0.4 ({12 - cold['censored']} of 12 met)",
        "τ = 2 (12 of 12 met)",
    ]
    assert "sweeps" in ax.get_xlabel() and ax.get_xscale() == "symlog" and "<svg" in svg(ax)


def test_one_pair_and_none_met(record) -> None:
    model = load("law:curie-weiss?sites=12&beta=3")
    found = json.loads(json.dumps(meeting_times(model, n_pairs=1, max_steps=5, lag=2).to_dict()))
    assert found["cells"][0]["met_fraction"]["value"] == 0
    assert "<svg" in svg(plot_meeting(found)) and "<svg" in svg(plot_tv_bound(found))


def test_bound_is_drawn_where_there_is_one(record) -> None:
    marked = json.loads(json.dumps(record))
    marked["cells"][0]["tv_bound"]["censored"] = 3
    ax = plot_tv_bound(marked)
    assert len(ax.lines) == 2 and ax.get_ylim()[1] <= 1.05
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["τ = 0.4, 3 censored", "τ = 2"]
    assert "total variation" in ax.get_ylabel()
    bare = json.loads(json.dumps(record))
    for cell in bare["cells"]:
        cell["tv_bound"] = None
    assert len(plot_tv_bound(bare).lines) == 0


def test_plots_draw_into_given_axes_and_results_draw_themselves(record) -> None:
    from matplotlib.figure import Figure

    for plot in (plot_meeting, plot_tv_bound):
        ax = Figure().subplots()
        assert plot(record, ax=ax) is ax
    assert meeting_times(load("law:curie-weiss?sites=4&beta=1"), n_pairs=3).plot().get_xlabel().startswith("time")
