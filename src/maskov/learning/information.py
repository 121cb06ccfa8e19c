"""What n problems can say about the mode weights: exact asymptotic standard errors of the witness learner.

The trained weights minimise a mean of n losses, so their covariance is H⁻¹ J H⁻¹/n [Huber 1967], with the mean
curvature H and the covariance J of the score. The posterior of the mode is a martingale in the visible set, hence

    H = E_S w Σ_{i∉S} E (r_{S∪i} − r_S)(r_{S∪i} − r_S)',     J = E_S w² E s s',  s = Σ_{i∉S} (r_{S∪i} − r_S).

In the joint form s = r(x) − r(x_S), and without loss weights H = J is the Fisher information MMSE_μ − MMSE_N: the
variance of the log-odds is 1/(n H). The token form adds up correlated tokens, and J ≥ H says by how much it repeats
itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskov.errors import InputError
from maskov.identifiability.counting import compositions
from maskov.learning.modes import Modes, modes_of
from maskov.learning.problems import Counted, Masked, exact_problems, multiplicity
from maskov.learning.witness import Evidence, Witness, check_loss, evidence, mode_shift
from maskov.schedules import Schedule
from maskov.schedules import schedule as parse_schedule

Floats = NDArray[np.float64]


def weight_stderr(law: Any, schedule: str | Schedule, samples: int, loss: str = "token") -> Floats:
    """Exact asymptotic standard error of each learned mode weight from n problems: [K]; inf where blind.

    Raises ``InputError`` on a law that cannot be counted or enumerated.

    >>> error = weight_stderr("product?sites=64&gap=0.3&weight=0.3", "full", 20_000, loss="joint")
    >>> bool(abs(error[1] - (0.3 * 0.7 / 20_000) ** 0.5) < 1e-8)  # 64 sites tell the mode almost surely
    True
    """
    modes = modes_of(law)
    H, J = information(modes, parse_schedule(schedule), loss)
    w = modes.weights
    slope = (np.diag(w) - np.outer(w, w))[:, 1:]
    try:
        half = slope @ np.linalg.inv(H)
    except np.linalg.LinAlgError:
        return np.full(len(w), np.inf)
    return np.sqrt(np.diag(half @ J @ half.T) / samples)


def steps_needed(law: Any, schedule: str | Schedule, loss: str = "token") -> float:
    """Steps of the witness learner (its own SGD) after which e^−5 of a nearby start is left in the averaged log-odds.

    Momentum 0.9 at rate 0.8/L, L = E_S w |hidden|, forgets at 10 · rate · H a step, H the least curvature; the mean
    starts half way down a step size that falls linearly, after 3/8 of the steps at full size. H is the curvature at
    the true weights: from weights near 0 or 1, where the loss is flatter, allow several times as many.

    >>> blind, full = (steps_needed("product?sites=64&gap=0.3&weight=0.3", spec) for spec in ("hide:1", "full"))
    >>> full < 40 and blind > 1e6
    True
    """
    modes, mu = modes_of(law), parse_schedule(schedule)
    N = modes.law.n_sites
    H, _ = information(modes, mu, loss)
    hidden = np.arange(N, -1, -1) if loss == "token" else 1.0
    rate = 0.8 / float((mu.objective_law(N) * hidden)[:N].sum())
    least = float(np.linalg.eigvalsh(H)[0])
    return 5 / (3.75 * rate * least) if least > 0 else np.inf


def information(modes: Modes, schedule: Schedule, loss: str = "token") -> tuple[Floats, Floats]:
    """H and J of the log-odds [K − 1, K − 1], per problem."""
    problems = exact_problems(modes, schedule)
    if problems is None:
        expected = "few enough counts or states to sum over"
        raise InputError("law", expected=expected, came=str(modes.law.text), remedy="take fewer sites or symbols")
    if isinstance(problems, Counted):
        return _joint_counts(modes, problems) if check_loss(loss) == "joint" else _token_counts(modes, problems)
    return _texts(modes, problems, check_loss(loss))


def _texts(modes: Modes, problems: Masked, loss: str) -> tuple[Floats, Floats]:
    truth, rows = Witness(modes, loss=loss), evidence(modes, problems)
    scores = truth.scores(rows)
    J = _moment(problems.mass, scores)
    if loss == "joint":
        used = problems.weight > 0
        inverse = np.divide(problems.mass, problems.weight, out=np.zeros(len(used)), where=used)
        return _moment(inverse, scores), J
    return _token_curvature(modes, rows), J


def _moment(mass: Floats, vectors: Floats) -> Floats:
    return np.asarray((mass[:, None] * vectors).T @ vectors)


def _shifts(modes: Modes, rows: Evidence) -> Floats:
    """r(x_{S∪i}) − r(x_S), without mode 0: [R, M, K − 1]; 0 where no token is predicted."""
    log_w = np.log(modes.weights)
    before, after = (rows.base + log_w)[:, None, :], rows.after + log_w
    return np.where(rows.times[..., None] > 0, mode_shift(np.broadcast_to(before, after.shape), after), 0.0)[..., 1:]


def _token_curvature(modes: Modes, rows: Evidence) -> Floats:
    g = _shifts(modes, rows)
    share = (rows.mass * rows.weight)[:, None] * rows.times
    return np.asarray(np.einsum("rm,rmj,rmk->jk", share, g, g))


def _token_counts(modes: Modes, problems: Counted) -> tuple[Floats, Floats]:
    """With d_a hidden a's: E[d_a d_b | counts] = h(h − 1) P(a, b | counts) + δ_ab h P(a | counts)."""
    rows = evidence(modes, problems)
    g, h = _shifts(modes, rows), problems.hidden.sum(axis=1)
    pairs = _pair_law(modes, problems) * (h * (h - 1))[:, None, None]
    pairs += np.eye(pairs.shape[1]) * problems.hidden[:, :, None]
    share = problems.mass * problems.weight**2
    J = np.einsum("r,rab,raj,rbk->jk", share, pairs, g, g)
    return _token_curvature(modes, rows), np.asarray(J)


def _pair_law(modes: Modes, problems: Counted) -> Floats:
    """P(two more sites hold a and b | counts): [R, V, V]; 0 where fewer than two sites are hidden."""
    one = np.eye(problems.counts.shape[1], dtype=np.int64)
    room = problems.hidden.sum(axis=1) > 1.5
    out = np.zeros((len(room), len(one), len(one)))
    if room.any():
        counts = problems.counts[room][:, None, None, :] + one[:, None] + one
        before = np.exp(modes.log_count_marginals(problems.counts[room])) @ modes.weights
        out[room] = np.exp(modes.log_count_marginals(counts)) @ modes.weights / before[:, None, None]
    return out


def _joint_counts(modes: Modes, problems: Counted) -> tuple[Floats, Floats]:
    """E Cov(Z | x_S) − E Cov(Z | x), count by count."""
    visible = problems.counts.sum(axis=1)
    end = _residual_covariance(modes, modes.law.n_sites)
    H, J = np.zeros_like(end), np.zeros_like(end)
    for v in np.unique(visible)[::-1]:
        at = visible == v
        gain = _residual_covariance(modes, int(v)) - end
        mass, weight = problems.mass[at].sum(), problems.weight[at][0]
        H, J = H + mass * weight * gain, J + mass * weight**2 * gain
    return H, J


def _residual_covariance(modes: Modes, v: int) -> Floats:
    """E Cov(Z | x_S) without mode 0, |S| = v: [K − 1, K − 1]."""
    counts = compositions(v, modes.law.vocabulary_size)
    joint = np.exp(modes.log_count_marginals(counts) + multiplicity(counts)[:, None]) * modes.weights
    chance = joint.sum(axis=1)
    r = joint[chance > 0] / chance[chance > 0, None]
    P = chance[chance > 0]
    return np.asarray(np.diag(P @ r) - (P[:, None] * r).T @ r)[1:, 1:]
