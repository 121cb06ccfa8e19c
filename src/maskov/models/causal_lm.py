"""Causal language models: the control whose conditionals come from a joint law by construction."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from maskov.models.network import Network
from maskov.protocols import Tokens


class CausalLM(Network):
    """p(v | x_{-i}) ∝ P(x with x_i = v), P(x) = Π_t P(x_t | x_{<t}): scores of given tokens, no rows over V.

    ``TokenScores`` only: the normaliser over V would take V forwards, and rectangles do not need it. Where the codec
    puts a start token first, that column is held and the first word has a probability; without one it is uniform.
    """

    def score_tokens(self, states: Tokens, sites: Tokens, tokens: Tokens) -> NDArray[np.float64]:
        """log P(x with x_i = v): float64 [B, k], nats, −inf where forbidden.

        states: [B, L]; sites: [B]; tokens: [B, k].
        """
        x, i = self.checked(states, sites)
        v = self.candidates(tokens, len(x))
        B, k = v.shape
        replaced, at = np.repeat(x, k, axis=0), np.repeat(i, k)
        replaced[np.arange(B * k), at] = v.ravel()
        out = np.full(B * k, -np.inf)
        allowed = ~self.forbidden[v.ravel()]
        out[allowed] = self._joint(replaced[allowed], at[allowed])
        return out.reshape(B, k)

    def log_prob(self, states: Tokens) -> NDArray[np.float64]:
        """log P(x_1 … x_{L−1} | x_0): float64 [B], summed in float64. states: [B, L]."""
        x, sites = self.checked(states, np.zeros(len(states), dtype=np.int64))
        return self._joint(x, sites)

    def proposal_logits(self, states: Tokens, sites: Tokens) -> NDArray[np.float32]:
        """Next-token logits at the site from its left context: float32 [B, V], −inf where forbidden.

        They only propose substitutions; they are not the conditional. At column 0 there is no context: uniform.
        """
        x, i = self.checked(states, sites)
        out = np.zeros((len(x), self.vocabulary_size), dtype=np.float32)
        later = np.flatnonzero(i > 0)
        for part in self.parts(len(later), x.shape[1], x.shape[1] * self.vocabulary_size):
            rows = later[part]
            out[rows] = self.finished(self._next(x[rows], i[rows]), i[rows], ~self.forbidden)
        out[:, self.forbidden_columns] = -np.inf
        return out

    def _joint(self, states: Tokens, sites: Tokens) -> NDArray[np.float64]:
        out = np.zeros(len(states))
        for part in self.parts(len(states), states.shape[1], 2 * states.shape[1] * self.vocabulary_size):
            out[part] = self.finished(self._log_prob(states[part]), sites[part])
        return out

    @torch.inference_mode()
    def _log_prob(self, states: Tokens) -> torch.Tensor:
        ids = self.tensor(states)
        logits = self._forward(ids)[:, :-1].double()
        taken = logits.gather(2, ids[:, 1:, None]).squeeze(2)
        return (taken - logits.logsumexp(dim=2)).sum(dim=1)

    @torch.inference_mode()
    def _next(self, states: Tokens, sites: Tokens) -> torch.Tensor:
        """Logits after the left context of each site; what stands right of it cannot be seen by a causal model."""
        rows = torch.arange(len(states), device=self.device)
        return self._forward(self.tensor(states))[rows, self.tensor(sites) - 1].float()

    def _forward(self, ids: torch.Tensor) -> Any:
        # Models whose padding token is a word would otherwise guess a mask from the ids.
        return self.model(input_ids=ids, attention_mask=torch.ones_like(ids), use_cache=False).logits
