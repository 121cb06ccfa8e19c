"""Run units: what is stored is skipped, the rest goes to the workers, each result is kept as it comes."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from typing import Any, NamedTuple

from maskov.errors import InputError, Interrupted
from maskov.place import only_writer
from maskov.workers.cluster import on_ray
from maskov.workers.local import in_processes, in_turn
from maskov.workers.shelf import Shelf
from maskov.workers.unit import Unit, check_units, result_of

_WORKERS = re.compile(r"(?P<ray>ray:?)?(?P<count>\d+)?")


def run_units(
    units: Sequence[Unit],
    *,
    folder: str | os.PathLike[str] | None = None,
    resume: bool = False,
    workers: str | int = 1,
    ray_address: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[Any]:
    """The results of ``units``, in their order, whoever did them.

    folder: one checked file per unit, written whole as it is done; None keeps results in memory. resume: skip units
    that the folder has. workers: 1 is this process, N are N processes, "ray" or "ray:N" a Ray cluster on this machine;
    ray_address: of a cluster that runs. progress: gets (done, total). An interrupt keeps what is done and raises
    ``Interrupted``; a unit's own error is raised and the others that are done stay done.

    >>> run_units([Unit("root", "math:sqrt", {})], workers="two")
    Traceback (most recent call last):
        ...
    maskov.errors.InputError: workers: expected a number, ray or ray:N, got 'two'
    """
    wanted = list(units)
    check_units(wanted)
    ray, count = parse_workers(workers)
    shelf = Shelf(folder, resume)
    with nullcontext() if shelf.path is None else only_writer(shelf.path):
        return _run_all(wanted, shelf, _Hands(ray or ray_address is not None, count, ray_address), progress)


class _Hands(NamedTuple):
    """Who does the work: Ray or not, how many, and the address of a cluster that runs."""

    ray: bool
    count: int
    address: str | None


def _run_all(wanted: list[Unit], shelf: Shelf, hands: _Hands, progress: Callable[[int, int], None] | None) -> list[Any]:
    found = {unit.name: shelf.read(unit) for unit in wanted}
    open_units = [unit for unit in wanted if found[unit.name] is None]
    done = len(wanted) - len(open_units)
    try:
        for unit, answer in _streams(open_units, *hands):
            found[unit.name] = result_of(answer)
            shelf.write(unit, found[unit.name])
            done += 1
            if progress is not None:
                progress(done, len(wanted))
    except KeyboardInterrupt:
        raise Interrupted(done, "the same command with --resume", "units") from None
    return [found[unit.name] for unit in wanted]


def _streams(units: list[Unit], ray: bool, count: int, address: str | None) -> Iterator[tuple[Unit, dict[str, Any]]]:
    if not units:
        return iter(())
    if ray:
        return on_ray(units, count, address)
    return in_turn(units) if count == 1 else in_processes(units, count)


def parse_workers(workers: str | int) -> tuple[bool, int]:
    """Whether Ray is meant, and how many workers.

    >>> parse_workers("ray:4"), parse_workers(2)
    ((True, 4), (False, 2))
    """
    match = _WORKERS.fullmatch(str(workers).strip())
    if match is None or not match[0]:
        raise InputError("workers", expected="a number, ray or ray:N", came=repr(workers)[:40])
    count = int(match["count"] or os.cpu_count() or 1)
    if not 1 <= count <= 10_000:
        raise InputError("workers", expected="1 to 10,000", came=str(workers)[:40])
    return bool(match["ray"]), count
