"""Basins: margins, perfect traps, dwell segments."""

from maskov.basins.dwell import Dwell, DwellCell, DwellSegments, dwell_segments
from maskov.basins.margin import Hold, hold, is_perfect_trap, margins
from maskov.basins.segments import Moves, Segment, segments

__all__ = [
    "Dwell",
    "DwellCell",
    "DwellSegments",
    "Hold",
    "Moves",
    "Segment",
    "dwell_segments",
    "hold",
    "is_perfect_trap",
    "margins",
    "segments",
]
