"""Mask schedules side by side, from their record alone."""

from __future__ import annotations

from typing import Any

# Okabe & Ito 2008: told apart by colour-blind readers; line styles repeat the distinction.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#000000")
DASHES = ("-", "--", "-.", ":")


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    from matplotlib.figure import Figure

    return Figure(figsize=(6.4, 4.2), layout="constrained").subplots()


def plot_schedules(record: dict[str, Any], ax: Any = None) -> Any:
    """π_s = P(v ≤ s) against s for every schedule: atoms are steps, the height at the left edge is the full-mask mass.

    record: the ``results`` of a ``schedule`` record; ax: matplotlib axes, new ones by default. Returns the axes.
    """
    ax = _axes(ax)
    length = record["length"]
    for k, row in enumerate(record["schedules"]):
        visible, total = [0.0], [0.0]
        for cell in row["visible_law"]:
            visible.append(cell["visible"])
            total.append(total[-1] + cell["mass"])
        style = {"color": COLOURS[k % len(COLOURS)], "linestyle": DASHES[k % len(DASHES)], "linewidth": 1.6}
        ax.step([*visible, length], [*total, total[-1]], where="post", label=row["spec"], **style)
    ax.set_xlim(0, length)
    ax.set_ylim(0, 1.02)
    ax.set_xlabel(f"s, visible sites (of {length})")
    ax.set_ylabel("low-visibility mass π_s = P(v ≤ s)")
    ax.legend(frameon=False, fontsize="small")
    return ax
