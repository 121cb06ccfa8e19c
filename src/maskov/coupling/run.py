"""Run pairs of chains until they meet: one loop for every coupling, pairs that have met cost nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maskov.coupling.pairs import Pair
from maskov.coupling.rows import Rows
from maskov.coupling.steps import couple_tokens
from maskov.glauber.chains import Chains, arrange, buckets
from maskov.protocols import Tokens
from maskov.randomness import choose_site, draws

# Steps between two looks at the progress: draws of a law's chunk cost less when many are made at once.
_CHUNK_LAW, _CHUNK_NETWORK = 256, 16
# Logits of one batch: 64 MB of float64, whatever the number of pairs and temperatures.
_BATCH_VALUES = 1 << 23


class Meetings(NamedTuple):
    """When pairs met, temperature-major. steps: float64 [B], first t with x_t = y_t, or the run's end; met: bool [B],
    false where right-censored; temperatures, sites: [B]; forwards: rows evaluated; first, second: last states [B, L].
    """

    steps: NDArray[np.float64]
    met: NDArray[np.bool_]
    temperatures: NDArray[np.float64]
    sites: Tokens
    forwards: int
    first: Tokens
    second: Tokens


def run_pairs(
    model: Any,
    pairs: Sequence[Pair],
    temperatures: Sequence[float],
    coupling: str,
    max_steps: int,
    seed: int,
    progress: Callable[[int, int], None] | None = None,
) -> Meetings:
    """Couple every pair at every temperature for at most ``max_steps`` steps.

    Pair c reads the stream of chain c: the same sites and uniforms at every temperature. Both chains update the same
    site with one shared draw; when they agree they have met and are left alone.
    """
    chains = arrange([pair.first for pair in pairs], temperatures)
    second = arrange([pair.second for pair in pairs], temperatures).tokens
    return run_coupled(model, chains, second, coupling, max_steps, seed, progress)


def run_coupled(
    model: Any,
    chains: Chains,
    second: Tokens,
    coupling: str,
    max_steps: int,
    seed: int,
    progress: Callable[[int, int], None] | None = None,
) -> Meetings:
    """``run_pairs`` from states: the first ones are those of ``chains``, second: int64 [B, L_max], −1 padded alike."""
    x, y = chains.tokens.copy(), second.copy()
    ended = np.where((x == y).all(axis=1), 0.0, np.nan)
    rows = Rows(model, len(np.unique(chains.temperatures)))
    chunk = _CHUNK_NETWORK if rows.remembers else _CHUNK_LAW
    for start in range(0, max_steps, chunk):
        if not np.isnan(ended).any():
            break
        stop = min(max_steps, start + chunk)
        _chunk(rows, chains, x, y, ended, coupling, seed, start, stop)
        if progress is not None:
            progress(stop if np.isnan(ended).any() else max_steps, max_steps)
    met = ~np.isnan(ended)
    steps = np.where(met, ended, float(max_steps))
    return Meetings(steps, met, chains.temperatures, chains.n_sites, rows.forwards, x, y)


def _chunk(
    rows: Rows,
    chains: Chains,
    x: Tokens,
    y: Tokens,
    ended: NDArray[np.float64],
    coupling: str,
    seed: int,
    start: int,
    stop: int,
) -> None:
    """Steps start + 1 … stop of the pairs that have not met; ``x``, ``y``, ``ended`` change in place."""
    ids, place = np.unique(chains.ids, return_inverse=True)
    innovations = draws(seed, ids, start, stop - start)
    size = max(1, _BATCH_VALUES // (2 * int(rows.model.vocabulary_size)))
    for members in buckets(chains.lengths):
        for t in range(start, stop):
            apart = members[np.isnan(ended[members])]
            for b in (apart[k : k + size] for k in range(0, apart.size, size)):
                sites = choose_site(innovations.site[t - start, place[b]], chains.free[b], chains.n_sites[b])
                _step(rows, chains, x, y, b, sites, coupling, innovations.token[t - start, place[b]], seed, t)
                ended[b[(x[b] == y[b]).all(axis=1)]] = t + 1


def _step(
    rows: Rows,
    chains: Chains,
    x: Tokens,
    y: Tokens,
    b: Tokens,
    sites: Tokens,
    coupling: str,
    u: NDArray[np.float64],
    seed: int,
    t: int,
) -> None:
    """One coupled step of the pairs ``b``, of one length; where the two contexts agree, one row serves both."""
    length, temperatures = int(chains.lengths[b[0]]), chains.temperatures[b]
    first, second = x[b, :length], y[b, :length]
    differs = first != second
    differs[np.arange(b.size), sites] = False
    other = np.flatnonzero(differs.any(axis=1))
    states, at = np.concatenate([first, second[other]]), np.concatenate([sites, sites[other]])
    found = rows(states, at, np.concatenate([temperatures, temperatures[other]]))
    p = found[: b.size]
    q = p.copy() if other.size else p
    q[other] = found[b.size :]
    new = couple_tokens(coupling, p, q, temperatures, u, seed, chains.ids[b], np.full(b.size, t, dtype=np.int64))
    x[b, sites], y[b, sites] = new
