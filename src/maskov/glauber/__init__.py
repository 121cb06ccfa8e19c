"""Glauber dynamics: the chain, its engine, its traces."""

from maskov.glauber.chains import Chains, arrange, check_temperatures
from maskov.glauber.draw import Drawn, draw_tokens
from maskov.glauber.engine import Chunk, StepInfo, run_chunk, step
from maskov.glauber.precision import DtypeGap, dtype_gap
from maskov.glauber.run import Progress, glauber
from maskov.glauber.trace import Changes, Trace, open_trace
from maskov.rooms import callable_room

__all__ = [
    "Changes",
    "Chains",
    "Chunk",
    "Drawn",
    "DtypeGap",
    "Progress",
    "StepInfo",
    "Trace",
    "arrange",
    "check_temperatures",
    "draw_tokens",
    "dtype_gap",
    "glauber",
    "open_trace",
    "run_chunk",
    "step",
]

callable_room(__name__, glauber)
