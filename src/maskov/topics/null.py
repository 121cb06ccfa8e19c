"""What a topic's share would be without recurrence, and how unlikely the seen one is then."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, roots_jacobi, stdtr

from maskov.errors import InputError
from maskov.quantities import Estimate
from maskov.topics.anchors import read_bounded, unique_pairs
from maskov.topics.calibrate import Threshold

Floats = NDArray[np.float64]

_NODES_RATE, _NODES_RECALL = 96, 16


class NullShare(NamedTuple):
    """The law of a null share φ that is itself known from held-out texts only.

    values, weights: [Q], the law's nodes and their masses, which sum to 1; estimate: its mean and central 95 %.
    """

    values: Floats
    weights: Floats
    estimate: Estimate


def passage_share(topic: Threshold, prior: float) -> NullShare:
    """Share of random passages that pass for a topic: φ = π r + (1 − π) q.

    π: prior share of passages of the topic; q: the chance of one outside to pass, whose law is Beta(k, m + 1 − k)
    exactly (``calibrate.threshold``); r: recall, taken as Beta(j + 1, M − j) for j of M recognised, the law on the
    careful side of the binomial, and as 1 where there is no held-out text of the topic.
    """
    q, u = _beta_nodes(topic.allowed, topic.outside + 1 - topic.allowed, _NODES_RATE)
    r, v = _beta_nodes(topic.recognised + 1, topic.inside - topic.recognised, _NODES_RECALL)
    values, weights = (prior * r[:, None] + (1 - prior) * q).ravel(), (v[:, None] * u).ravel()
    return NullShare(values, weights, _estimate(values, weights, topic.outside + topic.inside))


def reference_share(passed: int, of: int) -> NullShare:
    """Share of given reference texts that pass: φ of law Beta(passed + 1, of − passed), on the careful side."""
    values, weights = _beta_nodes(passed + 1, of - passed, _NODES_RATE)
    return NullShare(values, weights, _estimate(values, weights, of))


def _beta_nodes(a: int, b: int, count: int) -> tuple[Floats, Floats]:
    """Gauss–Jacobi nodes and weights of Beta(a, b); b = 0 is the point 1."""
    if b == 0:
        return np.ones(1), np.ones(1)
    if a + b > 2000:  # the recurrence of the nodes overflows; even quantiles of so narrow a law serve as well
        return betaincinv(a, b, (np.arange(count) + 0.5) / count), np.full(count, 1 / count)
    x, w = roots_jacobi(count, b - 1, a - 1)
    return (x + 1) / 2, w / w.sum()


def _estimate(values: Floats, weights: Floats, n: int) -> Estimate:
    mean = float(values @ weights)
    stderr = math.sqrt(max(float((values - mean) ** 2 @ weights), 0.0))
    order = np.argsort(values)
    x, w = values[order], weights[order]
    low, high = np.interp([0.025, 0.975], np.cumsum(w) - w / 2, x)
    return Estimate(mean, stderr, n, (float(low), float(high)))


def p_above(means: Floats, null: NullShare, pseudo: bool = True) -> float | None:
    """P(a mean at least this far above φ | the passages' mean is φ), averaged over the law of φ.

    Student's test of G independent passages, to which one more passage that never visits is added. Shares lie in
    [0, 1] and may agree by chance, which would make the variance, and p, far too small; the added passage can only
    raise p. ``docs/topics.md`` has the measured sizes. means: [G] shares of passages; pseudo: False leaves the passage
    out (for tests). None below two passages.

    >>> null = reference_share(5, 100)
    >>> round(p_above(np.zeros(10), null), 2), p_above(np.full(20, 0.9), null) < 1e-6
    (1.0, True)
    """
    if len(means) < 2:
        return None
    x = np.append(means, 0.0) if pseudo else np.asarray(means)
    stderr = max(float(x.std(ddof=1)) / math.sqrt(len(x)), 1e-9)
    tail = stdtr(len(x) - 1, (null.values - x.mean()) / stderr)
    return float(min(1.0, tail @ null.weights))


def holm(p: Sequence[float | None]) -> list[float | None]:
    """Holm's step-down p-values [Holm 1979]: family-wise error under any dependence; None stays None.

    >>> [round(x, 3) for x in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    known = np.array([x for x in p if x is not None], dtype=np.float64)
    order = np.argsort(known)
    stepped = np.maximum.accumulate(known[order] * np.arange(len(known), 0, -1)) if len(known) else known
    adjusted = np.empty_like(known)
    adjusted[order] = np.minimum(stepped, 1.0)
    return _back(p, adjusted)


def benjamini_hochberg(p: Sequence[float | None]) -> list[float | None]:
    """Benjamini and Hochberg's adjusted p-values [1995]: false discovery rate; None stays None.

    >>> [round(x, 3) for x in benjamini_hochberg([0.01, 0.04, 0.03])]
    [0.03, 0.04, 0.04]
    """
    from scipy import stats

    known = [x for x in p if x is not None]
    return _back(p, np.asarray(stats.false_discovery_control(known) if known else []))


def _back(p: Sequence[float | None], adjusted: Floats) -> list[float | None]:
    values = iter(adjusted.tolist())
    return [None if x is None else next(values) for x in p]


def read_prior(source: str) -> dict[str, float]:
    """Prior shares from a JSON file {topic: share}, or standard input with ``-``. Raises ``InputError``."""
    try:
        value = json.loads(read_bounded(source), object_pairs_hook=unique_pairs(source))
    except (ValueError, RecursionError) as error:
        raise InputError(source, expected='JSON {"topic": share}', came=str(error)[:80]) from error
    if not isinstance(value, dict):
        raise InputError(source, expected='JSON {"topic": share}', came=type(value).__name__)
    return value


def check_prior(prior: Mapping[str, float] | None, topics: Sequence[str], labels: Sequence[str | None]) -> Floats:
    """π of each topic: as given (all topics, sum ≤ 1), or the held-out texts' own composition. Raises ``InputError``.

    >>> check_prior({"a": 0.2, "b": 0.1}, ["a", "b"], []).tolist()
    [0.2, 0.1]
    """
    if prior is None:
        return np.array([sum(label == t for label in labels) / len(labels) for t in topics])
    if not isinstance(prior, Mapping):
        raise InputError("prior", expected="shares by topic", came=type(prior).__name__)
    lacking, strange = [t for t in topics if t not in prior], [t for t in prior if t not in topics]
    if lacking or strange:
        came = f"none for {lacking[0]!r}" if lacking else f"one for {str(strange[0])[:40]!r}, which is no topic"
        raise InputError("prior", expected="one share for each topic", came=came)
    wrong = [v for v in prior.values() if isinstance(v, bool) or not isinstance(v, (int, float)) or not 0 <= v <= 1]
    if wrong:
        raise InputError("prior", expected="shares in [0, 1]", came=repr(wrong[0])[:40])
    shares = np.array([float(prior[t]) for t in topics])
    if shares.sum() > 1 + 1e-9:
        raise InputError("prior", expected="shares that sum to at most 1", came=f"{shares.sum():.4g}")
    return shares
