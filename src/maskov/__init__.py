"""maskov (mask + Markov): what a masked predictor is as a random process.

    models           load, models
    texts            passages, read_texts
    dynamics         glauber, block_glauber, anneal, open_trace, diagnose
    compatibility    rectangle_test, entropy_production
    influence        influence
    coupling         meeting_times
    phase            phase_diagram
    traps            find_traps, token_basins, dwell_segments
    drift            drift_curves, trajectories
    basins           find_basins
    topics           topic_recurrence
    identifiability  law, schedule, compare_schedules, identify
    corpora          corpus_uncertainty, read_corpus, schedule_on_curve
    learning         learn, learn_weights

Names load when they are first used: ``import maskov`` is instant, and nothing here needs torch but ``load``.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_ROOMS = {
    "load": "maskov.models",
    "catalogue": "maskov.models",
    "passages": "maskov.texts",
    "read_texts": "maskov.texts",
    "open_trace": "maskov.glauber",
    "anneal": "maskov.glauber",
    "block_glauber": "maskov.glauber",
    "diagnose": "maskov.diagnostics",
    "rectangle_test": "maskov.compatibility",
    "entropy_production": "maskov.compatibility",
    "meeting_times": "maskov.coupling",
    "phase_diagram": "maskov.phase",
    "drift_curves": "maskov.drift",
    "trajectories": "maskov.drift",
    "topic_recurrence": "maskov.topics",
    "dwell_segments": "maskov.basins",
    "find_basins": "maskov.basins",
    "find_traps": "maskov.basins",
    "token_basins": "maskov.basins",
    "law": "maskov.laws",
    "schedule": "maskov.schedules",
    "compare_schedules": "maskov.schedules",
    "identify": "maskov.identifiability",
    "advise": "maskov.advisor",
    "MaskScheduleCollator": "maskov.advisor",
    "learn": "maskov.learning",
    "learn_weights": "maskov.learning",
    "corpus_uncertainty": "maskov.corpora",
    "read_corpus": "maskov.corpora",
    "schedule_on_curve": "maskov.corpora",
}

# Packages that are called like their main function (maskov.rooms).
_CALLABLE = ("glauber", "influence")

__all__ = sorted([*_ROOMS, *_CALLABLE, "__version__"])


def __getattr__(name: str) -> Any:
    if name in _CALLABLE:
        return importlib.import_module(f"maskov.{name}")
    if name in _ROOMS:
        return getattr(importlib.import_module(_ROOMS[name]), name)
    raise AttributeError(f"module 'maskov' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
