"""A law's modes as a learner needs them: log p_z of any x_S, by counts where sites are exchangeable."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from maskov.errors import InputError
from maskov.identifiability.counting import BinaryCounts, sign_modes
from maskov.identifiability.modes import check_weights
from maskov.laws import CurieWeiss, ProductMixture
from maskov.laws import law as parse_law
from maskov.protocols import Flags, Tokens
from maskov.schedules.base import log_choose

Floats = NDArray[np.float64]


class Modes(Protocol):
    """What training needs of a law p = Σ_z w_z p_z."""

    @property
    def law(self) -> Any:
        """The law itself."""
        ...

    @property
    def weights(self) -> Floats:
        """w: [K], each above 0."""
        ...

    @property
    def exchangeable(self) -> bool:
        """Whether p_z(x_S) depends on how often each symbol is seen only."""
        ...

    def log_marginals(self, states: Tokens, visible: Flags) -> Floats:
        """log p_z(x_S): [B, K]."""
        ...

    def log_count_marginals(self, counts: Tokens) -> Floats:
        """log p_z of one configuration with these visible counts [..., V] (exchangeable laws): [..., K]."""
        ...


class _Modes:
    """What the kinds of law share."""

    exchangeable = False

    def __init__(self, law: Any, weights: Any) -> None:
        self.law, self.weights = law, check_weights(weights)

    def log_marginals(self, states: Tokens, visible: Flags) -> Floats:
        """log p_z(x_S): [B, K]."""
        if self.exchangeable:
            return self.log_count_marginals(seen_counts(states, visible, self.law.vocabulary_size))
        return np.asarray(self.law.log_mode_marginals(states, visible))

    def log_count_marginals(self, counts: Tokens) -> Floats:
        """Of exchangeable laws only."""
        raise InputError("law", expected="an exchangeable law", came=str(getattr(self.law, "text", self.law)))


class _ProductModes(_Modes):
    exchangeable = True

    def log_count_marginals(self, counts: Tokens) -> Floats:
        """Σ_a c_a log p_z(a): [..., K]."""
        flat = self.law.log_count_marginals(counts.reshape(-1, counts.shape[-1]))
        return np.asarray(flat).reshape(*counts.shape[:-1], -1)


class _SignModes(_Modes):
    """The two phases of a symmetric binary law: Z is the sign of the majority."""

    exchangeable = True

    def __init__(self, law: Any) -> None:
        self.counted: BinaryCounts = sign_modes(law)
        super().__init__(law, self.counted.weights)

    def log_count_marginals(self, counts: Tokens) -> Floats:
        """log of P_z(k ones on v sites) over the number of configurations that have them: [..., 2]."""
        ones, shown = counts[..., 1].ravel(), counts.sum(axis=-1).ravel()
        out = np.empty((len(ones), 2))
        for v in np.unique(shown)[::-1]:  # a count law is found from the next larger one
            at = shown == v
            rows = self.counted.log_table(int(v)) - log_choose(int(v), np.arange(v + 1))[:, None]
            out[at] = rows[ones[at]]
        return out.reshape(*counts.shape[:-1], 2)


def seen_counts(states: Tokens, visible: Flags, vocabulary_size: int) -> Tokens:
    """How often each symbol is seen: [B, V].

    >>> seen_counts(np.array([[0, 1, 1]]), np.array([[True, True, False]]), 2).tolist()
    [[1, 1]]
    """
    return np.stack([((states == a) & visible).sum(axis=1) for a in range(vocabulary_size)], axis=1)


def read_law(law: Any) -> Any:
    """A law from its text form, or as it is."""
    return parse_law(law) if isinstance(law, str) else law


def modes_of(law: Any) -> Modes:
    """The modes of a law (or of its text form); ``InputError`` for a law without modes.

    >>> modes_of("product?sites=8&gap=0.3&weight=0.3").weights.tolist()
    [0.7, 0.3]
    """
    law = read_law(law)
    if isinstance(law, CurieWeiss):
        return _SignModes(law)
    if not hasattr(law, "log_mode_marginals") or len(np.atleast_1d(law.weights)) < 2:
        text = getattr(law, "text", type(law).__name__)
        remedy = "use product?…, markov?… or curie-weiss?…"
        raise InputError("law", expected="a mixture of two or more modes", came=f"{text} without modes", remedy=remedy)
    kind = _ProductModes if isinstance(law, ProductMixture) and law.exchangeable else _Modes
    return kind(law, law.weights)
