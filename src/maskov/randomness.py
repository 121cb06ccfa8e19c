"""Randomness is data: the draws of a chain are a pure function of (seed, chain, step).

A Philox-4x64 block cipher [Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"] is keyed with
(seed, chain); its counter holds (step, stream). One counter value gives four 64-bit words: the site, the token, and two
spare ones. So a chain does not depend on the batch it runs in, on other chains, on chunking, or on where it resumed.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

WORDS = 4
_UNIT = 2.0**-53


class Stream(IntEnum):
    """Independent streams of one (seed, chain): what the words are used for."""

    GLAUBER = 0
    SCHEDULE = 1
    GUMBEL = 2
    STUDY = 3
    BOOTSTRAP = 4
    LAW = 5


class Draws(NamedTuple):
    """Uniforms of B chains over T steps, each float64 [T, B] in [0, 1) with 53 bits."""

    site: NDArray[np.float64]
    token: NDArray[np.float64]
    spare: NDArray[np.float64]


def words(
    seed: int, chain: int, start: int, count: int, stream: int = Stream.GLAUBER, plane: int = 0
) -> NDArray[np.uint64]:
    """Raw words of the counters start … start + count − 1: uint64 [count, 4].

    plane: further words of the same steps; plane 1 is ``generator``'s.

    >>> bool((words(1, 2, 0, 10)[4:] == words(1, 2, 4, 6)).all())
    True
    """
    key = np.array([seed, chain], dtype=np.uint64)
    counter = np.array([start, stream, plane, 0], dtype=np.uint64)
    return np.random.Philox(key=key, counter=counter).random_raw(WORDS * count).reshape(count, WORDS)


def uniforms(raw: NDArray[np.uint64]) -> NDArray[np.float64]:
    """The 53 high bits of each word as a float64 in [0, 1); same shape as ``raw``."""
    return (raw >> np.uint64(11)).astype(np.float64) * _UNIT


def draws(seed: int, chains: NDArray[np.int64], start: int, count: int) -> Draws:
    """Site, token and spare uniforms of the given chains at steps start … start + count − 1.

    chains: int64 [B] chain numbers; each field of the result is [count, B].

    >>> a, b = draws(0, np.array([3, 5]), 0, 8), draws(0, np.array([5]), 4, 4)
    >>> bool((a.token[4:, 1] == b.token[:, 0]).all())
    True
    """
    block = np.stack([uniforms(words(seed, int(c), start, count)) for c in chains], axis=1)
    return Draws(block[..., 0], block[..., 1], block[..., 2])


def generator(seed: int, chain: int = 0, stream: int = Stream.STUDY, step: int = 0) -> np.random.Generator:
    """A NumPy generator on its own stream of (seed, chain), for the choices of a study (sites, pairs, bootstrap).

    step: of a chain, where each step needs a generator of its own.

    >>> int(generator(0).integers(10)) == int(generator(0).integers(10))
    True
    """
    key = np.array([seed, chain], dtype=np.uint64)
    counter = np.array([0, stream, 1, step], dtype=np.uint64)
    return np.random.Generator(np.random.Philox(key=key, counter=counter))


def choose_site(u: NDArray[np.float64], free: NDArray[np.int64], n: NDArray[np.int64]) -> NDArray[np.int64]:
    """Column of a uniformly chosen free site: ``free[b, ⌊u_b n_b⌋]``.

    u: [B] in [0, 1); free: int64 [B, n_max] columns, padded at the end; n: int64 [B] number of free sites. Result:
    int64 [B].
    """
    return free[np.arange(len(u)), site_number(u, n)]


def site_number(u: NDArray[np.float64], n: NDArray[np.int64] | int) -> NDArray[np.int64]:
    """⌊u n⌋, the number from 0 of a uniformly chosen one of n sites; u, n: shapes that broadcast."""
    return np.minimum((u * n).astype(np.int64), np.asarray(n) - 1)
