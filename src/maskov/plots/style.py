"""The look of every figure: colours, line styles, axes made without a global state."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

# Okabe & Ito 2008: told apart by colour-blind readers; line styles repeat the distinction.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#000000")
DASHES = ("-", "--", "-.", ":")


def axes(ax: Any = None, size: tuple[float, float] = (6.4, 4.2)) -> Any:
    """``ax``, or the axes of a new figure; only in a notebook does pyplot hold it, which shows it below the cell."""
    if ax is not None:
        return ax
    if in_notebook():
        from matplotlib import pyplot

        return pyplot.subplots(figsize=size, layout="constrained")[1]
    from matplotlib.figure import Figure

    return Figure(figsize=size, layout="constrained").subplots()


def in_notebook() -> bool:
    """Whether the code runs in a Jupyter kernel."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell is not None and hasattr(shell, "kernel")


def line_style(k: int) -> dict[str, Any]:
    """Colour and dashes of the k-th line of a figure."""
    return {"color": COLOURS[k % len(COLOURS)], "linestyle": DASHES[k % len(DASHES)], "linewidth": 1.6}


def interval_of(quantity: dict[str, Any]) -> tuple[float, float]:
    """The 95 % interval of a record's quantity; an end that it lacks is the value itself."""
    low, high = quantity.get("interval") or (None, None)
    value = quantity["value"]
    return (value if low is None else low, value if high is None else high)


def points(ax: Any, x: Any, quantities: list[dict[str, Any]], line: str = "") -> None:
    """Values of a record's quantities with their 95 % intervals; line: "-" joins them."""
    values = np.array([q["value"] for q in quantities], dtype=float)
    ends = np.array([interval_of(q) for q in quantities], dtype=float).reshape(-1, 2)
    spread = np.abs(ends - values[:, None]).T
    ax.errorbar(x, values, yerr=spread, fmt=f"o{line}", color=COLOURS[0], capsize=3, markersize=5, linewidth=1.4)


def superscript(exponent: int) -> str:
    """A whole number as raised digits.

    >>> superscript(-12)
    '⁻¹²'
    """
    return str(exponent).translate(_SUPERSCRIPTS)


def power_of_ten(value: float) -> str:
    """A tick of a log axis without mathtext: a page can then take every text literally, "$" in a token too.

    >>> power_of_ten(0.001), power_of_ten(10.0), power_of_ten(20.0)
    ('10⁻³', '10', '')
    """
    exponent = round(math.log10(value)) if value > 0 else 0
    if value <= 0 or not math.isclose(value, 10.0**exponent, rel_tol=1e-6):
        return ""
    if 0 <= exponent <= 3:
        return f"{10**exponent}"
    return "10" + superscript(exponent)


_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def plain_powers(ax: Any) -> None:
    """Label the decades of log axes that still have matplotlib's own formatter."""
    from matplotlib.ticker import FuncFormatter, LogFormatterMathtext, NullFormatter

    for axis in (ax.xaxis, ax.yaxis):
        if isinstance(axis.get_major_formatter(), LogFormatterMathtext):
            axis.set_major_formatter(FuncFormatter(lambda value, _: power_of_ten(value)))
            axis.set_minor_formatter(NullFormatter())
