"""One call: residual mode uncertainty of text collections against the number of visible tokens."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maskov.corpora.collect import Collection, Input, read_collections
from maskov.corpora.decay import FEWEST_POINTS, Decay, fit_decay
from maskov.corpora.measure import CLASSIFIERS, Bench, Measured
from maskov.corpora.measured import MeasuredBound
from maskov.corpora.neural import have_network
from maskov.corpora.on_curve import schedule_on_curve
from maskov.corpora.result import CollectionRow, CorpusUncertainty, CurvePoint
from maskov.corpora.subsets import SAMPLINGS, Panel, check_counts, choose_length, panel, visible_counts
from maskov.corpora.tokens import find_tokenizer
from maskov.errors import InputError
from maskov.randomness import Stream, generator
from maskov.schedules import Schedule
from maskov.schedules import schedule as parse_schedule

Floats = NDArray[np.float64]
Progress = Callable[[float, str], None]
RESAMPLES = 1000
UNSEEN = 3.69  # −log 0.025: errors per sample that 0 among n draws leave possible, times n
_READING = 0.35
NO_NETWORK = "scikit-learn is not installed: naive Bayes alone gives a looser bound; run: pip install 'maskov[corpora]'"


def corpus_uncertainty(
    collections: Mapping[str, Input],
    *,
    tokenizer: str = "words",
    weights: str | Sequence[float] = "equal",
    longest: int | None = None,
    visible: Sequence[int] | None = None,
    samplings: Sequence[str] = SAMPLINGS,
    classifiers: Sequence[str] = CLASSIFIERS,
    schedules: Sequence[str | Schedule] = (),
    length: int | None = None,
    field: str = "text",
    seed: int = 0,
    progress: Progress | None = None,
) -> CorpusUncertainty:
    """Upper bounds of H(Z|x_S) and MMSE(Z|x_S) at v = 1, 2, 4, … visible tokens, and the law of their decay.

    collections: name → path, folder, glob, or a sequence of texts, two or more; tokenizer: ``words``, ``bytes``, or a
    Hugging Face one; weights: ``equal``, ``documents``, ``tokens``, or K numbers; longest: the largest visible count
    (default: what a quarter of every collection's documents have, at most 4,096); visible: other counts than powers of
    two; samplings: ``subset`` (v of L sites
    at random) and ``window`` (v neighbours); classifiers: of ``unigram``, ``ngram``, ``network``; schedules, length:
    mask schedules to read off the curve at N sites; field: of JSONL; progress: called with a share in [0, 1] and a
    stage. Each document counts the same within its collection.

    Any classifier's held-out log loss is at least H(Z|x_S), and its held-out Brier score at least MMSE (both are
    proper scores). Documents fall into five parts by a hash of their text; in each of five rotations classifiers are
    trained on three, calibrated and chosen on one, and scored on the last, so the choice never sees what it is judged
    on. Raises ``InputError`` on collections that can't be used.

    >>> texts = {"a": [f"up down {k}" for k in range(60)], "b": [f"left right {k}" for k in range(60, 120)]}
    >>> found = corpus_uncertainty(texts, classifiers=["unigram"], longest=2)
    >>> [(p.visible, p.mmse.side) for p in found.points("subset")]
    [(1, 'upper'), (2, 'upper')]
    """
    names = _check_choices(samplings, classifiers, longest)
    mus = [parse_schedule(spec) for spec in schedules]
    tell = progress or (lambda share, stage: None)
    words = find_tokenizer(tokenizer)
    found = read_collections(collections, words, seed, field, lambda share: tell(_READING * share, "reading"))
    w = mode_weights(weights, found)
    largest = check_counts(visible)
    sites = choose_length(found, longest)
    if largest > sites:
        sites = choose_length(found, 1 << (largest - 1).bit_length())
    who = panel(found, sites, seed)
    counts = visible_counts(who.length, visible)
    tell(_READING, "counting runs")
    bench = Bench(found, who, w, words.vocabulary_size, words.orders, names, seed)
    measured = list(_measure_all(bench, counts, samplings, tell))
    means = _Means.of(who, w, seed)
    points = [_point(m, means, w, who) for m in measured]
    prior = (1 - float(w @ w)) / 2
    decays = {s: _decay(s, points, measured, means, prior) for s in samplings}
    rows = tuple(_row(c, int((who.collection == k).sum())) for k, c in enumerate(found))
    result = CorpusUncertainty(
        collections=rows,
        weights=tuple(float(x) for x in w),
        tokenizer=tokenizer,
        length=who.length,
        prior_mmse=prior,
        prior_entropy=-float(w @ np.log(w)),
        curve=tuple(points),
        decays=decays,
        warnings=_warnings(found, rows, who.length, names, classifiers, mus),
    )
    on = tuple(schedule_on_curve(result, spec, length) for spec in schedules)
    return CorpusUncertainty(**{**vars(result), "schedules": on})


def _check_choices(samplings: Sequence[str], classifiers: Sequence[str], longest: int | None) -> list[str]:
    if not samplings or samplings[0] != "subset" or not set(samplings) <= set(SAMPLINGS):
        raise InputError("samplings", expected="subset, or subset and window", came=repr(list(samplings)))
    if not classifiers or not set(classifiers) <= set(CLASSIFIERS):
        raise InputError("classifiers", expected="some of " + ", ".join(CLASSIFIERS), came=repr(list(classifiers)))
    if longest is not None and longest < 1:
        raise InputError("longest", expected="a visible count of at least 1", came=str(longest))
    names = [c for c in CLASSIFIERS if c in classifiers and (c != "network" or have_network())]
    return names or ["unigram"]


def mode_weights(weights: str | Sequence[float], collections: Sequence[Collection]) -> Floats:
    """w: [K], from ``equal``, ``documents``, ``tokens``, or numbers, which are scaled to sum 1 if they nearly do."""
    K = len(collections)
    if isinstance(weights, str):
        counts = {
            "equal": np.ones(K),
            "documents": np.array([len(c.sizes) for c in collections], dtype=np.float64),
            "tokens": np.array([len(c.tokens) for c in collections], dtype=np.float64),
        }
        if weights not in counts:
            raise InputError("weights", expected="equal, documents, tokens, or numbers", came=repr(weights[:60]))
        return np.asarray(counts[weights] / counts[weights].sum())
    w = np.asarray(weights, dtype=np.float64)
    if w.shape != (K,) or not (np.isfinite(w).all() and (w > 0).all() and abs(w.sum() - 1) < 1e-3):
        expected = f"{K} numbers above 0 that sum to 1, one a collection"
        raise InputError("weights", expected=expected, came=", ".join(f"{x:g}" for x in w.ravel()[:8]))
    return np.asarray(w / w.sum())


def _measure_all(bench: Bench, counts: Sequence[int], samplings: Sequence[str], tell: Progress) -> list[Measured]:
    cells = [(v, s) for s in samplings for v in counts]
    out = []
    for number, (v, sampling) in enumerate(cells):
        tell(_READING + (1 - _READING) * number / len(cells), f"{sampling}, v = {v}")
        out.append(bench.measure(v, sampling))
    tell(1.0, "done")
    return out


class _Means(NamedTuple):
    """Weighted means over documents, and their resamples. weight: [D] w_z/D_z; resampled: [R, D] the same for documents
    drawn again within their collection."""

    weight: Floats
    resampled: NDArray[np.float32]

    @classmethod
    def of(cls, who: Panel, w: Floats, seed: int) -> _Means:
        sizes = np.bincount(who.collection, minlength=len(w))
        draws = [
            generator(seed, k, Stream.BOOTSTRAP).multinomial(n, np.full(n, 1 / n), size=RESAMPLES) * (w[k] / n)
            for k, n in enumerate(sizes)
        ]
        return cls((w / sizes)[who.collection], np.concatenate(draws, axis=1).astype(np.float32))

    def resample(self, values: Floats) -> Floats:
        return np.asarray(self.resampled @ values.astype(np.float32), dtype=np.float64)


def _point(m: Measured, means: _Means, w: Floats, who: Panel) -> CurvePoint:
    sizes = np.bincount(who.collection, minlength=len(w))
    documents = 1 / float((w**2 / sizes).sum())
    error = float(means.resample(m.brier).std(ddof=1))
    value = float(means.weight @ m.brier)
    floor = value <= 2 * error or value * documents * m.draws < 4
    unseen = UNSEEN / documents if floor else 0.0
    return CurvePoint(
        m.visible,
        m.sampling,
        _bound(m.brier, means, len(who.start), unseen),
        _bound(m.log_loss, means, len(who.start), unseen * float(np.log(documents + 2))),
        m.classifier,
        m.draws,
        floor,
    )


def _bound(values: Floats, means: _Means, n: int, unseen: float) -> MeasuredBound:
    """The mean as an upper bound; at the floor the interval allows for errors that were too rare to be met."""
    value, again = float(means.weight @ values), means.resample(values)
    low, high = (float(x) for x in np.quantile(again, [0.025, 0.975]))
    ends = (min(low, value), max(high, value, value + unseen if unseen else value))
    return MeasuredBound(value, "upper", n, float(again.std(ddof=1)), ends)


def _decay(
    sampling: str, points: Sequence[CurvePoint], measured: Sequence[Measured], means: _Means, prior: float
) -> Decay:
    mine = [(p, m) for p, m in zip(points, measured, strict=True) if p.sampling == sampling]
    visible = np.array([p.visible for p, _ in mine], dtype=np.float64)
    values = np.array([p.mmse.value for p, _ in mine])
    again = np.stack([means.resample(m.brier) for _, m in mine], axis=1)
    return fit_decay(sampling, visible, values, again, used_counts(values, [p.at_floor for p, _ in mine], prior))


def used_counts(values: Floats, at_floor: Sequence[bool], prior: float) -> NDArray[np.bool_]:
    """Which counts a fit may use: bool [m].

    From the onset, where the MMSE is at most half of its value with nothing visible (three quarters, where that leaves
    fewer than four counts), to the last count before the noise floor.
    """
    before = np.cumsum(np.asarray(at_floor)) == 0
    for share in (0.5, 0.75):
        used = before & (np.minimum.accumulate(values) <= share * prior)
        if used.sum() > FEWEST_POINTS:
            break
    return np.asarray(used)


def _row(c: Collection, measured: int) -> CollectionRow:
    return CollectionRow(c.name, len(c.sizes), len(c.tokens), c.duplicates, c.shared, measured, len(c.skipped))


def _warnings(
    found: Sequence[Collection],
    rows: Sequence[CollectionRow],
    length: int,
    names: Sequence[str],
    asked: Sequence[str],
    schedules: Sequence[Schedule],
) -> tuple[str, ...]:
    told = [NO_NETWORK] if "network" in asked and "network" not in names else []
    for c, row in zip(found, rows, strict=True):
        if c.skipped:
            told.append(f"{c.name}: {len(c.skipped)} files left out, the first {c.skipped[0]}")
        if c.shared > 0.01 * row.documents:
            told.append(f"{c.name}: {c.shared} documents stand in another collection too and were left out of both")
        long_enough = int((c.sizes >= length).sum())
        if long_enough < row.documents:
            told.append(
                f"{c.name}: the curve is of the {long_enough:,} of {row.documents:,} documents with {length} tokens"
            )
    told += [
        f"{mu.text}: its sets are not uniform given their count; the numbers are those of a schedule whose sets are"
        for mu in schedules
        if not mu.uniform_given_count
    ]
    return tuple(told)


__all__ = ["corpus_uncertainty", "mode_weights", "used_counts"]
