"""What a basin is about: the kept texts nearest to its centre, and the words that it has more often than the rest."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from maskov.basins.microstates import Floats, Labels
from maskov.drift.trajectories import Kept

_WORD = re.compile(r"[^\W\d_]{2,}")


@dataclass(frozen=True)
class Exemplar:
    """A text of a basin: where it was seen first (chain, step), and its distance from the basin's centre in the space
    of the components.
    """

    text: str
    chain: int
    step: int
    distance: float


def exemplars(
    kept: Kept, chains: Labels, labels: Labels, inside: NDArray[np.bool_], number: int
) -> tuple[Exemplar, ...]:
    """Texts nearest to the mean of a basin's kept states, the nearest of each microstate before second ones.

    chains: int64 [b] chains of the cell; labels: int64 [K, b] microstates; inside: bool [K, b].
    """
    k, b = np.nonzero(inside)
    places = kept.places[k, chains[b]]
    distance = np.linalg.norm(places - places.mean(axis=0), axis=1)
    order = np.argsort(distance, kind="stable")
    seen: dict[int, int] = {}  # text -> row, nearest first
    for row in order.tolist():
        seen.setdefault(int(kept.which[k[row], chains[b[row]]]), row)
    rows = list(seen.values())
    first: dict[int, int] = {}
    for row in rows:
        first.setdefault(int(labels[k[row], b[row]]), row)
    chosen = (list(first.values()) + [row for row in rows if row not in set(first.values())])[:number]
    return tuple(
        Exemplar(
            kept.texts[kept.which[k[row], chains[b[row]]]],
            int(chains[b[row]]),
            int(kept.times[k[row]]),
            float(distance[row]),
        )
        for row in chosen
    )


def words(texts: list[str], counts: Floats, most: int = 8) -> list[tuple[str, ...]]:
    """The words of each basin: z-scores of the log-odds against all other basins, with all counts as the prior
    [Monroe, Colaresi & Quinn 2008]; only words with z > 2, the largest first.

    texts: [m]; counts: [n, m] how often each basin holds each text. Empty where texts have no words or there is one
    basin.
    """
    if len(counts) < 2:
        return [()] * len(counts)
    table = [_word_counts(texts, row) for row in counts]
    vocabulary = sorted(set().union(*table))
    y = np.array([[c[w] for w in vocabulary] for c in table], dtype=np.float64).reshape(len(table), -1)
    if y.size == 0 or (y.sum(axis=1) == 0).any():
        return [()] * len(counts)
    prior = y.sum(axis=0) / y.sum() * 1000
    scores = [_log_odds(row, y.sum(axis=0) - row, prior) for row in y]
    return [tuple(vocabulary[j] for j in np.argsort(-z, kind="stable")[:most] if z[j] > 2) for z in scores]


def _word_counts(texts: list[str], counts: Floats) -> Counter[str]:
    found: Counter[str] = Counter()
    for k in np.flatnonzero(counts):
        for word in set(_WORD.findall(texts[k])):  # once a text: a text of one word repeated is one text
            found[word] += int(counts[k])
    return found


def _log_odds(here: Floats, there: Floats, prior: Floats) -> Floats:
    a, b = here + prior, there + prior
    total_a, total_b = a.sum(), b.sum()
    with np.errstate(divide="ignore", invalid="ignore"):  # one word alone: no odds
        delta = np.log(a / (total_a - a)) - np.log(b / (total_b - b))
    return np.nan_to_num(delta / np.sqrt(1 / a + 1 / b), posinf=0.0, neginf=0.0)
