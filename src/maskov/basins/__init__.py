"""Basins: margins, traps and how long they hold, token-count basins, dwell segments, Markov state models."""

from maskov.basins.birth_death import leaving_times, rising_stretch
from maskov.basins.descent import Descent, descend
from maskov.basins.dwell import Dwell, DwellCell, DwellSegments, dwell_segments
from maskov.basins.escape import (
    Escape,
    EscapePoint,
    Exits,
    ball_exits,
    escape_line,
    first_exits,
    mean_dwell,
    mean_escape,
)
from maskov.basins.margin import Hold, hold, is_perfect_trap, margins
from maskov.basins.markov_result import Basin, BasinCell, BasinsResult
from maskov.basins.markov_states import find_basins
from maskov.basins.segments import Moves, Segment, segments
from maskov.basins.token_counts import TokensResult, token_basins
from maskov.basins.token_counts_profile import Profile
from maskov.basins.token_counts_scan import Ranked, count_moves, log_odds
from maskov.basins.traps import find_traps, uniform_margin_bound
from maskov.basins.traps_result import BallEscape, Leave, Trap, TrapsResult

__all__ = [
    "Basin",
    "BasinCell",
    "BasinsResult",
    "BallEscape",
    "Descent",
    "Dwell",
    "DwellCell",
    "DwellSegments",
    "Escape",
    "EscapePoint",
    "Exits",
    "Hold",
    "Leave",
    "Moves",
    "Profile",
    "Ranked",
    "Segment",
    "TokensResult",
    "Trap",
    "TrapsResult",
    "ball_exits",
    "count_moves",
    "descend",
    "dwell_segments",
    "escape_line",
    "find_basins",
    "find_traps",
    "first_exits",
    "hold",
    "is_perfect_trap",
    "leaving_times",
    "log_odds",
    "margins",
    "mean_dwell",
    "mean_escape",
    "rising_stretch",
    "segments",
    "token_basins",
    "uniform_margin_bound",
]
