"""Text collections as modes: what v visible tokens say about which collection a text is from."""

from maskov.corpora.decay import Decay, Fit, fit_decay
from maskov.corpora.measured import MeasuredBound
from maskov.corpora.on_curve import OnCurve, OpenWeights, WeightShift, schedule_on_curve
from maskov.corpora.probe import ModeProbe, mode_probe
from maskov.corpora.result import CollectionRow, CorpusUncertainty, CurvePoint
from maskov.corpora.stored import read_corpus
from maskov.corpora.uncertainty import corpus_uncertainty

__all__ = [
    "CollectionRow",
    "CorpusUncertainty",
    "CurvePoint",
    "Decay",
    "Fit",
    "MeasuredBound",
    "ModeProbe",
    "OnCurve",
    "OpenWeights",
    "WeightShift",
    "corpus_uncertainty",
    "fit_decay",
    "mode_probe",
    "read_corpus",
    "schedule_on_curve",
]
