"""What masked and causal networks share: device, micro-batches, fingerprint, checks of what comes in and goes out."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Iterator
from functools import cached_property
from types import MethodType
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray

from maskov.errors import InputError
from maskov.models.sites import check_forbidden
from maskov.models.text import TokenizerCodec
from maskov.protocols import Flags, State, Tokens

# Tokens per forward: 2,048 to 8,192 are equally fast, 16,384 a quarter slower (activations leave the cache).
BATCH_TOKENS = 8192
# Logits per forward: 2^24 of them are 64 MB in float32.
BATCH_VALUES = 1 << 24


def fingerprint(model: torch.nn.Module, codec: TokenizerCodec) -> str:
    """SHA-256 over every parameter in name order (name, shape, type, bytes), the tokenizer and the model's type."""
    kind = f"{type(model).__name__} {getattr(model.config, 'model_type', '')}"
    digest = hashlib.sha256(kind.encode() + codec.digest())
    # Parameters, not the state: a decoder tied to the embeddings is read once.
    for name, parameter in sorted(model.named_parameters()):
        tensor = parameter.detach().cpu().contiguous()
        digest.update(f"{name}{tuple(tensor.shape)}{tensor.dtype}".encode())
        digest.update(tensor.reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()


class Network:
    """A Hugging Face model with its codec; subclasses add what it predicts.

    model: the Hugging Face module, put in eval mode; codec: its text side; name: the string that loads it;
    batch_tokens: most tokens of one forward; forbidden: bool [V], tokens never to be written (default: the codec's).
    """

    def __init__(
        self,
        model: Any,
        codec: TokenizerCodec,
        name: str,
        *,
        batch_tokens: int = BATCH_TOKENS,
        forbidden: Flags | None = None,
    ) -> None:
        if batch_tokens < 1:
            raise InputError("batch_tokens", expected="at least 1", came=str(batch_tokens))
        self.model, self.codec, self.name, self.batch_tokens = model.eval(), codec, name, batch_tokens
        self.vocabulary_size = codec.vocabulary_size
        self.forbidden = check_forbidden(codec.forbidden if forbidden is None else forbidden, self.vocabulary_size)
        self.forbidden_columns = np.flatnonzero(self.forbidden)

    @property
    def device(self) -> torch.device:
        """Where the parameters lie."""
        return next(self.model.parameters()).device

    @property
    def architecture(self) -> str:
        """The class of the network."""
        return type(self.model).__name__

    @cached_property
    def fingerprint(self) -> str:
        """Hash of weights and tokenizer."""
        return fingerprint(self.model, self.codec)

    def parameter_count(self) -> int:
        """Number of parameters."""
        return sum(p.numel() for p in self.model.parameters())

    def encode(self, text: str) -> State:
        """The state of a text."""
        return self.codec.encode(text)

    def decode(self, tokens: Tokens) -> str:
        """The text of a state."""
        return self.codec.decode(tokens)

    def token_text(self, token: int) -> str:
        """One token, readable."""
        return self.codec.token_text(token)

    def in_float64(self) -> Self:
        """A copy in double precision: the yardstick of float32's rounding. The model itself is untouched."""
        twin = copy.copy(self)
        for known in ("fingerprint", "last_layer"):
            twin.__dict__.pop(known, None)
        twin.model = copy.deepcopy(self.model).double()
        for module in twin.model.modules():
            if type(module).__name__ in _RMS_NORMS:
                module.forward = MethodType(_rms_norm, module)
        return twin

    def tensor(self, values: NDArray[Any]) -> torch.Tensor:
        """An array on the model's device."""
        return torch.from_numpy(np.ascontiguousarray(values)).to(self.device)

    def parts(self, rows: int, length: int, values: int) -> Iterator[slice]:
        """Micro-batches of at most ``batch_tokens`` tokens and 2^24 numbers. values: numbers that a row makes."""
        size = max(1, min(self.batch_tokens // max(1, length), BATCH_VALUES // max(1, values)))
        for start in range(0, rows, size):
            yield slice(start, min(rows, start + size))

    def checked(self, states: Tokens, sites: Tokens) -> tuple[Tokens, Tokens]:
        """States [B, L] and sites [B] as int64, or an ``InputError`` that says which of their laws is broken."""
        x, i = np.asarray(states), np.asarray(sites)
        if x.ndim != 2 or x.dtype.kind not in "iu":
            raise InputError("states", expected="whole numbers [B, L]", came=f"{x.dtype} {list(x.shape)}")
        if i.shape != (len(x),) or i.dtype.kind not in "iu":
            raise InputError("sites", expected=f"whole numbers [{len(x)}]", came=f"{i.dtype} {list(i.shape)}")
        self.check_tokens("states", x)
        if x.shape[1] > self.codec.limit:
            raise InputError("states", expected=f"at most {self.codec.limit} columns", came=str(x.shape[1]))
        if i.size and not 0 <= i.min() <= i.max() < x.shape[1]:
            raise InputError("sites", expected=f"columns 0 … {x.shape[1] - 1}", came=f"{i.min()} … {i.max()}")
        return x.astype(np.int64, copy=False), i.astype(np.int64, copy=False)

    def check_tokens(self, what: str, tokens: Tokens) -> None:
        """Every token is one of the vocabulary."""
        if tokens.size and not 0 <= tokens.min() <= tokens.max() < self.vocabulary_size:
            came = f"{tokens.min()} … {tokens.max()}"
            raise InputError(what, expected=f"tokens 0 … {self.vocabulary_size - 1}", came=came)

    def candidates(self, tokens: Tokens, rows: int) -> Tokens:
        """Candidate tokens [B, k] as int64."""
        v = np.asarray(tokens)
        if v.ndim != 2 or len(v) != rows or v.dtype.kind not in "iu":
            raise InputError("tokens", expected=f"whole numbers [{rows}, k]", came=f"{v.dtype} {list(v.shape)}")
        self.check_tokens("tokens", v)
        return v.astype(np.int64, copy=False)

    def finished(self, scores: torch.Tensor, sites: Tokens, allowed: Flags | None = None) -> NDArray[Any]:
        """Scores as an array (float64 stays, all else becomes float32); NaN and infinities are refused by name.

        scores: [B] or [B, m]; sites: [B]; allowed: bool, entries that must be finite (default: all).
        """
        block: NDArray[Any] = (scores if scores.dtype == torch.float64 else scores.float()).cpu().numpy()
        with np.errstate(all="ignore"):
            # One sum is ten times cheaper than looking at each number, and is finite only if they are.
            if np.isfinite(block.sum()):
                return block
        wrong = ~np.isfinite(block) & (True if allowed is None else allowed)
        rows = np.flatnonzero(wrong.reshape(len(block), -1).any(axis=1))
        if rows.size:
            raise InputError(
                f"model {self.name}",
                expected="finite logits",
                came=f"NaN or infinity at site {sites[rows[0]]} of state {rows[0]}",
                remedy="check the weights, or use --dtype float32",
            )
        return block


# These compute in float32 whatever the type of their input, which would leave the double copy with float32's rounding.
_RMS_NORMS = {f"{family}RMSNorm" for family in ("Llama", "Mistral", "Qwen2", "Qwen3", "Olmo2", "Phi3")}


def _rms_norm(self: Any, hidden_states: torch.Tensor) -> torch.Tensor:
    scale = torch.rsqrt(hidden_states.pow(2).mean(-1, keepdim=True) + self.variance_epsilon)
    return self.weight * hidden_states * scale
