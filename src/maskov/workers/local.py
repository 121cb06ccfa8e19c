"""Units in this process, or in several of this machine."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any

from maskov.errors import RunError
from maskov.workers.unit import Unit, carry_out, do

RETRIES = 3
# Read once by each library when it loads, so they must stand before a worker starts.
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")


def threads_each(workers: int) -> int:
    """Threads of one worker, so that workers × threads ≤ cores."""
    return max(1, (os.cpu_count() or 1) // max(workers, 1))


@contextmanager
def thread_limit(workers: int) -> Iterator[None]:
    """Processes that start inside take their share of the cores."""
    before = {name: os.environ.get(name) for name in THREAD_VARIABLES}
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, str(threads_each(workers))))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def in_turn(units: list[Unit]) -> Iterator[tuple[Unit, dict[str, Any]]]:
    """Each unit here, one after the other; errors are raised as they are."""
    for unit in units:
        yield unit, {"result": do(unit)}


def in_processes(units: list[Unit], workers: int) -> Iterator[tuple[Unit, dict[str, Any]]]:
    """Units in fresh processes, in order of completion; a unit whose process died is done again, three times at most.

    Processes are spawned, not forked: a forked copy of threads (torch, BLAS) may hang.
    """
    pending, deaths = {unit.name: unit for unit in units}, Counter[str]()
    with thread_limit(workers):
        while pending:
            try:
                for unit, answer in _one_pool(list(pending.values()), workers):
                    del pending[unit.name]
                    yield unit, answer
            except BrokenProcessPool:
                deaths["pool"] += 1
                if deaths["pool"] > RETRIES:
                    raise RunError(f"workers died {deaths['pool']} times; {len(pending)} units are left") from None


def _one_pool(units: list[Unit], workers: int) -> Iterator[tuple[Unit, dict[str, Any]]]:
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(min(workers, len(units)), mp_context=context, initializer=_deaf)
    try:
        futures = {pool.submit(carry_out, unit): unit for unit in units}
        for future in as_completed(futures):
            yield futures[future], future.result()
    except BaseException:
        _stop(pool)
        raise
    pool.shutdown()


def _deaf() -> None:
    """Ctrl-C is for the parent, which stops its workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _stop(pool: ProcessPoolExecutor) -> None:
    running = list((getattr(pool, "_processes", None) or {}).values())
    pool.shutdown(wait=False, cancel_futures=True)
    for process in running:
        process.terminate()
