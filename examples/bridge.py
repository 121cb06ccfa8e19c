"""The bridge: the spectral gap of the block chain never exceeds the blindness ratio of training with the same schedule.

python examples/bridge.py --out results
"""

from __future__ import annotations

from _output import write

from maskov.identifiability import bridge_table
from maskov.plots.identifiability import plot_bridge

LAWS = [f"product?sites={N}&gap=0.3&weight=0.3" for N in (8, 16, 32, 64)]
SCHEDULES = ["hide:1", "bert", "uniform", "0.95*hide:1+0.05*full"]


def main() -> None:
    """Both sides for every law and schedule, printed and drawn."""
    table = bridge_table(LAWS, SCHEDULES)
    print(table)
    write("bridge", plot_bridge(table.to_dict()), {"laws": LAWS, "schedules": SCHEDULES}, table.to_dict())


if __name__ == "__main__":
    main()
