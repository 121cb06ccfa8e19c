"""Functions that tests of the workers name."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

from maskov.errors import InputError, RunError


def square(x: float) -> dict[str, Any]:
    return {"square": x * x}


def refuse(x: float) -> dict[str, Any]:
    raise InputError("x", expected="something else", came=str(x), remedy="ask again")


def fail() -> dict[str, Any]:
    raise RunError("the disk is full")


def broken() -> dict[str, Any]:
    raise ZeroDivisionError("oh")


def interrupt_at(x: float) -> dict[str, Any]:
    if x == 3:
        raise KeyboardInterrupt
    return square(x)


def die_once(x: float, marker: str) -> dict[str, Any]:
    """The first process that does this unit is killed."""
    if not Path(marker).exists():
        Path(marker).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return square(x)


def threads() -> dict[str, Any]:
    return {"threads": int(os.environ["OMP_NUM_THREADS"]), "process": os.getpid()}


def die_in_chunk(out: str, marker: str) -> dict[str, Any]:
    """A run whose first worker is killed after its second chunk; the next goes on from there."""
    from maskov.glauber import glauber
    from maskov.laws import CurieWeiss
    from maskov.models import LawModel

    began = []

    def stop(progress: Any) -> None:
        began.append(progress.step)
        if progress.step == 40 and marker and not Path(marker).exists():
            Path(marker).touch()
            os.kill(os.getpid(), signal.SIGKILL)

    options: dict[str, Any] = {"seed": 1, "window": 2, "chunk_steps": 20, "chains": 3, "resume": True}
    trace = glauber(LawModel(CurieWeiss(6, 0.9)), None, steps=100, out=out, progress=stop, **options)
    if marker:
        Path(f"{marker}.{Path(out).stem}").write_text(str(began[0]))
    return {"last": [x.tolist() for x in trace.states_at(100)]}
