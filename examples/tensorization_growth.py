"""Tensorisation: C_AT grows exponentially in N for large-visibility schedules and stays bounded with low-visibility
mass.

    python examples/tensorization_growth.py --out results
"""

from __future__ import annotations

from _output import write

from maskov.identifiability import bridge_table
from maskov.plots.identifiability import plot_tensorization

LAWS = [f"product?sites={N}&gap=0.3&weight=0.3" for N in (8, 16, 32, 48, 64, 96, 128)]
SCHEDULES = ["hide:1", "bert", "mae", "uniform:0.3,0.8", "uniform", "0.95*bert+0.05*full"]


def main() -> None:
    """Every law under every schedule."""
    record = bridge_table(LAWS, SCHEDULES).to_dict()
    write("tensorization_growth", plot_tensorization(record), {"laws": LAWS, "schedules": SCHEDULES}, record)


if __name__ == "__main__":
    main()
