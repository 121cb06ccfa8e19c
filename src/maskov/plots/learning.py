"""What training under a schedule teaches: loss against its optimum, weights against their start, error against π₀."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from maskov.plots.style import COLOURS, axes, line_style

MARKS = "os^Dvp*"


def last_weight(weight: Any) -> float:
    """P(Z = last mode) of a record's weight; NaN where there is none."""
    if weight is None:
        return math.nan
    return float(weight[-1] if isinstance(weight, list) else weight)


def plot_loss(record: dict[str, Any], ax: Any = None) -> Any:
    """Held-out loss above the exact optimum, as a share of it, by step: mean and 95 % band over seeds.

    record: the ``results`` of a ``learn`` record; ax: matplotlib axes, new ones by default. Returns the axes.
    """
    ax = axes(ax)
    for k, row in enumerate(record["schedules"]):
        steps = [point["step"] for point in row["runs"][0]["curve"]]
        excess = np.array([[point["excess"] for point in run["curve"]] for run in row["runs"]])
        share = excess / row["optimal_loss"]["value"]
        mean, half = share.mean(axis=0), 1.96 * share.std(axis=0) / max(len(share) - 1, 1) ** 0.5
        ax.plot(steps, mean, **line_style(k), label=row["spec"])
        ax.fill_between(steps, mean - half, mean + half, color=COLOURS[k % len(COLOURS)], alpha=0.2, linewidth=0)
    ax.axhline(0, color="#555555", linestyle=":", linewidth=1.4, label="optimum (exact)")
    _ticks_with_zero(ax.xaxis, ax.set_xscale, 1.0, [0, *(10**k for k in range(7) if 10**k <= record["steps"])])
    _ticks_with_zero(ax.yaxis, ax.set_yscale, 1e-3, [0, 1e-3, 1e-2, 1e-1, 1])
    ax.set_xlim(left=0)
    ax.set_ylim(bottom=-1e-3)
    ax.set_xlabel("step")
    ax.set_ylabel("held-out loss above the optimum / optimum")
    ax.legend(frameon=False, fontsize="small")
    return ax


def _ticks_with_zero(axis: Any, set_scale: Any, linear: float, ticks: list[float]) -> None:
    """An axis that is logarithmic above ``linear`` and has a place for 0."""
    from matplotlib.ticker import NullLocator

    set_scale("symlog", linthresh=linear)
    axis.set_ticks(ticks, [f"{tick:g}" for tick in ticks])
    axis.set_minor_locator(NullLocator())


def plot_weights(record: dict[str, Any], ax: Any = None) -> Any:
    """End weight of the last mode against its initial value: on the diagonal nothing was learned, on the line all was.

    record: the ``results`` of a ``learn`` record; ax: matplotlib axes, new ones by default. Returns the axes.
    """
    ax = axes(ax)
    for k, row in enumerate(record["schedules"]):
        ends = [(last_weight(run["initial_weight"]), last_weight(run["weight_full_mask"])) for run in row["runs"]]
        x, y = zip(*ends, strict=True)
        size = max(4.0, 9.0 - 2 * k)  # open and of several sizes: blind schedules lie on top of each other
        mark = {"marker": MARKS[k % len(MARKS)], "color": COLOURS[k % len(COLOURS)], "markerfacecolor": "none"}
        ax.plot(x, y, linestyle="none", markersize=size, label=row["spec"], **mark)
    ax.plot([0, 1], [0, 1], color="#555555", linestyle="--", linewidth=1, label="as initialised")
    ax.axhline(record["mode_weights"][-1], color="#555555", linestyle=":", linewidth=1.2, label="true weight")
    ax.set_xlim(-0.03, 1.03)
    ax.set_ylim(-0.03, 1.03)
    ax.set_xlabel("weight of the last mode before training")
    ax.set_ylabel("weight of the last mode after training")
    ax.legend(frameon=False, fontsize="small")
    return ax


def plot_recovery(record: dict[str, Any], ax: Any = None) -> Any:
    """Mean error of the weights against the full-mask mass π₀, both logarithmic, with what n problems allow.

    record: the ``results`` of a ``learn`` record; ax: matplotlib axes, new ones by default. Returns the axes.
    """
    ax = axes(ax)
    rows = sorted(
        (r for r in record["schedules"] if r["full_mask_mass"] > 0 and r["weight_error"]),
        key=lambda r: float(r["full_mask_mass"]),
    )
    masses = [row["full_mask_mass"] for row in rows]
    for row in rows:
        errors = [run["error"] for run in row["runs"]]
        ax.plot([row["full_mask_mass"]] * len(errors), errors, ".", color=COLOURS[4], markersize=4, alpha=0.7)
    means = [row["weight_error"]["value"] for row in rows]
    bars = [1.96 * row["weight_error"].get("stderr", math.nan) for row in rows]
    ax.errorbar(masses, means, yerr=bars, fmt="o", color=COLOURS[0], capsize=3, label="mean over seeds (95 %)")
    if all(row["predicted_error"] for row in rows):
        allowed = [row["predicted_error"]["value"] for row in rows]
        ax.plot(masses, allowed, color=COLOURS[3], linestyle="--", linewidth=1.4, label="asymptotic mean error (exact)")
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel("π₀, share of problems with everything hidden")
    ax.set_ylabel("error of the mode weights (total variation)")
    ax.legend(frameon=False, fontsize="small", title=_slope(record))
    return ax


def _slope(record: dict[str, Any]) -> str:
    slope = record.get("slope")
    if slope is None:
        return ""
    low, high = slope["interval"]
    return f"slope {slope['value']:.2f} [{low:.2f}, {high:.2f}]"
