"""Rows of logits for coupled chains: equal requests share one, and cold chains ask for the same ones again."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np

from maskov.protocols import Floats, Tokens

_BYTES = 1 << 29


class Rows:
    """A model's rows with a memory keyed by the masked input, least recently used out first.

    A conditional at i does not depend on x_i, so a step at i itself makes no remembered row stale. Each temperature has
    its share of the memory: hot chains, which never come back, would drive out the rows of cold ones. Laws are
    evaluated straight away, since their rows cost less than a look-up. forwards: rows that the model evaluated.
    """

    def __init__(self, model: Any, temperatures: int, memory: int = _BYTES) -> None:
        self.model, self.forwards = model, 0
        self.remembers = getattr(model, "n_sites", None) is None
        self.room = max(1, memory // (4 * int(model.vocabulary_size) * temperatures))
        self.kept: dict[float, OrderedDict[bytes, Floats]] = {}

    def __call__(self, states: Tokens, sites: Tokens, temperatures: Floats) -> Floats:
        """s_i(· ; x_{-i}) of each request: [B, V]. states: [B, L]; sites, temperatures: [B]."""
        if not self.remembers:
            self.forwards += len(states)
            return np.asarray(self.model.logits(states, sites))
        masked = states.copy()
        masked[np.arange(len(states)), sites] = -1
        keys = [(float(t), row.tobytes()) for t, row in zip(temperatures, masked, strict=True)]
        known = {key: row for key in keys if (row := self._recall(*key)) is not None}
        fresh = {key: b for b, key in enumerate(keys) if key not in known}
        if fresh:
            which = np.fromiter(fresh.values(), dtype=np.int64)
            found = np.asarray(self.model.logits(states[which], sites[which]))
            self.forwards += len(which)
            for key, row in zip(fresh, found, strict=True):
                known[key] = row
                self._keep(*key, row)
        return np.stack([known[key] for key in keys])

    def _recall(self, temperature: float, key: bytes) -> Floats | None:
        kept = self.kept.get(temperature)
        if kept is None or key not in kept:
            return None
        kept.move_to_end(key)
        return kept[key]

    def _keep(self, temperature: float, key: bytes, row: Floats) -> None:
        kept = self.kept.setdefault(temperature, OrderedDict())
        kept[key] = row.copy()  # a view would keep the whole batch alive
        if len(kept) > self.room:
            kept.popitem(last=False)
