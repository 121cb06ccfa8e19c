"""Our loop in pieces of a few steps, so that it can be timed in turn with another."""

from __future__ import annotations

from typing import Any

import numpy as np

from maskov.glauber import arrange
from maskov.glauber.engine import run_chunk
from maskov.glauber.lazy import ENGINES
from maskov.protocols import State


class OurLoop:
    """Chains of one run; ``run`` goes on where the last call stopped, memory included."""

    def __init__(
        self, model: Any, starts: list[State], temperature: float, engine: str = "auto", seed: int = 0
    ) -> None:
        self.model, self.chains, self.seed = model, arrange(starts, [temperature]), seed
        self.states, self.done, self.forwards, self.changes = self.chains.tokens, 0, 0, 0
        self.engine = ENGINES[engine](model)

    def run(self, steps: int) -> None:
        """Steps of all chains."""
        stop = self.done + steps
        chunk = run_chunk(self.model, self.chains, self.states, self.seed, self.done, stop, max(1, steps), self.engine)
        self.states, self.done, self.forwards = chunk.states, stop, self.forwards + chunk.forwards
        self.changes += len(chunk.changes)

    def per_update(self) -> tuple[float, float]:
        """Forwards and changes per site update so far."""
        updates = max(1, self.done * self.chains.count)
        return self.forwards / updates, self.changes / updates

    def forget(self) -> None:
        """Start the counts anew; the chains and the memory stay."""
        self.chains = self.chains._replace(ids=self.chains.ids + self.chains.count)
        self.done, self.forwards, self.changes = 0, 0, 0

    @property
    def present(self) -> list[State]:
        """Where the chains are."""
        c = self.chains
        return [State(self.states[b, : c.lengths[b]].copy(), c.free[b, : c.n_sites[b]]) for b in range(c.count)]

    @property
    def block(self) -> np.ndarray:
        """The same as a table: int64 [B, L]."""
        return self.states.copy()
