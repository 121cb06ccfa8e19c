"""What a coarser number type does to the conditionals: another chain, by how much?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskov.errors import InputError
from maskov.glauber.draw import tempered_scores
from maskov.protocols import State, Tokens
from maskov.quantities import Exact
from maskov.results import Result

# Contexts per batch: two tables of 16 rows of a 30,522-token vocabulary in float64.
_BATCH = 16


@dataclass(frozen=True)
class DtypeGap(Result):
    """TV between two models' conditionals at every free site of some texts, in [0, 1].

    mean, largest: over the contexts, one per text and free site; one step of a chain differs with that chance at most
    when both draw with the same uniform in the best way. temperature: of both.
    """

    command = "dtype-gap"
    first: str
    second: str
    temperature: float
    contexts: int
    mean: Exact
    largest: Exact


def dtype_gap(model_bf16: Any, model_fp32: Any, texts: Sequence[Any], *, temperature: float = 1.0) -> DtypeGap:
    """Mean and largest TV( p_{i,τ}(·|x_{-i}) of one model, of the other ) over the free sites i of the texts x.

    model_bf16, model_fp32: ``TextModel``s of one vocabulary; texts: texts or ``State`` values; temperature: > 0. Raises
    ``InputError`` on no texts, another vocabulary, or a bad temperature.

    >>> from maskov.laws import law
    >>> from maskov.models import LawModel
    >>> a, b = (LawModel(law(f"curie-weiss?sites=3&beta={beta}")) for beta in (1, 1.1))
    >>> dtype_gap(a, b, ["000"]).contexts
    3
    """
    if model_bf16.vocabulary_size != model_fp32.vocabulary_size:
        came = f"{model_bf16.vocabulary_size} and {model_fp32.vocabulary_size} tokens"
        raise InputError("models", expected="one vocabulary", came=came)
    if not (np.isfinite(temperature) and temperature > 0):
        raise InputError("temperature", expected="a finite number above 0", came=str(temperature))
    states = [text if isinstance(text, State) else model_fp32.encode(text) for text in texts]
    if not states:
        raise InputError("texts", expected="at least one", came="none")
    parts = [_gaps(model_bf16, model_fp32, x, i, temperature) for x, i in _contexts(states)]
    gaps = np.concatenate(parts)
    names = (_named(model_bf16), _named(model_fp32))
    return DtypeGap(*names, float(temperature), len(gaps), Exact(float(gaps.mean())), Exact(float(gaps.max())))


def _contexts(states: Sequence[State]) -> Iterator[tuple[Tokens, Tokens]]:
    """Every free site of every state, in batches of one length: [B, L], [B]."""
    for state in states:
        for k in range(0, len(state.free), _BATCH):
            sites = state.free[k : k + _BATCH]
            yield np.repeat(state.tokens[None], len(sites), axis=0), sites


def _gaps(first: Any, second: Any, states: Tokens, sites: Tokens, temperature: float) -> NDArray[np.float64]:
    p, q = (_probabilities(model.logits(states, sites), temperature) for model in (first, second))
    return np.asarray(0.5 * np.abs(p - q).sum(axis=1))


def _probabilities(logits: Any, temperature: float) -> NDArray[np.float64]:
    weights = np.exp(tempered_scores(logits, np.full(len(logits), temperature)))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _named(model: Any) -> str:
    """The model's name, with its number type where it has parameters."""
    network = getattr(model, "model", None)
    dtype = "" if network is None else f" {next(network.parameters()).dtype}".replace("torch.", "")
    return f"{model.name}{dtype}"
