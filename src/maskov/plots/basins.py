"""Traps and token-count basins, from their records alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from maskov.plots.style import COLOURS, axes, line_style


def plot_traps(record: dict[str, Any], ax: Any = None) -> Any:
    """Measured against predicted dwell time with 95 % intervals; open: some replicas never left; the line: equal.

    record: the ``results`` of a ``traps`` record; ax: matplotlib axes, new ones by default. Returns the axes.
    """
    ax = axes(ax)
    cells = [(leave, record["replicas"]) for trap in record["traps"] for leave in trap["leave"]]
    for k, t in enumerate(sorted({leave["temperature"] for leave, _ in cells})):
        mine = [(c, R) for c, R in cells if c["temperature"] == t and c["measured_dwell"] is not None]
        label: str | None = f"τ = {t:g}"
        for c, R in mine:
            _dwell_point(ax, c, censored=c["exits"] < R, colour=COLOURS[k % len(COLOURS)], label=label)
            label = None
    low, high = _span(cells)
    ax.plot([low, high], [low, high], color="0.5", linewidth=1.0, zorder=1)
    ax.fill_between([low, high], [low / 1.5, high / 1.5], [low * 1.5, high * 1.5], color="0.9", zorder=0, linewidth=0)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel("predicted dwell, 1 / leave probability (steps)")
    ax.set_ylabel("measured dwell (steps)")
    if ax.get_legend_handles_labels()[0]:
        ax.legend(frameon=False, fontsize="small", loc="upper left", title="grey: within 1.5 times")
    return ax


def _dwell_point(ax: Any, cell: dict[str, Any], censored: bool, colour: str, label: str | None) -> None:
    q = cell["measured_dwell"]
    low, high = q.get("interval") or (q["value"], q["value"])
    ends = np.array([[q["value"] - (low or q["value"])], [(high or q["value"]) - q["value"]]])
    ax.errorbar(
        cell["predicted_dwell"]["value"],
        q["value"],
        yerr=ends,
        fmt="o",
        color=colour,
        mfc="white" if censored else colour,
        capsize=2,
        markersize=5,
        linewidth=1.2,
        label=label,
    )


def _span(cells: list[tuple[dict[str, Any], int]]) -> tuple[float, float]:
    seen = [c for c, _ in cells if c["measured_dwell"] is not None]
    values = [q["value"] for c in seen for q in (c["predicted_dwell"], c["measured_dwell"])]
    values = [v for v in values if v is not None] or [1.0, 10.0]
    return 0.7 * min(values), 1.4 * max(values)


def plot_escape(record: dict[str, Any], ax: Any = None) -> Any:
    """Mean escape time of each trap against 1/τ on a log scale, with its line; the slope is the effective margin.

    record: the ``results`` of a ``traps`` record; ax: matplotlib axes, new ones by default. Returns the axes.
    """
    ax = axes(ax)
    for k, escape in enumerate([e for e in record["escape"] if e["slope"] is not None][:6]):
        points = [p for p in escape["points"] if p["measured"] is not None]
        x = np.array([p["inverse"] for p in points])
        label = f"trap {escape['trap']}: slope {escape['slope']:.2f}, least margin {escape['min_margin']:.2f}"
        ax.plot(x, np.exp(escape["intercept"] + escape["slope"] * x), **line_style(k), label=label)
        spread = [_half(p["measured"]) for p in points]
        values = [p["measured"]["value"] for p in points]
        ax.errorbar(x, values, yerr=spread, fmt="o", color=COLOURS[k % len(COLOURS)], markersize=4, linewidth=1)
    ax.set_yscale("log")
    ax.set_xlabel("1/τ (per nat)")
    ax.set_ylabel("mean escape time (steps)")
    if ax.get_legend_handles_labels()[0]:
        ax.legend(frameon=False, fontsize="x-small", loc="upper left")
    return ax


def _half(q: dict[str, Any]) -> float:
    """Half of a 95 % interval, never down to 0, which a log axis can't show."""
    return min(1.96 * float(q.get("stderr") or 0.0), 0.95 * float(q["value"]))


def plot_tokens(record: dict[str, Any], ax: Any = None) -> Any:
    """p(a | every other site holds a) of the strongest tokens.

    record: the ``results`` of a ``tokens`` record; ax: matplotlib axes, new ones by default. Returns the axes.
    """
    ax = axes(ax)
    rows = record["ranking"]
    values = [row["probability"]["value"] for row in rows]
    ax.barh(range(len(rows)), values, color=COLOURS[0], alpha=0.85)
    for k, value in enumerate(values):
        ax.annotate(
            f"{value:.4g}", (value, k), xytext=(3, 0), textcoords="offset points", va="center", fontsize="x-small"
        )
    # Matplotlib reads $…$ as mathematics, and tokens are anything.
    ax.set_yticks(range(len(rows)), [row["text"][:24] for row in rows], parse_math=False)
    ax.invert_yaxis()
    ax.set_xlim(0, 1.12)
    ax.set_xlabel(f"p(a | every other site holds a), τ = {record['temperature']:g}")
    ax.set_ylabel("token a")
    return ax


def plot_token_drift(record: dict[str, Any], ax: Any = None) -> Any:
    """Mean drift of a token's count with 95 % intervals, and the worst one seen (dotted); shaded: the window's counts.

    record: the ``results`` of a ``tokens`` record; ax: matplotlib axes, new ones by default. Returns the axes.
    """
    ax = axes(ax)
    for k, p in enumerate(record["profiles"]):
        count, colour = np.array(p["k"]), COLOURS[k % len(COLOURS)]
        values = np.array([q["value"] for q in p["drift"]])
        spread = [1.96 * float(q.get("stderr") or 0.0) for q in p["drift"]]
        ax.errorbar(count, values, yerr=spread, **line_style(k), marker="o", markersize=3, label=p["text"][:24])
        ax.plot(count, np.array(p["up_min"]) - np.array(p["down_max"]), ":", color=colour, linewidth=1.2)
        if p["rising"] is not None:
            ax.axvspan(p["window"][0] - 0.5, p["window"][1] + 0.5, color=colour, alpha=0.08, linewidth=0)
    ax.axhline(0, color="0.5", linewidth=0.8, zorder=0)
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.set_xlabel("sites that hold the token, k")
    ax.set_ylabel("drift of k (sites per step)")
    if record["profiles"]:
        for text in ax.legend(frameon=False, fontsize="small", title="dotted: min up − max down").get_texts():
            text.set_parse_math(False)
    return ax
