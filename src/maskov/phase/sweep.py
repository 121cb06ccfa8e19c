"""The grid τ × n: what each cell is asked, and the cells' answers put together."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from maskov.coupling import COUPLINGS, Pair, choose_pairs
from maskov.errors import InputError, Interrupted, StoreError
from maskov.glauber.chains import check_temperatures
from maskov.phase.cell import check_embedder, remember
from maskov.phase.result import PhaseDiagram, assemble
from maskov.phase.starts import Bodies, Starts, bodies, cell_seed, fitting_sites, law_with_sites, text_starts
from maskov.workers import Unit, run_units

# Evenly spaced in log τ: rates change with ratios of τ, and a factor of 1.23 between neighbours changes the meeting
# time near the crossover by about two, which the interpolation bridges.
TEMPERATURES = tuple(float(f"{t:.3g}") for t in np.geomspace(0.3, 3.0, 12))
SITES = (8, 16, 32, 64, 128)
PAIRS = 16
# C(τ) at the crossover. On Curie–Weiss C = 1/(1 − β/τ), so 5 is met at 1.25 β: near enough to the critical temperature,
# and still seen in runs of twice that length.
MULTIPLE = 5.0
_LENGTH = 2.0
_STUDY = "study"


class Plan(NamedTuple):
    """Units of a study in the order of work, n = small first, and what was decided on the way."""

    units: list[Unit]
    kind: str
    joined: dict[int, int]
    left_out: tuple[int, ...]


def phase_diagram(
    model: Any,
    texts: Sequence[Any] | None = None,
    *,
    temperatures: Sequence[float] = TEMPERATURES,
    sites: Sequence[int] | None = None,
    pairs: int = PAIRS,
    max_sweeps: float | None = None,
    multiple: float = MULTIPLE,
    coupling: str = "maximal",
    starts: str = "auto",
    embedder: str | None = "auto",
    fraction: float = 0.9,
    seed: int = 0,
    folder: str | os.PathLike[str] | None = None,
    resume: bool = False,
    workers: str | int = 1,
    ray_address: str | None = None,
    device: str = "cpu",
    dtype: str = "float32",
    progress: Callable[[int, int], None] | None = None,
) -> PhaseDiagram:
    """Meeting and hitting times over temperatures τ and lengths n, the crossover τ_c(n), and how times grow with n.

    τ_c(n) is where the median meeting time is ``multiple`` · n log n (10-dynamics §8; arXiv 2605.16378). In every cell
    the same ``pairs`` of starts run with the same randomness at each τ. Censored runs stay in every estimate.

    model: a ``TextModel``, or a name; a law's ``sites`` are replaced, its starts are the worst case, and τ scales β to
    β/τ; texts: cropped to n tokens (``text_starts``); sites: n of each cell, default those of 8, 16, 32, 64, 128 that
    the texts and the model allow; max_sweeps: longest run, default 2 · ``multiple`` · log n; coupling, starts: see
    ``meeting_times``; embedder: for hitting times, "none" without them (a law's default); folder: one file a cell, to
    ``resume``, or to go on with more temperatures or lengths; workers, ray_address: see ``run_units``; device, dtype:
    with which workers load the model. Raises ``InputError``, ``StoreError`` when the folder holds another study,
    ``Interrupted`` after Ctrl-C.

    >>> found = phase_diagram("law:curie-weiss?sites=8&beta=0.5", temperatures=[1, 2], sites=[8, 16], pairs=8)
    >>> [c.sites for c in found.cells], found.cells[0].met_fraction.value
    ([8, 8, 16, 16], 1.0)
    """
    if isinstance(model, str):
        from maskov.models import load

        model = load(model, device=device, dtype=dtype)
    values = sorted(set(check_temperatures(list(temperatures))))
    _check(values, sites, pairs, multiple, max_sweeps, coupling, fraction)
    asked = {
        "temperatures": values,
        "pairs": int(pairs),
        "multiple": float(multiple),
        "max_sweeps": None if max_sweeps is None else float(max_sweeps),
        "coupling": coupling,
        "starts": starts,
        "embedder": check_embedder(embedder, model),
        "fraction": float(fraction),
        "seed": int(seed),
        "device": device,
        "dtype": dtype,
    }
    plan = _plan(model, texts, sites, asked)
    if folder is not None and resume:
        _check_folder(Path(folder), plan.units[0])
    remember(model, device, dtype)
    try:
        answers = run_units(
            plan.units, folder=folder, resume=resume, workers=workers, ray_address=ray_address, progress=progress
        )
    except Interrupted:  # of the units, or of a chain inside a cell, which knows nothing of the folder
        raise Interrupted(_stored(folder, plan.units[1:]), *_how_to_resume(folder)) from None
    return assemble(answers[1:], asked, plan.kind, plan.joined, plan.left_out)


def _check(
    temperatures: Sequence[float],
    sites: Sequence[int] | None,
    pairs: int,
    multiple: float,
    max_sweeps: float | None,
    coupling: str,
    fraction: float,
) -> None:
    if coupling not in COUPLINGS:
        raise InputError("coupling", expected="one of " + ", ".join(COUPLINGS), came=repr(coupling))
    if pairs < 2:
        raise InputError("pairs", expected="at least 2", came=str(pairs), remedy="intervals are over pairs")
    if not (math.isfinite(multiple) and multiple > 0):
        raise InputError("multiple", expected="a number above 0", came=str(multiple))
    if not 0 < fraction <= 1:
        raise InputError("fraction", expected="a share in (0, 1]", came=str(fraction))
    wrong = [n for n in sites or () if int(n) != n or n < 2]
    if wrong or (sites is not None and not len(sites)):
        raise InputError("sites", expected="whole numbers from 2", came=str(wrong[0] if wrong else "none"))
    longest = max(sites or SITES)
    if max_sweeps is not None and max_sweeps < multiple * math.log(longest):
        expected = f"at least {multiple * math.log(longest):.3g}: {multiple:g} n log n steps at n = {longest}"
        raise InputError("max sweeps", expected=expected, came=f"{max_sweeps:g}", remedy="or lower --multiple")


def _plan(model: Any, texts: Sequence[Any] | None, sites: Sequence[int] | None, asked: dict[str, Any]) -> Plan:
    law, found, limit = getattr(model, "n_sites", None) is not None, None, None
    if not law:
        if texts is None:
            raise InputError("texts", expected=f"texts for {model.name}", came="none", remedy="pass --texts FILE")
        found, limit = bodies(model, texts), int(model.codec.limit)
    wanted = sorted({int(n) for n in (SITES if sites is None else sites)})
    usable = wanted if found is None else fitting_sites(found, wanted, limit)
    if found is not None and (not usable or (sites is not None and len(usable) < len(wanted))):
        _refuse_sites(found, wanted, usable, limit)
    units, joined, kind = [], {}, ""
    for n in usable:
        seed = cell_seed(asked["seed"], n)
        named, chosen = _at_sites(model, found, n, asked, seed)
        kind, joined[n] = chosen.kind, chosen.joined
        units += [_unit(named, chosen.pairs, found, t, n, asked, seed) for t in asked["temperatures"]]
    shared = {key: value for key, value in asked.items() if key != "temperatures"}
    study = Unit(_STUDY, "maskov.phase.cell:study", {**shared, **_identity(model), "texts": _sum(found)})
    return Plan([study, *units], kind, joined, tuple(n for n in wanted if n not in usable))


def _refuse_sites(found: Bodies, wanted: list[int], usable: list[int], limit: int | None) -> None:
    n = next(n for n in wanted if n not in usable)
    longest = max(len(body) for body in found.tokens)
    expected = f"two texts of {n} tokens, and a model with positions for {n + len(found.before) + len(found.after)}"
    came = f"texts of up to {longest} tokens, {limit} positions"
    raise InputError(f"sites {n}", expected=expected, came=came, remedy="leave it out of --sites, or pass longer texts")


def _identity(model: Any) -> dict[str, Any]:
    return {"model": model.name, "fingerprint": model.fingerprint}


def _sum(found: Bodies | None) -> str | None:
    """The texts as one hash."""
    if found is None:
        return None
    digest = sha256()
    for body in (found.before, *found.tokens, found.after):
        digest.update(np.append(np.asarray(body, dtype=np.int64), -1).tobytes())
    return digest.hexdigest()[:16]


def _at_sites(model: Any, found: Bodies | None, n: int, asked: dict[str, Any], seed: int) -> tuple[Any, Starts]:
    """The model with n sites, and its pairs of starts."""
    if found is not None:
        return model, text_starts(model, found, n, asked["pairs"], asked["starts"], seed)
    from maskov.models import load

    sized = load(law_with_sites(model.name, n))
    kind, pairs = choose_pairs(sized, None, asked["pairs"], asked["starts"], None, seed)
    return sized, Starts(pairs, kind, 0)


def _unit(
    model: Any, pairs: list[Pair], found: Bodies | None, temperature: float, n: int, asked: dict[str, Any], seed: int
) -> Unit:
    first, second = ([state.tokens[state.free].tolist() for state in side] for side in zip(*pairs, strict=True))
    sweeps = asked["max_sweeps"] or _LENGTH * asked["multiple"] * math.log(n)
    arguments = {
        **_identity(model),
        "before": [] if found is None else found.before.tolist(),
        "after": [] if found is None else found.after.tolist(),
        "temperature": temperature,
        "sites": n,
        "first": first,
        "second": second,
        "max_steps": math.ceil(sweeps * n),
        "seed": seed,
        **{key: asked[key] for key in ("coupling", "embedder", "fraction", "device", "dtype")},
    }
    return Unit(f"sites={n}_temperature={temperature:g}", "maskov.phase.cell:run_cell", arguments)


def _stored(folder: str | os.PathLike[str] | None, cells: list[Unit]) -> int:
    return 0 if folder is None else sum((Path(folder) / f"{cell.name}.json").exists() for cell in cells)


def _how_to_resume(folder: str | os.PathLike[str] | None) -> tuple[str, str]:
    return ("" if folder is None else "the same command with --resume"), "cells"


def _check_folder(folder: Path, study: Unit) -> None:
    """``StoreError`` that names the first input in which a folder's study differs from this one."""
    file = folder / f"{_STUDY}.json"
    if not file.exists():
        return
    remedy = "choose another --out, or the inputs that the folder was made with"
    try:
        held = dict(json.loads(file.read_text(encoding="utf-8"))["arguments"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise StoreError(str(file), expected="the inputs of a study", came=str(error)[:80], remedy=remedy) from error
    for key, value in study.arguments.items():
        if held.get(key) != value:
            told = "other texts" if key == "texts" else str(value)
            raise StoreError(str(file), expected=f"{key} {held.get(key)}", came=told, remedy=remedy)
