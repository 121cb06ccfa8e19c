"""How far one site sways another: influence matrices, contraction, certificates, bottlenecks."""

from maskov.influence.bottleneck import BoundsRow, bottleneck_bound, bottleneck_ratio, bounds_row, bounds_table
from maskov.influence.contraction import Contraction, Influence, contraction, mixing_time_bound
from maskov.influence.dobrushin import dobrushin_matrix
from maskov.influence.study import InfluencePoint, InfluenceResult, influence
from maskov.influence.variation import oscillation, total_variations
from maskov.rooms import callable_room

__all__ = [
    "BoundsRow",
    "Contraction",
    "Influence",
    "InfluencePoint",
    "InfluenceResult",
    "bottleneck_bound",
    "bottleneck_ratio",
    "bounds_row",
    "bounds_table",
    "contraction",
    "dobrushin_matrix",
    "influence",
    "mixing_time_bound",
    "oscillation",
    "total_variations",
]

callable_room(__name__, influence)
