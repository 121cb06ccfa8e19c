"""Chains of near lengths in one batch: padding costs tokens, a forward of its own costs its overhead."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from maskov.glauber.chains import buckets
from maskov.protocols import Tokens


class Pack(NamedTuple):
    """Chains of one batch. members: int64 [B]; width: columns of the batch; pad: token beyond a chain's end."""

    members: Tokens
    width: int
    pad: int

    def gathered(self, states: Tokens, lengths: Tokens) -> Tokens:
        """The members' states, padded: int64 [B, width]."""
        block = np.full((len(self.members), self.width), self.pad, dtype=np.int64)
        inside = min(self.width, states.shape[1])
        block[:, :inside] = states[self.members, :inside]
        block[np.arange(self.width) >= lengths[self.members, None]] = self.pad
        return block

    def scatter(self, block: Tokens, states: Tokens, lengths: Tokens) -> None:
        """Write the members' states back, without padding."""
        inside = min(self.width, states.shape[1])
        real = np.arange(inside) < lengths[self.members, None]
        states[self.members, :inside] = np.where(real, block[:, :inside], states[self.members, :inside])


def packs(model: Any, lengths: Tokens) -> Iterator[Pack]:
    """The batches of a run, a function of the model and the lengths alone.

    Models that cannot ignore padding, and laws, get one batch per length.
    """
    pad, overhead = getattr(model, "pad_token_id", None), getattr(model, "forward_overhead", 0.0)
    if pad is None or not overhead:
        yield from (Pack(members, int(lengths[members[0]]), -1) for members in buckets(lengths))
        return
    for members in partition(lengths, overhead):
        shortest, longest = int(lengths[members].min()), int(lengths[members].max())
        # One more column: were the longest chains without padding, a batch of them alone would take other kernels, and
        # round otherwise, than a batch in which they run beside shorter ones.
        spare = int(shortest < longest < model.codec.limit)
        yield Pack(members, longest + spare, int(pad))


def partition(lengths: Tokens, overhead: float) -> list[Tokens]:
    """Groups of chains with the least Σ (overhead + B_g · max length of g), shortest first.

    lengths: int64 [B]; overhead: cost of a forward in tokens. Dynamic programming over the distinct lengths.

    >>> [g.tolist() for g in partition(np.array([5, 40, 6, 41]), 10.0)]
    [[0, 2], [1, 3]]
    """
    values, counts = np.unique(lengths, return_counts=True)
    ends = np.concatenate([[0], np.cumsum(counts)])
    best, cut = np.zeros(len(values) + 1), np.zeros(len(values) + 1, dtype=np.int64)
    for k in range(1, len(values) + 1):
        costs = best[:k] + overhead + (ends[k] - ends[:k]) * values[k - 1]
        cut[k] = int(costs.argmin())
        best[k] = costs[cut[k]]
    edges = [len(values)]
    while edges[-1]:
        edges.append(int(cut[edges[-1]]))
    spans = zip(edges[:0:-1], edges[-2::-1], strict=True)
    return [np.flatnonzero((lengths >= values[a]) & (lengths <= values[b - 1])) for a, b in spans]
