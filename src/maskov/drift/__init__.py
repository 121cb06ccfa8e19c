"""Semantic drift: embedders, drift curves, hitting times."""

from maskov.drift.curves import DriftCurve, DriftCurves, drift_curves, time_grid
from maskov.drift.embed import Cached, Embedder, embedder
from maskov.drift.embedders import OneHot, Pooled, SentenceTransformer, UniversalSentenceEncoder
from maskov.drift.fits import Growth, GrowthLaw, fit_growth
from maskov.drift.hitting import Hits, first_hits, hitting_median, survival_median
from maskov.drift.trajectories import Trajectories, kept_states, trajectories

__all__ = [
    "Cached",
    "DriftCurve",
    "DriftCurves",
    "Embedder",
    "Growth",
    "GrowthLaw",
    "Hits",
    "OneHot",
    "Pooled",
    "SentenceTransformer",
    "Trajectories",
    "UniversalSentenceEncoder",
    "drift_curves",
    "embedder",
    "first_hits",
    "fit_growth",
    "hitting_median",
    "survival_median",
    "kept_states",
    "time_grid",
    "trajectories",
]
