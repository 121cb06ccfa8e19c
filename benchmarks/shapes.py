"""What is measured: models and starts."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
import torch

from maskov.models import load
from maskov.protocols import State

PASSAGE = (
    "the old river runs under the quiet hill and past the house where the miller lived with his sons until the war; "
    "in the spring the water rises to the door, and the birds come back from the south to build nests in the roof"
)


def bert_base(layers: int = 12) -> Any:
    """BERT-base by size, random weights: en-tiny's tokenizer has the same 30,522 tokens."""
    from transformers import BertConfig, BertForMaskedLM

    from maskov.models.masked_lm import MaskedLM
    from maskov.models.text import TokenizerCodec

    torch.manual_seed(0)
    network = BertForMaskedLM(BertConfig(num_hidden_layers=layers))
    return MaskedLM(network, TokenizerCodec(load("en-tiny").codec.tokenizer, 30_522, 512), f"bert-{layers}x768")


def english(model: Any, n: int, chains: int) -> list[State]:
    """The passage, cut or repeated to n tokens; every chain starts there."""
    state = model.encode(PASSAGE)
    inner = np.resize(state.tokens[1:-1], n - 2)
    tokens = np.concatenate([state.tokens[:1], inner, state.tokens[-1:]])
    return [State(tokens, np.arange(1, n - 1))] * chains


def ragged(model: Any, chains: int) -> list[State]:
    """Texts of lengths uniform on 8 … 128."""
    lengths = np.random.default_rng(0).integers(8, 129, size=chains)
    return [english(model, int(n), 1)[0] for n in lengths]


ANTIBODY = (
    "EVQLVESGGGLVQPGGSLRLSCAASGFNIKDTYIHWVRQAPGKGLEWVARIYPTNGYTRYADSVKGRFTISADTSKNTAYLQ"
    "MNSLRAEDTAVYYCSRWGGDGFYAMDYWGQGTLVTVSS"
)


def antibody(chains: int) -> tuple[Any, list[State]] | None:
    """The antibody model at a heavy chain of 120 residues, where it is installed."""
    if find_spec("antiberty") is None:
        return None
    model = load("antibody")
    return model, [model.encode(ANTIBODY)] * chains
