"""The experiment: schedules × seeds, each cell on its own, and what the cells say together."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskov.errors import InputError
from maskov.learning.cell import run_cell, train_cell
from maskov.learning.information import steps_needed, weight_stderr
from maskov.learning.modes import Modes, modes_of
from maskov.learning.problems import check_schedule
from maskov.learning.result import Learning, LearningRun, ScheduleLearning
from maskov.learning.scaling import error_slope, initial_slope, spread_ratio
from maskov.learning.training import Point, Settings
from maskov.quantities import Estimate, Exact, Quantity, mean_estimate
from maskov.schedules import Schedule
from maskov.schedules import schedule as parse_schedule
from maskov.workers import Unit, run_units

Floats = NDArray[np.float64]
LEARNERS = ("witness", "table", "transformer")


def learn(
    law: Any,
    schedules: str | Schedule | Sequence[str | Schedule],
    learner: str = "witness",
    seeds: int = 10,
    *,
    seed: int = 0,
    out: str | os.PathLike[str] | None = None,
    resume: bool = False,
    workers: str | int = 1,
    progress: Callable[[int, int], None] | None = None,
    **settings: Any,
) -> Learning:
    """Train a masked predictor on samples of a law under each schedule, ``seeds`` times, and read its mode weights.

    law: a mixture (or its text form); learner: ``witness`` (mode weights free, all else known), ``table`` (a free row
    for every visible configuration) or ``transformer`` (needs torch); seeds: runs, numbered seed … seed + seeds − 1;
    a seed has one set of texts and one start under all schedules; out, resume: a folder with one file a run; workers:
    see ``maskov.workers``; settings: of ``Settings`` (samples, epochs, batch, loss, optimizer, rate, fresh,
    chain_sweeps). Raises ``InputError`` on a law without modes or a schedule that hides nothing.

    >>> found = learn("product?sites=8&gap=0.4&weight=0.3", ["hide:1", "full"], seeds=3, samples=500, epochs=4)
    >>> found.schedules[1].weight_error.value < 0.1
    True
    """
    modes, specs = modes_of(law), _specs(schedules)
    options = check_settings(Settings(learner=learner, **settings))
    for mu in specs:
        check_schedule(mu, modes.law.n_sites)
    numbers = range(seed, seed + _count("seeds", seeds))
    cells = _cells(law, specs, numbers, options, out, resume, workers, progress)
    rows = [_summary(modes, mu, part, options) for mu, part in zip(specs, cells, strict=True)]
    batches = -(-options.samples // min(options.batch, options.samples))
    return Learning(
        law=str(modes.law.text),
        learner=learner,
        loss=options.loss,
        samples=options.samples,
        steps=options.epochs * batches,
        n_sites=modes.law.n_sites,
        mode_weights=tuple(modes.weights.tolist()),
        schedules=tuple(rows),
        slope=_slope(rows),
        warnings=tuple(_warnings(modes, rows, options, options.epochs * batches)),
    )


def learn_weights(
    law: Any,
    schedule: str | Schedule,
    samples: int = 20_000,
    seeds: int = 10,
    learner: str = "witness",
    *,
    seed: int = 0,
    **settings: Any,
) -> Floats:
    """The mode weights that ``seeds`` learners end with: [seeds, K]; NaN where there is no full-mask reading.

    ``steps_needed`` says how many steps (epochs × ⌈samples/batch⌉) the witness takes under a schedule.

    >>> learn_weights("product?sites=8&gap=0.4&weight=0.3", "full", samples=500, seeds=2, epochs=4).shape
    (2, 2)
    """
    modes, mu = modes_of(law), parse_schedule(schedule)
    options = check_settings(Settings(learner=learner, samples=samples, **settings))
    check_schedule(mu, modes.law.n_sites)
    runs = [train_cell(modes, mu, number, options) for number in range(seed, seed + _count("seeds", seeds))]
    return np.array([run.weights for run in runs])


def check_settings(settings: Settings) -> Settings:
    """The settings, with a learner that there is."""
    if settings.learner not in LEARNERS:
        raise InputError("learner", expected="one of " + ", ".join(LEARNERS), came=repr(settings.learner)[:60])
    return settings


def _count(what: str, value: int) -> int:
    if isinstance(value, bool) or int(value) != value or value < 1:
        raise InputError(what, expected="a whole number above 0", came=repr(value))
    return int(value)


def _specs(schedules: str | Schedule | Sequence[str | Schedule]) -> list[Schedule]:
    given = [schedules] if isinstance(schedules, (str, Schedule)) else list(schedules)
    found = [parse_schedule(spec) for spec in given]
    texts = [mu.text for mu in found]
    if not found or len(set(texts)) < len(texts):
        raise InputError("schedules", expected="one or more that differ", came=", ".join(texts) or "none")
    return found


def _cells(
    law: Any,
    specs: list[Schedule],
    numbers: range,
    options: Settings,
    out: Any,
    resume: bool,
    workers: str | int,
    progress: Any,
) -> list[list[dict[str, Any]]]:
    """The runs of every schedule: [schedules][seeds]."""
    if not isinstance(law, str):
        return _in_memory(law, specs, numbers, options, out, workers, progress)
    units = [
        Unit(unit_name(mu.text, number), "maskov.learning.cell:run_cell", _arguments(law, mu, number, options))
        for mu in specs
        for number in numbers
    ]
    done = run_units(units, folder=out, resume=resume, workers=workers, progress=progress)
    return [done[k * len(numbers) : (k + 1) * len(numbers)] for k in range(len(specs))]


def _arguments(law: Any, mu: Schedule, number: int, options: Settings) -> dict[str, Any]:
    return {"law": law, "schedule": mu.text, "seed": number, "settings": asdict(options)}


def _in_memory(
    law: Any, specs: list[Schedule], numbers: range, options: Settings, out: Any, workers: Any, progress: Any
) -> list[list[dict[str, Any]]]:
    """A law that is an object stays in this process: only a text form can be stored or sent."""
    if out is not None or str(workers) != "1":
        remedy = "pass the law's text form, or leave out and workers away"
        raise InputError("law", expected="a text form", came=type(law).__name__, remedy=remedy)
    found, total = [], len(specs) * len(numbers)
    for k, mu in enumerate(specs):
        found.append([run_cell(law, mu.text, number, asdict(options)) for number in numbers])
        if progress is not None:
            progress((k + 1) * len(numbers), total)
    return found


def unit_name(spec: str, number: int) -> str:
    """A file name for one cell: readable, and different for different schedules.

    >>> unit_name("0.9*bert+0.1*full", 3)
    '0.9xbert+0.1xfull-287162-seed3'
    """
    readable = re.sub(r"[^A-Za-z0-9.+=x-]", "_", spec.replace("*", "x").replace(":", "="))[:60].lstrip(".-_=+")
    return f"{readable}-{hashlib.sha256(spec.encode()).hexdigest()[:6]}-seed{number}"


def _summary(modes: Modes, mu: Schedule, cells: list[dict[str, Any]], options: Settings) -> ScheduleLearning:
    runs = tuple(_run(cell) for cell in cells)
    errors = [run.error for run in runs if run.error is not None]
    initial, final = _ends(runs)
    last = mean_estimate([run.curve[-1].excess for run in runs])
    return ScheduleLearning(
        spec=mu.text,
        full_mask_mass=mu.full_mask_mass(modes.law.n_sites),
        v_min=mu.v_min(modes.law.n_sites),
        runs=runs,
        weight_error=mean_estimate(errors) if errors else None,
        predicted_error=_predicted(modes, mu, options),
        spread_ratio=spread_ratio(initial, final) if len(initial) == len(runs) else None,
        initial_slope=initial_slope(initial, final) if len(initial) == len(runs) else None,
        excess_loss=mean_estimate([run.excess_loss for run in runs]),
        held_out_excess=last,
        optimal_loss=_quantity(cells[0]["optimum"]),
    )


def _run(cell: dict[str, Any]) -> LearningRun:
    fields = {k: v for k, v in cell.items() if k not in ("curve", "optimum")}
    return LearningRun(**fields, curve=tuple(Point(int(p[0]), p[1], p[2]) for p in cell["curve"]))


def _ends(runs: tuple[LearningRun, ...]) -> tuple[Floats, Floats]:
    """Initial and end weight of the last mode, of the runs that have both."""
    pairs = [
        (run.initial_weight, run.weight_full_mask)
        for run in runs
        if run.initial_weight is not None and run.weight_full_mask is not None
    ]
    values = np.array([[np.atleast_1d(a)[-1], np.atleast_1d(b)[-1]] for a, b in pairs], dtype=np.float64)
    return (values[:, 0], values[:, 1]) if len(values) else (np.zeros(0), np.zeros(0))


def _predicted(modes: Modes, mu: Schedule, options: Settings) -> Exact | None:
    """√(2/π) × the asymptotic standard error: the mean of |error| of a normal estimate."""
    if options.learner != "witness" or len(modes.weights) != 2:
        return None
    try:
        return Exact(float(np.sqrt(2 / np.pi) * weight_stderr(modes.law, mu, options.samples, options.loss)[1]))
    except InputError:
        return None


def _quantity(record: dict[str, Any]) -> Quantity:
    if record["kind"] == "exact":
        return Exact(record["value"])
    low, high = record["interval"]
    return Estimate(record["value"], record["stderr"], record["n"], (low, high))


def _slope(rows: list[ScheduleLearning]) -> Estimate | None:
    used = [row for row in rows if row.full_mask_mass > 0 and all(run.error is not None for run in row.runs)]
    if not used:
        return None
    errors = np.array([[run.error for run in row.runs] for row in used], dtype=np.float64)
    return error_slope(np.array([row.full_mask_mass for row in used]), errors)


def _warnings(modes: Modes, rows: list[ScheduleLearning], options: Settings, steps: int) -> list[str]:
    """What a reader could mistake: data that say nothing, and training that stopped too early."""
    told = []
    for row in rows:
        if row.predicted_error is None:
            continue
        needed = steps_needed(modes.law, row.spec, options.loss)
        if row.predicted_error.value > 0.2:
            told.append(f"{row.spec}: this many texts leave the weights open (allowed error above 0.2)")
        elif not options.optimizer and options.rate is None and steps < needed:
            more = -(-int(needed) * options.epochs // steps)
            told.append(f"{row.spec}: {steps} steps are too few to forget the start; pass --epochs {more}")
    return told
