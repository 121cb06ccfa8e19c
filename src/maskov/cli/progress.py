"""A progress bar on stderr, only where a person looks at it."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def bar(description: str, quiet: bool, unit: str = "step") -> Iterator[Any]:
    """A callable (done, total) that moves a bar with the time left; None when quiet or stderr is no terminal."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from tqdm import tqdm

    with tqdm(desc=description, unit=unit, dynamic_ncols=True, file=sys.stderr, leave=False, mininterval=0.2) as meter:

        def move(done: int, total: int, **others: Any) -> None:
            meter.total = total
            meter.update(done - meter.n)
            if others:
                meter.set_postfix(others)

        yield move


@contextmanager
def run_bar(quiet: bool) -> Iterator[Any]:
    """The bar of a run: takes the engine's ``Progress`` and shows steps, site updates a second and forwards saved."""
    started = time.monotonic()
    with bar("chains", quiet) as move:
        if move is None:
            yield None
            return

        def show(p: Any) -> None:
            rate = p.updates / max(time.monotonic() - started, 1e-9)
            saved = 1 - p.forwards / max(p.updates, 1)
            move(p.step, p.steps, updates_per_s=f"{rate:,.0f}", forwards_saved=f"{saved:.0%}")

        yield show


@contextmanager
def stages(quiet: bool) -> Iterator[Any]:
    """A callable (share of the whole, stage, what it is at): one bar over all stages with the time left."""
    with bar("audit", quiet, "%") as move:
        if move is None:
            yield None
            return

        def show(share: float, stage: str, at: str) -> None:
            move(round(100 * share, 1), 100, at=f"{stage} {at}".strip())

        yield show
