"""From a law and a schedule to experiments: exact by counting, exact by enumeration, or sampled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskov.errors import InputError
from maskov.identifiability.counting import CountModes, MultinomialCounts, count_modes
from maskov.identifiability.discrepancy import mmse
from maskov.identifiability.experiment import Experiment, count_experiment, set_experiment
from maskov.identifiability.log_quantities import LogEstimate, LogExact
from maskov.identifiability.modes import check_weights
from maskov.identifiability.residual import log_mode_overlap
from maskov.identifiability.sampling import REPLICATES, sampled_counts, sampled_experiment, sampled_rows
from maskov.quantities import mean_estimate
from maskov.randomness import Stream, generator
from maskov.schedules import Schedule, UniformRate, VisibleCount

Floats = NDArray[np.float64]
MOST_COMPOSITIONS = 6_000_000
MOST_LISTED = 200_000


@dataclass(frozen=True)
class View:
    """One exact experiment, or independent sampled ones, of a law under a schedule.

    experiments: one or ``REPLICATES``; model: the counting view, where there is one; how: ``counting``,
    ``enumeration`` or ``sampling``.
    """

    law: Any
    schedule: Schedule
    experiments: tuple[Experiment, ...]
    model: CountModes | None
    how: str

    @property
    def exact(self) -> bool:
        """Whether every number is exact."""
        return self.how != "sampling"

    @property
    def weights(self) -> Floats:
        """Mode weights w: [K]."""
        return self.experiments[0].weights

    def log_quantity(self, log_function: Callable[[Experiment], float]) -> LogExact | LogEstimate:
        """The value of exp(log_function), exact or estimated over the replicates with its standard error."""
        logs = np.array([log_function(e) for e in self.experiments])
        return LogExact.of(float(logs[0])) if self.exact else log_estimate(logs)


def log_estimate(logs: Floats) -> LogEstimate:
    """Mean of exp(logs) over independent replicates, with its logarithm. logs: [replicates]."""
    peak = float(logs.max())
    if not np.isfinite(peak):
        return LogEstimate(0.0 if peak < 0 else np.inf, 0.0, len(logs), None, peak)
    scaled = mean_estimate(np.exp(logs - peak))
    with np.errstate(over="ignore"):
        size = np.exp(peak)
    ends = scaled.interval or (scaled.value, scaled.value)
    return LogEstimate(
        scaled.value * size,
        scaled.stderr * size,
        len(logs),
        (ends[0] * size, ends[1] * size),
        peak + float(np.log(scaled.value)),
        scaled.stderr / scaled.value,
    )


def view(law: Any, schedule: Schedule, seed: int = 0, reach: float = 0.0) -> View | None:
    """The best view of a law with modes; ``None`` for a law without (neither mode marginals nor counts).

    reach: see ``count_experiment``.
    """
    weights = np.atleast_1d(getattr(law, "weights", [0.5, 0.5]))
    if len(weights) < 2:
        return None
    check_weights(weights)
    model = count_modes(law)
    if model is not None and _countable(model, schedule):
        return View(law, schedule, (count_experiment(model, schedule, reach),), model, "counting")
    if isinstance(model, MultinomialCounts):
        drawn = (sampled_counts(model, schedule, generator(seed, k, Stream.LAW)) for k in range(REPLICATES))
        return View(law, schedule, tuple(drawn), model, "sampling")
    if not hasattr(law, "log_mode_marginals"):
        return None
    try:
        return View(law, schedule, (set_experiment(law, schedule),), model, "enumeration")
    except InputError:
        replicates = tuple(sampled_experiment(law, schedule, generator(seed, k, Stream.LAW)) for k in range(REPLICATES))
        return View(law, schedule, replicates, model, "sampling")


def _countable(model: CountModes, schedule: Schedule) -> bool:
    if not isinstance(model, MultinomialCounts) or model.log_symbols.shape[1] <= 2:
        return True
    support = np.flatnonzero(schedule.visible_law(model.n_sites))
    needed = {int(v) + k for v in support for k in (0, 1)} | {model.n_sites}
    return sum(model.rows(min(v, model.n_sites)) for v in needed) <= MOST_COMPOSITIONS


def mmse_curve(seen: View, counts: NDArray[np.int64], seed: int = 0) -> list[tuple[int, LogExact | LogEstimate]]:
    """MMSE(v) = E Var(Z | x_S), S uniform of size v, at the given counts (for K modes: half the trace of the mean
    posterior covariance)."""
    if seen.how == "counting" and seen.model is not None:
        return [(int(v), LogExact.of(_count_mmse(seen.model, int(v)))) for v in counts]
    if seen.how == "enumeration":
        return _enumerated_curve(seen, counts)
    return [(int(v), _sampled_mmse(seen, int(v), seed)) for v in counts]


def _count_mmse(model: CountModes, v: int) -> float:
    return float(log_mode_overlap(model.log_table(v), np.zeros(1, dtype=np.int64), model.weights)[0])


def _enumerated_curve(seen: View, counts: NDArray[np.int64]) -> list[tuple[int, LogExact | LogEstimate]]:
    try:
        everything = _every_set(seen)
    except InputError:
        return []
    values = mmse(everything)
    by_count = {
        int(v): np.logaddexp.reduce(values[everything.visible == v]) - np.log((everything.visible == v).sum())
        for v in counts
    }
    return [(v, LogExact.of(float(value))) for v, value in by_count.items()]


def _every_set(seen: View) -> Experiment:
    """The experiment with all visible sets: the one at hand where it has them all."""
    have = seen.experiments[0]
    return have if len(have.starts) == 2**have.n_sites else set_experiment(seen.law, UniformRate())


def _sampled_mmse(seen: View, v: int, seed: int) -> LogExact | LogEstimate:
    if isinstance(seen.model, MultinomialCounts) and seen.model.rows(v) <= MOST_LISTED:
        return LogExact.of(_count_mmse(seen.model, v))
    if v >= seen.experiments[0].n_sites:
        return log_estimate(np.array([mmse(e)[e.full] for e in seen.experiments]))
    logs = [_drawn_mmse(seen, v, generator(seed, 1000 + k, Stream.LAW)) for k in range(REPLICATES)]
    return log_estimate(np.array(logs))


def _drawn_mmse(seen: View, v: int, rng: np.random.Generator) -> float:
    if isinstance(seen.model, MultinomialCounts):
        return float(mmse(sampled_counts(seen.model, VisibleCount(v), rng))[0])
    rows = sampled_rows(seen.law, v, rng, 500)
    return float(log_mode_overlap(rows, np.zeros(1, dtype=np.int64), seen.weights)[0])
