"""Damage a stored run at random places: each read says so, or reads what was stored.

python reliability/corrupt.py --places 2000
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from reliability.runs import everything, numbers, run

from maskov.errors import InputError, StoreError

STEPS = 60
KINDS = ("flip a bit", "set a byte", "cut", "append", "zero", "remove", "swap")


def damage(file: Path, kind: str, others: list[Path], chooser: random.Random) -> None:
    """One kind of damage to one file."""
    content = bytearray(file.read_bytes())
    at = chooser.randrange(len(content)) if content else 0
    if kind == "flip a bit" and content:
        content[at] ^= 1 << chooser.randrange(8)
    elif kind == "set a byte" and content:
        content[at] = chooser.randrange(256)
    elif kind == "cut":
        del content[at:]
    elif kind == "append":
        content += chooser.randbytes(chooser.randrange(1, 40))
    elif kind == "zero":
        content[at:] = bytes(len(content) - at)
    elif kind == "swap":
        content = bytearray(chooser.choice(others).read_bytes())
    file.unlink() if kind == "remove" else file.write_bytes(bytes(content))


def outcome(path: Path, expected: list[Any]) -> str:
    """ "detected", "harmless" or "WRONG": what reading everything came to."""
    try:
        return "harmless" if numbers(path) == expected else "WRONG"
    except StoreError:
        return "detected"


def resumed(path: Path, longer: list[Any]) -> str:
    """The same of going on with a damaged run: refused, or the same as an undamaged one that goes on."""
    try:
        run(path, 2 * STEPS)
        return "went on, the same" if numbers(path) == longer else "WRONG"
    except InputError:
        return "refused to go on"


def throw(folder: Path, places: int, seed: int = 0, resume_every: int = 10) -> tuple[Counter[str], list[str]]:
    """Outcomes over ``places`` damages, and a line for each wrong one."""
    chooser, whole = random.Random(seed), folder / "whole.zarr"
    run(whole, STEPS)
    expected, longer = numbers(whole), everything(run(None, 2 * STEPS))
    files = sorted(p for p in whole.rglob("*") if p.is_file())
    told: Counter[str] = Counter()
    wrong: list[str] = []
    for number in range(places):
        file, kind = chooser.choice(files), chooser.choice(KINDS)
        before = file.read_bytes()
        damage(file, kind, files, chooser)
        found = [outcome(whole, expected)]
        if number % resume_every == 0:
            copy = folder / "copy.zarr"
            shutil.copytree(whole, copy)
            found.append(resumed(copy, longer))
            shutil.rmtree(copy)
        file.write_bytes(before)
        told.update(found)
        wrong += [f"{kind} of {file.relative_to(whole)} (place {number})"] * found.count("WRONG")
    return told, wrong


def main() -> int:
    """Print the outcomes; 1 if one is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--places", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        told, wrong = throw(Path(folder), asked.places, asked.seed)
    for name, count in sorted(told.items()):
        print(f"{count:6d}  {name}")
    print(*wrong, f"{time.perf_counter() - begun:.0f} s", sep="\n")
    return int(bool(wrong))


if __name__ == "__main__":
    raise SystemExit(main())
