"""The prediction problems of masked training: texts of a law, each with its visible set and loss weight.

One *problem* is a pair (x, S). The training set holds n of them, drawn once: a text keeps its mask however often it is
visited. That is the statistical setting of the theory, error ∝ 1/√(n π_0). (Trainers that draw a new mask at each
visit see each text under every mask in the end, and then only the number of texts limits them.)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from maskov.errors import InputError
from maskov.identifiability.counting import compositions
from maskov.laws import enumerate_states
from maskov.learning.modes import Modes, seen_counts
from maskov.protocols import Flags, Tokens
from maskov.schedules import Schedule
from maskov.schedules.base import log_choose

Floats = NDArray[np.float64]
MOST_ROWS = 400_000


class Masked(NamedTuple):
    """Problems by their texts. states: [R, N]; visible: [R, N]; mass: [R], sums to 1; weight: [R] loss weights."""

    states: Tokens
    visible: Flags
    mass: Floats
    weight: Floats


class Counted(NamedTuple):
    """Problems of an exchangeable law. counts: [R, V] visible; hidden: [R, V] (expected) hidden; mass, weight: [R]."""

    counts: Tokens
    hidden: Floats
    mass: Floats
    weight: Floats


def check_schedule(schedule: Schedule, length: int) -> Schedule:
    """The schedule, if it hides something at this length; ``InputError`` otherwise."""
    if not schedule.objective_law(length)[:length].sum() > 0:
        remedy = "a masked loss needs hidden sites: try fixed:0.15"
        came = f"{schedule.text}, which shows all {length}"
        raise InputError("schedule", expected="one that hides a site", came=came, remedy=remedy)
    if schedule.weighted and not schedule.uniform_given_count:
        expected = "loss weights on a schedule that is uniform given its count"
        raise InputError("schedule", expected=expected, came=schedule.text, remedy="leave the weight or the spans away")
    return schedule


def loss_weights(schedule: Schedule, length: int) -> Floats:
    """w(v), objective mass over sampling mass, v = 0 … N: [N + 1]; 0 where there is no mass.

    >>> from maskov.schedules import schedule
    >>> loss_weights(schedule("uniform*1/t"), 2).round(3).tolist()
    [1.5, 3.0, 0.0]
    """
    if not schedule.weighted:
        return np.ones(length + 1)
    law, objective = schedule.visible_law(length), schedule.objective_law(length)
    return np.divide(objective, law, out=np.zeros(length + 1), where=law > 0)


def draw_problems(
    modes: Modes, schedule: Schedule, size: int, texts: np.random.Generator, masks: np.random.Generator
) -> Masked:
    """``size`` independent texts, one mask each; generators of their own, so schedules share their texts."""
    N = modes.law.n_sites
    states = modes.law.sample(texts, size)
    visible = schedule.sample_visible(N, size, masks)
    weight = loss_weights(schedule, N)[visible.sum(axis=1)]
    return Masked(states, visible, np.full(size, 1 / size), weight)


def population(modes: Modes, schedule: Schedule) -> Masked:
    """Every (x, S) with its probability p(x) μ(S): training on it follows the exact gradient. Few sites only."""
    law = modes.law
    sets = schedule.set_law(law.n_sites)
    states = enumerate_states(law.vocabulary_size, law.n_sites)
    if len(states) * len(sets.visible) > MOST_ROWS:
        came = f"{len(states)} states × {len(sets.visible)} sets"
        raise InputError("law", expected=f"at most {MOST_ROWS} pairs of state and set", came=came)
    p = np.exp(modes.log_marginals(states, np.ones(states.shape, dtype=bool))) @ modes.weights
    mass = np.exp(sets.log_mass)[:, None] * p
    visible = np.repeat(sets.visible, len(states), axis=0)
    weight = np.repeat(np.exp(sets.log_objective - sets.log_mass), len(states))
    return Masked(np.tile(states, (len(sets.visible), 1)), visible, mass.ravel(), weight)


def exact_problems(modes: Modes, schedule: Schedule) -> Counted | Masked | None:
    """The whole law of problems: by counting, by enumeration, or None where neither is feasible."""
    if modes.exchangeable:  # which sites are seen does not matter then, spans included
        return count_problems(modes, schedule)
    try:
        return population(modes, schedule)
    except InputError:
        return None


def count_problems(modes: Modes, schedule: Schedule) -> Counted | None:
    """Visible counts with their probabilities, hidden symbols by their expectations given the counts."""
    N, V = modes.law.n_sites, modes.law.vocabulary_size
    law = schedule.visible_law(N)
    used = np.flatnonzero((law > 0) & (np.arange(N + 1) < N))
    if V > 6 or sum(float(np.exp(log_choose(int(v) + V - 1, np.array([V - 1]))[0])) for v in used) > MOST_ROWS:
        return None
    parts = [_at_count(modes, int(v)) for v in used[::-1]]
    counts = np.concatenate([part[0] for part in parts])
    mass = np.concatenate([part[2] * law[v] for part, v in zip(parts, used[::-1], strict=True)])
    weight = loss_weights(schedule, N)[counts.sum(axis=1)]
    return Counted(counts, np.concatenate([part[1] for part in parts]), mass, weight)


def _at_count(modes: Modes, v: int) -> tuple[Tokens, Floats, Floats]:
    """Counts [R, V] on v sites, expected hidden symbols [R, V], P(counts) [R]; impossible ones left out."""
    N, V = modes.law.n_sites, modes.law.vocabulary_size
    counts = compositions(v, V)
    ways = multiplicity(counts)
    joint = np.exp(modes.log_count_marginals(counts) + ways[:, None]) @ modes.weights
    counts, ways, chance = counts[joint > 0], ways[joint > 0], joint[joint > 0]
    after = modes.log_count_marginals(counts[:, None, :] + np.eye(V, dtype=np.int64))
    hidden = (N - v) * (np.exp(after + ways[:, None, None]) @ modes.weights) / chance[:, None]
    return counts, hidden, chance / chance.sum()


def multiplicity(counts: Tokens) -> Floats:
    """log of the number of configurations with these counts [..., V]: [...].

    >>> np.exp(multiplicity(np.array([[2, 1]]))).round(6).tolist()
    [3.0]
    """
    return np.asarray(gammaln(counts.sum(axis=-1) + 1.0) - gammaln(counts + 1.0).sum(axis=-1))


def counted(problems: Masked, vocabulary_size: int) -> Counted:
    """The same problems by their counts."""
    seen = seen_counts(problems.states, problems.visible, vocabulary_size)
    hidden = seen_counts(problems.states, ~problems.visible, vocabulary_size)
    return Counted(seen, hidden.astype(np.float64), problems.mass, problems.weight)
