"""Which sites a step updates: one at random, one after the other, or the hidden set of a mask schedule."""

from __future__ import annotations

from typing import NamedTuple

from maskov.errors import InputError
from maskov.schedules import Schedule, schedule

SINGLE, SYSTEMATIC = "single", "systematic"
REFILLS = ("joint", "sequential")


class Scan(NamedTuple):
    """The scan of a run. order: "single" (a uniformly random free site), "systematic" (free sites in order) or "block".

    schedule: of the visible sets, for blocks; refill: how a block's hidden sites are drawn, "joint" or "sequential".
    """

    order: str
    schedule: Schedule | None = None
    refill: str = ""

    @property
    def text(self) -> str:
        """The form that a manifest keeps: ``single``, ``systematic``, or ``hide:3 (joint)``.

        >>> Scan("block", schedule("hide:3"), "joint").text
        'hide:3 (joint)'
        """
        return self.order if self.schedule is None else f"{self.schedule.text} ({self.refill})"

    def updates_per_step(self, n: int) -> float:
        """Mean number of sites that a step draws, of n free ones: 1, or n − E|S| of a schedule."""
        return 1.0 if self.schedule is None else max(n - self.schedule.mean_visible(n), 1e-9)

    def steps_per_sweep(self, n: int) -> float:
        """Steps in which as many sites are drawn, on average, as in a sweep.

        >>> read_scan("hide:2 (joint)").steps_per_sweep(8)
        4.0
        """
        return n / self.updates_per_step(n)


def read_scan(text: str) -> Scan:
    """The scan of a manifest's text form."""
    if text in (SINGLE, SYSTEMATIC):
        return Scan(text)
    spec, _, refill = text.rpartition(" (")
    return block_scan(spec, refill.removesuffix(")"))


def block_scan(spec: str | Schedule, refill: str) -> Scan:
    """A block scan; ``InputError`` on a schedule without a text form, which no stored run could name."""
    if refill not in REFILLS:
        raise InputError("refill", expected="auto, " + " or ".join(REFILLS), came=repr(refill))
    found = schedule(spec)
    if schedule(found.text) != found:
        raise InputError("schedule", expected="one whose text form reads back", came=repr(found.text[:80]))
    return Scan("block", found, refill)
