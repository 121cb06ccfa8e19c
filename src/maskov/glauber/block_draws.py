"""The randomness of block steps: hidden sets, order of refilling, uniforms; functions of (seed, chain, step).

A set uses the schedule's stream: words 0 and 1 of the step's first plane, and one word a free site for the order.
Refilling uses the chain's own stream: one uniform a step (joint), or one a free site (site by site).
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maskov.randomness import WORDS, Stream, generator, uniforms, words
from maskov.schedules import Schedule

# Planes 0 and 1 of a stream are taken: single words of a step, and generators.
_FIRST_PLANE = 2


class BlockDraws(NamedTuple):
    """Innovations of one chain of n free sites over T steps.

    hidden: int64 [T], number of hidden sites; order: int64 [T, n], free-site numbers, the hidden ones first, in the
    order of refilling; joint: [T], one uniform a step; each: [T, n], one a free site.
    """

    hidden: NDArray[np.int64]
    order: NDArray[np.int64]
    joint: NDArray[np.float64]
    each: NDArray[np.float64]


def block_draws(schedule: Schedule, n: int, seed: int, chain: int, start: int, count: int) -> BlockDraws:
    """The innovations of steps start + 1 … start + count of one chain.

    >>> from maskov.schedules import schedule
    >>> whole, part = (block_draws(schedule("hide:2"), 5, 0, 0, a, 8 - a) for a in (0, 6))
    >>> bool((whole.order[6:] == part.order).all()), whole.hidden.tolist()
    (True, [2, 2, 2, 2, 2, 2, 2, 2])
    """
    keys = _site_words(seed, chain, start, count, Stream.SCHEDULE, n)
    if schedule.uniform_given_count:
        u = uniforms(words(seed, chain, start, count, Stream.SCHEDULE)[:, 0])
        hidden = n - _counts(schedule, n, u)
    else:
        visible = np.concatenate([_one_set(schedule, n, seed, chain, start + t) for t in range(count)])
        hidden = n - visible.sum(axis=1)
        keys = keys + visible  # a visible site comes after every hidden one
    order = keys.argsort(axis=1, kind="stable")
    joint = uniforms(words(seed, chain, start, count)[:, 1])
    return BlockDraws(hidden, order, joint, _site_words(seed, chain, start, count, Stream.GLAUBER, n))


def _site_words(seed: int, chain: int, start: int, count: int, stream: int, n: int) -> NDArray[np.float64]:
    """One uniform a free site and step: [count, n]."""
    planes = range(_FIRST_PLANE, _FIRST_PLANE + -(-n // WORDS))
    return np.concatenate([uniforms(words(seed, chain, start, count, stream, p)) for p in planes], axis=1)[:, :n]


def _counts(schedule: Schedule, n: int, u: NDArray[np.float64]) -> NDArray[np.int64]:
    """Visible counts by inverse CDF: u [T] → int64 [T]."""
    cdf, last = _cumulative(schedule, n)
    return np.minimum(np.searchsorted(cdf, u * cdf[-1], side="right"), last)


@lru_cache(maxsize=256)
def _cumulative(schedule: Schedule, n: int) -> tuple[NDArray[np.float64], int]:
    law = schedule.visible_law(n)
    return np.cumsum(law), int(np.flatnonzero(law)[-1])


def _one_set(schedule: Schedule, n: int, seed: int, chain: int, step: int) -> NDArray[np.bool_]:
    return schedule.sample_visible(n, 1, generator(seed, chain, Stream.SCHEDULE, step))
