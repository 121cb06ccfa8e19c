"""Topics of a run from its record alone: excess time by start, verdicts, time courses."""

from __future__ import annotations

from typing import Any

import numpy as np

from maskov.plots.style import COLOURS, axes, interval_of, line_style

_CELL = 0.36  # inches of a heat map's row
_WORDS = {"elsewhere": "all others"}


def plot_topics(record: dict[str, Any], ax: Any = None) -> Any:
    """Heat map: time in a topic (columns) minus its null, in percentage points, by start topic (rows) and temperature.

    A frame marks a start's own topic; a star in the row of all chains from elsewhere a topic that recurs.

    record: the ``results`` of a ``topics`` record; ax: matplotlib axes, new ones by default. Returns the axes.
    """
    topics = [row["topic"] for row in record["topics"]]
    rows = _rows(record)
    ax = axes(ax, (1.8 + 0.5 * len(topics), 1.6 + _CELL * len(rows)))
    values = np.full((len(rows), len(topics)), np.nan)
    for cell in record["cells"]:
        where = rows.index((cell["temperature"], cell["start_topic"]))
        values[where, topics.index(cell["topic"])] = 100 * cell["excess"]["value"]
    top = max(5.0, float(np.nanmax(np.abs(values))) if np.isfinite(values).any() else 5.0)
    image = ax.imshow(values, cmap="PuOr", vmin=-top, vmax=top, aspect="auto")
    found = [((r["temperature"], "elsewhere"), r["topic"]) for r in record["recurring"]]
    _numbers(ax, values, top, {(rows.index(row), topics.index(topic)) for row, topic in found})
    _frames(ax, rows, topics)
    several = len({t for t, _ in rows}) > 1
    names = [_WORDS.get(s, s) + (f", τ = {t:g}" if several else "") for t, s in rows]
    ax.set_xticks(range(len(topics)), topics, rotation=50, ha="right", fontsize="small")
    ax.set_yticks(range(len(rows)), names, fontsize="small")
    ax.set_xlabel("topic of the chain")
    ax.set_ylabel("topic of the start" if several else f"topic of the start, τ = {rows[0][0]:g}")
    ax.figure.colorbar(image, ax=ax, label="share of time minus random passages' (points)", pad=0.02)
    return ax


def _rows(record: dict[str, Any]) -> list[tuple[float, str]]:
    """(temperature, start topic), chains from elsewhere first at each temperature."""
    seen = {(c["temperature"], c["start_topic"]) for c in record["cells"]}
    temperatures = list(dict.fromkeys(c["temperature"] for c in record["cells"]))
    starts = sorted({s for _, s in seen}, key=lambda s: (s != "elsewhere", s))
    return [(t, s) for t in temperatures for s in starts if (t, s) in seen]


def _numbers(ax: Any, values: Any, top: float, starred: set[tuple[int, int]]) -> None:
    for (i, j), value in np.ndenumerate(values):
        if np.isfinite(value):
            colour, whole = "white" if abs(value) > 0.65 * top else "black", round(float(value))
            text = (f"{whole:+d}" if whole else "0") + ("★" if (i, j) in starred else "")
            weight = "bold" if (i, j) in starred else "normal"
            ax.text(j, i, text, ha="center", va="center", fontsize=7, color=colour, fontweight=weight)


def _frames(ax: Any, rows: list[tuple[float, str]], topics: list[str]) -> None:
    """A start's own topic, and a line above each further temperature."""
    from matplotlib.patches import Rectangle

    for i, (temperature, start) in enumerate(rows):
        if start in topics:
            corner = (topics.index(start) - 0.47, i - 0.47)
            ax.add_patch(Rectangle(corner, 0.94, 0.94, fill=False, edgecolor="#333333", linewidth=1.4))
        if i and rows[i - 1][0] != temperature:
            ax.axhline(i - 0.5, color="#333333", linewidth=1.2)


def plot_topic_verdicts(record: dict[str, Any], ax: Any = None) -> Any:
    """Share of time in each topic of chains that began elsewhere, with 95 % intervals, beside random passages' share.

    record: the ``results`` of a ``topics`` record; ax: matplotlib axes, new ones by default. Returns the axes.
    """
    topics = [row["topic"] for row in record["topics"]]
    pooled = [c for c in record["cells"] if c["start_topic"] == "elsewhere"]
    temperatures = list(dict.fromkeys(c["temperature"] for c in pooled))
    ax = axes(ax, (6.4, 1.4 + 0.34 * len(topics)))
    for i, row in enumerate(record["topics"]):
        low, high = interval_of(row["null_fraction"])
        label = "random passages" if i == 0 else None
        ax.barh(i, 100 * (high - low), left=100 * low, height=0.8, color="#999999", alpha=0.35, label=label)
    for k, temperature in enumerate(temperatures):
        cells = [c for c in pooled if c["temperature"] == temperature]
        y = [topics.index(c["topic"]) + 0.5 * ((k + 1) / (len(temperatures) + 1) - 0.5) for c in cells]
        x = 100 * np.array([c["fraction"]["value"] for c in cells])
        ends = 100 * np.array([interval_of(c["fraction"]) for c in cells]).reshape(-1, 2)
        label = f"τ = {temperature:g}"
        colour, marker = COLOURS[k % len(COLOURS)], "osD^vP*"[k % 7]
        ax.errorbar(x, y, xerr=np.abs(ends.T - x), fmt=marker, color=colour, capsize=2, markersize=4, label=label)
    ax.set_yticks(range(len(topics)), topics, fontsize="small")
    ax.invert_yaxis()
    ax.set_xlim(left=0)
    ax.set_xlabel("time in the topic, chains from other topics (% of kept states)")
    ax.set_ylabel("topic")
    ax.legend(frameon=False, fontsize="x-small", loc="lower right")
    return ax


def plot_topic_courses(record: dict[str, Any], ax: Any = None, most: int = 4) -> Any:
    """Share of chains from elsewhere in a topic along the run, for the topics with the largest excess; the grey line is
    the mean share of chains that are still in the topic of their start.

    record: the ``results`` of a ``topics`` record; ax: matplotlib axes, new ones by default; most: lines per
    temperature. Only the coldest temperature is drawn. Returns the axes.
    """
    ax = axes(ax)
    temperature = min((c["temperature"] for c in record["courses"]), default=1.0)
    here = [c for c in record["courses"] if c["temperature"] == temperature]
    excess = {
        c["topic"]: c["excess"]["value"]
        for c in record["cells"]
        if c["temperature"] == temperature and c["start_topic"] == "elsewhere"
    }
    chosen = sorted(excess, key=lambda topic: -excess[topic])[:most]
    for k, topic in enumerate(chosen):
        line = next(c for c in here if c["topic"] == topic)
        ax.plot(line["sweeps"], 100 * np.array(line["elsewhere"]), label=topic, **line_style(k))
    own = [c["own"] for c in here if c["own"] is not None]
    if own:
        label = "in the topic of the start"
        ax.plot(here[0]["sweeps"], 100 * np.mean(own, axis=0), color="#777777", linewidth=2.4, alpha=0.7, label=label)
    ax.set_ylim(bottom=0)
    ax.set_xlabel(f"time (sweeps of n updates), τ = {temperature:g}")
    ax.set_ylabel("chains in the topic (%)")
    ax.legend(frameon=False, fontsize="small")
    return ax
