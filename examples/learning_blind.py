"""Blindness in training: the loss is at its optimum, the mode weights are where they were initialised.

Reference law (gap 0.3, weight 0.3) under ``hide:1``, a 15 % mask, and a 15 % mask with 5 % of full masks. Three
learners: the witness (mode weights free, all else known) and a table of counts at 64 sites, a small transformer at 32
(left out without torch).

    python examples/learning_blind.py --out results
"""

from __future__ import annotations

import importlib.util
from typing import Any

from _output import write
from matplotlib.figure import Figure

from maskov.learning import learn
from maskov.plots.learning import plot_loss, plot_weights

LAW = "product?sites={}&gap=0.3&weight=0.3"
SPECS = ["hide:1", "fixed:0.15", "0.95*fixed:0.15+0.05*full"]


def experiments() -> dict[str, dict[str, Any]]:
    """One record a learner."""
    found = {"witness": learn(LAW.format(64), SPECS, seeds=10, samples=10_000)}
    found["table"] = learn(LAW.format(64), SPECS, "table", seeds=10, samples=10_000)
    if importlib.util.find_spec("torch") is not None:
        small = {"samples": 2000, "epochs": 12, "fresh": 500}
        found["transformer"] = learn(LAW.format(32), SPECS, "transformer", seeds=5, **small)
    return {name: result.to_dict() for name, result in found.items()}


def main() -> None:
    """Loss above, weights below; one column a learner."""
    records = experiments()
    grid = Figure(figsize=(4.6 * len(records), 7.6), layout="constrained").subplots(2, len(records))
    for k, (name, record) in enumerate(records.items()):
        plot_loss(record, grid[0, k]).set_title(f"{name}, {record['n_sites']} sites")
        plot_weights(record, grid[1, k])
    write("learning_blind", grid[0, 0], {"law": LAW, "schedules": SPECS}, records)


if __name__ == "__main__":
    main()
