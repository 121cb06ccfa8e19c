"""Mask schedules side by side, from their record alone."""

from __future__ import annotations

from typing import Any

from maskov.plots.style import axes, line_style


def plot_schedules(record: dict[str, Any], ax: Any = None) -> Any:
    """π_s = P(v ≤ s) against s for every schedule: atoms are steps, the height at the left edge is the full-mask mass.

    record: the ``results`` of a ``schedule`` record; ax: matplotlib axes, new ones by default. Returns the axes.
    """
    ax = axes(ax)
    length = record["length"]
    for k, row in enumerate(record["schedules"]):
        visible, total = [0.0], [0.0]
        for cell in row["visible_law"]:
            visible.append(cell["visible"])
            total.append(total[-1] + cell["mass"])
        ax.step([*visible, length], [*total, total[-1]], where="post", label=row["spec"], **line_style(k))
    ax.set_xlim(0, length)
    ax.set_ylim(0, 1.02)
    ax.set_xlabel(f"s, visible sites (of {length})")
    ax.set_ylabel("low-visibility mass π_s = P(v ≤ s)")
    ax.legend(frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(1.01, 1))
    return ax
