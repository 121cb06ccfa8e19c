"""A ladder of temperatures: simulated annealing and re-heating as stages, each an ordinary trace."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from maskov.errors import InputError
from maskov.glauber.chains import check_temperatures
from maskov.glauber.run import encode_starts, glauber
from maskov.glauber.trace import Trace
from maskov.protocols import State
from maskov.randomness import Stream, words
from maskov.schedules import Schedule


def anneal(
    model: Any,
    starts: Sequence[Any] | None = None,
    *,
    ladder: Sequence[tuple[float, int]],
    seed: int = 0,
    chains: int | None = None,
    out: str | os.PathLike[str] | None = None,
    clamp: str | None = None,
    resume: bool = False,
    scan: str | Schedule = "single",
) -> list[Trace]:
    """Stages of (temperature, steps), each from the last states of the one before, as one trace a stage.

    Every stage has random streams of its own, a function of (seed, stage). The chain as a whole is not homogeneous, and
    no stationary law is claimed for it. ladder: as ``[(3.0, 500), (1.0, 500), (0.3, 500)]``; out: a folder that gets
    ``stage-0.zarr``, …; resume: go on after the stages that are there. The rest as for ``glauber``.

    >>> from maskov.laws import law
    >>> stages = anneal(law("curie-weiss?sites=4&beta=1"), ladder=[(2.0, 8), (0.5, 8)])
    >>> bool((stages[0].state(0, 8) == stages[1].state(0, 0)).all())
    True
    """
    for rung in ladder:
        if len(rung) != 2:
            raise InputError("ladder", expected="pairs of temperature and steps", came=str(rung)[:60])
    if not ladder:
        raise InputError("ladder", expected="at least one stage", came="none")
    check_temperatures([t for t, _ in ladder])
    folder = _folder(out)
    states, _ = encode_starts(model, starts, clamp)
    stages: list[Trace] = []
    for k, (temperature, steps) in enumerate(ladder):
        place = None if folder is None else folder / f"stage-{k}.zarr"
        trace = glauber(
            model,
            states,
            temperature=temperature,
            steps=steps,
            seed=int(words(seed, k, 0, 1, Stream.STUDY)[0, 0]),
            chains=chains if k == 0 else len(states),
            out=place,
            resume=resume,
            scan=scan,
        )
        ends = trace.states_at(trace.steps)
        states = [State(x, s.free) for x, s in zip(ends, trace.starts, strict=True)]
        stages.append(trace)
    return stages


def _folder(out: str | os.PathLike[str] | None) -> Path | None:
    if out is None:
        return None
    folder = Path(out)
    if not folder.parent.is_dir():
        raise InputError("out", expected="an existing parent folder", came=str(folder.parent))
    folder.mkdir(exist_ok=True)
    return folder
