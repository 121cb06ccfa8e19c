"""The witness learner: every within-mode conditional known, the K − 1 log-odds of the mode weights free.

q_θ(x_S) = Σ_z λ_z p_z(x_S), λ = softmax(0, θ). With r = P_θ(Z | ·), the gradient of a token's log-probability is

    ∂/∂θ log q_θ(x_i | x_S) = r(x_{S ∪ i}) − r(x_S),

what revealing the token says about the mode. Where x_S has pinned the mode already there is nothing left to learn from.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from maskov.errors import InputError
from maskov.learning.modes import Modes, modes_of
from maskov.learning.optimizers import Momentum, Optimizer
from maskov.learning.problems import Counted, Masked, counted

Floats = NDArray[np.float64]
LOSSES = ("token", "joint")


class Evidence(NamedTuple):
    """What problems say of the mode, in log p_z (nats).

    base: [R, K] of x_S; after: [R, M, K] of x_S with one more token; times: [R, M] how often that token is predicted;
    whole: [R, K] of x, None where only the expectation over the hidden tokens is at hand; mass, weight: [R].
    """

    base: Floats
    after: Floats
    times: Floats
    whole: Floats | None
    mass: Floats
    weight: Floats


def evidence(modes: Modes, problems: Counted | Masked) -> Evidence:
    """Evidence of problems: by counts for exchangeable laws, site by site otherwise."""
    if isinstance(problems, Counted):
        return _of_counts(modes, problems, whole=False)
    if modes.exchangeable:
        return _of_counts(modes, counted(problems, modes.law.vocabulary_size), whole=True)
    return _of_texts(modes, problems)


def _of_counts(modes: Modes, p: Counted, whole: bool) -> Evidence:
    one = np.eye(p.counts.shape[1], dtype=np.int64)
    everything = modes.log_count_marginals(p.counts + p.hidden.astype(np.int64)) if whole else None
    base, after = modes.log_count_marginals(p.counts), _revealed(modes, p.counts[:, None, :] + one, p.hidden)
    return Evidence(base, after, p.hidden, everything, p.mass, p.weight)


def _revealed(modes: Modes, counts: NDArray[np.int64], hidden: Floats) -> Floats:
    """Marginals where the token occurs; beyond the last site (nothing hidden) there are none."""
    out = np.zeros((*counts.shape[:-1], len(modes.weights)))
    out[hidden > 0] = modes.log_count_marginals(counts[hidden > 0])
    return out


def _of_texts(modes: Modes, p: Masked) -> Evidence:
    R, N = p.states.shape
    after = np.zeros((R, N, len(modes.weights)))
    for i in range(N):
        rows = np.flatnonzero(~p.visible[:, i])
        more = p.visible[rows].copy()
        more[:, i] = True
        if len(rows):
            after[rows, i] = modes.log_marginals(p.states[rows], more)
    base = modes.log_marginals(p.states, p.visible)
    whole = modes.log_marginals(p.states, np.ones(p.states.shape, dtype=bool))
    return Evidence(base, after, (~p.visible).astype(np.float64), whole, p.mass, p.weight)


def log_total(x: Floats) -> Floats:
    """log Σ_k e^{x[…, k]}: [..., K] → [...]; several times faster than SciPy's on the small arrays of a step."""
    peak = x.max(axis=-1)
    return np.asarray(peak + np.log(np.exp(x - peak[..., None]).sum(axis=-1)))


def log_shares(x: Floats) -> Floats:
    """x less its log-total: log-probabilities [..., K]."""
    return x - log_total(x)[..., None]


def mode_shift(before: Floats, after: Floats) -> Floats:
    """r(after) − r(before) for log-weights of the modes [..., K], to full relative accuracy where both are near 0 or 1.

    >>> float(mode_shift(np.array([0.0, -80.0]), np.array([0.0, -90.0]))[1]) < -1.8e-35
    True
    """
    if before.shape[-1] == 2:
        return _two_mode_shift(before[..., 1] - before[..., 0], after[..., 1] - after[..., 0])
    before, after = log_shares(before), log_shares(after)
    r = np.exp(before)
    with np.errstate(invalid="ignore"):
        shift = r * np.expm1(np.where(r > 0, after - before, 0.0))
    top = before.argmax(axis=-1)[..., None]
    np.put_along_axis(shift, top, 0.0, axis=-1)  # the likeliest mode gains what the others lose
    np.put_along_axis(shift, top, -shift.sum(axis=-1, keepdims=True), axis=-1)
    return shift


def _two_mode_shift(b: Floats, a: Floats) -> Floats:
    """σ(a) − σ(b) = σ(a) σ(−b) (1 − e^{b−a}) of log-odds, or the same from the other side where b > a."""
    with np.errstate(invalid="ignore"):
        gap = np.where(a == b, 0.0, np.abs(a - b))
    size = expit(np.maximum(a, b)) * expit(-np.minimum(a, b)) * -np.expm1(-gap)
    up = np.where(a > b, size, -size)
    return np.stack([-up, up], axis=-1)


class Witness:
    """The witness learner of a law's modes.

    theta: [K − 1] log-odds of modes 1 … K − 1 against mode 0; loss: ``token`` (trained in practice) or ``joint``.

    >>> learner = Witness("product?sites=8&gap=0.3&weight=0.3", theta=[0.0])
    >>> learner.weights.tolist()
    [0.5, 0.5]
    """

    name = "witness"

    def __init__(self, law: Any, theta: Any = None, loss: str = "token", optimizer: Optimizer | None = None) -> None:
        self.modes = law if hasattr(law, "log_count_marginals") and hasattr(law, "law") else modes_of(law)
        w = self.modes.weights
        start = np.log(w[1:] / w[0]) if theta is None else np.asarray(theta, dtype=np.float64)
        if start.shape != (len(w) - 1,):
            raise InputError("theta", expected=f"{len(w) - 1} log-odds", came=f"shape {start.shape}")
        self.parameters, self.loss = start.copy(), check_loss(loss)
        self.optimizer = optimizer or Momentum()

    @classmethod
    def drawn(cls, modes: Modes, rng: np.random.Generator, **options: Any) -> Witness:
        """With standard normal log-odds."""
        return cls(modes, rng.standard_normal(len(modes.weights) - 1), **options)

    @property
    def weights(self) -> Floats:
        """λ: [K]."""
        return np.exp(self._log_weights)

    @property
    def _log_weights(self) -> Floats:
        return np.asarray(log_shares(np.append(0.0, self.parameters)))

    def prepare(self, problems: Counted | Masked) -> Evidence:
        """What each step needs of the problems."""
        return evidence(self.modes, problems)

    def losses(self, rows: Evidence) -> Floats:
        """Weighted loss of each problem, nats: [R]."""
        before = log_total(rows.base + self._log_weights)
        if self.loss == "joint":
            return np.asarray(rows.weight * (before - log_total(whole_of(rows) + self._log_weights)))
        gain = log_total(rows.after + self._log_weights) - before[:, None]
        return -rows.weight * np.where(rows.times > 0, rows.times * gain, 0.0).sum(axis=1)

    def scores(self, rows: Evidence) -> Floats:
        """−∂ loss/∂θ of each problem: [R, K − 1]."""
        before = rows.base + self._log_weights
        if self.loss == "joint":
            shift = mode_shift(before, whole_of(rows) + self._log_weights)
            return rows.weight[:, None] * shift[:, 1:]
        after = rows.after + self._log_weights
        shift = mode_shift(np.broadcast_to(before[:, None, :], after.shape), after)[..., 1:]
        return rows.weight[:, None] * np.einsum("rm,rmk->rk", rows.times, shift)

    def gradient(self, rows: Evidence) -> Floats:
        """∂ E[loss]/∂θ over the problems' masses: [K − 1]."""
        return -rows.mass @ self.scores(rows)

    def step(self, rows: Evidence, batch: NDArray[np.int64], rate: float) -> None:
        """One step on the mean loss of a minibatch."""
        self.parameters = self.optimizer.step(self.parameters, -self.scores(_chosen(rows, batch)).mean(axis=0), rate)

    def default_rate(self, rows: Evidence) -> float:
        """0.2/L, L a bound of the curvature: |∂² log q(x_i|x_S)/∂θ²| ≤ 1/4 a token; 0.05 where steps are normalised.

        At 1/L the mean of the iterates is off by a noticeable part of the statistical error (the loss is skewed).
        """
        if self.optimizer.normalised:
            return 0.05
        tokens = rows.times.sum(axis=1) if self.loss == "token" else 1.0
        return 0.8 / float(np.mean(rows.weight * tokens))


def check_loss(loss: str) -> str:
    """``token`` or ``joint``; ``InputError`` otherwise."""
    if loss not in LOSSES:
        raise InputError("loss", expected="token or joint", came=repr(loss)[:60])
    return loss


def whole_of(rows: Evidence) -> Floats:
    """log p_z(x): [R, K]; ``InputError`` where hidden tokens are known by their expectations only."""
    if rows.whole is None:
        raise InputError("joint loss", expected="whole texts", came="counts of the visible sites")
    return rows.whole


def _chosen(rows: Evidence, batch: NDArray[np.int64]) -> Evidence:
    whole = None if rows.whole is None else rows.whole[batch]
    return Evidence(rows.base[batch], rows.after[batch], rows.times[batch], whole, rows.mass[batch], rows.weight[batch])
