"""Thresholds from held-out texts: how often a text outside of a topic passes, and how often one inside does."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskov.errors import InputError
from maskov.quantities import Estimate
from maskov.topics.score import Floats


@dataclass(frozen=True)
class Threshold:
    """A topic's threshold: a state is in the topic when score ≥ value.

    allowed: k, how many of the ``outside`` held-out texts may pass; passed: how many do (fewer with ties); inside,
    recognised: held-out texts of the topic, and those of them that pass.
    """

    topic: str
    value: float
    allowed: int
    passed: int
    outside: int
    inside: int
    recognised: int

    @property
    def false_positive_rate(self) -> Estimate:
        """Share of held-out texts of other topics that pass, with Clopper and Pearson's interval."""
        return share(self.passed, self.outside)

    @property
    def recall(self) -> Estimate | None:
        """Share of the topic's own held-out texts that pass; None without any."""
        return share(self.recognised, self.inside) if self.inside else None


def share(count: int, of: int) -> Estimate:
    """count/of with Clopper and Pearson's 95 % interval.

    >>> [round(end, 3) for end in share(0, 20).interval]
    [0.0, 0.168]
    """
    from scipy import stats

    ends = stats.binomtest(count, of).proportion_ci(method="exact")
    value = count / of
    return Estimate(value, math.sqrt(value * (1 - value) / of), of, (float(ends.low), float(ends.high)))


def threshold(topic: str, scores: Floats, inside: NDArray[np.bool_], rate: float) -> Threshold:
    """The lowest score that at most k = ⌊α (m + 1)⌋ of m held-out texts outside of the topic reach.

    A new text outside passes with chance at most k/(m + 1) ≤ α, whatever the law of scores (split conformal: Vovk,
    Gammerman & Shafer 2005). The chance given these very texts is Beta(k, m + 1 − k), which Clopper and Pearson's
    interval of k in m covers: the count on the texts that set the threshold is not rosy.

    scores: [M] of all held-out texts; inside: bool [M]; rate: α in (0, 1). Raises ``InputError`` with too few texts.
    """
    others, own = scores[~inside], scores[inside]
    allowed = math.floor(rate * (len(others) + 1) + 1e-9)
    if allowed < 1:
        raise InputError(
            f"held-out texts outside of topic {topic!r}",
            expected=f"at least {math.ceil(1 / rate - 1 - 1e-9)} for a false positive rate of {rate:g}",
            came=str(len(others)),
            remedy="pass more --heldout texts or a higher --fpr",
        )
    value = _kth(others, allowed)
    return Threshold(
        topic, value, allowed, int((others >= value).sum()), len(others), len(own), int((own >= value).sum())
    )


def _kth(others: Floats, allowed: int) -> float:
    """The lowest of the scores that at most ``allowed`` reach; with ties at the top, just above all of them."""
    values, counts = np.unique(others, return_counts=True)
    reach = counts[::-1].cumsum()[::-1]
    fine = np.flatnonzero(reach <= allowed)
    return float(values[fine[0]]) if fine.size else float(np.nextafter(values[-1], np.inf))


def thresholds(
    topics: Sequence[str], scores: Floats, labels: Sequence[str | None], rate: float
) -> tuple[Threshold, ...]:
    """One threshold per topic. scores: [M, K]; labels: topic of each held-out text, None or another name: of none."""
    if not 0 < rate < 0.5:
        raise InputError("fpr", expected="a rate in (0, 0.5)", came=str(rate))
    named = np.array([label or "" for label in labels])
    return tuple(threshold(topic, scores[:, k], named == topic, rate) for k, topic in enumerate(topics))


def confusions(topic: Threshold, scores: Floats, labels: Sequence[str | None]) -> list[dict[str, Any]]:
    """Held-out texts of each other topic that pass for this one, most often confused first; exact counts."""
    passed: dict[str, list[bool]] = {}
    for score, label in zip(scores, labels, strict=True):
        if label != topic.topic:
            passed.setdefault(label or "", []).append(bool(score >= topic.value))
    rows = [{"topic": name, "passed": sum(found), "of": len(found)} for name, found in passed.items() if any(found)]
    return sorted(rows, key=lambda row: -row["passed"] / row["of"])
