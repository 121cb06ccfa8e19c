"""The last layer at the masked site only: keys and values are needed everywhere, query and feed-forward at one site.

The backbone runs as it is, with the last layer's ``forward`` replaced for the length of the call; so embeddings, masks
and rotary angles are the library's own. Exact up to rounding: after attention, rows do not depend on each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch.nn.functional import linear, scaled_dot_product_attention

Module = Any

# Matrix products of fewer rows take another kernel with another rounding: a row would depend on its batch.
LEAST_ROWS = 4


class Sites(NamedTuple):
    """Rows and columns of B sites: int64 [B] each; least: rows of the smallest matrix product, see ``enough``."""

    rows: torch.Tensor
    columns: torch.Tensor
    least: int = LEAST_ROWS

    def of(self, hidden: torch.Tensor) -> torch.Tensor:
        """[B, n, D] → [B', 1, D], see ``enough``."""
        return enough(hidden[self.rows, self.columns].unsqueeze(1), self.least)


def enough(x: torch.Tensor, least: int = LEAST_ROWS) -> torch.Tensor:
    """At least ``least`` rows, by repeating those of x: [B, …] → [B', …]."""
    return x if len(x) >= least else x[torch.arange(least, device=x.device) % len(x)]


AtSite = Callable[[Module, torch.Tensor, Sites, Any, Any], torch.Tensor]


class LastLayer(NamedTuple):
    """Where an architecture's last layer is, how often it is called in a forward, and what it does at one site.

    layer: backbone → module; calls: backbone → int (layers that share weights are called several times);
    at_site: (layer, hidden [B, n, D], sites, attention mask or None, position embeddings or None) → [B', 1, D].
    """

    layer: Callable[[Module], Module]
    calls: Callable[[Module], int]
    at_site: AtSite


def _heads(x: torch.Tensor, heads: int) -> torch.Tensor:
    """[B, n, D] → [B, heads, n, D / heads]."""
    return x.unflatten(2, (heads, -1)).transpose(1, 2)


def _attend(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, sites: Sites, mask: Any, scale: float
) -> torch.Tensor:
    """Attention of one query a row: [B', 1, D].

    query: [B', H, 1, d]; key, value: [B, H, n, d]; mask: [B, 1, n or 1, n] or None.
    """
    query = query[: len(key)]
    if mask is not None:
        mask = mask.expand(len(query), *mask.shape[1:])
        mask = mask if mask.shape[2] == 1 else mask[sites.rows, :, sites.columns].unsqueeze(2)
    mixed = scaled_dot_product_attention(query, key, value, attn_mask=mask, scale=scale)
    return enough(mixed.transpose(1, 2).flatten(2), sites.least)


def _bert(layer: Module, hidden: torch.Tensor, sites: Sites, mask: Any, _: Any) -> torch.Tensor:
    inner, x = layer.attention.self, sites.of(hidden)
    heads = inner.num_attention_heads
    query, key, value = inner.query(x), inner.key(hidden), inner.value(hidden)
    scale = inner.attention_head_size**-0.5
    mixed = _attend(_heads(query, heads), _heads(key, heads), _heads(value, heads), sites, mask, scale)
    attended = layer.attention.output(mixed, x)
    return layer.output(layer.intermediate(attended), attended)


def _esm(layer: Module, hidden: torch.Tensor, sites: Sites, mask: Any, angles: Any) -> torch.Tensor:
    from transformers.models.esm.modeling_esm import apply_rotary_pos_emb

    inner, x, normed = layer.attention.self, sites.of(hidden), layer.attention.LayerNorm(hidden)
    heads = inner.num_attention_heads
    query = _heads(inner.query(sites.of(normed)) * inner.attention_head_size**-0.5, heads)
    key, value = _heads(inner.key(normed), heads), _heads(inner.value(normed), heads)
    if inner.position_embedding_type == "rotary":
        query, key = _rotated(apply_rotary_pos_emb, query, key, sites, angles)
    attended = layer.attention.output(_attend(query, key, value, sites, mask, 1.0), x)
    return layer.output(layer.intermediate(layer.LayerNorm(attended)), attended)


def _rotated(
    rotate: Any, query: torch.Tensor, key: torch.Tensor, sites: Sites, angles: Any
) -> tuple[torch.Tensor, torch.Tensor]:
    """The library's own rotation: the query is put at its column of an empty table, and taken out again."""
    table = torch.zeros_like(key)
    table[sites.rows, :, sites.columns] = query[: len(key)].squeeze(2)
    table, key = rotate(table, key, *angles, unsqueeze_dim=1)
    return table[sites.rows, :, sites.columns].unsqueeze(2), key


def _modernbert(layer: Module, hidden: torch.Tensor, sites: Sites, mask: Any, angles: Any) -> torch.Tensor:
    from transformers.models.modernbert.modeling_modernbert import apply_rotary_pos_emb

    inner, x, normed = layer.attn, sites.of(hidden), layer.attn_norm(hidden)
    D, weight, bias = hidden.shape[2], inner.Wqkv.weight, inner.Wqkv.bias
    heads = D // inner.head_dim
    query = linear(sites.of(normed), weight[:D], None if bias is None else bias[:D])
    key, value = linear(normed, weight[D:], None if bias is None else bias[D:]).chunk(2, dim=2)
    turned = _rotated(apply_rotary_pos_emb, _heads(query, heads), _heads(key, heads), sites, angles)
    mixed = _attend(*turned, _heads(value, heads), sites, mask, inner.head_dim**-0.5)
    x = x + inner.out_drop(inner.Wo(mixed))
    return x + layer.mlp(layer.mlp_norm(x))


def _albert(layer: Module, hidden: torch.Tensor, sites: Sites, mask: Any, _: Any) -> torch.Tensor:
    inner, x = layer.attention, sites.of(hidden)
    heads = inner.num_attention_heads
    query, key, value = inner.query(x), inner.key(hidden), inner.value(hidden)
    scale = inner.attention_head_size**-0.5
    mixed = _attend(_heads(query, heads), _heads(key, heads), _heads(value, heads), sites, mask, scale)
    attended = inner.LayerNorm(x + inner.dense(mixed))
    return layer.full_layer_layer_norm(layer.ff_chunk(attended) + attended)


def _albert_group(backbone: Module, k: int) -> int:
    config = backbone.config
    return int(k / (config.num_hidden_layers / config.num_hidden_groups))


def _albert_layer(backbone: Module) -> Module:
    last = _albert_group(backbone, backbone.config.num_hidden_layers - 1)
    return backbone.encoder.albert_layer_groups[last].albert_layers[-1]


def _albert_calls(backbone: Module) -> int:
    layers = backbone.config.num_hidden_layers
    groups = [_albert_group(backbone, k) for k in range(layers)]
    return groups.count(groups[-1])


_ENCODER = LastLayer(lambda m: m.encoder.layer[-1], lambda m: 1, _bert)

LAST_LAYERS: dict[str, LastLayer] = {
    "BertForMaskedLM": _ENCODER,
    "RobertaForMaskedLM": _ENCODER,
    "XLMRobertaForMaskedLM": _ENCODER,
    "CamembertForMaskedLM": _ENCODER,
    "ElectraForMaskedLM": _ENCODER,
    "AlbertForMaskedLM": LastLayer(_albert_layer, _albert_calls, _albert),
    "ModernBertForMaskedLM": LastLayer(lambda m: m.layers[-1], lambda m: 1, _modernbert),
    "EsmForMaskedLM": _ENCODER._replace(at_site=_esm),
}


def last_layer_of(model: Module) -> LastLayer | None:
    """The last layer of a model's architecture, or None where it runs at every site."""
    kind, config = type(model), model.config
    # Older releases of the library know positions that enter the scores of attention itself.
    plain = getattr(config, "position_embedding_type", None) in (None, "absolute", "rotary")
    if not kind.__module__.startswith("transformers.models.") or not plain or getattr(config, "is_decoder", False):
        return None
    return LAST_LAYERS.get(kind.__name__)


@contextmanager
def at_sites(last: LastLayer, backbone: Module, sites: Sites) -> Iterator[None]:
    """Within the context the backbone's ``last_hidden_state`` is [B', 1, D], at the sites."""
    layer, before = last.layer(backbone), last.calls(backbone) - 1
    original = layer.forward

    def forward(hidden_states: torch.Tensor, attention_mask: Any = None, *args: Any, **kwargs: Any) -> Any:
        nonlocal before
        if before:
            before -= 1
            return original(hidden_states, attention_mask, *args, **kwargs)
        return last.at_site(layer, hidden_states, sites, attention_mask, kwargs.get("position_embeddings"))

    layer.forward = forward
    try:
        yield
    finally:
        del layer.forward


def checked_last_layer(model: Module, backbone: Module, tokens: torch.Tensor) -> LastLayer | None:
    """The last layer of a model, if a trial on ``tokens`` [B, n] gives the backbone's own rows; None otherwise.

    Releases of the library differ in what a layer is given and returns: a trial is worth more than a list of versions.
    """
    last = last_layer_of(model)
    if last is None:
        return None
    sites = Sites(torch.arange(len(tokens), device=tokens.device), torch.arange(len(tokens), device=tokens.device) % 3)
    try:
        with at_sites(last, backbone, sites):
            found = backbone(input_ids=tokens).last_hidden_state[: len(tokens)]
        plain = backbone(input_ids=tokens).last_hidden_state[sites.rows, sites.columns].unsqueeze(1)
    except (AttributeError, IndexError, KeyError, RuntimeError, TypeError, ValueError):
        return None
    tolerance = 1e-4 if plain.dtype in (torch.float32, torch.float64) else 0.1
    scale = float(plain.abs().max()) + 1.0
    return last if found.shape == plain.shape and float((found - plain).abs().max()) < tolerance * scale else None
