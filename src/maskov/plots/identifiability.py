"""What a schedule identifies: residual uncertainty, the modulus sandwich, and the bridge, from records alone.

Values may lie far below the smallest float, so decades are drawn from ``log_value`` on a linear axis.
"""

from __future__ import annotations

import math
from typing import Any

from maskov.plots.style import COLOURS, axes, line_style

_DECADE = math.log(10)


def _decades(quantity: dict[str, Any]) -> float:
    """log10 of a quantity; NaN (a gap in the line) where it is 0 or missing."""
    log_value = quantity.get("log_value")
    return math.nan if log_value is None else log_value / _DECADE


def _exact_decades(quantity: dict[str, Any] | None) -> float:
    """The same for an exact quantity; NaN for a bound, or where there is none."""
    return _decades(quantity) if quantity is not None and quantity["kind"] == "exact" else math.nan


def plot_mmse(record: dict[str, Any], ax: Any = None) -> Any:
    """log10 MMSE(v) against v, with the slope of the Chernoff information and the schedule's smallest visible count.

    record: the ``results`` of an ``identify`` record; ax: matplotlib axes, new ones by default. Returns the axes.
    """
    ax = axes(ax)
    visible = [row["visible"] for row in record["mmse"]]
    values = [_decades(row) for row in record["mmse"]]
    ax.plot(visible, values, color=COLOURS[0], marker="o", markersize=3, linewidth=1.4, label="MMSE(v)")
    if record.get("chernoff") is not None and len(visible) > 1:
        line = [values[-1] + record["chernoff"] * (visible[-1] - v) / _DECADE for v in visible]
        ax.plot(visible, line, color=COLOURS[1], linestyle="--", linewidth=1.2, label="slope: Chernoff information")
    ax.axvline(record["v_min"], color="#555555", linestyle=":", linewidth=1.2, label=f"v_min of {record['schedule']}")
    ax.set_xlabel("v, visible sites")
    ax.set_ylabel("log₁₀ of the residual mode uncertainty MMSE(v)")
    ax.legend(frameon=False, fontsize="small")
    return ax


def plot_modulus(record: dict[str, Any], ax: Any = None) -> Any:
    """The sandwich witness ≤ search ≤ A(ε) ≤ full mask against ε, both axes logarithmic.

    record: the ``results`` of an ``identify`` record; ax: matplotlib axes, new ones by default. Returns the axes.
    """
    ax = axes(ax)
    rows = [row for row in record["modulus"] if row["epsilon"] > 0]
    epsilons = [row["epsilon"] for row in rows]
    curves = {
        "upper": "upper: full mask (Pinsker)",
        "upper_weights": "upper inside the witness family: low visibility",
        "searched": "lower: search over all q",
        "lower": "lower: witness family",
    }
    for k, (key, label) in enumerate(curves.items()):
        values = [row[key]["value"] if row.get(key) else math.nan for row in rows]
        if not all(math.isnan(v) for v in values):
            ax.plot(epsilons, values, label=label, marker="ov^s"[k], markersize=4, **line_style(k))
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_ylim(top=1.3)
    ax.set_xlabel("ε, excess loss (nats)")
    ax.set_ylabel("A(ε), total variation left open")
    ax.legend(frameon=False, fontsize="small")
    return ax


def plot_bridge(record: dict[str, Any], ax: Any = None) -> Any:
    """Blindness ratio and spectral gap against the number of sites, one colour a schedule: log10, the gap never above.

    record: ``to_dict()`` of a ``BridgeTable``; ax: matplotlib axes, new ones by default. Returns the axes.
    """
    ax = axes(ax)
    for k, spec in enumerate(dict.fromkeys(row["schedule"] for row in record["rows"])):
        rows = [row for row in record["rows"] if row["schedule"] == spec]
        sites, colour = [row["n_sites"] for row in rows], COLOURS[k % len(COLOURS)]
        ratio = [_decades(row["blindness_ratio"]) for row in rows]
        gap = [_exact_decades(row["spectral_gap"]) for row in rows]
        ax.plot(sites, ratio, color=colour, linestyle="-", marker="o", markersize=4, label=f"blindness ratio, {spec}")
        ax.plot(sites, gap, color=colour, linestyle="--", marker="s", markersize=4, label=f"spectral gap, {spec}")
    lengths = sorted({row["n_sites"] for row in record["rows"]})
    ax.set_xscale("log", base=2)
    ax.set_xticks(lengths, [str(n) for n in lengths])
    ax.minorticks_off()
    ax.set_xlabel("sites")
    ax.set_ylabel("log₁₀ of the ratio and of the gap per block update")
    ax.legend(frameon=False, fontsize="small")
    return ax


def plot_tensorization(record: dict[str, Any], ax: Any = None) -> Any:
    """Lower bounds of C_AT(μ) against the number of sites, one line a schedule: log10.

    record: ``to_dict()`` of a ``BridgeTable``; ax: matplotlib axes, new ones by default. Returns the axes.
    """
    ax = axes(ax)
    for k, spec in enumerate(dict.fromkeys(row["schedule"] for row in record["rows"])):
        rows = [row for row in record["rows"] if row["schedule"] == spec]
        sites, values = [r["n_sites"] for r in rows], [_decades(r["tensorization"]) for r in rows]
        ax.plot(sites, values, label=spec, marker="o", markersize=4, **line_style(k))
    ax.set_xlabel("sites")
    ax.set_ylabel("log₁₀ C_AT(μ), lower bound")
    ax.legend(frameon=False, fontsize="small", title="schedule")
    return ax
