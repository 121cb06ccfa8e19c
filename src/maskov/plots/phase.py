"""The phase diagram and the collapse of times, from the record alone."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from maskov.plots.style import COLOURS, axes, interval_of, line_style


def plot_phase(record: dict[str, Any], ax: Any = None) -> Any:
    """Median sweeps to meet as colours over τ and n (log10); hatched with "≥" where fewer than half met; τ_c(n) on top.

    record: the ``results`` of a ``phase`` record; ax: matplotlib axes for the map alone; by default a new figure with
    the collapse above the map, of which the map's axes are returned.
    """
    if ax is not None:
        return _map(record, ax)
    from matplotlib.figure import Figure

    upper, lower = Figure(figsize=(7.2, 7.6), layout="constrained").subplots(2, 1, height_ratios=[1, 1.1])
    plot_collapse(record, upper)
    upper.set_xlabel("")
    _map(record, lower)
    upper.set_xlim(lower.get_xlim())
    return lower


def _map(record: dict[str, Any], ax: Any) -> Any:
    tau, sites = np.array(record["temperatures"]), record["sites"]
    table = {(c["temperature"], c["sites"]): c["median_sweeps"] for c in record["cells"]}
    values = np.array([[math.log10(table[t, n]["value"]) for t in record["temperatures"]] for n in sites])
    edges, rows = _edges(np.log(tau)), np.arange(len(sites) + 1) - 0.5
    mesh = ax.pcolormesh(np.exp(edges), rows, values, cmap="cividis")
    for k, n in enumerate(sites):
        for j, t in enumerate(record["temperatures"]):
            _entry(ax, np.exp(edges[j : j + 2]), k, t, table[t, n], _dark(mesh, values[k, j]))
    _crossovers(ax, record["meeting"]["crossovers"], sites, tau, np.exp(edges))
    ax.set_xscale("log")
    ax.set_xlim(*np.exp(edges[[0, -1]]))
    ax.set_xticks(tau, [f"{t:g}" for t in tau], rotation=45 if len(tau) > 8 else 0)
    ax.minorticks_off()
    ax.set_yticks(range(len(sites)), [f"{n}" for n in sites])
    ax.set_xlabel("temperature τ")
    ax.set_ylabel("sites n")
    ax.figure.colorbar(mesh, ax=ax, location="bottom", aspect=40, label="log10 of median sweeps to meet")
    return ax


def _edges(centres: Any) -> Any:
    """Borders of cells half-way between their centres; a single cell gets a width of its own."""
    if len(centres) == 1:
        return centres[0] + np.array([-0.2, 0.2])
    middle = (centres[1:] + centres[:-1]) / 2
    first, last = centres[0] - (middle[0] - centres[0]), centres[-1] + (centres[-1] - middle[-1])
    return np.concatenate([[first], middle, [last]])


def _dark(mesh: Any, value: float) -> bool:
    red, green, blue, _ = mesh.cmap(mesh.norm(value))
    return bool(0.3 * red + 0.6 * green + 0.1 * blue < 0.5)


def _entry(ax: Any, ends: Any, row: int, t: float, median: dict[str, Any], dark: bool) -> None:
    from matplotlib.patches import Rectangle

    ink, bound = ("white" if dark else "black"), median["kind"] == "lower"
    if bound:
        width = ends[1] - ends[0]
        cover = Rectangle((ends[0], row - 0.5), width, 1, fill=False, hatch="///", edgecolor=ink, lw=0, alpha=0.35)
        ax.add_patch(cover)
    text = ("≥" if bound else "") + f"{median['value']:.3g}"
    ax.text(t, row + 0.3, text, ha="center", va="center", fontsize=7, color=ink)


def _crossovers(ax: Any, crossovers: list[dict[str, Any]], sites: list[int], tau: Any, ends: Any) -> None:
    """τ_c with its interval where it lies on the grid, an arrow towards it where it does not."""
    outline = {"color": "white", "markeredgecolor": "black", "zorder": 5}
    inside = [
        (sites.index(c["sites"]), c["value"]) for c in crossovers if c["value"] and c["value"]["kind"] == "estimate"
    ]
    if inside:
        rows = [row for row, _ in inside]
        x = np.array([q["value"] for _, q in inside])
        spread = np.array([_clipped(q, ends) for _, q in inside]).T
        ax.plot(x, rows, "-", color="black", linewidth=3.4, zorder=3)
        ax.plot(x, rows, "-", color="white", linewidth=1.6, zorder=4)
        ax.errorbar(x, rows, xerr=np.abs(spread - x), fmt="o", ecolor="black", capsize=4, elinewidth=1.6, **outline)
    for c in crossovers:
        if c["value"] and c["value"]["kind"] != "estimate":
            mark, place = (">", ends[-1]) if c["value"]["kind"] == "lower" else ("<", ends[0])
            ax.plot([place], [sites.index(c["sites"])], mark, markersize=9, clip_on=False, **outline)


def _clipped(quantity: dict[str, Any], ends: Any) -> tuple[float, float]:
    """The interval as far as the figure goes; an end beyond the grid is the figure's."""
    low, high = quantity.get("interval") or (None, None)
    return (ends[0] if low is None else max(low, ends[0])), (ends[-1] if high is None else min(high, ends[-1]))


def plot_collapse(record: dict[str, Any], ax: Any = None) -> Any:
    """Median meeting time over n log n against τ, one line per n, and C(τ) of the fit; ▲ where it is a lower bound.

    record: the ``results`` of a ``phase`` record; ax: matplotlib axes, new ones by default. Returns the axes.
    """
    from matplotlib.ticker import FuncFormatter, LogLocator

    ax = axes(ax)
    for k, n in enumerate(record["sites"]):
        cells = [c for c in record["cells"] if c["sites"] == n]
        scale, style = n * math.log(n), line_style(k)
        met = [c for c in cells if c["median_steps"]["kind"] == "estimate"]
        x, y = [c["temperature"] for c in met], np.array([c["median_steps"]["value"] for c in met]) / scale
        ends = np.array([interval_of(c["median_steps"]) for c in met]).reshape(-1, 2) / scale
        ax.plot(x, y, marker="o", markersize=4, label=f"n = {n}", **style)
        ax.fill_between(x, ends[:, 0], ends[:, 1], color=style["color"], alpha=0.12, linewidth=0)
        slow = [c for c in cells if c["median_steps"]["kind"] == "lower"]
        floor = [c["median_steps"]["value"] / scale for c in slow]
        ax.plot([c["temperature"] for c in slow], floor, "^", color=style["color"], markersize=6, fillstyle="none")
    _fitted(ax, record)
    ax.axhline(record["multiple"], color="gray", linewidth=1)
    ax.annotate(
        f"crossover: {record['multiple']:g} n log n",
        (0.02, record["multiple"]),
        xycoords=("axes fraction", "data"),
        va="bottom",
        fontsize="small",
        color="gray",
    )
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.set_xticks(record["temperatures"], [f"{t:g}" for t in record["temperatures"]], rotation=45)
    ax.minorticks_off()
    ax.set_xlabel("temperature τ")
    ax.set_ylabel("median meeting time / (n log n)")
    ax.legend(frameon=False, fontsize="small")
    return ax


def _fitted(ax: Any, record: dict[str, Any]) -> None:
    """C(τ) of n log n where that law stands alone, with its interval."""
    told = [
        (g["temperature"], law["C"])
        for g in record["meeting"]["growth"]
        for law in g["laws"]
        if g["verdict"] == law["law"] == "n log n"
    ]
    if told:
        x, y = [t for t, _ in told], np.array([q["value"] for _, q in told])
        ends = np.array([interval_of(q) for _, q in told])
        label = "C(τ), where n log n fits best"
        ax.errorbar(x, y, yerr=np.abs(ends - y[:, None]).T, fmt="x", color=COLOURS[6], capsize=3, label=label, zorder=5)
