"""Two chains with shared randomness: couplings of one step, meeting times, bounds on total variation."""

from maskov.coupling.meeting import CoupleCell, CouplingResult, meeting_times
from maskov.coupling.pairs import STARTS, Pair, choose_pairs, make_pairs
from maskov.coupling.run import Meetings, run_pairs
from maskov.coupling.steps import COUPLINGS, couple_tokens
from maskov.coupling.total_variation import LagBound, lag_bound

__all__ = [
    "COUPLINGS",
    "STARTS",
    "CoupleCell",
    "CouplingResult",
    "LagBound",
    "Meetings",
    "Pair",
    "choose_pairs",
    "couple_tokens",
    "lag_bound",
    "make_pairs",
    "meeting_times",
    "run_pairs",
]
