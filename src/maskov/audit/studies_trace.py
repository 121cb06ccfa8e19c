"""Studies of an audit that read its chains."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from maskov.audit.setting import Outcome, Setting, Table, columns_of, scalars_of


def _trace(s: Setting) -> Any:
    from maskov.glauber import open_trace

    return open_trace(s.trace_path)


def entropy(s: Setting) -> Outcome:
    """Change rate, entropy and entropy production of the chains."""
    from maskov.compatibility import entropy_production

    found = entropy_production(_trace(s))
    names = ("change_rate", "entropy", "stay", "production", "production_raw")
    columns: Table = {"temperature": [c.temperature for c in found.cells]}
    for name in names:
        columns[name] = [getattr(c, name).value for c in found.cells]
        columns[f"{name}_stderr"] = [getattr(c, name).stderr for c in found.cells]
    return Outcome(found.to_dict(), {"entropy": columns})


def diagnosis(s: Setting) -> Outcome:
    """Convergence of the chains, and how long they should run."""
    from maskov.diagnostics import diagnose

    record = diagnose(_trace(s), s.model, seed=s.seed).to_dict()
    flat = [
        {"temperature": cell["temperature"], "verdict": cell["verdict"], **scalars_of(row)}
        for cell in record["cells"]
        for row in cell["scalars"]
    ]
    return Outcome(record, {"diagnose": columns_of(flat)})


def topics(s: Setting) -> Outcome:
    """Topics that the chains come back to: the starts' own, or the bundled ones."""
    from maskov.topics import topic_recurrence

    record = topic_recurrence(_trace(s), s.model, own_topics(s.starts), seed=s.seed, progress=s.counted).to_dict()
    return Outcome(record, {"topics": columns_of([scalars_of(cell) for cell in record["cells"]])})


def own_topics(starts: Sequence[Any] | None) -> dict[str, list[str]] | None:
    """Texts of the starts by topic, where they tell of other topics than the bundled ones; else None.

    A topic of fewer than three texts is left out, and a single topic is none.
    """
    from maskov.topics.anchors import FEWEST_ANCHORS, bundled_anchors

    found: dict[str, list[str]] = {}
    for start in starts or ():
        if getattr(start, "topic", None):
            found.setdefault(start.topic, []).append(start.text)
    whole = {name: texts for name, texts in found.items() if len(texts) >= FEWEST_ANCHORS}
    return whole if len(whole) >= 2 and not set(whole) <= set(bundled_anchors()) else None


def writes_words(model: Any) -> bool:
    """Whether the model's texts are of words, so that the bundled topics can be about them."""
    return not hasattr(model, "n_sites") and not getattr(getattr(model, "codec", None), "strict", False)


def basins(s: Setting) -> Outcome:
    """Regions of texts that the chains rarely leave."""
    from maskov.basins import find_basins

    record = find_basins(_trace(s), s.model, resamples=s.plan.basins, seed=s.seed, progress=s.counted).to_dict()
    flat = [
        {"temperature": cell["temperature"], "text": _exemplar(basin), **scalars_of(basin)}
        for cell in record["cells"]
        for basin in cell["basins"]
    ]
    return Outcome(record, {"basins": columns_of(flat)})


def _exemplar(basin: dict[str, Any]) -> str:
    return basin["exemplars"][0]["text"] if basin["exemplars"] else ""


def drift(s: Setting) -> Outcome:
    """Distance to the start along the chains."""
    from maskov.drift import drift_curves

    found = drift_curves(_trace(s), s.model, seed=s.seed)
    flat = [
        {"temperature": c.temperature, "step": int(t), "sweep": float(w), "drift": q.value, "stderr": q.stderr}
        for c in found.curves
        for t, w, q in zip(c.times, c.sweeps, c.drift, strict=True)
    ]
    return Outcome(found.to_dict(), {"drift": columns_of(flat)})


def dwell(s: Setting) -> Outcome:
    """The longest stays near one text."""
    from maskov.basins import dwell_segments

    record = dwell_segments(_trace(s), s.model, longest=s.plan.segments).to_dict()
    return Outcome(record, {"dwell": columns_of([scalars_of(row) for row in record["segments"]])})


def explorer(s: Setting) -> Outcome:
    """Places and texts of kept states."""
    from maskov.audit.explorer import explore

    return Outcome(explore(_trace(s), s.model), {})
