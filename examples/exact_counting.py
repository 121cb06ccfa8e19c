"""Exact counting: the residual mode uncertainty of the reference law to 10,000 sites, without underflow.

python examples/exact_counting.py --out results
"""

from __future__ import annotations

import math

import numpy as np
from _output import write

from maskov.identifiability import mmse_curve, view
from maskov.laws import reference_mixture
from maskov.plots.style import COLOURS, axes
from maskov.schedules import schedule

COUNTS = np.unique(np.geomspace(1, 10_000, 60).astype(int))


def main() -> None:
    """MMSE(v) for three gaps, each with its Chernoff slope."""
    ax, results = axes(), []
    for k, gap in enumerate((0.1, 0.2, 0.3)):
        seen = view(reference_mixture(10_000, gap, 0.3), schedule("hide:1"))
        assert seen is not None
        curve = [{"visible": v, **q.to_dict()} for v, q in mmse_curve(seen, COUNTS)]
        chernoff = -0.5 * math.log(1 - 4 * gap**2)
        results.append({"gap": gap, "chernoff": chernoff, "mmse": curve})
        decades = [-row["log_value"] / math.log(10) for row in curve]
        ax.loglog(COUNTS, decades, "os^"[k] + "-", color=COLOURS[k], markersize=3, label=f"gap {gap:g}")
        ax.loglog(COUNTS, COUNTS * chernoff / math.log(10), ":", color=COLOURS[k])
    ax.set_xlabel("v, visible sites")
    ax.set_ylabel("−log₁₀ MMSE(v); dotted: Chernoff information × v")
    ax.legend(frameon=False)
    write("exact_counting", ax, {"weight": 0.3, "counts": COUNTS.tolist()}, {"curves": results})


if __name__ == "__main__":
    main()
