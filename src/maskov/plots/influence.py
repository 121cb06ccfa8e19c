"""Influence over temperatures, as a matrix, and by distance, from the record alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from maskov.plots.style import COLOURS, axes, line_style, points

_NORMS = {
    "row": "largest row sum",
    "column": "largest column sum",
    "spectral": "spectral norm",
    "radius": "spectral radius",
}


def plot_influence(record: dict[str, Any], ax: Any = None) -> Any:
    """α(τ) in four norms on log axes, the line at 1 below which the chain contracts, and the crossing.

    Beside them (n − 1) times the mean c_ij: a row sum of typical contexts, which is no bound and tells what they would
    give.

    record: the ``results`` of an ``influence`` record; ax: matplotlib axes, new ones by default. Returns the axes.
    """
    ax = axes(ax)
    curve = record["curve"]
    x = [p["temperature"] for p in curve]
    for k, (key, name) in enumerate(_NORMS.items()):
        ax.plot(x, [p[key]["value"] for p in curve], marker="o", markersize=4, label=name, **line_style(k))
    typical = [(record["sites"] - 1) * p["typical"]["value"] for p in curve]
    if min(typical) > 0:
        ax.plot(x, typical, marker="x", markersize=4, label="(n − 1) × mean c_ij", **line_style(4))
    ax.axhline(1, color="0.5", linewidth=0.9)
    critical = record["critical_temperature"]
    if critical is not None and critical["value"] is not None:
        sign = "=" if critical["kind"] == "exact" else "≥"
        label = f"radius crosses 1 at τ {sign} {critical['value']:.3g}"
        ax.axvline(critical["value"], color=COLOURS[5], linestyle=":", label=label)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xticks(x, [f"{t:g}" for t in x])
    ax.minorticks_off()
    ax.set_xlabel("temperature τ")
    ax.set_ylabel("influence α" if record["exact"] else "influence α (lower bound)")
    ax.legend(frameon=False, fontsize="small")
    return ax


def plot_influence_matrix(record: dict[str, Any], ax: Any = None) -> Any:
    """c_ij as a heat map: row i is moved by column j.

    record: the ``results`` of an ``influence`` record; ax: matplotlib axes, new ones by default. Returns the axes.
    """
    ax = axes(ax, (5.0, 4.2))
    image = ax.imshow(np.array(record["matrix"]), vmin=0, cmap="cividis", interpolation="nearest")
    ax.figure.colorbar(image, ax=ax, label=f"c_ij at τ = {record['matrix_temperature']:g}")
    ax.set_xlabel("site j that is changed")
    ax.set_ylabel("site i that is moved")
    return ax


def plot_influence_distance(record: dict[str, Any], ax: Any = None) -> Any:
    """Mean and largest c_ij by distance |i − j|.

    record: the ``results`` of an ``influence`` record; ax: matplotlib axes, new ones by default. Returns the axes.
    """
    ax = axes(ax)
    rows = record["by_distance"]
    for k, (key, name) in enumerate({"mean": "mean", "maximum": "largest"}.items()):
        ax.plot([r["distance"] for r in rows], [r[key] for r in rows], marker="o", label=name, **line_style(k))
    ax.set_ylim(bottom=0)
    ax.set_xlabel("distance |i − j| (sites)")
    ax.set_ylabel(f"influence c_ij at τ = {record['matrix_temperature']:g}")
    ax.legend(frameon=False, fontsize="small")
    return ax


def plot_influence_class(record: dict[str, Any], ax: Any = None) -> Any:
    """Mean influence on all other sites by the class of the token that stood at the changed site, with 95 % intervals.

    record: the ``results`` of an ``influence`` record of a network; ax: matplotlib axes, new ones by default.
    Returns the axes.
    """
    ax = axes(ax)
    rows = record["by_class"]
    points(ax, np.arange(len(rows)), [row["mean"] for row in rows])
    ax.set_xticks(range(len(rows)), [f"{row['class']}\nn = {row['n']}" for row in rows])
    ax.set_xlim(-0.5, len(rows) - 0.5)
    ax.set_ylim(bottom=0)
    ax.set_xlabel("class of the token at the changed site")
    ax.set_ylabel(f"mean influence at τ = {record['matrix_temperature']:g}")
    return ax
