"""What schedules leave open of the mode weights, from a record alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from maskov.plots.style import COLOURS, axes, interval_of

_LEAST = 1e-6


def plot_left_open(record: dict[str, Any], ax: Any = None) -> Any:
    """Mode weights that each schedule leaves open at the record's excess loss (TV, logarithmic): a dot inside the
    witness family, a bar's end where it is proved for every predictor; the tolerance as a line.

    record: the ``results`` of an ``advise`` record; ax: matplotlib axes, new ones by default. Returns the axes.
    """
    ax = axes(ax, (7.2, 0.9 + 0.34 * (len(record["table"]) + 2)))
    rows = [record["standing"], *record["table"], *_recommended(record)]
    y = np.arange(len(rows))[::-1]
    left, proved = ([max(row[key]["value"], _LEAST) for row in rows] for key in ("left_open", "certified"))
    ax.hlines(y, left, proved, color="#bbbbbb", linewidth=2)
    ax.plot(proved, y, "|", color=COLOURS[3], markersize=11, markeredgewidth=2, label="at most this, every predictor")
    ends = np.array([interval_of(row["left_open"]) for row in rows])
    spread = np.abs(np.maximum(ends, _LEAST) - np.array(left)[:, None]).T
    ax.errorbar(left, y, xerr=spread, fmt="o", color=COLOURS[0], markersize=5, capsize=2, label="witness family")
    ax.axvline(record["tolerance"], color="#444444", linestyle="--", linewidth=1, label="tolerance")
    ax.set_xscale("log")
    ax.set_yticks(y, [row["schedule"] for row in rows])
    ax.set_xlabel(f"mode weights left open at ε = {record['excess_loss']:g} nats (TV)")
    ax.legend(frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(1.01, 1))
    return ax


def _recommended(record: dict[str, Any]) -> list[dict[str, Any]]:
    fixes = [f["standing"] for f in record["fixes"] if f["schedule"] == record["recommended"] and f["standing"]]
    return fixes[:1] if record["recommended"] != record["schedule"] else []
