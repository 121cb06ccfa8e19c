"""Glauber dynamics: the chain, its engine, its traces."""

from maskov.glauber.anneal import anneal
from maskov.glauber.block_run import block_glauber
from maskov.glauber.chains import Chains, arrange, check_temperatures
from maskov.glauber.draw import Drawn, draw_tokens
from maskov.glauber.engine import Chunk, StepInfo, run_chunk, step
from maskov.glauber.precision import DtypeGap, dtype_gap
from maskov.glauber.run import Progress, glauber
from maskov.glauber.trace import Changes, Trace, open_trace
from maskov.glauber.walk import states_over
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
    "anneal",
    "arrange",
    "block_glauber",
    "check_temperatures",
    "draw_tokens",
    "dtype_gap",
    "glauber",
    "open_trace",
    "run_chunk",
    "states_over",
    "step",
]

callable_room(__name__, glauber)
