"""Basins of long trajectories, and the trajectories themselves, from their records alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from maskov.plots.style import COLOURS, DASHES, axes, interval_of, line_style

_MARKERS = "osD^vP*"
_NONE = "#999999"


def _cell(record: dict[str, Any]) -> dict[str, Any]:
    """The temperature that a one-panel figure shows: the one with most basins, of these the first."""
    cell: dict[str, Any] = max(record["cells"], key=lambda c: len(c["basins"]))
    return cell


def plot_timescales(record: dict[str, Any], ax: Any = None) -> Any:
    """Implied timescales against the lag with 95 % intervals; the chosen lag is marked, and what is faster than a lag
    is shaded.

    record: the ``results`` of a ``basins`` record; ax: matplotlib axes, new ones by default. Returns the axes.
    """
    ax, cell = axes(ax), _cell(record)
    rows = cell["timescales"]
    lags = np.array([row["lag_steps"] for row in rows], dtype=float)
    for k in range(max(len(row["timescales"]) for row in rows)):
        line = [(lag, row["timescales"][k]) for lag, row in zip(lags, rows, strict=True) if row["timescales"][k]]
        line = [(lag, q) for lag, q in line if q["value"]]
        if not line:
            continue
        x, low, high = [p[0] for p in line], *zip(*(interval_of(q) for _, q in line), strict=True)
        style = line_style(k)
        ax.plot(x, [q["value"] for _, q in line], marker=_MARKERS[k % len(_MARKERS)], markersize=3.5, **style)
        ax.fill_between(x, np.maximum(low, 1e-3 * lags[0]), high, color=style["color"], alpha=0.15, linewidth=0)
    ax.fill_between(lags, lags * 1e-6, lags, color="0.88", linewidth=0, zorder=0)
    ax.axvline(cell["lag_steps"], color="0.3", linewidth=1.2, linestyle=DASHES[3], label=f"lag {cell['lag_steps']:,}")
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_ylim(bottom=0.3 * lags[0])
    ax.set_xlabel("lag (steps)")
    ax.set_ylabel("implied timescale (steps)")
    ax.legend(frameon=False, fontsize="small", title=f"τ = {cell['temperature']:g}; grey: faster than the lag")
    return ax


def plot_basin_map(record: dict[str, Any], ax: Any = None) -> Any:
    """The chains on the first two principal components, points by basin (colour and mark), a thin line per chain; the
    numbers stand at the centres of the basins.

    record: the ``results`` of a ``basins`` record; ax: matplotlib axes, new ones by default. Returns the axes.
    """
    ax, cell = axes(ax), _cell(record)
    for path in cell["paths"]:
        ax.plot(path["x"], path["y"], color="0.75", linewidth=0.4, alpha=0.6, zorder=1)
    x, y = (np.concatenate([path[key] for path in cell["paths"]]) for key in "xy")
    basin = np.concatenate([[-1 if k is None else k for k in path["basin"]] for path in cell["paths"]])
    for k in sorted(set(basin.tolist())):
        colour = COLOURS[k % len(COLOURS)] if k >= 0 else _NONE
        mark = _MARKERS[k % len(_MARKERS)] if k >= 0 else "x"
        label = f"basin {k}" if k >= 0 else "elsewhere"
        ax.scatter(x[basin == k], y[basin == k], s=7, color=colour, marker=mark, alpha=0.6, linewidth=0.5, label=label)
    for b in cell["basins"]:
        ax.annotate(
            str(b["number"]),
            b["place"],
            weight="bold",
            ha="center",
            va="center",
            bbox={"boxstyle": "circle,pad=0.25", "facecolor": "white", "alpha": 0.85, "linewidth": 0.6},
        )
    shares = [q["value"] for q in record["explained"]] + [0.0, 0.0]
    ax.set_xlabel(f"first principal component ({shares[0]:.0%} of the variance)")
    ax.set_ylabel(f"second ({shares[1]:.0%})")
    ax.legend(frameon=False, fontsize="x-small", markerscale=2, title=f"τ = {cell['temperature']:g}")
    return ax


def plot_basin_lifetimes(record: dict[str, Any], ax: Any = None) -> Any:
    """Lifetime of each basin against its population, both with 95 % intervals: from the Markov state model (filled) and
    measured on the paths (open); a basin outside of the linked set stands at its share of the time.

    record: the ``results`` of a ``basins`` record; ax: matplotlib axes, new ones by default. Returns the axes.
    """
    ax = axes(ax)
    cells = [c for c in record["cells"] if len(c["basins"]) > 1] or record["cells"][:1]
    for c, cell in enumerate(cells):
        for basin in cell["basins"]:
            share = basin["population"] or basin["time_share"]
            colour = COLOURS[c % len(COLOURS)]
            _point(ax, share, basin["lifetime_sweeps"], colour, colour)
            _point(ax, share, basin["measured_sweeps"], colour, "white")
            top = (basin["lifetime_sweeps"] or basin["measured_sweeps"])["value"]
            if top:
                ax.annotate(str(basin["number"]), (share["value"], top), xytext=(5, 5), textcoords="offset points")
        ax.plot([], [], "o", color=COLOURS[c % len(COLOURS)], label=f"τ = {cell['temperature']:g}")
    ax.plot([], [], "o", color="0.3", mfc="white", label="measured on the paths")
    ax.set_yscale("log")
    ax.set_xlim(0, 1.05)
    ax.set_xlabel("population (share of a long chain's time)")
    ax.set_ylabel("mean lifetime (sweeps)")
    ax.legend(frameon=False, fontsize="small")
    return ax


def _point(ax: Any, x: dict[str, Any], y: dict[str, Any] | None, colour: str, fill: str) -> None:
    if y is None or y["value"] is None:
        return
    ends = [np.abs(np.array([[q["value"] - end] for end in interval_of(q)]).reshape(2, 1)) for q in (x, y)]
    ax.errorbar(
        x["value"], y["value"], xerr=ends[0], yerr=ends[1], fmt="o", color=colour, mfc=fill, capsize=2, linewidth=1.1
    )


def plot_trajectories(record: dict[str, Any], ax: Any = None) -> Any:
    """Every chain of a run on the first two principal components, a colour per temperature; a dot marks each start.

    record: the ``results`` of a ``trajectories`` record; ax: matplotlib axes, new ones by default. Returns the axes.
    """
    ax = axes(ax)
    temperatures = list(dict.fromkeys(path["temperature"] for path in record["paths"]))
    for k, t in enumerate(temperatures):
        mine = [path for path in record["paths"] if path["temperature"] == t]
        for i, path in enumerate(mine):
            label = f"τ = {t:g}" if i == 0 else None
            colour = COLOURS[k % len(COLOURS)]
            ax.plot(path["x"], path["y"], color=colour, linewidth=0.6, alpha=0.6, linestyle=DASHES[k % 4], label=label)
            ax.plot(path["x"][:1], path["y"][:1], "o", color=colour, markersize=4, mec="white", mew=0.5)
    shares = [q["value"] for q in record["explained"]] + [0.0, 0.0]
    ax.set_xlabel(f"first principal component ({shares[0]:.0%} of the variance)")
    ax.set_ylabel(f"second ({shares[1]:.0%})")
    ax.legend(frameon=False, fontsize="small")
    return ax
