"""Mask schedules: exact laws of the visible count, samples, mixtures, loss weights, and the text form."""

from maskov.schedules.base import Schedule, SetLaw
from maskov.schedules.combine import Mixture, Named, Weighted
from maskov.schedules.counts import FixedRatio, FullMask, HiddenCount, Spans, VisibleCount
from maskov.schedules.parse import PRESETS, schedule
from maskov.schedules.rates import Bernoulli, BetaRate, CosineRate, PowerRate, TruncatedNormal, UniformRate
from maskov.schedules.table import ScheduleRow, ScheduleTable, compare_schedules, describe

__all__ = [
    "PRESETS",
    "Bernoulli",
    "BetaRate",
    "CosineRate",
    "FixedRatio",
    "FullMask",
    "HiddenCount",
    "Mixture",
    "Named",
    "PowerRate",
    "Schedule",
    "ScheduleRow",
    "ScheduleTable",
    "SetLaw",
    "Spans",
    "TruncatedNormal",
    "UniformRate",
    "VisibleCount",
    "Weighted",
    "compare_schedules",
    "describe",
    "schedule",
]
