"""Rao–Blackwell Monte Carlo where counting and enumeration don't reach: the mode is averaged out, only x_S is drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from maskov.identifiability.counting import MultinomialCounts, log_likelihood
from maskov.identifiability.experiment import Experiment, Links
from maskov.identifiability.log_space import rowwise_logsumexp
from maskov.identifiability.modes import ModeLaw
from maskov.identifiability.pinning import chernoff_point
from maskov.laws import ProductMixture
from maskov.protocols import Flags, JointLaw
from maskov.schedules import Schedule
from maskov.schedules.base import random_subsets

Floats = NDArray[np.float64]
REPLICATES = 16
MOST_CELLS = 2_000_000


def between_modes(log_sites: Floats) -> Floats:
    """Modes and, for each pair, the law ∝ p_y^{1−s} p_z^s between them at their Chernoff point: [K, …, V] → [P, …, V].

    The residual uncertainty lives where two modes are equally likely, which p itself reaches with probability
    e^{−cN}; that law is there always, so the relative error of an estimate stays bounded as N grows.
    """
    rows = list(log_sites)
    for y in range(len(log_sites)):
        for z in range(y):
            s, information = chernoff_point(log_sites[y], log_sites[z])
            if np.isfinite(information):
                with np.errstate(invalid="ignore"):
                    tilt = (1 - s) * log_sites[y] + s * log_sites[z]
                tilt = np.where(np.isnan(tilt), -np.inf, tilt)
                rows.append(tilt - np.asarray(logsumexp(tilt, axis=-1, keepdims=True)))
    return np.stack(rows)


def tilted_proposal(law: Any) -> JointLaw:
    """Where to draw x: for product mixtures a mixture of the modes and the laws between them; other laws are their
    own."""
    if not isinstance(law, ProductMixture):
        return law
    parts = np.exp(between_modes(law.log_rows))
    return ProductMixture(np.full(len(parts), 1 / len(parts)), parts, law.n_sites if law.exchangeable else None)


def sampled_counts(
    model: MultinomialCounts, schedule: Schedule, rng: np.random.Generator, size: int = 4000
) -> Experiment:
    """As ``sampled_experiment``, for exchangeable mixtures whose count vectors are too many to list: only counts are
    drawn.

    Revealing one more site is summed over the symbol that it shows (all m of them), so the token form has no noise
    from it.
    """
    N, m = model.n_sites, model.log_symbols.shape[1]
    counts, group, sizes = np.unique(
        _systematic_counts(schedule, N, size, rng), return_inverse=True, return_counts=True
    )
    proposal = between_modes(model.log_symbols)
    part = rng.integers(len(proposal), size=size)
    chances = np.exp(proposal)[part]
    shown = rng.multinomial(counts[group], chances / chances.sum(axis=1, keepdims=True))
    rest = rng.multinomial(N - counts[group], chances / chances.sum(axis=1, keepdims=True))
    seen = _weighted_counts(shown, model, proposal) - np.log(sizes)[group][:, None]
    more = (seen[:, None, :] + model.log_symbols.T[None]).reshape(size * m, -1)
    whole = _weighted_counts(shown + rest, model, proposal) - np.log(size)
    first = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    starts = np.concatenate([first, size + m * first, [size * (m + 1)]])
    table = np.concatenate([seen, more, whole])
    return _grouped(model.weights, table, starts, counts, np.log(sizes / size), schedule, N)


def _weighted_counts(counts: NDArray[np.int64], model: MultinomialCounts, proposal: Floats) -> Floats:
    drawn = rowwise_logsumexp(log_likelihood(counts, proposal)) - np.log(len(proposal))
    return log_likelihood(counts, model.log_symbols) - drawn[:, None]


def _systematic_counts(schedule: Schedule, N: int, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Visible counts, ascending, by systematic sampling of the visible law."""
    levels = (np.arange(size) + rng.random()) / size
    return np.minimum(np.searchsorted(np.cumsum(schedule.visible_law(N)), levels, side="right"), N)


def sampled_experiment(
    law: ModeLaw, schedule: Schedule, rng: np.random.Generator, size: int | None = None
) -> Experiment:
    """An unbiased stand-in for the exact tables: each drawn x enters with log p_z(x_S) − log proposal(x_S) − log
    (its group's size).

    Groups are visible counts, allotted by systematic sampling of the visible law. The same x serves S, S ∪ {i} (i
    drawn) and the whole, so their noise cancels in differences.
    """
    N = law.n_sites
    size = size or int(np.clip(MOST_CELLS // (N * law.vocabulary_size), 200, 2000))
    proposal = tilted_proposal(law)
    visible = _visible_sets(schedule, N, size, rng)
    visible = visible[np.argsort(visible.sum(axis=1), kind="stable")]
    counts, group, sizes = np.unique(visible.sum(axis=1), return_inverse=True, return_counts=True)
    x = proposal.sample(rng, size)
    more = _reveal_one(visible, rng)
    log_share = -np.log(sizes)[group]
    everything = np.ones_like(visible)
    blocks = [_rows(law, proposal, x, S) for S in (visible, more, everything)]
    first = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    table = np.concatenate([blocks[0] + log_share[:, None], blocks[1] + log_share[:, None], blocks[2] - np.log(size)])
    starts = np.concatenate([first, size + first, [2 * size]])
    return _grouped(law.weights, table, starts, counts, np.log(sizes / size), schedule, N)


def sampled_rows(law: ModeLaw, count: int, rng: np.random.Generator, size: int) -> Floats:
    """Drawn outcomes on uniformly drawn sets of ``count`` sites, as rows of one group: [size, K]."""
    proposal = tilted_proposal(law)
    visible = random_subsets(law.n_sites, np.full(size, count), rng)
    return _rows(law, proposal, proposal.sample(rng, size), visible) - np.log(size)


def _grouped(
    weights: Any, table: Floats, starts: Any, counts: NDArray[np.int64], log_mass: Floats, schedule: Schedule, N: int
) -> Experiment:
    """Groups in three parts: the drawn sets by count, the same with one more site, everything."""
    G, nothing = len(counts), np.full(len(counts) + 1, -np.inf)
    hiding = np.flatnonzero(counts < N)
    log_weight = (
        (schedule.log_objective_law(N)[counts] - schedule.log_visible_law(N)[counts]) if schedule.weighted else 0.0
    )
    return Experiment(
        weights=np.asarray(weights, dtype=np.float64),
        log_table=table,
        starts=starts.astype(np.int64),
        visible=np.concatenate([counts, np.minimum(counts + 1, N), [N]]),
        log_mass=np.concatenate([log_mass, nothing]),
        log_objective=np.concatenate([log_mass + log_weight, nothing]),
        full=2 * G,
        links=Links(hiding, G + hiding, np.log(N - counts[hiding])),
        exact=False,
        n_sites=N,
    )


def _visible_sets(schedule: Schedule, N: int, size: int, rng: np.random.Generator) -> Flags:
    if not schedule.uniform_given_count:
        return schedule.sample_visible(N, size, rng)
    return random_subsets(N, _systematic_counts(schedule, N, size, rng), rng)


def _reveal_one(visible: Flags, rng: np.random.Generator) -> Flags:
    """Each set with one more site visible, drawn uniformly among the hidden ones (none left: unchanged)."""
    keys = np.where(visible, -1.0, rng.random(visible.shape))
    more = visible.copy()
    more[np.arange(len(visible)), keys.argmax(axis=1)] = True
    return more


def _rows(law: ModeLaw, proposal: JointLaw, x: NDArray[np.int64], visible: Flags) -> Floats:
    modes = law.log_mode_marginals(x, visible)
    drawn = rowwise_logsumexp(modes + np.log(law.weights)) if proposal is law else proposal.log_marginal(x, visible)
    return modes - drawn[:, None]
