"""What every mask schedule offers: the exact law of the visible count, samples, and the few numbers read from it."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

from maskov.errors import InputError
from maskov.protocols import Flags

LONGEST = 10_000_000
MOST_SETS = 1 << 16


class SetLaw(NamedTuple):
    """Visible sets with their masses: visible bool [M, N]; log_mass and log_objective float64 [M] (nats)."""

    visible: Flags
    log_mass: NDArray[np.float64]
    log_objective: NDArray[np.float64]


def check_length(length: int) -> int:
    """``length`` if it is a usable number of sites; ``InputError`` otherwise."""
    if not isinstance(length, (int, np.integer)) or isinstance(length, bool) or not 1 <= length <= LONGEST:
        raise InputError(
            "length",
            expected=f"a whole number of sites from 1 to {LONGEST}",
            came=repr(length),
            remedy="pass --length 512",
        )
    return int(length)


def log_choose(n: int, k: NDArray[np.int64]) -> NDArray[np.float64]:
    """log of n over k for 0 ≤ k ≤ n: [len(k)]."""
    return np.asarray(gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0))


def normalised(log_law: NDArray[np.float64]) -> NDArray[np.float64]:
    """A log-law with its rounding removed (log-gamma is good to about 1e-10 at N = 10^5)."""
    return log_law - logsumexp(log_law)


def number_text(x: float) -> str:
    """The shortest text that reads back as the same number.

    >>> number_text(0.15), number_text(1.0)
    ('0.15', '1')
    """
    return repr(float(x)).removesuffix(".0")


def random_subsets(length: int, counts: NDArray[np.int64], rng: np.random.Generator) -> Flags:
    """Uniformly random subsets of the given sizes: bool [len(counts), N]."""
    ranks = rng.random((len(counts), length)).argsort(axis=1).argsort(axis=1)
    return np.asarray(ranks < counts[:, None])


class Schedule:
    """A law μ of visible sets S ⊆ {1..N} (``MaskSchedule``), with an objective mass μ(S)·w(S) where the loss is
    weighted.

    A family gives ``text`` and ``log_visible_law``; given the count v, S is uniform unless ``uniform_given_count`` is
    false. Sampling never sees the loss weights.
    """

    uniform_given_count: ClassVar[bool] = True

    @property
    def text(self) -> str:
        """The canonical text form: ``schedule(s.text)`` is the same schedule."""
        raise TypeError("a schedule family gives its text")

    @property
    def weighted(self) -> bool:
        """Whether the objective mass differs from the sampling mass."""
        return False

    def log_visible_law(self, length: int) -> NDArray[np.float64]:
        """log P(|S| = v) for v = 0 … N: [N + 1], nats, −inf where impossible."""
        raise TypeError("a schedule family gives its law")

    def log_weighted_law(self, length: int, weight: str) -> NDArray[np.float64]:
        """log of mass × mean loss weight given v: [N + 1]; weight ``1/t`` (t the hidden fraction here) or ``N/h``; 0
        where nothing is hidden."""
        if weight == "elbo":
            raise InputError(
                "loss weight",
                expected="1/t or N/h",
                came=f"elbo on {self.text}",
                remedy="elbo needs a random rate with a density, such as uniform or cosine",
            )
        hidden = length - np.arange(length + 1)
        log_weight = np.where(hidden > 0, np.log(length) - np.log(np.maximum(hidden, 1)), -np.inf)
        return np.asarray(self.log_visible_law(length) + log_weight)

    def log_objective_law(self, length: int) -> NDArray[np.float64]:
        """log of mass × loss weight for v = 0 … N: [N + 1]; the law itself where the loss has no weight."""
        return self.log_visible_law(length)

    def visible_law(self, length: int) -> NDArray[np.float64]:
        """P(|S| = v) for v = 0 … N: [N + 1], sums to 1."""
        return np.exp(self.log_visible_law(length))

    def objective_law(self, length: int) -> NDArray[np.float64]:
        """Mass × loss weight for v = 0 … N: [N + 1]; need not sum to 1."""
        return np.exp(self.log_objective_law(length))

    def v_min(self, length: int) -> int:
        """The smallest visible count with mass (however small)."""
        return int(np.flatnonzero(self.log_visible_law(length) > -np.inf)[0])

    def mean_visible(self, length: int) -> float:
        """E|S|."""
        return float(self.visible_law(length) @ np.arange(length + 1))

    def low_visibility_mass(self, s: int, length: int) -> float:
        """π_s = P(|S| ≤ s)."""
        return float(self.visible_law(length)[: s + 1].sum())

    def full_mask_mass(self, length: int) -> float:
        """π_0 = P(nothing visible)."""
        return float(self.visible_law(length)[0])

    def sample_counts(self, length: int, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Visible counts: int64 [size]."""
        law = self.visible_law(check_length(length))
        return rng.choice(length + 1, size=size, p=law / law.sum())

    def sample_visible(self, length: int, size: int, rng: np.random.Generator) -> Flags:
        """Visible sets: bool [size, N]."""
        return random_subsets(length, self.sample_counts(length, size, rng), rng)

    def set_law(self, length: int) -> SetLaw:
        """Every visible set with mass; ``InputError`` beyond 2^16 sets."""
        if 2 ** check_length(length) > MOST_SETS:
            raise InputError(
                "visible sets",
                expected=f"at most {MOST_SETS} sets to enumerate",
                came=f"2^{length}",
                remedy="take fewer sites or an exchangeable law",
            )
        visible = (np.arange(2**length)[:, None] >> np.arange(length)) & 1 == 1
        count = visible.sum(axis=1)
        share = -log_choose(length, count)
        laws = self.log_visible_law(length)[count] + share, self.log_objective_law(length)[count] + share
        keep = laws[0] > -np.inf
        return SetLaw(visible[keep], laws[0][keep], laws[1][keep])

    def __repr__(self) -> str:
        return f"schedule({self.text!r})"
