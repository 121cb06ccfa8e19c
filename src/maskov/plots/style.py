"""The look of every figure: colours, line styles, axes made without a global state."""

from __future__ import annotations

from typing import Any

# Okabe & Ito 2008: told apart by colour-blind readers; line styles repeat the distinction.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#000000")
DASHES = ("-", "--", "-.", ":")


def axes(ax: Any = None, size: tuple[float, float] = (6.4, 4.2)) -> Any:
    """``ax``, or the axes of a new figure; pyplot's registry of open figures is never touched."""
    if ax is not None:
        return ax
    from matplotlib.figure import Figure

    return Figure(figsize=size, layout="constrained").subplots()


def line_style(k: int) -> dict[str, Any]:
    """Colour and dashes of the k-th line of a figure."""
    return {"color": COLOURS[k % len(COLOURS)], "linestyle": DASHES[k % len(DASHES)], "linewidth": 1.6}
