"""From the cells of chains from elsewhere to a sentence on each topic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from maskov.topics.anchors import ELSEWHERE
from maskov.topics.cells import Units
from maskov.topics.result import TopicCell, TopicVerdict
from maskov.topics.score import Floats
from maskov.topics.shares import passage_means
from maskov.topics.shuffles import ShuffledTopics, largest_excess, permutation_p


def verdicts(
    cells: Sequence[TopicCell], seen: Any, units: Units, shuffled: ShuffledTopics | None, level: float
) -> tuple[TopicVerdict, ...]:
    """One verdict per temperature and topic, in order."""
    excess = {t: _shuffled_excess(seen, units, shuffled, t) for t in units.values}
    found = []
    for c in cells:
        if c.start_topic == ELSEWHERE:
            against = excess[c.temperature]
            p = None if against is None else min(1.0, permutation_p(c.excess.value, against) * len(units.values))
            found.append(_verdict(c, p, level))
    return tuple(found)


def _shuffled_excess(seen: Any, units: Units, shuffled: ShuffledTopics | None, temperature: float) -> Floats | None:
    """Largest excess of each set of shuffled topics over all passages of a temperature: [M]."""
    if shuffled is None or seen.shuffled is None:
        return None
    chains = np.flatnonzero(units.temperatures == temperature)
    flat = seen.shuffled[chains].reshape(len(chains), -1)
    means = np.stack([passage_means(column, units.passages[chains]) for column in flat.T], axis=1)
    return largest_excess(means.reshape(-1, *shuffled.shape), shuffled.null)


def _verdict(c: TopicCell, p_shuffled: float | None, level: float) -> TopicVerdict:
    above = None if c.p_adjusted is None else c.p_adjusted <= level
    recurring = above if p_shuffled is None or not above else p_shuffled <= level
    words = _words(c, above, recurring, p_shuffled)
    return TopicVerdict(c.temperature, c.topic, recurring, c.p_adjusted, c.p_bh, p_shuffled, words)


def _words(c: TopicCell, above: bool | None, recurring: bool | None, p_shuffled: float | None) -> str:
    seen = f"{c.fraction.value:.1%} of the time against {c.null_fraction.value:.1%} of random passages"
    if above is None:
        return f"not tested (one passage): {seen}"
    if recurring:
        return f"recurs: {seen} (p = {c.p_adjusted:.2g}); {_manner(c)}"
    if above:
        return f"not shown: {seen} (p = {c.p_adjusted:.2g}), but shuffled topics do as well (p = {p_shuffled:.2g})"
    if c.excess.interval is not None and c.excess.interval[1] < 0:
        return f"less than random passages: {seen}"
    return f"not shown: {seen} (p = {c.p_adjusted:.2g})"


def _manner(c: TopicCell) -> str:
    """Do chains come and go, or come and stay?"""
    visitors = max(c.ever_fraction.value, 1e-9)
    visits = c.visits.value / visitors
    if c.return_sweeps is not None:
        back = f", back after {c.return_sweeps.value:.3g} sweeps (median)"
    else:
        back = ", fewer than half of the leaves were followed by a return" if c.returned + c.not_returned else ""
    return f"{c.ever_fraction.value:.0%} of chains get there, {visits:.1f} visits each{back}"
