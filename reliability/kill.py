"""Stop runs at random moments and at every file operation, go on, and compare with a run that nobody stopped.

python reliability/kill.py --rounds 200                 # SIGKILL, SIGTERM and SIGINT at random moments
python reliability/kill.py --operations                 # SIGKILL before each file operation in turn
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from reliability.runs import CHUNK, everything, in_child, numbers, run

from maskov.errors import Interrupted, StoreError
from maskov.glauber import open_trace

STEPS = 400
_EVENTS = {"os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.truncate", "os.link"}


def random_moments(folder: Path, rounds: int, seed: int) -> Counter[str]:
    """Outcomes of ``rounds`` runs, each stopped at a random moment and continued by the next; raises on a loss."""
    told: Counter[str] = Counter()
    chooser, expected, path = random.Random(seed), everything(run(None, STEPS)), folder / "0.zarr"
    length = _length(folder / "timing.zarr")
    for number in range(rounds):
        kind = chooser.choices([signal.SIGKILL, signal.SIGTERM, signal.SIGINT], [8, 1, 1])[0]
        known = _steps(path)
        reached, status = _stopped(path, chooser.uniform(0, 0.8 * length), kind)
        told[_how(status)] += 1
        _check(path, known, reached)
        if _steps(path) == STEPS:
            assert numbers(path) == expected, "a resumed run differs from one that nobody stopped"
            told["compared whole"] += 1
            path = folder / f"{number + 1}.zarr"
    run(path, STEPS)
    assert numbers(path) == expected
    told["compared whole"] += 1
    return told


def _length(path: Path) -> float:
    """Seconds of an undisturbed run."""
    begun = time.perf_counter()
    os.waitpid(in_child(lambda: run(path, STEPS)), 0)
    return time.perf_counter() - begun


def _stopped(path: Path, after: float, kind: int) -> tuple[int, int]:
    """The last step that a child said was stored before the signal ended it, and how it ended."""
    read, write = os.pipe()

    def go() -> None:
        try:
            run(path, STEPS, lambda p: os.write(write, f"{p.step}\n".encode()) and None)
        except (Interrupted, KeyboardInterrupt):
            os._exit(130)

    child = in_child(go)
    os.close(write)
    time.sleep(after)
    os.kill(child, kind)
    status = os.waitpid(child, 0)[1]
    with os.fdopen(read) as lines:
        said = [int(line) for line in lines if line.endswith("\n")]
    return max(said, default=0), status


def _how(status: int) -> str:
    if os.WIFSIGNALED(status):
        return f"ended by {signal.Signals(os.WTERMSIG(status)).name}"
    return {0: "was done before", 130: "finished its chunk"}.get(os.WEXITSTATUS(status), "failed")


def _steps(path: Path) -> int:
    """Complete steps; 0 where nothing is stored yet."""
    try:
        return open_trace(path).steps
    except StoreError:
        return 0


def _check(path: Path, known: int, reached: int) -> None:
    """Nothing that was stored is gone, and what is there is whole."""
    found = _steps(path)
    assert found >= max(known, reached), f"{found} steps are left of {max(known, reached)}"
    assert found % CHUNK == 0
    if found:
        open_trace(path).verify()


def every_operation(folder: Path, steps: int = 3 * CHUNK, stride: int = 1) -> Counter[str]:
    """SIGKILL right before the k-th file operation of a run, for k = 1, 1 + stride, …, then go on and compare."""
    told: Counter[str] = Counter()
    expected, k = everything(run(None, steps)), 1
    while True:
        path = folder / f"{k}.zarr"
        status = os.waitpid(in_child(partial(_run_until, path, steps, k)), 0)[1]
        if not os.WIFSIGNALED(status):
            assert os.WEXITSTATUS(status) == 0, "a run that nobody stopped failed"
            return told
        kept = _steps(path)
        run(path, steps)
        assert numbers(path) == expected, f"killed before operation {k}: the resumed run differs"
        told[f"killed with {kept} steps stored"] += 1
        shutil.rmtree(path)
        k += stride


def _run_until(path: Path, steps: int, k: int) -> None:
    """Run, and die before the k-th operation that changes a file under ``path``."""
    count, inside = 0, str(path)

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal count
        writes = event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR)
        if (writes or event in _EVENTS) and inside in str(arguments[0]):
            count += 1
            if count == k:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)
    run(path, steps)


def main() -> int:
    """Print the outcomes of one of the two forms."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--operations", action="store_true")
    asked = parser.parse_args()
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        told = every_operation(place) if asked.operations else random_moments(place, asked.rounds, asked.seed)
    for outcome, count in sorted(told.items()):
        print(f"{count:6d}  {outcome}")
    print(f"nothing lost, every resumed run bit for bit the same ({time.perf_counter() - begun:.0f} s)")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
