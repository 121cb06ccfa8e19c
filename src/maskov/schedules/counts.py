"""Schedules with a fixed count: ratios, counts, and contiguous spans."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from maskov.errors import InputError
from maskov.protocols import Flags
from maskov.schedules.base import MOST_SETS, Schedule, SetLaw, check_length, number_text


def hidden_by_ratio(ratio: float, length: int) -> int:
    """max(1, ⌊rN + 1/2⌋), the exact-count reading of a ratio.

    >>> hidden_by_ratio(0.15, 512), hidden_by_ratio(0.15, 2)
    (77, 1)
    """
    return min(length, max(1, math.floor(ratio * length + 0.5)))


class _OneCount(Schedule):
    """A schedule with all its mass on one visible count."""

    def count(self, length: int) -> int:
        """Its visible count at N sites."""
        raise TypeError("a fixed-count schedule gives its count")

    def log_visible_law(self, length: int) -> NDArray[np.float64]:
        """0 at the count, −inf elsewhere: [N + 1]."""
        law = np.full(check_length(length) + 1, -np.inf)
        law[self.count(length)] = 0.0
        return law


@dataclass(frozen=True, repr=False)
class FixedRatio(_OneCount):
    """Hides exactly max(1, ⌊rN + 1/2⌋) sites: ``fixed:r`` (BERT's original code, r = 0.15; MAE, r = 0.75).

    >>> FixedRatio(0.15).v_min(512)
    435
    """

    ratio: float

    @property
    def text(self) -> str:
        """``fixed:r``."""
        return f"fixed:{number_text(self.ratio)}"

    def count(self, length: int) -> int:
        """N − max(1, ⌊rN + 1/2⌋)."""
        return length - hidden_by_ratio(self.ratio, length)


@dataclass(frozen=True, repr=False)
class VisibleCount(_OneCount):
    """Shows exactly k sites: ``visible:k``; at least one site stays hidden."""

    visible: int

    @property
    def text(self) -> str:
        """``visible:k``."""
        return f"visible:{self.visible}"

    def count(self, length: int) -> int:
        """k; ``InputError`` where N ≤ k."""
        if self.visible >= length:
            raise InputError(
                self.text,
                expected=f"fewer visible sites than the length {length}",
                came=str(self.visible),
                remedy="a schedule hides at least one site",
            )
        return self.visible


@dataclass(frozen=True, repr=False)
class HiddenCount(_OneCount):
    """Hides exactly k sites: ``hide:k`` (``hide:1`` is single-site Glauber)."""

    hidden: int

    @property
    def text(self) -> str:
        """``hide:k``."""
        return f"hide:{self.hidden}"

    def count(self, length: int) -> int:
        """N − k; ``InputError`` where N < k."""
        if self.hidden > length:
            raise InputError(
                self.text,
                expected=f"at most {length} hidden sites",
                came=str(self.hidden),
                remedy="hide fewer sites or take more",
            )
        return length - self.hidden


@dataclass(frozen=True, repr=False)
class FullMask(_OneCount):
    """Hides everything: ``full``."""

    @property
    def text(self) -> str:
        """``full``."""
        return "full"

    def count(self, length: int) -> int:
        """0."""
        return 0


@dataclass(frozen=True, repr=False)
class Spans(_OneCount):
    """Hides max(1, ⌊rN + 1/2⌋) sites in contiguous spans: ``span:r`` (one span) or ``span:r,m`` (spans of m sites,
    one shorter).

    The spans, in random order, are placed uniformly among all placements without overlap; they may touch.

    >>> Spans(0.5, 2).set_law(4).visible.astype(int).tolist()
    [[0, 0, 1, 1], [1, 0, 0, 1], [1, 1, 0, 0]]
    """

    ratio: float
    span: int | None = None
    uniform_given_count: ClassVar[bool] = False

    @property
    def text(self) -> str:
        """``span:r`` or ``span:r,m``."""
        return f"span:{number_text(self.ratio)}" + (f",{self.span}" if self.span else "")

    def count(self, length: int) -> int:
        """N − max(1, ⌊rN + 1/2⌋)."""
        return length - hidden_by_ratio(self.ratio, length)

    def _lengths(self, length: int) -> list[int]:
        hidden = hidden_by_ratio(self.ratio, length)
        span = min(self.span or hidden, hidden)
        return [span] * (hidden // span) + ([hidden % span] if hidden % span else [])

    def sample_visible(self, length: int, size: int, rng: np.random.Generator) -> Flags:
        """Visible sets: bool [size, N]."""
        lengths = self._lengths(check_length(length))
        slots = self.count(length) + len(lengths)
        starts = np.sort(rng.random((size, slots)).argsort(axis=1)[:, : len(lengths)], axis=1)
        sets = [_place(rng.permutation(lengths), row, length) for row in starts]
        return np.array(sets, dtype=bool).reshape(size, length)  # a mixture may ask for none

    def set_law(self, length: int) -> SetLaw:
        """Every placement, equal sets merged."""
        lengths = self._lengths(check_length(length))
        slots, orders = (
            self.count(length) + len(lengths),
            sorted(set(permutations(lengths))) if len(lengths) <= 6 else None,
        )
        if orders is None or math.comb(slots, len(lengths)) * len(orders) > MOST_SETS:
            raise InputError(
                "visible sets",
                expected=f"at most {MOST_SETS} span placements to enumerate",
                came=f"more at {length} sites",
                remedy="take fewer sites or an exchangeable law",
            )
        sets = [
            _place(np.array(order), np.array(at), length)
            for order in orders
            for at in combinations(range(slots), len(lengths))
        ]
        visible, times = np.unique(np.stack(sets), axis=0, return_counts=True)
        log_mass = np.log(times / times.sum())
        return SetLaw(visible, log_mass, log_mass)


def _place(lengths: NDArray[np.int64], starts: NDArray[np.int64], length: int) -> Flags:
    """Visible flags [N] of spans at slots ``starts`` (ascending), a slot being one visible site or one whole span."""
    visible = np.ones(length, dtype=bool)
    shift = 0
    for start, span in zip(starts, lengths, strict=True):
        visible[start + shift : start + shift + span] = False
        shift += int(span) - 1
    return visible
