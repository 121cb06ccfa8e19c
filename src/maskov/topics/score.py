"""How much a text is of a topic: the margin of its nearest centroid, or any classifier with the same two names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from maskov.drift.embed import Cached, Embedder, Rows
from maskov.errors import InputError
from maskov.topics.anchors import Anchors

Floats = NDArray[np.float64]


@runtime_checkable
class TopicScorer(Protocol):
    """A classifier of texts: higher is more of the topic; the zero does not matter, thresholds are calibrated.

    Law: a score depends on its own text alone.
    """

    @property
    def name(self) -> str:
        """The name that a record gives."""
        ...

    @property
    def topics(self) -> Sequence[str]:
        """The K topics, in the order of the columns."""
        ...

    def scores(self, texts: Sequence[str]) -> Floats:
        """Scores of each text for each topic: float64 [m, K], finite."""
        ...


def margins(similarity: Floats) -> Floats:
    """s_k − max_{j ≠ k} s_j along the last axis: above 0 for the nearest topic alone.

    similarity: [..., K], K ≥ 2. Result: the same shape.

    >>> margins(np.array([[0.9, 0.5, 0.1]])).round(1).tolist()
    [[0.4, -0.4, -0.8]]
    """
    top = np.partition(similarity, similarity.shape[-1] - 2, axis=-1)
    second, first = top[..., -2:-1], top[..., -1:]
    return np.asarray(similarity - np.where(similarity == first, second, first))


class AnchorMargin:
    """Nearest-centroid margin: cos(e(x), c_k) − max_{j ≠ k} cos(e(x), c_j), c_k the normalised mean of k's anchors.

    A text of no topic is about as near to every centroid, so its margin is small whatever its cosines are; that makes
    the score fit for broken texts, which cosines to one centroid alone rate high. It has no parameter to tune.

    anchors: topics and their texts; embedder: gives unit rows; written: a text as the studied model writes it.
    """

    def __init__(self, anchors: Anchors, embedder: Embedder, written: Any = str) -> None:
        self.topics = tuple(anchors)
        self.embedder = embedder if isinstance(embedder, Cached) else Cached(embedder)
        self.name = f"margin of anchor centroids ({self.embedder.name})"
        texts = [written(text) for topic in self.topics for text in anchors[topic]]
        self.labels = np.repeat(np.arange(len(self.topics)), [len(anchors[t]) for t in self.topics])
        self.rows = self.embedder.encode(texts)
        self.centroids = centroids(self.rows, self.labels[None], len(self.topics))[0]

    def scores(self, texts: Sequence[str]) -> Floats:
        """Margins of each text: float64 [m, K]."""
        return margins(self.embedder.encode(texts) @ self.centroids.T)

    def left_out_scores(self) -> Floats:
        """Margins of each anchor when its own topic's centroid is made without it: float64 [A, K]."""
        one_hot = np.eye(len(self.topics))[self.labels]
        sums = one_hot.T @ self.rows
        similarity = self.rows @ self.centroids.T
        rest = sums[self.labels] - self.rows
        norms = np.linalg.norm(rest, axis=1)
        own = (rest * self.rows).sum(axis=1) / np.where(norms > 0, norms, 1.0)
        similarity[np.arange(len(self.labels)), self.labels] = own
        return margins(similarity)


def centroids(rows: Rows, labels: NDArray[np.int64], topics: int) -> Floats:
    """Normalised class means of M labellings of the same rows: [M, K, d]. rows: [A, d]; labels: int64 [M, A]."""
    one_hot = np.eye(topics)[labels]  # [M, A, K]
    sums = np.einsum("mak,ad->mkd", one_hot, rows, optimize=True)
    norms = np.linalg.norm(sums, axis=-1, keepdims=True)
    if not (norms > 0).all():
        raise InputError("anchors", expected="anchors of one direction or another", came="a topic whose mean is 0")
    return np.asarray(sums / norms)


def checked_scores(scorer: TopicScorer, texts: Sequence[str]) -> Floats:
    """The scores of a classifier, which must be finite and [m, K]. Raises ``InputError``."""
    found = np.asarray(scorer.scores(texts), dtype=np.float64)
    shape = (len(texts), len(scorer.topics))
    if found.shape != shape or not np.isfinite(found).all():
        came = f"{found.shape}" if found.shape != shape else "NaN or infinite ones"
        raise InputError(f"topic classifier {scorer.name}", expected=f"finite scores {shape}", came=came)
    return found
