"""Curves of several audits over each other."""

from __future__ import annotations

from typing import Any

import numpy as np

from maskov.plots.style import axes, interval_of, line_style

# A lower bound points up, to where the value may be.
_MARKS = {"lower": ("^", "none"), "upper": ("v", "none")}


def plot_overlay(record: dict[str, Any], ax: Any = None) -> Any:
    """One line a label with its 95 % intervals; bounds are open triangles that point to where the value lies.

    record: ``series`` [{label, points [[x, quantity]]}], ``ylabel``, ``log``; ax: matplotlib axes, new by default.
    Returns the axes.
    """
    ax = axes(ax)
    for k, series in enumerate(record["series"]):
        x = np.array([point[0] for point in series["points"]], dtype=float)
        y = np.array([point[1]["value"] for point in series["points"]], dtype=float)
        ends = np.array([interval_of(point[1]) for point in series["points"]], dtype=float)
        style, marks = line_style(k), _MARKS
        ax.errorbar(x, y, yerr=np.abs(ends - y[:, None]).T, capsize=3, label=series["label"], **style)
        for (_, quantity), at in zip(series["points"], zip(x, y, strict=True), strict=True):
            shape, face = marks.get(quantity["kind"], ("o", style["color"]))
            ax.plot(*at, shape, color=style["color"], markerfacecolor=face, markersize=6)
    if record["log"]:
        ax.set_yscale("log")
    ax.set_xlabel("temperature τ")
    ax.set_ylabel(record["ylabel"])
    ax.legend(frameon=False, fontsize="small")
    return ax
