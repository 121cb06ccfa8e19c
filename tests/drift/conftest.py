"""Tiny stand-ins: a trace without an engine, and a random encoder saved as a sentence-transformers folder."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from maskov.protocols import State

VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefghij"]


@dataclass
class FakeTrace:
    """States by hand: path [T + 1, B, n]; temperatures [B]."""

    path: np.ndarray
    temperatures: np.ndarray

    @property
    def steps(self) -> int:
        return len(self.path) - 1

    @property
    def n_chains(self) -> int:
        return self.path.shape[1]

    @property
    def chain_ids(self) -> np.ndarray:
        return np.arange(self.n_chains)

    @property
    def starts(self) -> list[State]:
        return [State(x, np.arange(self.path.shape[2])) for x in self.path[0]]

    def states_at(self, step: int) -> list[np.ndarray]:
        return list(self.path[step])


@pytest.fixture
def fake_trace() -> type[FakeTrace]:
    return FakeTrace


@pytest.fixture
def save_encoder() -> Callable[..., Path]:
    """Saves a random network of one layer with its tokenizer."""

    def save(folder: Path, kind: str = "BertModel") -> Path:
        import torch
        import transformers

        from maskov.models.text import symbol_tokenizer

        torch.manual_seed(0)
        size = {
            "hidden_size": 16,
            "num_hidden_layers": 1,
            "num_attention_heads": 2,
            "intermediate_size": 16,
            "max_position_embeddings": 32,
        }
        getattr(transformers, kind)(transformers.BertConfig(vocab_size=len(VOCABULARY), **size)).save_pretrained(folder)
        symbol_tokenizer(VOCABULARY, "[a-j]").save_pretrained(folder)
        return folder

    return save


@pytest.fixture
def encoder_folder(tmp_path: Path, save_encoder: Callable[..., Path]) -> Path:
    return save_encoder(tmp_path / "encoder")


@pytest.fixture
def set_pooling(encoder_folder: Path) -> Callable[[dict], None]:
    def write(config: dict) -> None:
        (encoder_folder / "1_Pooling").mkdir()
        (encoder_folder / "1_Pooling" / "config.json").write_text(json.dumps(config))

    return write
