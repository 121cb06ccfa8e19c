"""One cell of a phase diagram, as a unit of work: everything it needs is JSON, its result too."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from maskov.compatibility import entropy_production
from maskov.compatibility.entropy_production import FEWEST_WINDOWS
from maskov.coupling import Pair, run_pairs
from maskov.drift import Cached, drift_curves, embedder
from maskov.drift.embed import default_name
from maskov.errors import StoreError
from maskov.glauber import glauber
from maskov.protocols import State

# Share of the longest run that a chain gets first: hot chains have all drifted by then, and the rest is saved.
_FIRST_RUN = 0.25
_CHUNKS = 8

_models: dict[tuple[str, str, str], Any] = {}
_embedders: dict[tuple[str, str], Any] = {}


def remember(model: Any, device: str, dtype: str) -> None:
    """Cells of this process take this model for its name; other processes load theirs."""
    _models[model.name, device, dtype] = model


def loaded(name: str, fingerprint: str, device: str, dtype: str) -> Any:
    """The model of that name, loaded once a process; ``StoreError`` if it is no longer the same."""
    key = (name, device, dtype)
    if key not in _models:
        from maskov.models import load

        _models[key] = load(name, device=device, dtype=dtype)
    if _models[key].fingerprint != fingerprint:
        came = str(_models[key].fingerprint)
        raise StoreError(f"model {name[:80]}", expected=f"the model of this study ({fingerprint})", came=came)
    return _models[key]


def study(**inputs: Any) -> dict[str, Any]:
    """The inputs that all cells of a study share, as a unit of its own: a folder says what it holds."""
    return inputs


def run_cell(
    *,
    model: str,
    fingerprint: str,
    device: str,
    dtype: str,
    temperature: float,
    sites: int,
    before: list[int],
    after: list[int],
    first: list[list[int]],
    second: list[list[int]],
    coupling: str,
    max_steps: int,
    embedder: str | None,
    fraction: float,
    seed: int,
) -> dict[str, Any]:
    """Meeting times of m pairs, and hitting times, change rate, entropy and σ of the chains from their first states.

    before, after: special tokens around a text; first, second: free tokens [m][n] of each pair; embedder: a name, None
    without hitting times. One thread: results then do not depend on how many workers share the machine. Every memory of
    rows or texts belongs to the cell alone, so its result does not depend on which cells ran before.
    """
    conditionals = loaded(model, fingerprint, device, dtype)
    pairs = [Pair(_state(before, a, after), _state(before, b, after)) for a, b in zip(first, second, strict=True)]
    with one_thread():
        found = run_pairs(conditionals, pairs, [temperature], coupling, max_steps, seed)
        trace, hitting = _chains(conditionals, pairs, temperature, max_steps, embedder, fraction, seed)
    return {
        "temperature": temperature,
        "sites": sites,
        "max_steps": max_steps,
        "meeting": {"steps": found.steps, "met": found.met},
        "hitting": hitting,
        **_rates(trace),
        "forwards": found.forwards,
    }


def _state(before: list[int], tokens: list[int], after: list[int]) -> State:
    free = np.arange(len(before), len(before) + len(tokens), dtype=np.int64)
    return State(np.array([*before, *tokens, *after], dtype=np.int64), free)


def _chains(
    model: Any, pairs: list[Pair], temperature: float, max_steps: int, name: str | None, fraction: float, seed: int
) -> tuple[Any, dict[str, Any] | None]:
    """A run that is long enough for every chain to hit, or of ``max_steps``; its hitting times, if asked for."""
    starts = [pair.first for pair in pairs]
    window = max(1, -(-len(starts[0].free) // 4))
    first = max_steps if name is None else max(1, round(_FIRST_RUN * max_steps))
    for steps in (first, max_steps):
        # Several chunks: an interrupt is heard at the end of each.
        chunk = window * max(1, steps // (_CHUNKS * window))
        trace = glauber(
            model, starts, temperature=temperature, steps=steps, seed=seed, window=window, chunk_steps=chunk
        )
        if name is None:
            return trace, None
        hitting = _hitting(model, trace, pairs, name, fraction, seed)
        if hitting is None or all(hitting["met"]):
            break
    return trace, hitting


def _hitting(model: Any, trace: Any, pairs: list[Pair], name: str, fraction: float, seed: int) -> dict[str, Any] | None:
    """Last grid time below the level and first one at it, per chain; equal where the run ended first. None where all
    late states agree, so that there is no level.
    """
    law = getattr(model, "n_sites", None) is not None
    passages = None if law else [model.decode(state.tokens) for pair in pairs for state in pair]
    encoder = Cached(_encoder(name, model).embedder)  # a fresh cache: batches are then the cell's own
    source = "late" if law else "starts"
    drift = drift_curves(trace, model, encoder, plateau_from=source, fraction=fraction, seed=seed, passages=passages)
    curve = drift.curves[0]
    if curve.level is None:
        return None
    high = np.array([h["step"] for h in curve.hits], dtype=np.int64)
    met = [bool(h["met"]) for h in curve.hits]
    low = np.where(met, curve.times[np.maximum(np.searchsorted(curve.times, high) - 1, 0)], high)
    plateau = curve.late_plateau if law else drift.plateau
    return {"low": low, "high": high, "met": met, "level": curve.level, "plateau": plateau, "embedder": encoder.name}


def _encoder(name: str, model: Any) -> Any:
    key = (name, model.fingerprint)
    if key not in _embedders:
        _embedders[key] = embedder(name, model)
    return _embedders[key]


def _rates(trace: Any) -> dict[str, Any]:
    """Change rate, entropy and σ of the second three quarters; None on a run too short for an error."""
    windows = trace.steps // trace.window
    if windows - int(np.ceil(0.25 * windows)) < FEWEST_WINDOWS:
        return dict.fromkeys(("change_rate", "entropy", "production", "stationary", "chain_steps"))
    cell = entropy_production(trace).cells[0]
    rates = {name: getattr(cell, name) for name in ("change_rate", "entropy", "production", "stationary")}
    return {**rates, "chain_steps": trace.steps}


@contextmanager
def one_thread() -> Iterator[None]:
    """torch computes on one thread inside, if it is loaded at all."""
    torch = sys.modules.get("torch")
    before = torch.get_num_threads() if torch else 1
    try:
        if torch:
            torch.set_num_threads(1)
        yield
    finally:
        if torch:
            torch.set_num_threads(before)


def check_embedder(name: str | None, model: Any) -> str | None:
    """The name that a study's record gives: what "auto" stands for; None for "none", and for "auto" on a law.

    The embedder is loaded, so that one that is missing is told at once.
    """
    if name is None or name == "none" or (name == "auto" and getattr(model, "n_sites", None) is not None):
        return None
    chosen = default_name(model) if name == "auto" else name
    _encoder(chosen, model)
    return chosen
