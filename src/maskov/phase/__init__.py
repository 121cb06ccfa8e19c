"""Phase diagrams: times over temperatures and lengths, the crossover and how it moves, cell by cell."""

from maskov.phase.cell import run_cell
from maskov.phase.crossover import Column, Crossover, Shift, crossing, shift
from maskov.phase.fit import Side, TimeLaws, time_laws
from maskov.phase.result import PhaseCell, PhaseDiagram, Times
from maskov.phase.sweep import MULTIPLE, SITES, TEMPERATURES, phase_diagram

__all__ = [
    "MULTIPLE",
    "SITES",
    "TEMPERATURES",
    "Column",
    "Crossover",
    "PhaseCell",
    "PhaseDiagram",
    "Shift",
    "Side",
    "TimeLaws",
    "Times",
    "crossing",
    "phase_diagram",
    "run_cell",
    "shift",
    "time_laws",
]
