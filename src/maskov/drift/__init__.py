"""Semantic drift: embedders, drift curves, hitting times."""

from maskov.drift.curves import DriftCurve, DriftCurves, drift_curves, time_grid
from maskov.drift.embed import Cached, Embedder, embedder
from maskov.drift.embedders import OneHot, Pooled, SentenceTransformer, UniversalSentenceEncoder
from maskov.drift.hitting import Hits, first_hits, hitting_median, survival_median

__all__ = [
    "Cached",
    "DriftCurve",
    "DriftCurves",
    "Embedder",
    "Hits",
    "OneHot",
    "Pooled",
    "SentenceTransformer",
    "UniversalSentenceEncoder",
    "drift_curves",
    "embedder",
    "first_hits",
    "hitting_median",
    "survival_median",
    "time_grid",
]
