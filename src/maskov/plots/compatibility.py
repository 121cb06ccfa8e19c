"""Rectangle defects, and what a run says about irreversibility, from their records alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from maskov.plots.style import COLOURS, axes, points


def plot_rectangle(record: dict[str, Any], ax: Any = None) -> Any:
    """How |Δ| of the sampled rectangles is spread over decades, beside the model's rounding noise.

    record: the ``results`` of a ``rectangle`` record; ax: matplotlib axes, new ones by default. Returns the axes.
    """
    ax = axes(ax)
    edges, counts = record["histogram"]["log10_edges"], record["histogram"]["counts"]
    ax.stairs(counts, 10.0 ** np.array(edges), fill=True, color=COLOURS[0], alpha=0.75)
    noise, mean = record["noise_floor"]["value"], record["mean_abs"]["value"]
    ax.axvline(noise, color=COLOURS[3], linestyle="--", linewidth=1.6, label=f"rounding noise, {noise:.1e}")
    if mean > 0:
        ax.axvline(mean, color=COLOURS[2], linestyle="-", linewidth=1.6, label=f"mean |Δ|, {mean:.2g}")
    ax.set_xscale("log")
    ax.set_xlabel("|Δ| (nats)")
    ax.set_ylabel("rectangles")
    ax.legend(frameon=False, fontsize="small", loc="upper left")
    return ax


def plot_rectangle_distance(record: dict[str, Any], ax: Any = None) -> Any:
    """Mean |Δ| against the distance of the two sites, with 95 % intervals.

    record: the ``results`` of a ``rectangle`` record; ax: matplotlib axes, new ones by default. Returns the axes.
    """
    ax = axes(ax)
    rows = record["by_distance"]
    points(ax, np.arange(len(rows)), [row["mean_abs"] for row in rows])
    ax.set_xticks(range(len(rows)), [f"{row['distance']}\nn = {row['n']}" for row in rows])
    ax.set_xlabel("distance |i − j| (sites)")
    ax.set_ylabel("mean |Δ| (nats)")
    ax.set_ylim(bottom=0)
    return ax


def plot_change_rate(record: dict[str, Any], ax: Any = None) -> Any:
    """Share of steps that change a token, against temperature.

    record: the ``results`` of an ``entropy`` record; ax: matplotlib axes, new ones by default. Returns the axes.
    """
    ax = _against_temperature(record, "change_rate", "share of steps that change a token", ax)
    ax.set_ylim(0, 1.02)
    return ax


def plot_entropy(record: dict[str, Any], ax: Any = None) -> Any:
    """Mean entropy of the conditionals along the run, against temperature.

    record: the ``results`` of an ``entropy`` record; ax: matplotlib axes, new ones by default. Returns the axes.
    """
    ax = _against_temperature(record, "entropy", "entropy of the conditionals (nats)", ax)
    ax.set_ylim(bottom=0)
    return ax


def plot_production(record: dict[str, Any], ax: Any = None) -> Any:
    """Entropy production per step, against temperature; open marks: the chain had not settled.

    record: the ``results`` of an ``entropy`` record; ax: matplotlib axes, new ones by default. Returns the axes.
    """
    ax = _against_temperature(record, "production", "entropy production σ (nats/step)", ax)
    late = [c for c in record["cells"] if not c["stationary"]]
    if late:
        places = [c["temperature"] for c in late], [c["production"]["value"] for c in late]
        ax.plot(*places, "o", mfc="white", mec=COLOURS[0], zorder=4, label="not stationary yet")
        ax.legend(frameon=False, fontsize="small")
    ax.axhline(0, color="0.6", linewidth=0.8, zorder=0)
    return ax


def _against_temperature(record: dict[str, Any], key: str, label: str, ax: Any) -> Any:
    ax = axes(ax, (4.4, 3.4))
    cells = sorted(record["cells"], key=lambda cell: float(cell["temperature"]))
    points(ax, np.array([c["temperature"] for c in cells]), [c[key] for c in cells], "-")
    ax.set_xlabel("temperature τ")
    ax.set_ylabel(label)
    return ax
