"""The figure of a phase diagram reads the record alone: hatched bounds, crossover with interval, collapse."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from maskov.phase import phase_diagram
from maskov.plots.phase import plot_collapse, plot_phase
from maskov.report.sections_phase import phase as section

pytest.importorskip("matplotlib")

TAU = [0.4, 0.9, 1.1, 2.0, 3.0]


@pytest.fixture(scope="module")
def record() -> Any:
    found = phase_diagram(
        "law:curie-weiss?beta=1&sites=4", temperatures=TAU, sites=[8, 12, 16], pairs=10, coupling="uniform"
    )
    return json.loads(json.dumps(found.to_dict()))


def svg(ax: Any) -> str:
    out = io.StringIO()
    ax.figure.savefig(out, format="svg")
    return out.getvalue()


def test_bounds_are_hatched_and_marked_and_estimates_are_not(record: Any) -> None:
    ax = plot_phase(record)
    bounds = [c for c in record["cells"] if c["median_sweeps"]["kind"] == "lower"]
    assert 0 < len(bounds) < len(record["cells"])
    assert len([p for p in ax.patches if p.get_hatch()]) == len(bounds)
    texts = [t.get_text() for t in ax.texts]
    assert len(texts) == len(record["cells"]) and sum(t.startswith("≥") for t in texts) == len(bounds)
    assert [t.get_text() for t in ax.get_yticklabels()] == ["8", "12", "16"]
    assert "temperature" in ax.get_xlabel() and len(ax.figure.axes) == 3 and "<svg" in svg(ax)


def test_the_crossover_line_is_the_record_s(record: Any) -> None:
    ax = plot_phase(record)
    inside = [c for c in record["meeting"]["crossovers"] if c["value"]["kind"] == "estimate"]
    line = max(ax.lines, key=lambda one: one.get_zorder() if len(one.get_xdata()) == len(inside) else -1)
    assert list(line.get_xdata()) == pytest.approx([c["value"]["value"] for c in inside])


def test_crossovers_beyond_the_grid_are_arrows(record: Any) -> None:
    moved = json.loads(json.dumps(record))
    for c, kind in zip(moved["meeting"]["crossovers"], ("lower", "upper", "lower"), strict=True):
        c["value"] = {"value": TAU[-1] if kind == "lower" else TAU[0], "kind": kind, "n": 10}
    marks = [line.get_marker() for line in plot_phase(moved).lines]
    assert marks == [">", "<", ">"]
    for c in moved["meeting"]["crossovers"]:
        c["value"] = None
    assert "<svg" in svg(plot_phase(moved)) and not plot_phase(moved).lines


def test_the_collapse_divides_by_n_log_n_and_opens_bounds(record: Any) -> None:
    import math

    ax = plot_collapse(record)
    lines = {line.get_label(): line for line in ax.lines}
    for n in record["sites"]:
        met = [c for c in record["cells"] if c["sites"] == n and c["median_steps"]["kind"] == "estimate"]
        expected = [c["median_steps"]["value"] / (n * math.log(n)) for c in met]
        assert list(lines[f"n = {n}"].get_ydata()) == pytest.approx(expected)
    open_marks = [line for line in ax.lines if line.get_marker() == "^" and len(line.get_xdata())]
    assert sum(len(line.get_xdata()) for line in open_marks) == sum(
        c["median_steps"]["kind"] == "lower" for c in record["cells"]
    )
    assert ax.get_yscale() == "log" and "n log n" in ax.get_ylabel()


def test_one_cell_and_given_axes(record: Any) -> None:
    from matplotlib.figure import Figure

    one = phase_diagram("law:curie-weiss?beta=1&sites=4", temperatures=[2.0], sites=[6], pairs=3)
    content = json.loads(json.dumps(one.to_dict()))
    for plot in (plot_phase, plot_collapse):
        ax = Figure().subplots()
        assert plot(content, ax=ax) is ax and "<svg" in svg(ax)
    assert "temperature" in one.plot().get_xlabel()


def test_the_page_tells_bounds_from_estimates(record: Any) -> None:
    from maskov.report.sections import CONTENTS, TITLES

    told = section(record)
    assert len(told["rows"]) == len(record["cells"]) and all(len(row) == len(told["head"]) for row in told["rows"])
    assert any(str(row[3]).startswith("≥ ") for row in told["rows"])
    assert "moves" in told["says"][1] or "may move" in told["says"][1]
    assert CONTENTS["phase"](record).head == told["head"] and "phase" in TITLES
