"""A mode probe: P(Z = 1 | x) of whole states by naive Bayes on runs, learned from states whose mode is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskov.corpora.calibrate import Calibrator, fit_calibrator
from maskov.corpora.collect import FEWEST, PARTS, Collection
from maskov.corpora.measure import losses
from maskov.corpora.naive_bayes import RunCounts, run_scores
from maskov.corpora.subsets import Seen
from maskov.errors import InputError
from maskov.quantities import Estimate, mean_estimate
from maskov.randomness import Stream, generator

Floats = NDArray[np.float64]
TEST, CALIBRATE, TRAIN = 0, 1, (2, 3, 4)


@dataclass(frozen=True)
class ModeProbe:
    """f(x) = P(Z = 1 | x) of states int64 [m, N]: call it. counts, rates: log-rates of runs by order; calibrator: of
    their sums; brier: mean (Z − f)² over states that neither saw, whose mean is at least MMSE_N."""

    counts: tuple[RunCounts, ...]
    rates: tuple[NDArray[np.float32], ...]
    calibrator: Calibrator
    brier: Estimate

    def __call__(self, states: NDArray[np.int64]) -> Floats:
        """P(Z = 1 | x): [m]."""
        return np.asarray(np.exp(self.calibrator.log_posterior(_scores(states, self.counts, self.rates))[:, 1]))


def mode_probe(
    first: Any, second: Any, vocabulary_size: int, *, weight: float = 0.5, orders: int = 3, seed: int = 0
) -> ModeProbe:
    """Learn to tell two modes apart from states of one length.

    first, second: states of mode 0 and of mode 1, int [D_k, N], at least 50 each, none of them twice; weight: P(Z = 1);
    orders: runs of up to so many neighbours. Three fifths of the states give the log-rates, one fifth one slope an
    order and one bias (``corpora.calibrate``), one fifth the Brier score.

    >>> rng = np.random.default_rng(0)
    >>> probe = mode_probe(rng.random((400, 12)) < 0.3, rng.random((400, 12)) < 0.7, 2)
    >>> low, high = probe(np.array([[0] * 12, [1] * 12]))
    >>> bool(low < 0.02 and high > 0.98), probe.brier.value < 0.1
    (True, True)
    """
    modes = [_checked(x, vocabulary_size) for x in (first, second)]
    found = [_collection(k, x, seed) for k, x in enumerate(modes)]
    counts = tuple(RunCounts(found, order, vocabulary_size) for order in range(1, orders + 1))
    rates = tuple(c.log_rates(TRAIN) for c in counts)
    for c in counts:
        del c.counts  # tens of megabytes an order; the log-rates are what is left to use
    w, log_weights = np.array([1 - weight, weight]), np.log([1 - weight, weight])
    scores, labels, rows = _part(modes, found, counts, rates, CALIBRATE, w)
    calibrator = fit_calibrator(scores, labels, rows, log_weights)
    scores, labels, _ = _part(modes, found, counts, rates, TEST, w)
    brier, _ = losses(calibrator.log_posterior(scores), labels)
    return ModeProbe(counts, rates, calibrator, mean_estimate(brier))


def _checked(states: Any, vocabulary_size: int) -> NDArray[np.int64]:
    x = np.asarray(states).astype(np.int64)
    if x.ndim != 2 or len(x) < FEWEST:
        raise InputError("states of a mode", expected=f"[D, N] with at least {FEWEST} of them", came=str(list(x.shape)))
    if x.size and not (x.min() >= 0 and x.max() < vocabulary_size):
        raise InputError(
            "states of a mode", expected=f"symbols 0 … {vocabulary_size - 1}", came=f"{x.min()} … {x.max()}"
        )
    return x


def _collection(k: int, states: NDArray[np.int64], seed: int) -> Collection:
    """States as documents; parts of equal size, at random."""
    D, N = states.shape
    part = generator(seed, k, Stream.STUDY).permutation(np.arange(D) % PARTS).astype(np.int8)
    return Collection(str(k), states.ravel(), N * np.arange(D + 1), part, 0, 0)


def _scores(states: NDArray[np.int64], counts: Sequence[RunCounts], rates: Sequence[NDArray[np.float32]]) -> Floats:
    """Sums of log-rates over all runs of each order: [m, orders, 2]."""
    m, N = states.shape
    seen = Seen(states, np.broadcast_to(np.arange(N, dtype=np.int32), (m, N)), 1)
    return np.stack([run_scores(seen, c, r, np.arange(m)) for c, r in zip(counts, rates, strict=True)], axis=1)


def _part(
    modes: Sequence[NDArray[np.int64]],
    found: Sequence[Collection],
    counts: Sequence[RunCounts],
    rates: Sequence[NDArray[np.float32]],
    part: int,
    weights: Floats,
) -> tuple[Floats, NDArray[np.int64], Floats]:
    """Scores, modes and row weights (w_z shared evenly by the rows of a mode) of one part."""
    picked = [x[c.part == part] for x, c in zip(modes, found, strict=True)]
    labels = np.repeat([0, 1], [len(x) for x in picked])
    rows = np.concatenate([np.full(len(x), w / len(x)) for x, w in zip(picked, weights, strict=True)])
    return _scores(np.concatenate(picked), counts, rates), labels, rows
