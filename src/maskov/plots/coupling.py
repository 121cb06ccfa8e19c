"""Meeting times and bounds on total variation, from their records alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from maskov.plots.style import axes, line_style


def plot_meeting(record: dict[str, Any], ax: Any = None) -> Any:
    """Share of pairs that have not met against time in sweeps, one line a temperature; ticks where runs were censored.

    record: the ``results`` of a ``couple`` record; ax: matplotlib axes, new ones by default. Returns the axes.
    """
    ax = axes(ax)
    for k, cell in enumerate(record["cells"]):
        curve, sites = cell["survival"], cell["sites"]
        end = cell["max_steps"] / sites
        x = np.append(np.array(curve["steps"]) / sites, end)
        y, low, high = (np.append(curve[key], curve[key][-1]) for key in ("survival", "lower", "upper"))
        style = line_style(k)
        label = f"τ = {cell['temperature']:g} ({cell['n_pairs'] - cell['censored']} of {cell['n_pairs']} met)"
        ax.step(x, y, where="post", label=label, **style)
        if cell["censored"] < cell["n_pairs"]:  # bands of temperatures at which none met would all lie on each other
            ax.fill_between(x, low, high, step="post", color=style["color"], alpha=0.12, linewidth=0)
        if cell["censored"]:
            ax.plot([end], [y[-1]], "|", color=style["color"], markersize=12, markeredgewidth=2)
    ax.set_xscale("symlog", linthresh=1)
    ax.set_xlim(left=0)
    ax.set_ylim(0, 1.03)
    ax.set_xlabel("time (sweeps of n updates)")
    ax.set_ylabel("share of pairs that have not met")
    ax.legend(frameon=False, fontsize="small")
    return ax


def plot_tv_bound(record: dict[str, Any], ax: Any = None) -> Any:
    """Bound on the distance to stationarity from lagged chains, one line a temperature (estimate, 95 %).

    record: the ``results`` of a ``couple`` record with a lag; ax: matplotlib axes, new by default. Returns the axes.
    """
    ax = axes(ax)
    for k, cell in enumerate(record["cells"]):
        bound, style = cell["tv_bound"], line_style(k)
        if bound is None:
            continue
        x, y = np.array(bound["steps"]) / cell["sites"], np.array(bound["bound"])
        low, high = (
            np.array([end if v is None else v for v in bound[key]]) for key, end in (("lower", 0), ("upper", 1))
        )
        told = f"τ = {cell['temperature']:g}" + (f", {bound['censored']} censored" if bound["censored"] else "")
        ax.plot(x, np.minimum(y, 1), label=told, **style)
        ax.fill_between(x, np.clip(low, 0, 1), np.clip(high, 0, 1), color=style["color"], alpha=0.12, lw=0)
    ax.set_ylim(0, 1.03)
    ax.set_xlabel("time (sweeps of n updates)")
    ax.set_ylabel("bound on total variation to stationarity")
    if ax.lines:
        ax.legend(frameon=False, fontsize="small")
    return ax
