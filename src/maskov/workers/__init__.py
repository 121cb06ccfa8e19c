"""Independent units of work: in this process, in several, or on a Ray cluster; the same results file for file."""

from maskov.workers.run import run_units
from maskov.workers.shelf import Shelf
from maskov.workers.unit import Unit

__all__ = ["Shelf", "Unit", "run_units"]
