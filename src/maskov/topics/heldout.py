"""Held-out texts as the studied model would write them, cut to the length of its chains."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from maskov.errors import InputError
from maskov.texts import Passage, passages, read_texts
from maskov.topics.calibrate import Threshold, thresholds
from maskov.topics.score import AnchorMargin, Floats, TopicScorer, checked_scores

ANCHORS = "anchors"


class HeldOut(NamedTuple):
    """name: where they come from; texts, labels: [M]; scores: float64 [M, K]; left_out: whether they are the anchors,
    each left out of its own centroid.
    """

    name: str
    texts: list[str]
    labels: list[str | None]
    scores: Floats
    left_out: bool

    def thresholds(self, scorer: TopicScorer, rate: float) -> tuple[Threshold, ...]:
        """One threshold per topic."""
        return thresholds(scorer.topics, self.scores, self.labels, rate)


def writer(model: Any, words: int | None = None) -> Callable[[str], str]:
    """A text as ``model`` writes it (its tokenizer may drop case), after its first ``words`` words.

    The spread of a score depends on the length of a text, so held-out texts are no longer than the chains'. A text that
    the model can't hold is left as it is.
    """

    def written(text: str) -> str:
        parts = text.split()
        short = text if words is None or len(parts) <= words else " ".join(parts[:words])
        if not hasattr(model, "encode"):
            return short
        try:
            return str(model.decode(model.encode(short).tokens))
        except InputError:
            return short

    return written


def typical_words(texts: Sequence[str]) -> int:
    """Median number of words. texts: at least one."""
    return max(1, int(np.median([len(t.split()) for t in texts])))


def held_out(source: Any, scorer: TopicScorer, model: Any, words: int) -> HeldOut:
    """Labelled texts to calibrate on.

    source: a file of texts with topics, a list of ``Passage``, "anchors" (each anchor left out in turn), or None: the
    bundled passages where the model writes words and they hold every topic, else the anchors. Raises ``InputError``.
    """
    if source is None:
        source = _default(scorer, model)
    if isinstance(source, str) and source == ANCHORS:
        return _left_out(scorer)
    file = isinstance(source, (str, os.PathLike))
    found = read_texts(source) if file else list(source)
    name = "bundled passages" if source is _BUNDLED else str(source) if file else "given texts"
    labels = _labels(found, scorer.topics, name)
    write = writer(model, words)
    texts = [write(p.text) for p in found]
    return HeldOut(name, texts, labels, checked_scores(scorer, texts), False)


_BUNDLED: list[Passage] = []


def _default(scorer: TopicScorer, model: Any) -> Any:
    """The bundled passages, read once, or the word for left-out anchors."""
    words = getattr(model, "n_sites", None) is None and not getattr(getattr(model, "codec", None), "strict", False)
    if words:
        if not _BUNDLED:
            _BUNDLED.extend(passages())
        if set(scorer.topics) <= {p.topic for p in _BUNDLED}:
            return _BUNDLED
    return ANCHORS


def _left_out(scorer: TopicScorer) -> HeldOut:
    if not isinstance(scorer, AnchorMargin):
        remedy = "pass heldout=, texts with the classifier's topics"
        raise InputError("heldout", expected="labelled texts", came="none", remedy=remedy)
    labels: list[str | None] = [scorer.topics[k] for k in scorer.labels]
    return HeldOut("anchors, each left out in turn", [], labels, scorer.left_out_scores(), True)


def _labels(found: Sequence[Any], topics: Sequence[str], name: str) -> list[str | None]:
    if not found or not all(isinstance(p, Passage) for p in found):
        raise InputError("heldout", expected="a list of Passage values, or a file", came=repr(found)[:40])
    labels = [p.topic for p in found]
    if not set(labels) & set(topics):
        came = "labels " + ", ".join(sorted({str(x) for x in labels}))[:60]
        remedy = 'give each text a "topic" (JSONL), or take "anchors"'
        raise InputError(f"heldout {name}", expected="texts of the topics", came=came, remedy=remedy)
    return labels
