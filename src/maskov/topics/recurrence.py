"""Which topics do the chains of a trace keep coming back to, whatever they started from?"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from maskov.drift.embed import Embedder
from maskov.drift.embed import embedder as embedder_of
from maskov.errors import InputError
from maskov.texts import read_texts
from maskov.topics.anchors import as_anchors
from maskov.topics.calibrate import Threshold, confusions
from maskov.topics.cells import Study, Units, all_cells, course, memory, units_of
from maskov.topics.heldout import HeldOut, held_out, typical_words, writer
from maskov.topics.null import NullShare, check_prior, passage_share, reference_share
from maskov.topics.result import TopicCell, TopicRecurrence, TopicRow
from maskov.topics.score import AnchorMargin, Floats, TopicScorer, checked_scores
from maskov.topics.shuffles import ShuffledTopics
from maskov.topics.verdict import verdicts
from maskov.topics.walk import default_kept, even_times, walk

FEW_PASSAGES = 6


def topic_recurrence(
    trace: Any,
    model: Any,
    topics: Any = None,
    embedder: Embedder | str = "auto",
    *,
    heldout: Any = None,
    reference: Any = None,
    prior: Mapping[str, float] | None = None,
    start_topics: Sequence[str | None] | None = None,
    fpr: float = 0.05,
    level: float = 0.05,
    burn_in: float = 0.1,
    kept: int | None = None,
    shuffles: int = 199,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> TopicRecurrence:
    """Time, visits, return times and last states of chains in each topic, against random passages and shuffled topics.

    A state is in a topic when its score reaches a threshold that at most ``fpr`` of held-out texts outside of it reach;
    it may be in none. Topic T recurs at temperature τ when chains that began in *other* topics spend more time in T
    than random passages do (Holm over topics and temperatures) and more than the best of as many topics with shuffled
    anchors does. Passages are the units: chains of one start text are one, states of one chain are never counted as
    independent.

    trace: ``Trace``; model: decodes its states; topics: None (the twelve bundled ones), a file or mapping of anchor
    texts, or a ``TopicScorer``; embedder: of the anchors; heldout: texts with topics, a file or ``Passage`` values,
    "anchors" (each left out in turn), default the bundled passages where they fit; reference: texts that stand for
    random passages, a file or strings, for example a sample of the training text; prior: share of each topic among
    random passages, default that of the held-out texts; start_topics: one label per chain of the trace, default those
    of the run's texts; fpr: in (0, 0.5); level: of the verdicts; burn_in: share of the run in [0, 1) that does not
    count; kept: most states of each chain, evenly spaced, default 400, or fewer where there are many chains (about
    4,000 states in all, at least 50 of each chain); shuffles: sets of shuffled topics (0: none). Raises ``InputError``.

    >>> from maskov.glauber import glauber
    >>> from maskov.models import load
    >>> model = load("law:potts?sites=6&symbols=2&beta=0")
    >>> trace = glauber(model, ["000000", "000001", "111111", "111110"], temperature=1.0, steps=400, seed=0)
    >>> anchors = {"zeros": ["000000", "000001", "000010"], "ones": ["111111", "111110", "111101"]}
    >>> found = topic_recurrence(trace, model, anchors, fpr=0.3, shuffles=0, start_topics=["zeros"] * 2 + ["ones"] * 2)
    >>> [c.topic for c in found.cells if c.start_topic == "elsewhere"], found.recurring
    (['zeros', 'ones'], ())
    """
    _check(model, level, burn_in, shuffles, reference, prior)
    texts = [model.decode(s.tokens) for s in trace.starts]
    words = typical_words(texts)
    scorer = _scorer(topics, embedder, model)
    held = held_out(heldout, scorer, model, words)
    fitted = held.thresholds(scorer, fpr)
    shares, nulls, null = _nulls(scorer, held, fitted, reference, prior, writer(model, words))
    shuffled = _shuffled(scorer, held, fpr, shuffles, seed)
    times = even_times(int(trace.steps), default_kept(trace.n_chains) if kept is None else kept)
    first = math.ceil(burn_in * trace.steps)
    if np.count_nonzero(times >= first) < 2:
        raise InputError("burn_in", expected="two kept states after it", came=f"{burn_in:g} of {trace.steps} steps")
    values = np.array([t.value for t in fitted])
    seen = walk(trace, model, scorer, values, times, first, shuffled, progress)
    units = units_of(trace, texts, start_topics)
    study = Study(tuple(scorer.topics), units, nulls, first, seed)
    cells = all_cells(seen, study)
    said = verdicts(cells, seen, units, shuffled, level)
    return TopicRecurrence(
        scorer=scorer.name,
        target_rate=float(fpr),
        level=float(level),
        null=null,
        held_out=held.name,
        steps=int(trace.steps),
        burn_in=first,
        kept=int(np.count_nonzero(times >= first)),
        spacing_sweeps=float(np.diff(times).mean() / units.sites.mean()),
        shuffles=shuffles if shuffled is not None else 0,
        topics=tuple(
            _row(scorer, held, t, k, None if shares is None else float(shares[k]), nulls[k])
            for k, t in enumerate(fitted)
        ),
        cells=tuple(cells),
        verdicts=said,
        recurring=tuple({"temperature": v.temperature, "topic": v.topic} for v in said if v.recurring),
        memory=tuple(memory(seen, study, t) for t in units.values),
        courses=tuple(course(seen, units, t, topic, k) for t in units.values for k, topic in enumerate(scorer.topics)),
        notes=_notes(held, fitted, units, cells),
    )


def _check(model: Any, level: float, burn_in: float, shuffles: int, reference: Any, prior: Any) -> None:
    if not hasattr(model, "decode"):
        remedy = 'load laws as maskov.load("law:…")'
        raise InputError("model", expected="one that decodes states", came=type(model).__name__, remedy=remedy)
    if not 0 < level < 1:
        raise InputError("level", expected="a level in (0, 1)", came=str(level))
    if not 0 <= burn_in < 1:
        raise InputError("burn_in", expected="a share of the run in [0, 1)", came=str(burn_in))
    if shuffles < 0:
        raise InputError("shuffles", expected="0 or more", came=str(shuffles))
    if reference is not None and prior is not None:
        raise InputError("null", expected="a prior or reference texts", came="both", remedy="pass one of them")


def _scorer(topics: Any, embedder: Embedder | str, model: Any) -> TopicScorer:
    if isinstance(topics, TopicScorer):
        return topics
    anchors = as_anchors(topics)
    made = embedder_of(embedder, model) if isinstance(embedder, str) else embedder
    if not hasattr(made, "encode"):
        raise InputError("embedder", expected="a name, or an object with name and encode", came=type(made).__name__)
    return AnchorMargin(anchors, made, writer(model))


def _nulls(
    scorer: TopicScorer,
    held: HeldOut,
    fitted: tuple[Threshold, ...],
    reference: Any,
    prior: Mapping[str, float] | None,
    write: Callable[[str], str],
) -> tuple[Floats | None, list[NullShare], str]:
    """Prior shares, the law of each topic's null share, and what random passages are."""
    if reference is None:
        shares = check_prior(prior, scorer.topics, held.labels)
        name = "held-out" if prior is None else "prior"
        return shares, [passage_share(t, float(pi)) for t, pi in zip(fitted, shares, strict=True)], name
    if isinstance(reference, (str, os.PathLike)):
        reference = read_texts(reference)
    texts = [write(str(text)) for text in reference]
    if not texts:
        raise InputError("reference", expected="at least one text", came="none")
    passed = checked_scores(scorer, texts) >= np.array([t.value for t in fitted])
    return None, [reference_share(int(n), len(texts)) for n in passed.sum(axis=0)], "reference"


def _shuffled(scorer: TopicScorer, held: HeldOut, rate: float, shuffles: int, seed: int) -> ShuffledTopics | None:
    if not isinstance(scorer, AnchorMargin) or shuffles == 0:
        return None
    rows = None if held.left_out else scorer.embedder.encode(held.texts)
    return ShuffledTopics(scorer, rows, rate, shuffles, seed)


def _row(scorer: TopicScorer, held: HeldOut, t: Threshold, k: int, prior: float | None, null: NullShare) -> TopicRow:
    anchors = int((scorer.labels == k).sum()) if isinstance(scorer, AnchorMargin) else None
    confused = confusions(t, held.scores[:, k], held.labels)
    return TopicRow(
        t.topic,
        anchors,
        t.value,
        t.false_positive_rate,
        t.recall,
        t.inside,
        t.outside,
        tuple(confused),
        prior,
        null.estimate,
    )


def _notes(held: HeldOut, fitted: tuple[Threshold, ...], units: Units, cells: list[TopicCell]) -> tuple[str, ...]:
    notes = []
    unknown = [t.topic for t in fitted if not t.inside]
    if unknown:
        notes.append(f"no held-out text of {', '.join(unknown)}: recall is unknown")
    weak = [t.topic for t in fitted if t.inside and t.recognised < t.inside / 2]
    if weak:
        notes.append(f"fewer than half of the held-out texts of {', '.join(weak)} are recognised")
    if held.left_out:
        notes.append("thresholds come from the anchors themselves, each left out in turn; pass --heldout texts")
    fewest = min((c.passages for c in cells if c.start_topic == "elsewhere"), default=0)
    if fewest < FEW_PASSAGES:
        notes.append(f"{fewest} passages from other topics: below {FEW_PASSAGES} a test has next to no power")
    if not units.labelled:
        notes.append("the run's texts have no topics: all chains count as from elsewhere")
    return tuple(notes)
