"""From a command's strings to models, texts and traces."""

from __future__ import annotations

from typing import Any

from maskov.errors import InputError, StoreError


def load_model(name: str, device: str = "cpu", dtype: str = "float32") -> Any:
    """The model that ``name`` means."""
    from maskov.models import load

    return load(name, device=device, dtype=dtype)


def texts_for(model: Any, texts: str | None) -> Any:
    """The texts of ``--texts``; without it the bundled ones of a catalogue model, None for a law."""
    from maskov.texts import bundled_texts, read_texts

    if texts is not None:
        return read_texts(texts)
    if getattr(model, "n_sites", None) is not None:
        return None
    found = bundled_texts("en-tiny" if model.name == "smollm2" else model.name)
    if found is None:
        remedy = "pass --texts FILE (one a line, JSONL or FASTA)"
        raise InputError("texts", expected=f"texts for {model.name}", came="none", remedy=remedy)
    return found


def load_run(path: str, name: str | None, device: str = "cpu", dtype: str = "float32") -> tuple[Any, Any]:
    """A stored trace and the model that made it; ``name`` says where the model lies now, if it moved."""
    from maskov.glauber import open_trace

    trace = open_trace(path)
    model = load_model(name or trace.manifest.model["name"], device, dtype)
    made = trace.manifest.model["fingerprint"]
    if model.fingerprint != made:
        remedy = "pass --model NAME of the model that made the run"
        raise StoreError(path, expected=f"the run's model ({made})", came=model.fingerprint, remedy=remedy)
    return trace, model
