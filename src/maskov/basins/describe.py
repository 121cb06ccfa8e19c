"""What the paths say about each basin: stays, exemplars, words, and where chains of each start spent their time."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from maskov.basins.exemplars import Exemplar, exemplars, words
from maskov.basins.markov_result import Basin, BasinPath, StartShares
from maskov.basins.microstates import Labels
from maskov.basins.residence import ELSEWHERE, Dwelling, core_path, dwelling, stays
from maskov.drift.trajectories import Kept, significant
from maskov.quantities import Estimate, Exact

_EXEMPLARS = 3
_POINTS = 12_000


@dataclass(frozen=True)
class Seen:
    """A basin as the paths show it, before the model adds its population and lifetime."""

    number: int
    share: float
    stays: Dwelling
    starts: int
    microstates: int
    place: tuple[float, float]
    exemplars: tuple[Exemplar, ...]
    words: tuple[str, ...]
    stride: int
    sites: float

    def linked(self, population: Estimate, lifetime: Estimate | None) -> Basin:
        """The basin of a linked set; lifetime in steps, None for a single basin."""
        return self._basin("linked", population, lifetime)

    def separate(self) -> Basin:
        """The basin of states outside of it."""
        return self._basin("separate", None, None)

    def _basin(self, kind: str, population: Estimate | None, lifetime: Estimate | None) -> Basin:
        d = self.stays
        return Basin(
            number=self.number,
            kind=kind,
            population=population,
            time_share=Exact(self.share),
            lifetime_steps=lifetime,
            lifetime_sweeps=scaled(lifetime, 1 / self.sites) if lifetime is not None else None,
            measured_steps=scaled(d.mean, self.stride),
            measured_sweeps=scaled(d.mean, self.stride / self.sites),
            median_steps=scaled(d.median, self.stride) if d.median is not None else None,
            restricted_steps=scaled(d.restricted, self.stride),
            visits=d.visits,
            exits=d.exits,
            chains=d.chains,
            starts=self.starts,
            once=d.visits == 1,
            microstates=self.microstates,
            place=self.place,
            exemplars=self.exemplars,
            words=self.words,
        )


@dataclass(frozen=True)
class Described:
    """basins, jumps between them, shares per start, paths; sites: mean n."""

    basins: tuple[Seen, ...]
    jumps: tuple[tuple[int, ...], ...]
    by_start: tuple[StartShares, ...]
    paths: tuple[BasinPath, ...]
    sites: float


def scaled(q: Estimate, unit: float) -> Estimate:
    """An estimate in another unit."""
    ends = None if q.interval is None else (q.interval[0] * unit, q.interval[1] * unit)
    return Estimate(q.value * unit, q.stderr * unit if math.isfinite(q.stderr) else q.stderr, q.n, ends)


def describe(
    kept: Kept,
    chains: Labels,
    labels: Labels,
    regions: Labels,
    cores: NDArray[np.bool_],
    weights: NDArray[np.int64],
    starts: Labels,
    topics: list[str | None],
    sites: float,
) -> Described:
    """Basins along the paths. labels: [K, b] microstates of the cell's chains; regions, cores: [m] of microstates."""
    here = np.stack([core_path(regions[path], cores[path]) for path in labels.T], axis=1)
    n = int(regions.max()) + 1 if (regions >= 0).any() else 0
    all_stays = stays(here)
    told = words(kept.texts, _text_counts(kept, chains, here, n))
    basins = []
    for k in range(n):
        inside = (here == k) & (regions[labels] == k)
        inside = inside if inside.any() else here == k
        places = kept.places[:, chains][inside]
        centre = np.zeros(2)
        centre[: min(2, places.shape[1])] = places.mean(axis=0)[:2]
        basins.append(
            Seen(
                number=k,
                share=float((here == k).mean()),
                stays=dwelling(all_stays, k, weights, len(labels)),
                starts=len(np.unique(starts[chains][(here == k).any(axis=0)])),
                microstates=int((regions == k).sum()),
                place=(round(float(centre[0]), 5), round(float(centre[1]), 5)),
                exemplars=exemplars(kept, chains, labels, inside, _EXEMPLARS),
                words=told[k],
                stride=kept.stride,
                sites=sites,
            )
        )
    return Described(
        tuple(basins), _jumps(here, n), _by_start(here, n, starts[chains], topics), _paths(kept, chains, here), sites
    )


def _text_counts(kept: Kept, chains: Labels, here: Labels, n: int) -> NDArray[np.float64]:
    index = kept.which[:, chains]
    return np.array([np.bincount(index[here == k], minlength=len(kept.texts)) for k in range(n)], dtype=np.float64)


def _jumps(here: Labels, n: int) -> tuple[tuple[int, ...], ...]:
    table = np.zeros((n, n), dtype=np.int64)
    old, new = here[:-1], here[1:]
    moved = (old != new) & (old >= 0) & (new >= 0)
    np.add.at(table, (old[moved], new[moved]), 1)
    return tuple(tuple(int(v) for v in row) for row in table)


def _by_start(here: Labels, n: int, starts: Labels, topics: list[str | None]) -> tuple[StartShares, ...]:
    rows = []
    for s in np.unique(starts).tolist():
        mine = here[:, starts == s]
        shares = tuple(round(float((mine == k).mean()), 5) for k in range(n))
        rows.append(StartShares(s, topics[s], int(mine.shape[1]), shares, float((mine == ELSEWHERE).mean())))
    return tuple(rows)


def _paths(kept: Kept, chains: Labels, here: Labels) -> tuple[BasinPath, ...]:
    thin = max(1, math.ceil(kept.which.size / _POINTS))
    plane = np.zeros((len(kept.times[::thin]), len(chains), 2))
    plane[..., : min(2, kept.places.shape[2])] = significant(kept.places[::thin][:, chains, :2])
    return tuple(
        BasinPath(
            int(b),
            kept.times[::thin],
            tuple(None if k == ELSEWHERE else int(k) for k in here[::thin, column]),
            plane[:, column, 0],
            plane[:, column, 1],
        )
        for column, b in enumerate(chains)
    )
