"""Naive Bayes: one table of log-rates a mode for tokens, and one for each longer run of neighbouring tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskov.corpora.collect import PARTS, Collection
from maskov.corpora.subsets import Seen

Floats = NDArray[np.float64]
BUCKETS = 1 << 20
SMOOTHING = 0.5
_CHUNK = 1 << 21
_MIX = np.uint64(0x9E3779B97F4A7C15)


def run_buckets(tokens: NDArray[Any], order: int, buckets: int = BUCKETS) -> NDArray[np.int64]:
    """Bucket of every run of ``order`` neighbours along the last axis: [..., T − order + 1]; a multiplicative hash.

    Tokens themselves (order 1) are their own buckets where there are enough.

    >>> first, other, again = run_buckets(np.array([5, 6, 5, 6]), 2)
    >>> bool(first == again != other)
    True
    """
    width = tokens.shape[-1] - order + 1
    state = np.zeros((*tokens.shape[:-1], max(width, 0)), dtype=np.uint64)
    if width <= 0:
        return state.astype(np.int64)
    with np.errstate(over="ignore"):
        for k in range(order):
            state = (state + tokens[..., k : k + width].astype(np.uint64) + np.uint64(1)) * _MIX
            state ^= state >> np.uint64(29)
    return np.asarray(state % np.uint64(buckets), dtype=np.int64)


class RunCounts:
    """How often each run of an order occurs in each part of each collection: int32 [parts, K, buckets]."""

    def __init__(self, collections: Sequence[Collection], order: int, vocabulary_size: int) -> None:
        self.order = order
        self.buckets = vocabulary_size if order == 1 else BUCKETS
        self.counts = np.zeros((PARTS, len(collections), self.buckets), dtype=np.int32)
        for k, c in enumerate(collections):
            self._count(k, c)

    def _count(self, k: int, c: Collection) -> None:
        part = np.repeat(c.part, c.sizes)
        inside = np.ones(len(c.tokens), dtype=bool)
        for back in range(1, self.order):  # a run that would cross the end of its document
            ends = c.starts[1:] - back
            inside[ends[ends >= c.starts[:-1]]] = False
        for first in range(0, len(c.tokens), _CHUNK):
            last = min(first + _CHUNK, len(c.tokens) - self.order + 1)
            runs = self.bucket(c.tokens[first : last + self.order - 1]) if last > first else np.zeros(0, np.int64)
            for p in range(PARTS):
                kept = runs[inside[first:last] & (part[first:last] == p)]
                self.counts[p, k] += np.bincount(kept, minlength=self.buckets).astype(np.int32)

    def bucket(self, tokens: NDArray[Any]) -> NDArray[np.int64]:
        """Buckets of the runs in rows of tokens: [..., T] → [..., T − order + 1]."""
        return tokens.astype(np.int64) if self.order == 1 else run_buckets(tokens, self.order)

    def log_rates(self, parts: Sequence[int]) -> NDArray[np.float32]:
        """log of each mode's smoothed rate, less the mean over modes: [buckets, K], 0 for a run not seen in ``parts``.

        Rates are counts per token of their own collection, plus half a count of the smallest one: a run that no
        collection has must not speak for the one with more text.
        """
        counts = self.counts[list(parts)].sum(axis=0, dtype=np.int64)
        totals = np.maximum(counts.sum(axis=1, keepdims=True), 1)
        logs = np.log(counts / totals + SMOOTHING / totals.min())
        return np.asarray((logs - logs.mean(axis=0)).T, dtype=np.float32)


def run_scores(
    seen: Seen, counts: RunCounts, rates: NDArray[np.float32], rows: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Σ over the visible runs of an order of their log-rates: [len(rows), K]."""
    tokens, positions, order = seen.tokens[rows], seen.positions[rows], counts.order
    if tokens.shape[1] < order:
        return np.zeros((len(rows), rates.shape[1]))
    buckets = counts.bucket(tokens)
    whole = positions[:, order - 1 :] - positions[:, : positions.shape[1] - order + 1] == order - 1
    columns = [np.where(whole, column[buckets], 0.0).sum(axis=1, dtype=np.float64) for column in rates.T]
    return np.stack(columns, axis=1)
