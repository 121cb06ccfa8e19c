"""Permutations: topics whose anchors were shuffled, and starts whose topics were."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maskov.drift.embed import Rows
from maskov.quantities import Estimate
from maskov.randomness import Stream, generator
from maskov.topics.calibrate import threshold
from maskov.topics.score import AnchorMargin, Floats, centroids, margins
from maskov.topics.shares import clustered_share

_ROWS = 128  # embeddings at once: M·K margins each


class ShuffledTopics:
    """M sets of K topics made of the same anchors under permuted labels, calibrated like the real ones.

    They tell how often chains pass for a topic only because their texts are unlike the held-out ones, or because many
    chains sit in few places. Each is calibrated on all held-out texts, of which none is its own.

    scorer: the real topics; held_out: rows of held-out texts, or None when the anchors themselves stand in for them;
    rate: α; shuffles: M.
    """

    def __init__(self, scorer: AnchorMargin, held_out: Rows | None, rate: float, shuffles: int, seed: int) -> None:
        rng = generator(seed, stream=Stream.STUDY)
        labels = np.array([rng.permutation(scorer.labels) for _ in range(shuffles)])
        self.shape = (shuffles, len(scorer.topics))
        means = centroids(scorer.rows, labels, self.shape[1])
        self._weights = means.reshape(-1, means.shape[-1]).T.astype(np.float32)
        texts = scorer.rows if held_out is None else held_out
        found = np.concatenate([self._margins(part) for part in _parts(texts)])
        # An anchor is in the mean of its own shuffled topic, so it is left out of that topic's calibration.
        own = np.zeros(found.shape, dtype=bool)
        if held_out is None:
            own = (np.arange(self.shape[1]) == labels[:, :, None]).transpose(1, 0, 2)
        fitted = [
            [threshold("shuffled", found[:, m, k], own[:, m, k], rate) for k in range(self.shape[1])]
            for m in range(shuffles)
        ]
        self._thresholds = np.array([[t.value for t in row] for row in fitted])
        self.null = np.array([[t.allowed / (t.outside + 1) for t in row] for row in fitted])

    def _margins(self, rows: Rows) -> Floats:
        similarity = (rows.astype(np.float32) @ self._weights).reshape(len(rows), *self.shape)
        return margins(similarity.astype(np.float64))

    def passed(self, rows: Rows) -> NDArray[np.bool_]:
        """Which texts pass for which shuffled topic: bool [m, M, K]."""
        parts = [self._margins(part) >= self._thresholds for part in _parts(rows)]
        return np.concatenate(parts)


def _parts(rows: Rows) -> list[Rows]:
    return [rows[k : k + _ROWS] for k in range(0, len(rows), _ROWS)]


def largest_excess(passed: Floats, null: Floats) -> Floats:
    """Over the K topics of each shuffle, the largest share of passages' time above its null. passed: [G, M, K];
    null: [M, K]. Result: [M].
    """
    return np.asarray((passed.mean(axis=0) - null).max(axis=1))


def permutation_p(seen: float, shuffled: Floats) -> float:
    """(1 + #{shuffled ≥ seen})/(M + 1): exact under exchangeability.

    >>> permutation_p(0.5, np.array([0.1, 0.2, 0.6]))
    0.5
    """
    return float((1 + np.count_nonzero(shuffled >= seen - 1e-12)) / (1 + len(shuffled)))


class Memory(NamedTuple):
    """own: mean share of time in the topic of the start; shuffled: its mean under permuted start topics; p: one-sided,
    None where permuting changes nothing.
    """

    own: Estimate
    shuffled: float
    p: float | None


def start_memory(shares: Floats, starts: NDArray[np.int64], shuffles: int, seed: int) -> Memory:
    """Are chains in the topic of their start more than in it under permuted starts? Passages are permuted, not chains.

    shares: [G, K] shares of passages; starts: int64 [G], the topic of each.
    """
    rows = np.arange(len(starts))
    own = shares[rows, starts]
    rng = generator(seed, chain=1, stream=Stream.STUDY)
    permuted = np.array([shares[rows, rng.permutation(starts)].mean() for _ in range(shuffles)])
    p = permutation_p(float(own.mean()), permuted) if len(np.unique(starts)) > 1 else None
    return Memory(clustered_share(own), float(shares[:, starts].mean()), p)
