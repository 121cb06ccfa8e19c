"""How the residual mode uncertainty of collections falls with the visible tokens, from a record alone."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from maskov.plots.style import COLOURS, axes, interval_of

_MARKS = {"subset": "o", "window": "s"}
_DASHES = {"exponential": ":", "power": "--", "stretched": "-."}
_LEFT = 0.7


def plot_corpus(record: dict[str, Any], ax: Any = None) -> Any:
    """Upper bounds of MMSE(v) against v, both axes logarithmic, and the fits of the subset curve on the counts used.

    Under them the visible counts of the record's schedules: a bar from the 5 % to the 95 % quantile, a dot at the
    median, a triangle at the left edge where there is mass with nothing visible.

    record: the ``results`` of a ``corpus`` record; ax: matplotlib axes, new ones by default. Returns the axes.
    """
    ax = axes(ax)
    samplings = [s for s in _MARKS if any(row["sampling"] == s for row in record["curve"])]
    for k, sampling in enumerate(samplings):
        _curve(ax, [row for row in record["curve"] if row["sampling"] == sampling], sampling, COLOURS[k])
    ax.axhline(record["prior_mmse"], color="#777777", linewidth=0.8, label="nothing visible")
    ax.set_xscale("log", base=2)
    ax.set_yscale("log")
    _fits(ax, record)
    lowest = min(row["mmse"]["value"] for row in record["curve"] if row["mmse"]["value"] > 0)
    ax.set_ylim(lowest / 3, 2 * record["prior_mmse"])
    _schedules(ax, record)
    _ticks(ax, record)
    ax.set_xlabel(f"v, visible tokens ({record['tokenizer']})")
    ax.set_ylabel("residual mode uncertainty MMSE(v), upper bound")
    ax.legend(frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(1.01, 1))
    return ax


def _curve(ax: Any, rows: list[dict[str, Any]], sampling: str, colour: str) -> None:
    """One sampling; open marks where too few errors were met to tell the value from 0."""
    rows = sorted((row for row in rows if row["mmse"]["value"] > 0), key=lambda row: row["visible"])
    x, y = [row["visible"] for row in rows], [row["mmse"]["value"] for row in rows]
    ends = np.array([interval_of(row["mmse"]) for row in rows]).reshape(-1, 2)
    ax.plot(x, y, color=colour, linewidth=1.2, alpha=0.7)
    for floor, face in ((False, colour), (True, "none")):
        at = [k for k, row in enumerate(rows) if row["at_floor"] == floor]
        spread = np.abs(ends[at] - np.array(y)[at, None]).T.reshape(2, -1)
        label = f"{sampling}: too few errors" if floor else sampling
        if at:
            where, values = [x[k] for k in at], [y[k] for k in at]
            style = {"color": colour, "markerfacecolor": face, "markersize": 5, "capsize": 2, "linewidth": 1.2}
            ax.errorbar(where, values, yerr=spread, fmt=_MARKS[sampling], label=label, **style)


def _fits(ax: Any, record: dict[str, Any]) -> None:
    used = record["margin"]["used"]
    if not used:
        return
    v = np.geomspace(used[0], used[-1], 200)
    for k, (name, dash) in enumerate(_DASHES.items()):
        fit = record["fits"][name]
        if fit["amplitude"] is not None:
            mark = " (verdict)" if record["verdict"] == name else ""
            ax.plot(v, _value(fit, v), color=COLOURS[2 + k], linestyle=dash, linewidth=1.6, label=f"{name}{mark}")


def _value(fit: dict[str, Any], v: Any) -> Any:
    b = fit["exponent"]["value"] if fit["exponent"] else 1.0
    drop = b * np.log(v) if fit["rate"] is None else fit["rate"]["value"] * v**b
    return np.exp(min(math.log(fit["amplitude"]["value"] or 1e-300), 700.0) - drop) + fit["floor"]


def _schedules(ax: Any, record: dict[str, Any]) -> None:
    """Bars in a strip under the curves, one a schedule."""
    low, high = ax.get_ylim()
    step = (high / low) ** 0.075
    top = max([row["visible"] for row in record["curve"]] + [q for s in record["schedules"] for q in s["quantiles"]])
    for k, row in enumerate(record["schedules"]):
        y, (left, middle, right) = low / step ** (k + 0.5), row["quantiles"]
        ax.plot([max(left, _LEFT), max(right, _LEFT)], [y, y], color="#444444", linewidth=2.5, alpha=0.7)
        if middle > 0:
            ax.plot([middle], [y], marker="o", markersize=5, color="#444444")
        if row["full_mask_mass"] > 1e-3:
            ax.plot([_LEFT], [y], marker="<", markersize=6, color="#444444")
        ax.annotate(
            row["schedule"],
            (1.0, y),
            xycoords=("axes fraction", "data"),
            xytext=(4, -3),
            fontsize="small",
            textcoords="offset points",
        )
    if record["schedules"]:
        ax.axhline(low, color="#bbbbbb", linewidth=0.8)
        decades = range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1)
        ax.set_yticks([10.0**d for d in decades][:: 1 + len(decades) // 9])
        ax.set_ylim(low / step ** len(record["schedules"]), high)
    ax.set_xlim(_LEFT, 1.3 * top)


def _ticks(ax: Any, record: dict[str, Any]) -> None:
    """Powers of two, every other one where there are many."""
    top = ax.get_xlim()[1]
    counts = [1 << k for k in range(int(math.log2(top)) + 1)]
    counts = counts[:: 1 + len(counts) // 9]
    ax.set_xticks(counts, [str(c) for c in counts])
    ax.minorticks_off()
