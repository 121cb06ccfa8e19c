"""Tiny random networks of every architecture, with biases and scales that a wrong head would get wrong."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

from maskov.models.masked_lm import MaskedLM
from maskov.models.sources import quiet_transformers
from maskov.models.text import TokenizerCodec
from maskov.models.warning import MaskovWarning
from maskov.protocols import State

WORDS = [
    "the",
    "a",
    "river",
    "hill",
    "house",
    "bird",
    "stone",
    "sings",
    "falls",
    "runs",
    "sleeps",
    "old",
    "red",
    "quiet",
    "and",
    "under",
]
BERT_SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[unused0]"]
ROBERTA_SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", "madeupword0000"]
# Three ids more than the tokenizer knows, as in models whose vocabulary is rounded up.
V = len(BERT_SPECIAL) + len(WORDS) + 3
POSITIONS = 40
TEXT = "the old river runs under the quiet hill"


def word_tokenizer(style: str = "bert") -> PreTrainedTokenizerFast:
    """One word a token. style: "bert" (padding is token 0) or "roberta" (padding is token 1)."""
    special = BERT_SPECIAL if style == "bert" else ROBERTA_SPECIAL
    roles = (
        ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
        if style == "bert"
        else ["<pad>", "<unk>", "<s>", "</s>", "<mask>"]
    )
    ids = {token: k for k, token in enumerate([*special, *WORDS])}
    core = Tokenizer(models.WordLevel(ids, unk_token=roles[1]))
    core.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    first, last = roles[2], roles[3]
    core.post_processor = processors.TemplateProcessing(
        single=f"{first} $A {last}", special_tokens=[(first, ids[first]), (last, ids[last])]
    )
    names = dict(zip(["pad_token", "unk_token", "cls_token", "sep_token", "mask_token"], roles, strict=True))
    return PreTrainedTokenizerFast(tokenizer_object=core, **names)


_SIZES: dict[str, Any] = {
    "vocab_size": V,
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 24,
    "max_position_embeddings": POSITIONS,
}
_DEBERTA = {"relative_attention": True, "pos_att_type": ["p2c", "c2p"], "max_relative_positions": 8}
_ROBERTA = {"pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2, "type_vocab_size": 1}
_DISTILBERT = {
    "vocab_size": V,
    "dim": 16,
    "n_layers": 2,
    "n_heads": 2,
    "hidden_dim": 24,
    "max_position_embeddings": POSITIONS,
}
_MODERN = {
    "local_attention": 6,
    "global_attn_every_n_layers": 2,
    "pad_token_id": 0,
    "cls_token_id": 2,
    "sep_token_id": 3,
}
_ESM = {"pad_token_id": 1, "mask_token_id": 4, "token_dropout": True, "emb_layer_norm_before": True}

# name: (network, configuration, its arguments, tokenizer)
ARCHITECTURES: dict[str, tuple[str, str, dict[str, Any], str]] = {
    "bert": ("BertForMaskedLM", "BertConfig", _SIZES, "bert"),
    "bert-untied": ("BertForMaskedLM", "BertConfig", _SIZES | {"tie_word_embeddings": False}, "bert"),
    "roberta": ("RobertaForMaskedLM", "RobertaConfig", _SIZES | _ROBERTA, "roberta"),
    "xlm-roberta": ("XLMRobertaForMaskedLM", "XLMRobertaConfig", _SIZES | _ROBERTA, "roberta"),
    "camembert": ("CamembertForMaskedLM", "CamembertConfig", _SIZES | _ROBERTA, "roberta"),
    "distilbert": ("DistilBertForMaskedLM", "DistilBertConfig", _DISTILBERT, "bert"),
    "albert": ("AlbertForMaskedLM", "AlbertConfig", _SIZES | {"embedding_size": 12}, "bert"),
    "electra": ("ElectraForMaskedLM", "ElectraConfig", _SIZES | {"embedding_size": 12}, "bert"),
    "modernbert": ("ModernBertForMaskedLM", "ModernBertConfig", _SIZES | _MODERN, "bert"),
    "deberta": ("DebertaForMaskedLM", "DebertaConfig", _SIZES | _DEBERTA | {"legacy": True}, "bert"),
    "deberta-new-head": ("DebertaForMaskedLM", "DebertaConfig", _SIZES | _DEBERTA | {"legacy": False}, "bert"),
    "deberta-v2": ("DebertaV2ForMaskedLM", "DebertaV2Config", _SIZES | _DEBERTA | {"legacy": True}, "bert"),
    "deberta-v2-new-head": ("DebertaV2ForMaskedLM", "DebertaV2Config", _SIZES | _DEBERTA | {"legacy": False}, "bert"),
    "esm": ("EsmForMaskedLM", "EsmConfig", _SIZES | _ESM | {"position_embedding_type": "rotary"}, "roberta"),
    "esm-absolute": ("EsmForMaskedLM", "EsmConfig", _SIZES | _ESM | {"position_embedding_type": "absolute"}, "roberta"),
}
# Outside of the registry of heads: read through their plain forward.
UNKNOWN: dict[str, tuple[str, str, dict[str, Any], str]] = {
    "mpnet": ("MPNetForMaskedLM", "MPNetConfig", _SIZES | _ROBERTA, "roberta"),
    "fnet": ("FNetForMaskedLM", "FNetConfig", {k: v for k, v in _SIZES.items() if k != "num_attention_heads"}, "bert"),
}


def randomise(network: Any, seed: int = 0) -> Any:
    """Every parameter away from its start: zero biases and unit scales would hide a head that forgets them."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator) * 0.3)
    return network.eval()


def network_of(name: str, seed: int = 0, **changes: Any) -> Any:
    """A random network of an architecture; changes: to its configuration."""
    kind, config, arguments, _ = (ARCHITECTURES | UNKNOWN)[name]
    torch.manual_seed(seed)
    with quiet_transformers():
        return randomise(getattr(transformers, kind)(getattr(transformers, config)(**(arguments | changes))), seed)


def tokenizer_of(name: str) -> PreTrainedTokenizerFast:
    return word_tokenizer((ARCHITECTURES | UNKNOWN)[name][3])


def masked(name: str = "bert", kind: Callable[..., Any] = MaskedLM, **options: Any) -> Any:
    """A random ``MaskedLM`` (or a subclass) of an architecture, without the warning of unknown ones."""
    codec = TokenizerCodec(tokenizer_of(name), V, POSITIONS - 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MaskovWarning)
        return kind(network_of(name), codec, name, **options)


def cases(model: Any, rows: int = 6) -> tuple[np.ndarray, np.ndarray]:
    """Random states of one length with their special tokens, and a free site of each: [B, L], [B]."""
    rng, state = np.random.default_rng(1), model.encode(TEXT)
    allowed = np.flatnonzero(~model.forbidden)
    states = np.repeat(state.tokens[None], rows, axis=0)
    states[:, state.free] = rng.choice(allowed, size=(rows, len(state.free)))
    return states, rng.choice(state.free, size=rows)


@torch.inference_mode()
def plain_rows(model: Any, states: np.ndarray, sites: np.ndarray, hidden: np.ndarray | None = None) -> np.ndarray:
    """What the network itself says: full forward with an attention mask, then the row at the site."""
    ids = states.copy()
    ids[np.arange(len(ids)), sites] = model.mask_token_id
    if hidden is not None:
        ids[hidden] = model.mask_token_id
    inputs = {"input_ids": torch.from_numpy(ids)}
    if model.pad_token_id is not None:
        inputs["attention_mask"] = torch.ones_like(inputs["input_ids"])
    return model.model(**inputs).logits[torch.arange(len(ids)), torch.from_numpy(sites)].numpy()


def save(folder: Path, network: Any, tokenizer: Any) -> Path:
    """A model folder as ``save_pretrained`` writes it."""
    network.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def causal_network(kind: str) -> Any:
    """A random GPT-2 or Llama."""
    torch.manual_seed(0)
    if kind == "gpt2":
        sizes = {"vocab_size": V, "n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": POSITIONS}
        return randomise(transformers.GPT2LMHeadModel(transformers.GPT2Config(**sizes, bos_token_id=2, eos_token_id=3)))
    heads = {"num_key_value_heads": 1, "bos_token_id": 2, "eos_token_id": 3}
    return randomise(transformers.LlamaForCausalLM(transformers.LlamaConfig(**(_SIZES | heads))))


def causal_tokenizer(start: bool = True) -> PreTrainedTokenizerFast:
    """One word a token, [CLS] as the start token (or none)."""
    core = word_tokenizer("bert").backend_tokenizer
    names = {"bos_token": "[CLS]", "eos_token": "[SEP]"} if start else {}
    return PreTrainedTokenizerFast(tokenizer_object=core, unk_token="[UNK]", pad_token="[PAD]", **names)


class ProductLaw:
    """Independent sites with given log-probabilities [n, V]: a joint law that offers nothing else."""

    def __init__(self, log_p: np.ndarray) -> None:
        self.log_p = log_p
        self.n_sites, self.vocabulary_size = log_p.shape

    def log_prob(self, states: np.ndarray) -> np.ndarray:
        return self.log_marginal(states, np.ones(states.shape, dtype=bool))

    def log_marginal(self, states: np.ndarray, visible: np.ndarray) -> np.ndarray:
        return (self.log_p[np.arange(self.n_sites), states] * visible).sum(axis=1)

    def sample(self, rng: np.random.Generator, size: int) -> np.ndarray:
        return rng.integers(self.vocabulary_size, size=(size, self.n_sites))


def all_free(tokens: list[int]) -> State:
    return State(np.array(tokens, dtype=np.int64), np.arange(len(tokens), dtype=np.int64))


def gap(rows: np.ndarray, others: np.ndarray, allowed: np.ndarray) -> float:
    """Largest difference at allowed tokens; the rest is −inf on one side or both."""
    return float(np.abs(rows[..., allowed] - others[..., allowed]).max())
