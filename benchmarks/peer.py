"""The loop that people write today: one random position for the whole batch, logits at every position."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch


class PeerLoop:
    """Mask one shared position, full forward, softmax at the position, ``torch.multinomial``.

    network: a Hugging Face masked model; tokens: int64 [B, n]; free: positions to choose from; forbidden: bool [V].
    """

    def __init__(
        self, network: Any, mask: int, tokens: np.ndarray, free: np.ndarray, temperature: float, forbidden: np.ndarray
    ) -> None:
        self.network, self.mask, self.temperature = network, mask, temperature
        self.ids, self.free = torch.from_numpy(tokens.copy()), torch.from_numpy(free.copy())
        self.forbidden = torch.from_numpy(forbidden.copy())
        self.generator = torch.Generator().manual_seed(0)

    @torch.no_grad()
    def run(self, steps: int) -> None:
        """Steps of all chains; the state is kept."""
        for _ in range(steps):
            position = self.free[torch.randint(len(self.free), (1,), generator=self.generator)]
            inputs = self.ids.clone()
            inputs[:, position] = self.mask
            logits = self.network(input_ids=inputs).logits[:, position].squeeze(1)
            logits[:, self.forbidden] = -torch.inf
            p = torch.softmax(logits / self.temperature, dim=-1)
            self.ids[:, position] = torch.multinomial(p, 1, generator=self.generator)


class PeerLawLoop:
    """The same loop with an exact law in the network's place: its rows at every position, one of which is used."""

    def __init__(self, law: Any, tokens: np.ndarray, temperature: float) -> None:
        self.law, self.x, self.temperature = law, tokens.copy(), temperature
        self.generator, self.rng = torch.Generator().manual_seed(0), np.random.default_rng(0)

    def run(self, steps: int) -> None:
        """Steps of all chains; the state is kept."""
        B, n = self.x.shape
        everywhere = np.tile(np.arange(n), B)
        for _ in range(steps):
            position = int(self.rng.integers(n))
            rows = self.law.logits(np.repeat(self.x, n, axis=0), everywhere).reshape(B, n, -1)[:, position]
            p = torch.softmax(torch.from_numpy(rows).float() / self.temperature, dim=-1)
            self.x[:, position] = torch.multinomial(p, 1, generator=self.generator).numpy()[:, 0]
