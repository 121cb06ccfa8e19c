"""How fast a probe of the mode forgets along chains, beside the least autocorrelation that ρ allows."""

from __future__ import annotations

from typing import Any

from maskov.plots.style import COLOURS, axes, interval_of


def plot_switching(record: dict[str, Any], ax: Any = None) -> Any:
    """Autocorrelation of the mode probe against the lag, 95 %, one colour a schedule; dashed: the least that ρ allows.

    record: ``to_dict()`` of a ``SwitchRates``, or ``{"rows": [several]}``; ax: matplotlib axes, new ones by default.
    Returns the axes.
    """
    ax = axes(ax)
    for k, row in enumerate(record.get("rows", [record])):
        colour, lags = COLOURS[k % len(COLOURS)], [point["lag"] for point in row["lags"]]
        values = [point["autocorrelation"] for point in row["lags"]]
        reach = [[max(0.0, s * (v["value"] - interval_of(v)[e])) for v in values] for e, s in ((0, 1), (1, -1))]
        style = {"fmt": "osD^v"[k % 5] + "-", "markersize": 4, "linewidth": 1.4, "capsize": 2}
        label = row["schedule"] or "measured"
        ax.errorbar(lags, [v["value"] for v in values], yerr=reach, color=colour, label=label, **style)
        least = [point["least"]["value"] if point["least"] else float("nan") for point in row["lags"]]
        if row["blindness_ratio"] is not None:
            ax.plot(lags, least, color=colour, linestyle="--", linewidth=1.2)
    ax.plot([], [], color="#555555", linestyle="--", label="least that ρ allows")
    ax.set_xscale("log", base=2)
    ax.set_ylim(-0.05, 1.05)
    ax.set_xlabel("lag (block updates)")
    ax.set_ylabel("autocorrelation of P(mode | state)")
    ax.legend(frameon=False, fontsize="small")
    return ax
