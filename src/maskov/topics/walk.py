"""One pass over a trace in order of time: which state is in which topic. Memory does not grow with the run's length."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maskov.errors import InputError
from maskov.glauber.walk import states_over
from maskov.topics.score import AnchorMargin, TopicScorer, checked_scores, margins
from maskov.topics.shuffles import ShuffledTopics

_TEXTS = 256  # scored together
_MOST, _FEWEST, _STATES = 400, 50, 4000

Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]


class Seen(NamedTuple):
    """times: int64 [T] kept steps; inside: bool [T, B, K]; shuffled: float64 [B, M, K] share of the times after burn-in
    in each shuffled topic, or None.
    """

    times: NDArray[np.int64]
    inside: Flags
    shuffled: Floats | None


def default_kept(chains: int) -> int:
    """400, or fewer where there are many chains: an embedder takes milliseconds a text, and more states of one chain
    say little once they are closer than its memory.

    >>> default_kept(1), default_kept(16), default_kept(1000)
    (400, 250, 50)
    """
    return min(_MOST, max(_FEWEST, _STATES // chains))


def even_times(steps: int, kept: int) -> NDArray[np.int64]:
    """At most ``kept`` whole times from 0 to ``steps``, evenly spaced (log-spaced ones would hide late returns).

    >>> even_times(100, 5).tolist(), even_times(2, 400).tolist()
    ([0, 25, 50, 75, 100], [0, 1, 2])
    """
    if kept < 2:
        raise InputError("kept", expected="at least 2 states of each chain", came=str(kept))
    return np.unique(np.rint(np.linspace(0, steps, kept)).astype(np.int64))


def walk(
    trace: Any,
    model: Any,
    scorer: TopicScorer,
    thresholds: Floats,
    times: NDArray[np.int64],
    first: int,
    shuffles: ShuffledTopics | None,
    progress: Callable[[int, int], None] | None,
) -> Seen:
    """Scores of every kept state against the thresholds [K]; times before ``first`` don't count for the shuffles."""
    B, K = trace.n_chains, len(thresholds)
    inside = np.zeros((len(times), B, K), dtype=bool)
    counts = None if shuffles is None else np.zeros((B, *shuffles.shape))
    for rows, texts in _batches(trace, model, times):
        passed, extra = _score(scorer, thresholds, texts, shuffles)
        inside[rows] = passed.reshape(len(rows), B, K)
        late = times[rows] >= first
        if counts is not None and extra is not None:
            counts += extra.reshape(len(rows), *counts.shape)[late].sum(axis=0)
        if progress is not None:
            progress(int(rows[-1]) + 1, len(times))
    return Seen(times, inside, None if counts is None else counts / np.count_nonzero(times >= first))


def _batches(trace: Any, model: Any, times: NDArray[np.int64]) -> Iterator[tuple[NDArray[np.int64], list[str]]]:
    """Indices of consecutive kept times and the texts of all chains at them, time by time."""
    together, states = max(1, _TEXTS // trace.n_chains), states_over(trace, times)
    for k in range(0, len(times), together):
        part = list(islice(states, together))
        yield np.arange(k, k + len(part)), [model.decode(x) for _, chains in part for x in chains]


def _score(
    scorer: TopicScorer, thresholds: Floats, texts: list[str], shuffles: ShuffledTopics | None
) -> tuple[Flags, Flags | None]:
    distinct = list(dict.fromkeys(texts))
    where = {text: k for k, text in enumerate(distinct)}
    back = np.array([where[text] for text in texts])
    if isinstance(scorer, AnchorMargin):
        embedded = scorer.embedder.encode(distinct)
        passed = margins(embedded @ scorer.centroids.T) >= thresholds
        return passed[back], None if shuffles is None else shuffles.passed(embedded)[back]
    return (checked_scores(scorer, distinct) >= thresholds)[back], None
