"""The head at the masked site only: per architecture, backbone → row at the site → features → decoder.

A plain forward computes logits at every position, O(B·n·V). Gathering the hidden row before the head makes it O(B·V);
with the decoder apart, k candidate tokens cost O(B·k).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch.nn.functional import gelu, linear

Module = Any
Decoder = tuple[torch.Tensor, torch.Tensor | None]


class Head(NamedTuple):
    """How one architecture reads tokens off hidden states.

    backbone: the module that gives ``last_hidden_state``; features: hidden [B, D] → [B, E];
    decoder: (weight [V, E], bias [V] or None).
    """

    backbone: Callable[[Module], Module]
    features: Callable[[Module, torch.Tensor], torch.Tensor]
    decoder: Callable[[Module], Decoder]


def _layer(module: Module) -> Decoder:
    return module.weight, module.bias


def _roberta_features(m: Module, h: torch.Tensor) -> torch.Tensor:
    return m.lm_head.layer_norm(gelu(m.lm_head.dense(h)))


def _distilbert_features(m: Module, h: torch.Tensor) -> torch.Tensor:
    return m.vocab_layer_norm(m.activation(m.vocab_transform(h)))


def _albert_features(m: Module, h: torch.Tensor) -> torch.Tensor:
    return m.predictions.LayerNorm(m.predictions.activation(m.predictions.dense(h)))


def _deberta_features(m: Module, h: torch.Tensor) -> torch.Tensor:
    if m.legacy:
        return m.cls.predictions.transform(h)
    head = m.lm_predictions.lm_head
    return head.LayerNorm(head.transform_act_fn(head.dense(h)))


def _deberta_decoder(m: Module) -> Decoder:
    if m.legacy:
        return _layer(m.cls.predictions.decoder)
    return m.deberta.embeddings.word_embeddings.weight, m.lm_predictions.lm_head.bias


def _bert_features(m: Module, h: torch.Tensor) -> torch.Tensor:
    return m.cls.predictions.transform(h)


def _electra_features(m: Module, h: torch.Tensor) -> torch.Tensor:
    return m.generator_predictions(h)


def _modernbert_features(m: Module, h: torch.Tensor) -> torch.Tensor:
    return m.head(h)


_BERT = Head(lambda m: m.bert, _bert_features, lambda m: _layer(m.cls.predictions.decoder))
_ROBERTA = Head(lambda m: m.roberta, _roberta_features, lambda m: _layer(m.lm_head.decoder))
_DEBERTA = Head(lambda m: m.deberta, _deberta_features, _deberta_decoder)

HEADS: dict[str, Head] = {
    "BertForMaskedLM": _BERT,
    "RobertaForMaskedLM": _ROBERTA,
    "XLMRobertaForMaskedLM": _ROBERTA,
    "CamembertForMaskedLM": _ROBERTA,
    "DistilBertForMaskedLM": Head(lambda m: m.distilbert, _distilbert_features, lambda m: _layer(m.vocab_projector)),
    "AlbertForMaskedLM": Head(lambda m: m.albert, _albert_features, lambda m: _layer(m.predictions.decoder)),
    "ElectraForMaskedLM": Head(lambda m: m.electra, _electra_features, lambda m: _layer(m.generator_lm_head)),
    "ModernBertForMaskedLM": Head(lambda m: m.model, _modernbert_features, lambda m: _layer(m.decoder)),
    "DebertaForMaskedLM": _DEBERTA,
    "DebertaV2ForMaskedLM": _DEBERTA,
    "EsmForMaskedLM": Head(lambda m: m.esm, _roberta_features, lambda m: (m.lm_head.decoder.weight, m.lm_head.bias)),
}


def head_of(model: Module) -> Head | None:
    """The head of a model's architecture, or None where only the plain forward is known.

    Only classes of transformers itself count: code that comes with a model may use the same name for another head.
    """
    kind = type(model)
    return HEADS.get(kind.__name__) if kind.__module__.startswith("transformers.models.") else None


def decode_all(head: Head, model: Module, features: torch.Tensor) -> torch.Tensor:
    """Logits of every token: [B, V]. features: [B, E]."""
    weight, bias = head.decoder(model)
    return linear(features, weight, bias)


def decode_some(head: Head, model: Module, features: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
    """Logits of the given tokens only: [B, k]. features: [B, E]; tokens: int64 [B, k]."""
    weight, bias = head.decoder(model)
    # Gathered rows cost more per number than a matrix product: with many candidates the whole row is cheaper.
    if tokens.shape[1] * 4 > len(weight):
        return linear(features, weight, bias).gather(1, tokens)
    scores = torch.bmm(weight[tokens], features.unsqueeze(2)).squeeze(2)
    return scores if bias is None else scores + bias[tokens]
