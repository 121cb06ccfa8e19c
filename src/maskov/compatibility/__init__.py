"""Does any joint law have these conditionals? Rectangles and entropy production."""

from maskov.compatibility.entropy_production import EntropyCell, EntropyProduction, correlated_mean, entropy_production
from maskov.compatibility.paths import PROPOSALS, Rectangles
from maskov.compatibility.rectangle import rectangle_test
from maskov.compatibility.summary import RectangleResult

__all__ = [
    "PROPOSALS",
    "EntropyCell",
    "EntropyProduction",
    "RectangleResult",
    "Rectangles",
    "correlated_mean",
    "entropy_production",
    "rectangle_test",
]
