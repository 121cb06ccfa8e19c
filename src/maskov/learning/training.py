"""The training loop: minibatches of a fixed set of problems, a falling step size, and the held-out excess loss.

A learner whose parameters are one array ends with their mean over the second half of the steps [Polyak & Juditsky
1992]: the last iterate remembers the last few batches only, the mean has the error of all n problems.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from maskov.errors import InputError, RunError
from maskov.learning.problems import Masked
from maskov.learning.witness import Witness, check_loss

Floats = NDArray[np.float64]


class Learner(Protocol):
    """What can be trained: rows of problems in, steps on minibatches of them."""

    def prepare(self, problems: Any) -> Any:
        """What each step needs of the problems."""
        ...

    def losses(self, rows: Any) -> Floats:
        """Weighted loss of each problem, nats: [R]."""
        ...

    def step(self, rows: Any, batch: NDArray[np.int64], rate: float) -> None:
        """One step on the mean loss of a minibatch."""
        ...

    def default_rate(self, rows: Any) -> float:
        """The first step size where none is given."""
        ...


@dataclass(frozen=True)
class Settings:
    """How a learner is trained.

    learner: ``witness``, ``table`` or ``transformer``; loss: ``token`` or ``joint`` (witness only); samples: n problems
    drawn once; epochs: passes over them; batch: problems a step; optimizer: ``sgd``, ``adam`` or "" for the learner's
    own (witness: sgd, others: adam); rate: first step size, None for the learner's own; fresh: held-out problems;
    chain_sweeps: sweeps of the chains that read a network's implied weight (0: any-order generation instead).
    """

    learner: str = "witness"
    loss: str = "token"
    samples: int = 20_000
    epochs: int = 10
    batch: int = 128
    optimizer: str = ""
    rate: float | None = None
    fresh: int = 2000
    chain_sweeps: int = 0

    def __post_init__(self) -> None:
        check_loss(self.loss)
        for name in ("samples", "epochs", "batch", "fresh"):
            value = getattr(self, name)
            if isinstance(value, bool) or int(value) != value or value < 1:
                raise InputError(name, expected="a whole number above 0", came=repr(value))
        if self.rate is not None and not (np.isfinite(self.rate) and self.rate > 0):
            raise InputError("rate", expected="a finite number above 0", came=repr(self.rate))
        if self.optimizer not in ("", "sgd", "adam"):
            raise InputError("optimizer", expected="sgd or adam", came=repr(self.optimizer)[:60])
        if self.loss == "joint" and self.learner != "witness":
            remedy = "the joint form needs q(x_{S^c} | x_S), which only the witness gives exactly"
            raise InputError("loss", expected="token", came=f"joint with {self.learner}", remedy=remedy)


class Point(NamedTuple):
    """Held-out excess loss after some steps: mean over fresh problems of loss − loss of the law, nats a text."""

    step: int
    excess: float
    stderr: float


def train(
    learner: Learner, problems: Masked, fresh: Masked, truth: Witness, settings: Settings, rng: np.random.Generator
) -> list[Point]:
    """Train on minibatches without replacement, step size falling linearly to 0; returns the held-out curve.

    The last point is of the averaged parameters where there are such.

    truth: the law as a witness, whose loss on the same fresh problems is taken off. Raises ``RunError`` where the loss
    diverges, or falls below what any predictor of hidden sites can reach.
    """
    rows, held = learner.prepare(problems), learner.prepare(fresh)
    least = truth.losses(truth.prepare(fresh))
    batch, n = min(settings.batch, len(problems.states)), len(problems.states)
    each = -(-n // batch)
    total, rate = settings.epochs * each, settings.rate or learner.default_rate(rows)
    marks = set(np.unique(np.linspace(0, 1, 13) ** 2 * total).astype(int).tolist()) - {0, total}
    curve, mean = [_point(learner, held, least, 0)], TailMean(learner, total)
    for epoch in range(settings.epochs):
        order = rng.permutation(n)
        for k in range(each):
            step = epoch * each + k
            learner.step(rows, order[k * batch : (k + 1) * batch], rate * (1 - step / total))
            mean.see(step)
            if step + 1 in marks:
                curve.append(_point(learner, held, least, step + 1))
    mean.take()
    return [*curve, _point(learner, held, least, total)]


class TailMean:
    """The mean of a learner's ``parameters`` over the second half of its steps; nothing where it has none."""

    def __init__(self, learner: Any, total: int) -> None:
        self.learner, self.first, self.count, self.sum = learner, total // 2, 0, np.zeros(())

    def see(self, step: int) -> None:
        """After a step."""
        if step >= self.first and hasattr(self.learner, "parameters"):
            self.count, self.sum = self.count + 1, self.sum + self.learner.parameters

    def take(self) -> None:
        """Give the learner the mean."""
        if self.count:
            self.learner.parameters = self.sum / self.count


def _point(learner: Learner, held: Any, least: Floats, step: int) -> Point:
    gap = learner.losses(held) - least
    mean, stderr = float(gap.mean()), float(gap.std(ddof=1) / np.sqrt(len(gap)))
    check_above_optimum(mean, stderr, float(least.mean()))
    return Point(step, mean, stderr)


def check_above_optimum(excess: float, stderr: float, optimum: float) -> None:
    """``RunError`` where a held-out loss diverges or is below the optimum: then it sees what it should predict.

    Six standard errors and 1 % of the optimum are allowed, since the rare texts that carry a blind schedule's excess
    may be missing from a sample.
    """
    if not np.isfinite(excess):
        raise RunError("training diverged: the loss is no number; pass a smaller --rate")
    if excess < -6 * stderr - 0.01 * abs(optimum):
        raise RunError(
            f"the held-out loss is {-excess:.3g} nats below the least that any predictor of hidden sites can have "
            f"({optimum:.4g}): the loss sees tokens that it should predict"
        )
