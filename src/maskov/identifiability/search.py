"""The modulus of small laws over every q: projected ascent on the simplex of V^N states, from many starts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from maskov.errors import InputError
from maskov.laws import as_log_table, enumerate_states
from maskov.protocols import JointLaw
from maskov.randomness import Stream, generator
from maskov.schedules import Schedule

Floats = NDArray[np.float64]
MOST_SEARCHED = 64


class BlockDivergence:
    """D_μ(p ‖ q) = E_S [ KL(p‖q) − KL(p_S‖q_S) ] as a function of the table q, for any q ≪ p's support.

    p: [X] probabilities of the enumerated states. One matrix sums q over hidden sites for every visible set at once.
    Along q = p + s·d it grows in s ≥ 0 (the Jensen argument of ``modulus``), so feasibility is a bisection.
    """

    def __init__(self, law: JointLaw, schedule: Schedule) -> None:
        if law.vocabulary_size**law.n_sites > MOST_SEARCHED:
            raise InputError(
                "law",
                expected=f"at most {MOST_SEARCHED} states to search over all q",
                came=f"{law.vocabulary_size}^{law.n_sites} states",
            )
        self.p = np.exp(as_log_table(law).ravel())
        states = enumerate_states(law.vocabulary_size, law.n_sites)
        sets = schedule.set_law(law.n_sites)
        keep = (sets.log_objective > -np.inf) & ~sets.visible.all(axis=1)
        self.mass = np.exp(sets.log_objective[keep])
        matrices: list[Floats] = []
        coefficients = []
        for visible, mass in zip(sets.visible[keep], self.mass, strict=True):
            member = _classes(states[:, visible], len(states))
            matrices.append(member)
            coefficients.append(mass * (member @ self.p))
        self.row_mass = np.repeat(self.mass, [len(m) for m in matrices])
        self.sums, self.coefficients = np.concatenate(matrices), np.concatenate(coefficients)
        self.log_sums = _safe_log(self.sums @ self.p)

    def __call__(self, q: Floats) -> Floats:
        """D_μ(p ‖ q) of a batch: q [B, X] → [B]."""
        joint = (_safe_log(self.p) - _safe_log(q)) @ self.p * self.mass.sum()
        return joint - (self.log_sums - _safe_log(q @ self.sums.T)) @ self.coefficients

    def gradient(self, q: Floats) -> Floats:
        """∂D_μ/∂q: [B, X]."""
        return (
            -self.mass.sum() * self.p / np.maximum(q, 1e-300)
            + (self.coefficients / np.maximum(q @ self.sums.T, 1e-300)) @ self.sums
        )


def _classes(shown: NDArray[np.int64], rows: int) -> Floats:
    """0/1 matrix [classes, X]: states that agree on the visible sites."""
    if shown.shape[1] == 0:
        return np.ones((1, rows))
    which = np.unique(shown, axis=0, return_inverse=True)[1].ravel()
    return (np.arange(which.max() + 1)[:, None] == which).astype(np.float64)


def _safe_log(x: Floats) -> Floats:
    return np.log(np.maximum(x, 1e-300))


def onto_boundary(divergence: BlockDivergence, directions: Floats, epsilon: float, halvings: int = 40) -> Floats:
    """For each direction d [B, X] (sum 0) the furthest q = p + s·d in the simplex with D_μ(p‖q) ≤ ε: [B, X]; always
    feasible."""
    p = divergence.p
    with np.errstate(divide="ignore", invalid="ignore"):
        room = np.where(directions < 0, p / -directions, np.inf).min(axis=1)
    low, high = np.zeros(len(directions)), room * (1 - 1e-12)
    edge = divergence(p + high[:, None] * directions) <= epsilon
    low = np.where(edge, high, low)
    for _ in range(halvings):
        middle = (low + high) / 2
        inside = divergence(p + middle[:, None] * directions) <= epsilon
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    return p + low[:, None] * directions


def searched_modulus(
    divergence: BlockDivergence, epsilon: float, candidates: Floats, starts: int = 12, steps: int = 40, seed: int = 0
) -> tuple[float, Floats]:
    """Largest TV(p, q) found with D_μ(p‖q) ≤ ε over all q: a LOWER bound of the modulus, with its q [X].

    candidates: [C, X] laws to start from (members of the witness family); the rest of the starts are random directions.
    Each step ascends TV along the tangent of D_μ's level set, then returns to the boundary along the ray from p.
    """
    p = divergence.p
    random = generator(seed, stream=Stream.STUDY).standard_normal((starts, len(p))) * p
    directions = np.concatenate([np.atleast_2d(candidates) - p, random - random.sum(axis=1, keepdims=True) * p])
    directions = directions[np.abs(directions).sum(axis=1) > 1e-12]
    q = onto_boundary(divergence, directions, epsilon)
    best = _distance(p, q)
    rate = np.full(len(q), 0.3)
    for _ in range(steps):
        moved = onto_boundary(divergence, _ascend(divergence, q, rate), epsilon, halvings=30)
        value = _distance(p, moved)
        better = value > best
        q, best = np.where(better[:, None], moved, q), np.where(better, value, best)
        rate = np.where(better, rate * 1.3, rate * 0.5)
    top = int(best.argmax()) if len(best) else 0
    return (float(best[top]), q[top]) if len(best) else (0.0, p)


def _distance(p: Floats, q: Floats) -> Floats:
    return 0.5 * np.abs(q - p).sum(axis=1)


def _ascend(divergence: BlockDivergence, q: Floats, rate: Floats) -> Floats:
    """New directions q' − p: a multiplicative step along sign(q − p), less its part along the gradient of D_μ
    (metric q)."""
    p = divergence.p
    uphill, normal = np.sign(q - p), divergence.gradient(q)
    uphill = uphill - (q * uphill).sum(axis=1, keepdims=True)
    normal = normal - (q * normal).sum(axis=1, keepdims=True)
    along = (q * uphill * normal).sum(axis=1) / np.maximum((q * normal**2).sum(axis=1), 1e-300)
    tangent = uphill - along[:, None] * normal
    moved = q * np.exp(rate[:, None] * tangent / np.maximum(np.abs(tangent).max(axis=1, keepdims=True), 1e-12))
    return moved / moved.sum(axis=1, keepdims=True) - p
