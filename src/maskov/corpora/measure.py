"""Held-out losses of classifiers at one visible count, every document scored by a classifier that never saw it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maskov.corpora.calibrate import Calibrator, fit_calibrator
from maskov.corpora.collect import PARTS, Collection
from maskov.corpora.naive_bayes import RunCounts, run_scores
from maskov.corpora.neural import fit_network, hashed_counts, network_scores
from maskov.corpora.subsets import Panel, Seen, draw

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]
CLASSIFIERS = ("unigram", "ngram", "network")


class Fold(NamedTuple):
    """One of five rotations: a part to test on, one to calibrate and choose on, three to train on."""

    test: int
    calibrate: int
    train: tuple[int, ...]


FOLDS = tuple(Fold(f, (f + 1) % PARTS, tuple((f + k) % PARTS for k in range(2, PARTS))) for f in range(PARTS))


class Measured(NamedTuple):
    """Held-out losses at one v. brier, log_loss: [D], mean over a document's draws (nats for the latter);
    classifier: chosen in most folds; chosen: how often each was; draws: R."""

    visible: int
    sampling: str
    brier: Floats
    log_loss: Floats
    classifier: str
    chosen: dict[str, int]
    draws: int


class Bench:
    """What stays the same over all visible counts: tables of runs and their log-rates by fold."""

    def __init__(
        self,
        collections: Sequence[Collection],
        who: Panel,
        weights: Floats,
        vocabulary_size: int,
        orders: int,
        classifiers: Sequence[str],
        seed: int,
    ) -> None:
        self.collections, self.who, self.classifiers, self.seed = collections, who, tuple(classifiers), seed
        self.log_weights, self.weights, self.orders = np.log(weights), weights, orders
        needed = 1 if tuple(classifiers) == ("unigram",) else orders
        self.counts = [RunCounts(collections, order, vocabulary_size) for order in range(1, needed + 1)]
        self.rates = [[counts.log_rates(fold.train) for counts in self.counts] for fold in FOLDS]
        for counts in self.counts:
            del counts.counts  # only the log-rates are needed from here on

    def measure(self, visible: int, sampling: str) -> Measured:
        """Losses of every document of the panel at one visible count."""
        seen = draw(self.collections, self.who, visible, sampling, self.seed)
        modes = np.repeat(self.who.collection, seen.draws).astype(np.int64)
        part = np.repeat(self.who.part, seen.draws)
        table = hashed_counts(seen, self.orders) if "network" in self.classifiers else None
        log_q, chosen = np.empty((len(modes), len(self.weights))), Counter[str]()
        for number, fold in enumerate(FOLDS):
            test = np.flatnonzero(part == fold.test)
            label, log_q[test] = self._fold(number, fold, seen, modes, part, table, test)
            chosen[label] += 1
        brier, log_loss = losses(log_q, modes)
        shape = (len(self.who.start), seen.draws)
        means = brier.reshape(shape).mean(axis=1), log_loss.reshape(shape).mean(axis=1)
        return Measured(visible, sampling, *means, chosen.most_common(1)[0][0], dict(chosen), seen.draws)

    def _fold(
        self, number: int, fold: Fold, seen: Seen, modes: Rows, part: NDArray[np.int8], table: Any, test: Rows
    ) -> tuple[str, Floats]:
        """The classifier that the calibration part prefers, and its log-posterior on the test part."""
        held = np.flatnonzero(part == fold.calibrate)
        rows = np.concatenate([held, test])
        channels = self._channels(number, fold, seen, modes, part, table, rows)
        weight = self._row_weights(modes[held])
        best: tuple[float, str, Calibrator | None] = (np.inf, "", None)
        for name, columns in self._candidates(seen.tokens.shape[1]).items():
            F = channels[:, columns]
            model = fit_calibrator(F[: len(held)], modes[held], weight, self.log_weights)
            log_q = model.log_posterior(F[: len(held)])
            loss = -float(weight @ log_q[np.arange(len(held)), modes[held]])
            if loss < best[0]:
                best = (loss, name, model)
        assert best[2] is not None
        columns = self._candidates(seen.tokens.shape[1])[best[1]]
        return best[1], best[2].log_posterior(channels[len(held) :, columns])

    def _channels(
        self, number: int, fold: Fold, seen: Seen, modes: Rows, part: NDArray[np.int8], table: Any, rows: Rows
    ) -> Floats:
        """Scores of naive Bayes by order, then of the network: [len(rows), C, K]."""
        pairs = zip(self.counts, self.rates[number], strict=True)
        columns = [run_scores(seen, counts, rates, rows) for counts, rates in pairs]
        if table is not None:
            train = np.flatnonzero(np.isin(part, fold.train))
            net = fit_network(table[train], modes[train], self._row_weights(modes[train]), self.seed + number)
            columns.append(network_scores(net, table[rows], len(self.weights)))
        return np.stack(columns, axis=1)

    def _candidates(self, visible: int) -> dict[str, list[int]]:
        """Which channels each classifier combines; runs longer than v are none."""
        runs = [k for k, counts in enumerate(self.counts) if counts.order <= visible]
        all_of_them = {"unigram": [0], "ngram": runs, "network": [*runs, len(self.counts)]}
        names = [name for name in self.classifiers if name != "ngram" or len(runs) > 1 or len(self.classifiers) == 1]
        return {name: all_of_them[name] for name in names}

    def _row_weights(self, modes: Rows) -> Floats:
        """w_z shared evenly by the rows of mode z: [n], sums to 1."""
        return np.asarray((self.weights / np.maximum(np.bincount(modes, minlength=len(self.weights)), 1))[modes])


def losses(log_q: Floats, modes: Rows) -> tuple[Floats, Floats]:
    """Brier score ½ Σ_z (1[Z = z] − q_z)² (for two modes (Z − q)²) and −log q_Z of each row: [n], [n].

    >>> losses(np.log([[0.25, 0.75]]), np.array([1]))[0].tolist()
    [0.0625]
    """
    hit = np.eye(log_q.shape[1])[modes]
    brier = 0.5 * ((hit - np.exp(log_q)) ** 2).sum(axis=1)
    return brier, -log_q[np.arange(len(modes)), modes]
