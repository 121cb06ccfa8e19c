"""Drift curves and dwell segments from their records alone."""

from __future__ import annotations

from typing import Any

from maskov.plots.style import COLOURS, axes, interval_of

_MARKERS = "osD^vP*"


def plot_drift(record: dict[str, Any], ax: Any = None) -> Any:
    """Drift against time in sweeps (log axis, linear below one update), one line a temperature, over the plateau's line
    and band.

    record: the ``results`` of a ``drift`` record; ax: matplotlib axes, new ones by default. Returns the axes.
    """
    ax = axes(ax)
    curves = record["curves"]
    for k, curve in enumerate(curves):
        colour = COLOURS[k % len(COLOURS)]
        means = [q["value"] for q in curve["drift"]]
        low, high = zip(*(interval_of(q) for q in curve["drift"]), strict=True)
        ax.fill_between(curve["sweeps"], low, high, color=colour, alpha=0.15, linewidth=0)
        ax.plot(
            curve["sweeps"],
            means,
            color=colour,
            marker=_MARKERS[k % len(_MARKERS)],
            markersize=3.5,
            linewidth=1.4,
            label=f"τ = {curve['temperature']:g}",
        )
        _mark_median(ax, curve, colour)
    _plateau(ax, record)
    ax.set_xscale("symlog", linthresh=1 / min(c["sites"] for c in curves))
    ax.set_xlim(left=0)
    ax.set_ylim(bottom=0)
    ax.set_xlabel("time (sweeps of n updates)")
    ax.set_ylabel(f"drift, 1 − cosine to the start ({record['embedder'].rsplit('/', 1)[-1]})")
    ax.legend(frameon=False, fontsize="small")
    return ax


def _plateau(ax: Any, record: dict[str, Any]) -> None:
    plateau = record.get("plateau")
    if plateau is None:
        return
    ax.axhspan(*interval_of(plateau), color="#999999", alpha=0.2, linewidth=0)
    ax.axhline(plateau["value"], color="#555555", linewidth=1, label="independent passages")
    if record["plateau_from"] == "starts":
        ax.axhline(
            record["fraction"] * plateau["value"],
            color="#555555",
            linewidth=1,
            linestyle=":",
            label=f"{record['fraction']:g} of it: hit",
        )


def _mark_median(ax: Any, curve: dict[str, Any], colour: str) -> None:
    """A tick at the foot of the axes where half of the chains were hit."""
    median = curve.get("hitting_median_sweeps")
    if median is not None:
        ax.plot(
            [median["value"]],
            [0.02],
            marker="|",
            markersize=12,
            markeredgewidth=2,
            color=colour,
            transform=ax.get_xaxis_transform(),
            clip_on=False,
        )


def plot_dwell(record: dict[str, Any], ax: Any = None) -> Any:
    """The longest dwell segments as bars in sweeps, longest on top; hatched where the reference is no perfect trap, "+"
    where the run ended first.

    record: the ``results`` of a ``dwell`` record; ax: matplotlib axes, new ones by default. Returns the axes.
    """
    ax = axes(ax)
    temperatures = sorted({s["temperature"] for s in record["segments"]})
    for row, segment in enumerate(record["segments"]):
        colour = COLOURS[temperatures.index(segment["temperature"]) % len(COLOURS)]
        ax.barh(
            row,
            segment["sweeps"],
            color=colour,
            alpha=0.85,
            edgecolor="white",
            hatch=None if segment["perfect"] else "///",
        )
        ax.annotate(
            _caption(segment),
            (segment["sweeps"], row),
            xytext=(3, 0),
            textcoords="offset points",
            va="center",
            fontsize="x-small",
        )
    ax.set_yticks(range(len(record["segments"])), [_shorten(s["text"]) for s in record["segments"]], fontsize="x-small")
    ax.invert_yaxis()
    ax.margins(x=0.25)
    ax.set_xlabel("dwell time (sweeps of n updates)")
    ax.set_ylabel("reference text")
    _dwell_legend(ax, temperatures)
    return ax


def _caption(segment: dict[str, Any]) -> str:
    return f"{'' if segment['ended'] else '+ '}{segment['length']:,} steps"


def _shorten(text: str, most: int = 34) -> str:
    # Matplotlib reads $…$ as mathematics, and texts come from models.
    line = " ".join(text.split()).replace("$", r"\$")
    return line if len(line) <= most else line[: most - 1].rstrip("\\") + "…"


def _dwell_legend(ax: Any, temperatures: list[float]) -> None:
    from matplotlib.patches import Patch

    handles = [
        Patch(color=COLOURS[k % len(COLOURS)], alpha=0.85, label=f"τ = {t:g}") for k, t in enumerate(temperatures)
    ]
    handles += [
        Patch(facecolor="#bbbbbb", edgecolor="white", label="perfect trap"),
        Patch(facecolor="#bbbbbb", edgecolor="white", hatch="///", label="approximate trap"),
    ]
    ax.legend(handles=handles, frameon=False, fontsize="x-small", loc="lower right")
