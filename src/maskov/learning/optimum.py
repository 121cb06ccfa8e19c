"""The least loss that any predictor can have under a schedule, and how far a learner is above it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from maskov.errors import InputError
from maskov.identifiability import log_joint_discrepancy, log_token_discrepancy, view
from maskov.identifiability.counting import compositions
from maskov.learning.modes import Modes
from maskov.learning.problems import (
    Counted,
    Masked,
    count_problems,
    exact_problems,
    loss_weights,
    multiplicity,
    population,
)
from maskov.learning.tabular import CountTable
from maskov.learning.witness import Witness
from maskov.quantities import Exact, Quantity, mean_estimate
from maskov.schedules import Schedule

Floats = NDArray[np.float64]


def optimal_loss(modes: Modes, schedule: Schedule, loss: str = "token", fresh: Masked | None = None) -> Quantity:
    """E_S w Σ_{i∉S} H(x_i | x_S) (token form) or E_S w H(x_{S^c} | x_S) (joint form), nats a text.

    Exact by counting or enumeration; else an estimate from fresh problems.

    >>> from maskov.learning.modes import modes_of
    >>> from maskov.schedules import schedule
    >>> round(optimal_loss(modes_of("product?sites=4&gap=0.3&weight=0.3"), schedule("full")).value, 6)
    2.656257
    """
    exact = exact_problems(modes, schedule)
    if exact is not None:
        if loss == "joint" and isinstance(exact, Counted):
            return Exact(_joint_by_counts(modes, schedule))
        truth = Witness(modes, loss=loss)
        return Exact(float(exact.mass @ truth.losses(truth.prepare(exact))))
    if fresh is None:
        raise InputError("optimal loss", expected="a law to count or enumerate, or fresh texts", came="neither")
    truth = Witness(modes, loss=loss)
    return mean_estimate(truth.losses(truth.prepare(fresh)))


def _joint_by_counts(modes: Modes, schedule: Schedule) -> float:
    N = modes.law.n_sites
    law = schedule.visible_law(N) * loss_weights(schedule, N)
    used = np.flatnonzero(law[:N] > 0)
    whole = _count_entropy(modes, N)
    return float(sum(law[v] * (whole - _count_entropy(modes, int(v))) for v in used[::-1]))


def _count_entropy(modes: Modes, v: int) -> float:
    """H(x_S), |S| = v: nats."""
    counts = compositions(v, modes.law.vocabulary_size)
    with np.errstate(divide="ignore"):
        log_p = np.log(np.exp(modes.log_count_marginals(counts)) @ modes.weights)
    p = np.exp(log_p + multiplicity(counts))
    return -float(p[p > 0] @ log_p[p > 0])


def excess_loss(learner: Any, schedule: Schedule, loss: str, fresh: Masked) -> Quantity:
    """Expected loss above the optimum, nats a text: exact where it can be, else Rao–Blackwellised on fresh problems.

    witness: D_μ or D^tok_μ of its weights; tables: over all rows; networks: Σ_i KL(p(·|x_S) ‖ q(·|x_S)) at fresh x_S.
    """
    if isinstance(learner, Witness):
        return witness_excess(learner, schedule, loss)
    exact = _table_problems(learner, schedule)
    if exact is None:
        return mean_estimate(token_divergences(learner, fresh))
    truth, rows = Witness(learner.modes), learner.prepare(exact)
    gap = learner.losses(rows) - truth.losses(truth.prepare(exact))
    return Exact(max(0.0, float(exact.mass @ gap)))


def witness_excess(learner: Witness, schedule: Schedule, loss: str) -> Quantity:
    """D^tok_μ(p‖q_λ) (or D_μ): the identifiability room's number for the learned weights."""
    form = log_token_discrepancy if loss == "token" else log_joint_discrepancy
    seen = view(learner.modes.law, schedule)
    if seen is None:
        raise InputError("law", expected="modes", came="none")
    return seen.log_quantity(lambda experiment: form(experiment, seen.weights, learner.weights))


def _table_problems(learner: Any, schedule: Schedule) -> Counted | Masked | None:
    if isinstance(learner, CountTable):
        return count_problems(learner.modes, schedule)
    if getattr(learner, "name", "") != "table":
        return None
    try:
        return population(learner.modes, schedule)
    except InputError:
        return None


def token_divergences(learner: Any, fresh: Masked) -> Floats:
    """w Σ_{i∉S} KL(p(·|x_S) ‖ q(·|x_S)) of each problem: [R], ≥ 0."""
    row, site = np.nonzero(~fresh.visible)
    x, hidden = fresh.states[row], ~fresh.visible[row]
    log_p = np.log(softmax(true_rows(learner.modes, x, hidden, site), axis=1))
    log_q = np.asarray(learner.predict(x, hidden, site), dtype=np.float64)
    p = np.exp(log_p)
    kl = np.where(p > 0, p * (log_p - log_q), 0.0).sum(axis=1)
    return np.bincount(row, weights=kl, minlength=len(fresh.states)) * fresh.weight


def true_rows(modes: Modes, states: Any, hidden: Any, sites: Any) -> Floats:
    """log p(x_S, x_i = a) of every symbol a: [B, V]."""
    columns, visible = [], ~hidden
    visible[np.arange(len(states)), sites] = True
    for a in range(modes.law.vocabulary_size):
        changed = states.copy()
        changed[np.arange(len(states)), sites] = a
        joint = modes.log_marginals(changed, visible) + np.log(modes.weights)
        columns.append(np.logaddexp.reduce(joint, axis=1))
    return np.stack(columns, axis=1)
