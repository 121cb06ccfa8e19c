"""One temperature, one set of starts, one topic: the numbers of a cell, over passages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maskov.errors import InputError
from maskov.quantities import Estimate
from maskov.topics.anchors import ELSEWHERE, UNLABELLED
from maskov.topics.null import NullShare, benjamini_hochberg, holm, p_above
from maskov.topics.result import StartMemory, TimeCourse, TopicCell
from maskov.topics.shares import clustered_share, count_estimate, difference, passage_means
from maskov.topics.shuffles import start_memory
from maskov.topics.visits import return_median, returns, visit_counts
from maskov.topics.walk import Seen

Numbers = NDArray[np.int64]
STRETCHES = 24
_MEMORY_SHUFFLES = 999


class Units(NamedTuple):
    """Chains as a study groups them: temperatures, sites, passages: [B]; starts: topic of each start [B]; labelled:
    whether any has one.
    """

    temperatures: NDArray[np.float64]
    sites: NDArray[np.float64]
    passages: Numbers
    starts: NDArray[np.str_]
    labelled: bool

    @property
    def values(self) -> list[float]:
        """The different temperatures, in order."""
        return list(dict.fromkeys(self.temperatures.tolist()))

    def elsewhere(self, temperature: float, topic: str) -> Numbers:
        """Chains of a temperature that did not begin in the topic."""
        return np.flatnonzero((self.temperatures == temperature) & (self.starts != topic))

    def groups(self, temperature: float, topic: str) -> Iterator[tuple[str, Numbers]]:
        """Chains from elsewhere, then those of each start topic; groups without chains are left out."""
        away = self.elsewhere(temperature, topic)
        if len(away):
            yield ELSEWHERE, away
        if self.labelled:
            for start in sorted(set(self.starts.tolist())):
                yield start, np.flatnonzero((self.temperatures == temperature) & (self.starts == start))


class Study(NamedTuple):
    """What every cell shares: topics, the grouping of chains, the null of each topic, the first step that counts."""

    topics: tuple[str, ...]
    units: Units
    nulls: list[NullShare]
    first: int
    seed: int


def units_of(trace: Any, texts: Sequence[str], start_topics: Sequence[str | None] | None) -> Units:
    """Passages by start text, start topics from the argument or the run's own labels. texts: of the starts [B]."""
    labels = _run_labels(trace) if start_topics is None else list(start_topics)
    if len(labels) != trace.n_chains:
        came = f"{len(labels)} for {trace.n_chains} chains"
        raise InputError("start_topics", expected="one label per chain", came=came)
    wrong = [type(x).__name__ for x in labels if x is not None and not isinstance(x, str)]
    if wrong:
        raise InputError("start_topics", expected="strings or None", came=wrong[0])
    numbers = {text: k for k, text in enumerate(dict.fromkeys(texts))}
    starts = np.array([label or UNLABELLED for label in labels])
    sites = np.array([len(s.free) for s in trace.starts], dtype=np.float64)
    passages = np.array([numbers[text] for text in texts], dtype=np.int64)
    return Units(np.asarray(trace.temperatures), sites, passages, starts, any(labels))


def _run_labels(trace: Any) -> list[str | None]:
    texts = getattr(getattr(trace, "manifest", None), "texts", ())
    if not texts:
        return [None] * trace.n_chains
    return [texts[c % len(texts)].get("topic") for c in trace.chain_ids.tolist()]


def all_cells(seen: Seen, study: Study) -> list[TopicCell]:
    """Every temperature, topic and set of starts, with p-values adjusted inside their family."""
    found = [
        _cell(seen, study, chains, temperature, start, k)
        for temperature in study.units.values
        for k, topic in enumerate(study.topics)
        for start, chains in study.units.groups(temperature, topic)
    ]
    return _adjusted(found)


def _cell(seen: Seen, study: Study, chains: Numbers, temperature: float, start: str, k: int) -> TopicCell:
    late, sites = seen.times >= study.first, float(study.units.sites[chains].mean())
    inside, times, groups = seen.inside[late][:, chains, k], seen.times[late], study.units.passages[chains]
    means = passage_means(np.asarray(inside.mean(axis=0), dtype=np.float64), groups)
    fraction, null = clustered_share(means), study.nulls[k]
    spells = returns(inside, times)
    return TopicCell(
        temperature=float(temperature),
        start_topic=start,
        topic=study.topics[k],
        chains=len(chains),
        passages=len(means),
        fraction=fraction,
        visits=count_estimate(passage_means(visit_counts(inside).astype(np.float64), groups)),
        return_sweeps=_scaled(return_median(spells, groups, study.seed), sites),
        returned=int(spells.met.sum()),
        not_returned=int((~spells.met).sum()),
        ever_fraction=clustered_share(passage_means(np.asarray(inside.any(axis=0), dtype=np.float64), groups)),
        end_fraction=clustered_share(passage_means(inside[-1].astype(np.float64), groups)),
        null_fraction=null.estimate,
        excess=difference(fraction, null.estimate),
        p=p_above(means, null),
        p_adjusted=None,
        p_bh=None,
    )


def _scaled(estimate: Estimate | None, unit: float) -> Estimate | None:
    if estimate is None:
        return None
    ends = None if estimate.interval is None else (estimate.interval[0] / unit, estimate.interval[1] / unit)
    return Estimate(estimate.value / unit, estimate.stderr / unit, estimate.n, ends)


def _adjusted(cells: list[TopicCell]) -> list[TopicCell]:
    """Two families: cells from elsewhere, on which verdicts rest, and cells of single start topics."""
    out = list(cells)
    for pooled in (True, False):
        family = [i for i, c in enumerate(cells) if (c.start_topic == ELSEWHERE) == pooled]
        p = [cells[i].p for i in family]
        for i, a, b in zip(family, holm(p), benjamini_hochberg(p), strict=True):
            out[i] = replace(cells[i], p_adjusted=a, p_bh=b)
    return out


def memory(seen: Seen, study: Study, temperature: float) -> StartMemory:
    """How much of the topic of its start a chain keeps; passages with a start topic that is studied."""
    units, topics = study.units, study.topics
    chains = np.flatnonzero((units.temperatures == temperature) & np.isin(units.starts, list(topics)))
    if len(chains) == 0:
        return StartMemory(float(temperature), 0, Estimate(float("nan"), float("inf"), 0), float("nan"), None)
    groups = units.passages[chains]
    shares = seen.inside[seen.times >= study.first][:, chains].mean(axis=0)
    means = np.stack([passage_means(shares[:, k], groups) for k in range(len(topics))], axis=1)
    where = {topic: k for k, topic in enumerate(topics)}
    starts = np.array([where[str(units.starts[chains[(groups == g).argmax()]])] for g in np.unique(groups)])
    found = start_memory(means, starts, _MEMORY_SHUFFLES, study.seed)
    return StartMemory(float(temperature), len(means), found.own, found.shuffled, found.p)


def course(seen: Seen, units: Units, temperature: float, topic: str, k: int) -> TimeCourse:
    """Shares along the whole run in at most ``STRETCHES`` stretches, each passage counting once."""
    parts = np.array_split(np.arange(len(seen.times)), min(STRETCHES, len(seen.times)))
    here = np.flatnonzero((units.temperatures == temperature) & (units.starts == topic))
    away = units.elsewhere(temperature, topic)
    sites = units.sites[units.temperatures == temperature].mean()
    return TimeCourse(
        float(temperature),
        topic,
        np.array([seen.times[part].mean() / sites for part in parts]),
        _along(seen, units, away, k, parts),
        _along(seen, units, here, k, parts),
    )


def _along(seen: Seen, units: Units, chains: Numbers, k: int, parts: list[Numbers]) -> NDArray[np.float64] | None:
    if len(chains) == 0:
        return None
    groups = units.passages[chains]
    return np.array([passage_means(seen.inside[part][:, chains, k].mean(axis=0), groups).mean() for part in parts])
