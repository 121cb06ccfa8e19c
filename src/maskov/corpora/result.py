"""The result of ``corpus_uncertainty``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from maskov.corpora.decay import Decay
from maskov.corpora.measured import MeasuredBound
from maskov.corpora.on_curve import OnCurve
from maskov.results import Result, jsonable


@dataclass(frozen=True)
class CollectionRow:
    """One collection as it was used. documents, tokens: without duplicates; duplicates: left out, shared of them with
    another collection; measured: documents long enough for the curve; skipped: files that could not be read."""

    name: str
    documents: int
    tokens: int
    duplicates: int
    shared: int
    measured: int
    skipped: int = 0


@dataclass(frozen=True)
class CurvePoint:
    """Residual mode uncertainty at v visible tokens. mmse: upper bound of E Var(Z|x_S) (for K modes half the trace of
    the covariance); entropy: upper bound of H(Z|x_S), nats; classifier: the one chosen in most folds; draws: of each
    document; at_floor: the sample is too small to tell the MMSE from 0."""

    visible: int
    sampling: str
    mmse: MeasuredBound
    entropy: MeasuredBound
    classifier: str
    draws: int
    at_floor: bool


@dataclass(frozen=True)
class CorpusUncertainty(Result):
    """How well v visible tokens tell the collections apart (what ``maskov corpus`` prints).

    length: L, the sites of a segment; prior_mmse, prior_entropy: with nothing visible; decays: fits and verdict by
    sampling; schedules: what mask schedules make of the curve.
    """

    command: ClassVar[str] = "corpus"
    collections: tuple[CollectionRow, ...]
    weights: tuple[float, ...]
    tokenizer: str
    length: int
    prior_mmse: float
    prior_entropy: float
    curve: tuple[CurvePoint, ...]
    decays: dict[str, Decay]
    schedules: tuple[OnCurve, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def verdict(self) -> str:
        """Of the subset curve: ``exponential``, ``power``, ``stretched`` or ``cannot tell``."""
        return self.decays["subset"].verdict

    def points(self, sampling: str = "subset") -> list[CurvePoint]:
        """The curve of one sampling, by visible count."""
        return sorted((p for p in self.curve if p.sampling == sampling), key=lambda p: p.visible)

    def to_dict(self) -> dict[str, Any]:
        """``{"curve", "fits", "verdict", "margin", "collections", "weights", "tokenizer", …}``.

        ``fits``, ``verdict`` and ``margin`` are of random subsets, which the theory speaks of; ``window`` has those of
        windows.
        """
        record = {k: v for k, v in vars(self).items() if k not in ("decays", "warnings")}
        window = self.decays.get("window")
        record |= _decay_record(self.decays["subset"])
        record["window"] = None if window is None else _decay_record(window)
        return dict(jsonable(record))

    def table(self) -> str:
        """The readable answer."""
        lines = [self._head(), *self._collection_lines(), "", *self._curve_lines(), ""]
        lines += [line for decay in self.decays.values() for line in _decay_lines(decay)]
        return "\n".join([*lines, *(line for row in self.schedules for line in row.lines())])

    def __str__(self) -> str:
        return self.table()

    def _head(self) -> str:
        weights = ", ".join(f"{row.name} {w:.3g}" for row, w in zip(self.collections, self.weights, strict=True))
        return f"mode weights {weights}; tokens: {self.tokenizer}; segments of {self.length} sites"

    def _collection_lines(self) -> list[str]:
        return [
            f"  {c.name}: {c.documents:,} documents, {c.tokens:,} tokens, {c.duplicates:,} duplicates left out"
            f" ({c.shared:,} shared), {c.measured:,} measured"
            for c in self.collections
        ]

    def _curve_lines(self) -> list[str]:
        samplings = [s for s in ("subset", "window") if s in self.decays]
        head = f"{'v':>6}" + "".join(f"  {s + ': MMSE <=':>28}  {'H <=':>9}  {'by':<8}" for s in samplings)
        nothing = "".join(f"  {self.prior_mmse:>28.4g}  {self.prior_entropy:>9.4g}  {'prior':<8}" for _ in samplings)
        by_count: dict[int, list[CurvePoint]] = {}
        for sampling in samplings:
            for point in self.points(sampling):
                by_count.setdefault(point.visible, []).append(point)
        rows = [f"{v:>6}" + "".join(_cell(point) for point in row) for v, row in sorted(by_count.items())]
        note = "upper bounds from held-out documents, 95 % intervals; H in nats; * too few errors to tell from 0"
        return [note, head, f"{0:>6}" + nothing, *rows]


def _cell(point: CurvePoint) -> str:
    low, high = point.mmse.interval
    mark = "*" if point.at_floor else " "
    value = f"{point.mmse.value:.3g} [{low:.2g}, {high:.2g}]{mark}"
    return f"  {value:>28}  {point.entropy.value:>9.3g}  {point.classifier:<8}"


def _decay_record(decay: Decay) -> dict[str, Any]:
    fits = {name: fit.to_dict() for name, fit in decay.fits().items()}
    margin = {"delta_aic": decay.delta_aic, "share": decay.share, "used": decay.used, "reason": decay.reason}
    return {"fits": fits, "verdict": decay.verdict, "margin": margin}


def _decay_lines(decay: Decay) -> list[str]:
    used = f"v = {decay.used[0]} … {decay.used[-1]}" if decay.used else "no count"
    support = f"ΔAIC {decay.delta_aic:.1f}, {100 * decay.share:.0f} % of resamples; {decay.reason}"
    head = f"{decay.sampling}: {decay.verdict} on {used} ({support})"
    return [head, *(f"  {name:<12} {_formula(fit)}" for name, fit in decay.fits().items() if fit.amplitude is not None)]


def _formula(fit: Any) -> str:
    A = f"{fit.amplitude.value:.3g}"
    floor = f" + {fit.floor:.2g}" if fit.floor else ""
    shapes = {
        "exponential": lambda: f"{A} exp(-{fit.rate.value:.3g} v)",
        "power": lambda: f"{A} v^-{fit.exponent.value:.3g}",
        "stretched": lambda: f"{A} exp(-{fit.rate.value:.3g} v^{fit.exponent.value:.3g})",
    }
    main = fit.rate if fit.family == "exponential" else fit.exponent
    ends = f"  [{main.interval[0]:.3g}, {main.interval[1]:.3g}]" if main.interval else ""
    return f"{shapes[fit.family]()}{floor}{ends}  AIC {fit.aic:.1f}"
