"""How often do the 95 % intervals that maskov prints hold the truth? Each is drawn again and again on a known law.

python reliability/calibrate.py --repetitions 500           # exit 1 unless each covers 92 % to 98 %
python reliability/calibrate.py --only median --table       # Markdown, for the documentation
"""

from __future__ import annotations

import argparse
import math
import sys
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from reliability.coverage import Case, cases

from maskov.quantities import Estimate

LEAST, MOST = 0.92, 0.98


class Coverage(NamedTuple):
    """Of one case: intervals printed, those that hold the truth, those below and above it; repetitions without one."""

    printed: int
    held: int
    below: int
    above: int
    without: int

    @property
    def rate(self) -> float:
        """Share of the printed intervals that hold the truth."""
        return self.held / max(self.printed, 1)


def measure(case: Case, repetitions: int, first: int = 0) -> Coverage:
    """Repeat a case. An interval without ends, or an error that is infinite, is none."""
    held = below = above = without = 0
    for number in range(first, first + repetitions):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = case.draw(np.random.default_rng([number, 2026]), number)
        if not isinstance(found, Estimate) or found.interval is None or math.isnan(found.interval[0]):
            without += 1
            continue
        low, high = found.interval
        edge = 1e-9 * max(1.0, abs(case.truth))
        below, above = below + (high < case.truth - edge), above + (low > case.truth + edge)
        held += low - edge <= case.truth <= high + edge
    return Coverage(repetitions - without, held, below, above, without)


def verdict(case: Case, found: Coverage, slack: float = 0.0) -> str:
    """ "ok", "too narrow" or "too wide"; a careful method may be wide. slack: for few repetitions."""
    if found.printed == 0:
        return "none printed"
    if found.rate < LEAST - slack:
        return "too narrow"
    return "too wide" if found.rate > MOST + slack and not case.careful else "ok"


def _one(index: int, repetitions: int) -> tuple[int, Coverage, float]:
    begun = time.perf_counter()
    return index, measure(cases()[index], repetitions), time.perf_counter() - begun


def _line(case: Case, found: Coverage, table: bool) -> str:
    told = verdict(case, found)
    if table:
        wide = " (careful by design)" if case.careful and found.rate > MOST else ""
        return (
            f"| {case.interval} | {case.printed} | {case.law} | {found.printed} | {100 * found.rate:.1f} % "
            f"| {found.below} / {found.above} | {told}{wide} |"
        )
    return f"{100 * found.rate:6.1f} %  {found.below:4d}/{found.above:<4d} {told:<11} {case.interval}: {case.law}"


def main() -> int:
    """Measure, print a line a case; 1 if one fails."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=500)
    parser.add_argument("--only", default="", help="cases whose kind contains this")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--table", action="store_true")
    asked = parser.parse_args()
    chosen = [k for k, case in enumerate(cases()) if asked.only in case.interval]
    failed = 0
    with ProcessPoolExecutor(asked.workers, mp_context=get_context("fork")) as pool:
        for index, found, seconds in pool.map(_one, chosen, [asked.repetitions] * len(chosen)):
            failed += verdict(cases()[index], found) != "ok"
            print(
                _line(cases()[index], found, asked.table) + ("" if asked.table else f"  ({seconds:.0f} s)"), flush=True
            )
    return int(failed > 0)


if __name__ == "__main__":
    raise SystemExit(main())
