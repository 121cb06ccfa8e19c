"""Small runs on an exact law whose every number is known, for the tests of storage."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from maskov.glauber import glauber, open_trace
from maskov.laws import CurieWeiss
from maskov.models import LawModel

OPTIONS: dict[str, Any] = {"temperature": [0.5, 1.0], "chains": 3, "seed": 1, "window": 2, "chunk_steps": 20}
CHUNK = 20


def run(out: Path | None, steps: int, progress: Any = None) -> Any:
    """The run, new or continued."""
    model = LawModel(CurieWeiss(6, 0.9))
    return glauber(model, None, steps=steps, out=out, resume=True, progress=progress, **OPTIONS)


def everything(trace: Any) -> list[Any]:
    """All that a trace says: states, changes, series, provenance, and its xarray form."""
    said: list[Any] = [x.tobytes() for t in range(0, trace.steps + 1, 7) for x in trace.states_at(t)]
    said += [trace.series[name].tobytes() for name in sorted(trace.series)]
    said += [column.tobytes() for column in trace.changes()]
    data = trace.to_xarray().load()
    said += [(name, data[name].dims, data[name].to_numpy().tobytes()) for name in sorted(data.variables)]
    manifest = trace.manifest
    return [*said, manifest.identity(), manifest.texts, manifest.model, manifest.window, manifest.steps, trace.steps]


def numbers(path: Path) -> list[Any]:
    """``everything`` of a stored run, without the steps that were asked for (a resumed run may have asked for more)."""
    return everything(open_trace(path))


def in_child(action: Callable[[], None]) -> int:
    """Fork, do, leave: the child's process number. What the child raises ends it with 3."""
    child = os.fork()
    if child:
        return child
    code = 3
    try:
        action()
        code = 0
    finally:
        os._exit(code)
