"""The chains of a run as data: start, temperature and stream of each; and buckets of one length."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maskov.errors import InputError
from maskov.protocols import State, Tokens


class Chains(NamedTuple):
    """B chains, temperature-major: chain b = k · chains + c runs at temperature k with the stream of chain number c.

    tokens: int64 [B, L_max], −1 beyond a chain's length; lengths: int64 [B]; free: int64 [B, n_max] columns, −1 padded;
    n_sites: int64 [B]; temperatures: float64 [B]; ids: int64 [B] numbers c of the random streams.
    """

    tokens: Tokens
    lengths: Tokens
    free: Tokens
    n_sites: Tokens
    temperatures: NDArray[np.float64]
    ids: Tokens

    @property
    def count(self) -> int:  # type: ignore[override]
        """B."""
        return len(self.lengths)

    def state(self, chain: int) -> State:
        """The start of one chain."""
        return State(self.tokens[chain, : self.lengths[chain]], self.free[chain, : self.n_sites[chain]])


def check_temperatures(temperatures: float | Sequence[float]) -> list[float]:
    """The temperatures as a list of finite numbers above 0, or ``InputError``."""
    values = [float(t) for t in np.atleast_1d(np.asarray(temperatures, dtype=np.float64))]
    for value in values:
        if not (np.isfinite(value) and value > 0):
            raise InputError(
                "temperature", expected="a finite number above 0", came=str(value), remedy="1 is the model's own"
            )
    if not values:
        raise InputError("temperature", expected="at least one", came="none")
    return values


def arrange(starts: Sequence[State], temperatures: Sequence[float], chains: int | None = None) -> Chains:
    """Chains from starts: chain c of each temperature begins at start c mod len(starts).

    Streams belong to c alone, so every temperature reads the same draws: differences between temperatures carry less
    noise, and adding a temperature changes no chain.

    >>> a = arrange([State(np.array([0, 1, 0]), np.array([1]))], [0.5, 1.0], chains=2)
    >>> a.ids.tolist(), a.temperatures.tolist()
    ([0, 1, 0, 1], [0.5, 0.5, 1.0, 1.0])
    """
    per_temperature = len(starts) if chains is None else chains
    if per_temperature < 1 or not starts:
        raise InputError(
            "chains",
            expected="at least one chain and one start",
            came=f"{per_temperature} chains, {len(starts)} starts",
        )
    ids = np.tile(np.arange(per_temperature, dtype=np.int64), len(temperatures))
    chosen = [starts[c % len(starts)] for c in ids]
    return Chains(
        _padded([s.tokens for s in chosen]),
        np.array([len(s.tokens) for s in chosen], dtype=np.int64),
        _padded([s.free for s in chosen]),
        np.array([len(s.free) for s in chosen], dtype=np.int64),
        np.repeat(np.asarray(temperatures, dtype=np.float64), per_temperature),
        ids,
    )


def _padded(rows: Sequence[Tokens]) -> Tokens:
    table = np.full((len(rows), max(len(r) for r in rows)), -1, dtype=np.int64)
    for k, row in enumerate(rows):
        table[k, : len(row)] = row
    return table


def buckets(lengths: Tokens) -> Iterator[Tokens]:
    """Chain indices grouped by length, shortest first: no chain is ever padded for another's sake."""
    for length in np.unique(lengths):
        yield np.flatnonzero(lengths == length)
