"""Masked language models of any Hugging Face architecture as conditionals of texts."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Sequence
from contextlib import nullcontext
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from maskov.errors import InputError
from maskov.models.heads import decode_all, decode_some, head_of
from maskov.models.last_layer import LEAST_ROWS, LastLayer, Sites, at_sites, checked_last_layer, enough
from maskov.models.network import Network
from maskov.models.warning import MaskovWarning
from maskov.protocols import Flags, Floats, Tokens


class MaskedLM(Network):
    """A masked language model: s_i(v; x_{-i}) with site i masked, one forward a row, the head at the site only.

    Forbidden tokens have logit −inf. An architecture without a known head falls back to logits at every position
    (one ``MaskovWarning``). See ``Network`` for the arguments.
    """

    def __init__(self, model: Any, codec: Any, name: str, **options: Any) -> None:
        super().__init__(model, codec, name, **options)
        mask = codec.tokenizer.mask_token_id
        if mask is None or not 0 <= mask < self.vocabulary_size:
            raise InputError(
                f"model {name}",
                expected=f"a mask token within the vocabulary of {self.vocabulary_size}",
                came="a tokenizer without one" if mask is None else f"mask token id {mask}",
                remedy="choose a masked language model with its own tokenizer",
            )
        self.mask_token_id: int = int(mask)
        self._pad = _padding_token(codec.tokenizer)
        self._takes_mask = "attention_mask" in inspect.signature(model.forward).parameters
        self.head = head_of(model)
        if self.head is None:
            text = "unknown architecture, using logits at every position (slower, same numbers)"
            warnings.warn(f"{type(model).__name__}: {text}", MaskovWarning, stacklevel=2)

    @property
    def pad_token_id(self) -> int | None:
        """The token that may follow a state without changing its rows; None where the model cannot ignore one."""
        return self._pad if self._takes_mask else None

    @cached_property
    def forward_overhead(self) -> float:
        """What a forward costs beside its tokens, in tokens: about 10⁸ operations' time, over those of one token."""
        embeddings = {id(p) for p in self.model.get_input_embeddings().parameters()}
        return 1e8 / max(1, sum(p.numel() for p in self.model.parameters() if id(p) not in embeddings))

    def logits(self, states: Tokens, sites: Tokens) -> Floats:
        """s_i(· ; x_{-i}): float32 [B, V] (float64 of a double copy), nats.

        states: [B, L] of one length; sites: [B] columns.
        """
        x, i = self.checked(states, sites)
        return self._predict(x, _only(x, i), i)

    def logits_of_parts(self, parts: Sequence[tuple[Tokens, Tokens]], alone: bool = False) -> list[Floats]:
        """``logits`` of several (states, sites), each of its own width: the decoder runs once for all of them.

        alone: the caller never asks for two rows at once, so that a row needs no protection from its batch's rounding.
        """
        if self.head is None:
            return [self.logits(states, sites) for states, sites in parts]
        pairs = [self.checked(states, sites) for states, sites in parts]
        pieces = [(x[k], i[k]) for x, i in pairs for k in self.parts(len(x), x.shape[1], self.vocabulary_size)]
        least = 1 if alone else LEAST_ROWS
        features = torch.cat([self._features(x, _only(x, i), i, least) for x, i in pieces])
        sites = np.concatenate([i for _, i in pieces])
        blocks = [
            self._allowed(self._decoded(features[k], least), sites[k])
            for k in self.parts(len(sites), 1, self.vocabulary_size)
        ]
        rows = self._joined(blocks)
        return np.split(rows, np.cumsum([len(i) for _, i in pairs])[:-1])

    def predict(self, states: Tokens, hidden: Flags, sites: Tokens) -> Floats:
        """The row at ``sites`` with all of ``hidden`` masked: float [B, V]; see ``MaskedPredictor``."""
        x, i = self.checked(states, sites)
        flags = np.asarray(hidden)
        if flags.shape != x.shape or flags.dtype != np.bool_:
            raise InputError("hidden", expected=f"bool {list(x.shape)}", came=f"{flags.dtype} {list(flags.shape)}")
        if not flags[np.arange(len(x)), i].all():
            raise InputError("hidden", expected="the site itself among the hidden ones", came="a visible site")
        return self._predict(x, flags, i)

    def score_tokens(self, states: Tokens, sites: Tokens, tokens: Tokens) -> NDArray[np.float64]:
        """s_i(v; x_{-i}) of the given tokens only: float64 [B, k]; the decoder is evaluated at those k tokens."""
        x, i = self.checked(states, sites)
        v, hidden = self.candidates(tokens, len(x)), _only(x, i)
        allowed = ~self.forbidden[v]
        out = np.empty(v.shape, dtype=np.float64)
        for part in self.parts(len(x), x.shape[1], self._row_values(x.shape[1], v.shape[1])):
            scores = self._rows(x[part], hidden[part], i[part], v[part])
            out[part] = self.finished(scores, i[part], allowed[part])
        out[~allowed] = -np.inf
        return out

    def _predict(self, states: Tokens, hidden: Flags, sites: Tokens) -> Floats:
        parts = self.parts(len(states), states.shape[1], self._row_values(states.shape[1], None))
        return self._joined([self._allowed(self._rows(states[k], hidden[k], sites[k], None), sites[k]) for k in parts])

    def _allowed(self, scores: torch.Tensor, sites: Tokens) -> NDArray[Any]:
        """Scores [B, V] as an array, −inf where forbidden."""
        block = self.finished(scores, sites, ~self.forbidden)
        block[:, self.forbidden_columns] = -np.inf
        return block

    def _joined(self, blocks: list[NDArray[Any]]) -> Floats:
        if not blocks:
            return np.empty((0, self.vocabulary_size), dtype=np.float32)
        # A second array of B·V numbers costs as much time as the decoder itself: one block is handed over as it is.
        return blocks[0] if len(blocks) == 1 else np.concatenate(blocks)

    def _row_values(self, length: int, candidates: int | None) -> int:
        """Numbers that one row brings forth: logits, or gathered decoder rows."""
        if self.head is None:
            return length * self.vocabulary_size
        if candidates is None or candidates * 4 > self.vocabulary_size:
            return self.vocabulary_size
        return candidates * int(self.head.decoder(self.model)[0].shape[1])

    @torch.inference_mode()
    def _rows(self, states: Tokens, hidden: Flags, sites: Tokens, tokens: Tokens | None) -> torch.Tensor:
        if self.head is None:
            inputs, at = self._inputs(np.where(hidden, self.mask_token_id, states)), self.tensor(sites)
            scores = self.model(**inputs).logits[torch.arange(len(states), device=self.device), at]
            return scores if tokens is None else scores.gather(1, self.tensor(tokens))
        features = self._features(states, hidden, sites)
        if tokens is None:
            return self._decoded(features)
        return decode_some(self.head, self.model, features, self.tensor(tokens))

    @torch.inference_mode()
    def _features(self, states: Tokens, hidden: Flags, sites: Tokens, least: int = LEAST_ROWS) -> torch.Tensor:
        """What the decoder reads at the sites: [B, E]."""
        assert self.head is not None
        inputs = self._inputs(np.where(hidden, self.mask_token_id, states))
        where = Sites(torch.arange(len(states), device=self.device), self.tensor(sites), least)
        backbone, last = self.head.backbone(self.model), self.last_layer
        with nullcontext() if last is None else at_sites(last, backbone, where):
            found = backbone(**inputs).last_hidden_state
        at = enough(found[where.rows, where.columns], least) if last is None else found.squeeze(1)
        return self.head.features(self.model, at)[: len(states)]

    @torch.inference_mode()
    def _decoded(self, features: torch.Tensor, least: int = LEAST_ROWS) -> torch.Tensor:
        """Logits of every token: [B, V]."""
        assert self.head is not None
        return decode_all(self.head, self.model, enough(features, least))[: len(features)]

    @cached_property
    def last_layer(self) -> LastLayer | None:
        """How to run the last layer at the masked site only; None where it runs at every site."""
        if self.head is None or self.codec.limit < 4:
            return None
        shown = np.flatnonzero(~self.forbidden)
        tokens = np.resize(shown, (4, 4)).astype(np.int64)
        with torch.inference_mode():
            return checked_last_layer(self.model, self.head.backbone(self.model), self.tensor(tokens))

    def _inputs(self, masked: Tokens) -> dict[str, torch.Tensor]:
        """Arguments of the network; an attention mask (1 on real tokens) only where there is padding to hide."""
        ids = self.tensor(masked)
        padding = masked == self._pad if self._pad is not None else np.zeros(0, dtype=bool)
        if not padding.any():
            return {"input_ids": ids}
        if not self._takes_mask:
            raise InputError(
                f"model {self.name}",
                expected="states without padding, which this architecture cannot ignore",
                came=f"token {self._pad} at column {int(np.argwhere(padding)[0][1])}",
                remedy="pass states of one length",
            )
        return {"input_ids": ids, "attention_mask": self.tensor((~padding).astype(np.int64))}


def _only(states: Tokens, sites: Tokens) -> Flags:
    """Hidden sets with the site alone: bool [B, L]."""
    hidden = np.zeros(states.shape, dtype=bool)
    hidden[np.arange(len(states)), sites] = True
    return hidden


def _padding_token(tokenizer: Any) -> int | None:
    """The id of padding, or None where the tokenizer has none or uses another role's token for it."""
    roles = (tokenizer.bos_token_id, tokenizer.eos_token_id, tokenizer.cls_token_id, tokenizer.sep_token_id)
    pad = tokenizer.pad_token_id
    return None if pad is None or pad in roles or pad == tokenizer.mask_token_id else int(pad)
