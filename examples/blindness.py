"""Blindness: where every visible set is large, the loss does not see the mode weights.

Reference law (gap 0.2, weight 0.3) under a 15 % mask, against equal weights: the total variation stays 0.2 while the
excess loss
falls like e^(-c v_min), c the Chernoff information.

    python examples/blindness.py --out results
"""

from __future__ import annotations

import math

from _output import write

from maskov.identifiability import identify
from maskov.plots.style import COLOURS, axes

SITES = [16, 32, 64, 128, 256, 512, 1024, 2048]


def main() -> None:
    """One identification a length."""
    laws = [f"product?sites={N}&gap=0.2&weight=0.3" for N in SITES]
    rows = [identify(law, "bert", against=0.5, epsilons=[1e-3]).to_dict() for law in laws]
    visible = [row["v_min"] for row in rows]
    decades = [row["discrepancy"]["log_value"] / math.log(10) for row in rows]
    slope = rows[0]["chernoff"] / math.log(10)
    ax = axes()
    ax.plot(visible, decades, "o-", color=COLOURS[0], label="excess loss of weight 0.5 (total variation 0.2)")
    line = [decades[-1] + slope * (visible[-1] - v) for v in visible]
    ax.plot(visible, line, "--", color=COLOURS[1], label="slope: Chernoff information")
    ax.set_xlabel("v_min, visible sites under a 15 % mask")
    ax.set_ylabel("log₁₀ of the excess loss (nats)")
    ax.legend(frameon=False)
    write("blindness", ax, {"laws": laws, "schedule": "bert", "against": 0.5}, {"rows": rows})


if __name__ == "__main__":
    main()
