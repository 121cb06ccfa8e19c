"""Coercivity: with full-mask mass π_0, every q within ε of the optimum has TV(p, q) <= sqrt(ε/(2 π_0)).

The sandwich on a law small enough to search over all q: witness family <= best q found <= Pinsker.

    python examples/coercivity.py --out results
"""

from __future__ import annotations

from _output import write

from maskov.identifiability import identify
from maskov.plots.identifiability import plot_modulus

LAW, SCHEDULE = "product?sites=4&gap=0.4&weight=0.3", "0.9*hide:1+0.1*full"
EPSILONS = [10 ** (-k / 2) for k in range(10, 1, -1)]


def main() -> None:
    """One identification with a fine grid of excess losses."""
    record = identify(LAW, SCHEDULE, epsilons=EPSILONS).to_dict()
    ax = plot_modulus(record)
    write("coercivity", ax, {"law": LAW, "schedule": SCHEDULE, "epsilons": EPSILONS}, record)


if __name__ == "__main__":
    main()
