"""The tabular learner: a free row of logits for every visible configuration, so it can hold any conditionals.

On an exchangeable law x_S matters through its counts only, and the table has one row per vector of counts: 2,080 rows
at N = 64 and two symbols. (A log-linear model of counts would be smaller and wrong: the logit of p(x_i | counts) of a
mixture bends where the mode turns over.) On other laws of a few sites there is one row per (S, x_S, i).
Nothing ties the rows together. What a schedule never shows stays as it was initialised.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maskov.errors import InputError
from maskov.learning.modes import Modes, seen_counts
from maskov.learning.optimizers import Adam, Optimizer
from maskov.learning.problems import Counted, Masked, counted
from maskov.learning.witness import log_shares
from maskov.protocols import Flags, Tokens

Floats = NDArray[np.float64]
MOST_PARAMETERS = 1 << 20
SPREAD = 0.5


class Cells(NamedTuple):
    """Predictions as rows of the table. cell: [R, M] row numbers; times: [R, M, V] how often each symbol is there;
    mass, weight: [R]."""

    cell: NDArray[np.int64]
    times: Floats
    mass: Floats
    weight: Floats


class _Table:
    """What both tables share: logits [rows, V], cross-entropy, its gradient, and the rows as a ``MaskedPredictor``."""

    name = "table"

    def __init__(self, modes: Modes, rows: int, rng: np.random.Generator | None, optimizer: Optimizer | None) -> None:
        self.modes, self.vocabulary_size, self.n_sites = modes, modes.law.vocabulary_size, modes.law.n_sites
        shape = (rows, self.vocabulary_size)
        self.parameters = np.zeros(shape) if rng is None else SPREAD * rng.standard_normal(shape)
        self.optimizer = optimizer or Adam()

    def cells(self, states: Tokens, visible: Flags, sites: Tokens) -> NDArray[np.int64]:
        """Row of the table for each (x_S, site): [B]."""
        raise TypeError(f"{type(self).__name__} must define cells")

    def losses(self, rows: Cells) -> Floats:
        """Weighted loss of each problem, nats: [R]."""
        log_q = log_shares(self.parameters[rows.cell])
        return -rows.weight * (rows.times * log_q).sum(axis=(1, 2))

    def _row_gradients(self, rows: Cells, share: Floats) -> Floats:
        q = np.exp(log_shares(self.parameters[rows.cell]))
        pull = rows.times.sum(axis=-1, keepdims=True) * q - rows.times
        out = np.zeros_like(self.parameters)
        np.add.at(out, rows.cell.ravel(), (share[:, None, None] * pull).reshape(-1, self.vocabulary_size))
        return out

    def gradient(self, rows: Cells) -> Floats:
        """∂ E[loss]/∂ logits over the problems' masses: [rows, V]."""
        return self._row_gradients(rows, rows.mass * rows.weight)

    def step(self, rows: Cells, batch: NDArray[np.int64], rate: float) -> None:
        """One step on the mean loss of a minibatch."""
        part = Cells(rows.cell[batch], rows.times[batch], rows.mass[batch], rows.weight[batch])
        gradient = self._row_gradients(part, part.weight / len(batch))
        self.parameters = self.optimizer.step(self.parameters, gradient, rate)

    def default_rate(self, rows: Cells) -> float:
        """0.05 where steps are normalised; otherwise 1/L, L ≤ half the mean weight × tokens."""
        if self.optimizer.normalised:
            return 0.05
        return 2.0 / float(np.mean(rows.weight * rows.times.sum(axis=(1, 2))))

    def predict(self, states: Tokens, hidden: Flags, sites: Tokens) -> Floats:
        """log q(x_i | x_S), S the sites that are not hidden: [B, V]."""
        return np.asarray(log_shares(self.parameters[self.cells(states, ~np.asarray(hidden), sites)]))

    def logits(self, states: Tokens, sites: Tokens) -> Floats:
        """The row with only the site hidden: [B, V]."""
        hidden = np.zeros(np.shape(states), dtype=bool)
        hidden[np.arange(len(states)), sites] = True
        return self.predict(states, hidden, sites)

    def score_tokens(self, states: Tokens, sites: Tokens, tokens: Tokens) -> Floats:
        """Entries of ``logits``: [B, k]."""
        return np.take_along_axis(self.logits(states, sites), tokens, axis=1)


class CountTable(_Table):
    """One row per vector of visible counts (exchangeable laws).

    >>> from maskov.learning.modes import modes_of
    >>> table = CountTable(modes_of("product?sites=4&gap=0.3&weight=0.3"))
    >>> np.exp(table.predict(np.zeros((1, 4), int), np.ones((1, 4), bool), np.array([0]))).tolist()
    [[0.5, 0.5]]
    """

    def __init__(
        self, modes: Modes, rng: np.random.Generator | None = None, optimizer: Optimizer | None = None
    ) -> None:
        N, V = modes.law.n_sites, modes.law.vocabulary_size
        _check_size(V * float(N) ** V, f"{N} sites and {V} symbols")
        super().__init__(modes, N**V, rng, optimizer)

    def _number(self, counts: Tokens) -> NDArray[np.int64]:
        powers = self.n_sites ** np.arange(self.vocabulary_size, dtype=np.int64)
        return np.asarray(counts @ powers, dtype=np.int64)

    def prepare(self, problems: Counted | Masked) -> Cells:
        """What each step needs of the problems; one cell a problem."""
        p = problems if isinstance(problems, Counted) else counted(problems, self.vocabulary_size)
        inside = p.hidden.sum(axis=1) > 0
        cell = np.where(inside, self._number(np.where(inside[:, None], p.counts, 0)), 0)
        return Cells(cell[:, None], p.hidden[:, None, :], p.mass, p.weight)

    def cells(self, states: Tokens, visible: Flags, sites: Tokens) -> NDArray[np.int64]:
        """Number of the visible counts: [B]."""
        return self._number(seen_counts(states, visible, self.vocabulary_size))

    def log_rows(self, counts: Tokens) -> Floats:
        """log q(a | counts) [..., V] of counts [..., V]."""
        return np.asarray(log_shares(self.parameters[self._number(counts)]))


class SetTable(_Table):
    """One row per (S, x_S, i): any law of a few sites.

    A site is a digit in base V + 1, the last one for hidden; rows of sites that are visible are never used.
    """

    def __init__(
        self, modes: Modes, rng: np.random.Generator | None = None, optimizer: Optimizer | None = None
    ) -> None:
        N, V = modes.law.n_sites, modes.law.vocabulary_size
        _check_size(float(V + 1) ** N * N * V, f"{N} sites and {V} symbols")
        super().__init__(modes, (V + 1) ** N * N, rng, optimizer)

    def prepare(self, problems: Counted | Masked) -> Cells:
        """What each step needs of the problems; N cells a problem, used where the site is hidden."""
        if isinstance(problems, Counted):
            raise InputError("problems", expected="texts", came="counts")
        p, sites = problems, np.arange(self.n_sites)
        cell = self._code(p.states, p.visible)[:, None] * self.n_sites + sites
        times = (p.states[:, :, None] == np.arange(self.vocabulary_size)) & ~p.visible[:, :, None]
        return Cells(cell, times.astype(np.float64), p.mass, p.weight)

    def _code(self, states: Tokens, visible: Flags) -> NDArray[np.int64]:
        base = self.vocabulary_size + 1
        digits = np.where(visible, states, self.vocabulary_size)
        return np.asarray(digits @ base ** np.arange(self.n_sites, dtype=np.int64), dtype=np.int64)

    def cells(self, states: Tokens, visible: Flags, sites: Tokens) -> NDArray[np.int64]:
        """Number of (S, x_S, i): [B]."""
        return self._code(np.asarray(states), visible) * self.n_sites + np.asarray(sites)


def _check_size(parameters: float, what: str) -> None:
    if parameters > MOST_PARAMETERS:
        remedy = "take fewer sites, or the learner witness or transformer"
        expected = f"a table of at most {MOST_PARAMETERS} numbers"
        raise InputError("learner table", expected=expected, came=f"{parameters:.3g} for {what}", remedy=remedy)


def table_learner(
    modes: Modes, rng: np.random.Generator | None = None, optimizer: Optimizer | None = None
) -> CountTable | SetTable:
    """The smaller table that holds every conditional of this law: by counts where sites are exchangeable."""
    kind: Any = CountTable if modes.exchangeable else SetTable
    return kind(modes, rng, optimizer)
