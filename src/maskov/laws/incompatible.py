"""Conditionals by table, of no joint law in general: the counter-examples of every test of compatibility."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_softmax

from maskov.errors import InputError
from maskov.laws.base import MOST_STATES, as_log_table, check_enumerable, check_states, digest, number_text, state_index
from maskov.laws.tabular import real_array
from maskov.protocols import Flags, JointLaw, Tokens
from maskov.randomness import Stream, generator

_MOST_VALUES = 8 * MOST_STATES


class IncompatibleConditionals:
    """Single-site conditionals by table (``Conditionals``, not a ``JointLaw``): nothing ties one site's to another's.

    log_conditionals: float64 [n, V, …, V] (n axes of V), entry [i, x] = log p(x_i | x_{-i}) up to a constant per
    context, finite; normalised here over x_i. A row at i cannot depend on x_i in this form.
    Raises ``InputError`` on another shape or on values that are not finite.

    >>> c = random_conditionals(3, 2, seed=1)
    >>> bool((c.logits(np.array([[0, 1]]), np.array([0])) == c.logits(np.array([[2, 1]]), np.array([0]))).all())
    True
    """

    def __init__(self, log_conditionals: ArrayLike, text: str | None = None) -> None:
        values = real_array("conditionals", log_conditionals)
        n, shape = values.shape[0] if values.ndim else 0, values.shape[1:]
        if n < 1 or len(shape) != n or len(set(shape)) != 1 or shape[0] < 2:
            raise InputError(
                "conditionals", expected="an array [n, V, …, V] with n axes of V ≥ 2", came=f"shape {values.shape}"
            )
        if not np.isfinite(values).all():
            raise InputError(
                "conditionals", expected="finite log-weights (every token possible)", came="NaN or infinity"
            )
        self.n_sites, self.vocabulary_size = n, shape[0]
        self.table = np.stack([log_softmax(values[i], axis=i) for i in range(n)])
        self._digest = digest(self.table)
        self._text = text
        self._flat = self.table.reshape(n, -1)
        self._stride = self.vocabulary_size ** np.arange(n - 1, -1, -1, dtype=np.int64)

    @property
    def text(self) -> str:
        """The canonical form, or a digest where the rows have none."""
        return self._text or f"incompatible?sha256={self._digest[:12]}"

    @property
    def name(self) -> str:
        """The string that loads it as a model."""
        return f"law:{self.text}"

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the rows."""
        return self._digest

    def __repr__(self) -> str:
        return f"IncompatibleConditionals({self.text!r})"

    def score_tokens(self, states: Tokens, sites: Tokens, tokens: Tokens) -> NDArray[np.float64]:
        """log p(v | x_{-i}) of the given v: [B, k], normalised."""
        x, sites = check_states(self, states), np.asarray(sites)
        rest = state_index(x, self.vocabulary_size) - x[np.arange(len(x)), sites] * self._stride[sites]
        return self._flat[sites[:, None], rest[:, None] + tokens * self._stride[sites][:, None]]

    def logits(self, states: Tokens, sites: Tokens) -> NDArray[np.float64]:
        """log p(v | x_{-i}) for every v: [B, V], normalised."""
        return self.score_tokens(states, sites, np.arange(self.vocabulary_size, dtype=np.int64)[None, :])

    log_conditionals = logits

    def predict(self, states: Tokens, hidden: Flags, sites: Tokens) -> NDArray[np.float64]:
        """The row with the site alone hidden; ``InputError`` on more: nothing defines that answer."""
        if (np.asarray(hidden).sum(axis=1) > 1).any():
            raise InputError(
                "hidden sites",
                expected="the site itself",
                came="more",
                remedy="conditionals without a joint law have no marginals; use a joint law",
            )
        return self.logits(states, sites)


def random_conditionals(
    vocabulary_size: int, n_sites: int, seed: int = 0, strength: float = 1.0
) -> IncompatibleConditionals:
    """Logits strength × independent standard normals for every site and context; strength 0 is the uniform law.

    >>> random_conditionals(2, 3).text
    'incompatible?sites=3&symbols=2&seed=0&strength=1'
    """
    form = f"incompatible?sites={n_sites}&symbols={vocabulary_size}&seed={seed}&strength={number_text(strength)}"
    return IncompatibleConditionals(_noise(vocabulary_size, n_sites, strength, seed), text=form)


def perturbed(law: JointLaw, strength: float, seed: int = 0) -> IncompatibleConditionals:
    """The conditionals of an enumerable joint law plus strength × standard normal noise on every logit.

    The noise depends on the seed only, so the defect grows with the strength; 0 gives the law's own conditionals.
    The law must be positive: raises ``InputError`` on states of probability 0, which leave contexts without a row.

    >>> from maskov.laws.tabular import random_tabular
    >>> perturbed(random_tabular(2, 2), 0.1).n_sites
    2
    """
    table = as_log_table(law)
    if not np.isfinite(table).all():
        raise InputError(
            "law", expected="a positive law", came="states of probability 0", remedy="add a small probability to each"
        )
    return IncompatibleConditionals(table + _noise(law.vocabulary_size, law.n_sites, strength, seed))


def _noise(vocabulary_size: int, n_sites: int, strength: float, seed: int) -> NDArray[np.float64]:
    """strength × standard normals: [n, V, …, V]."""
    if not (np.isfinite(strength) and strength >= 0):
        raise InputError("strength", expected="a finite number, at least 0", came=repr(strength))
    if n_sites * check_enumerable(vocabulary_size, n_sites) > _MOST_VALUES:
        raise InputError(
            "conditionals",
            expected=f"at most {_MOST_VALUES} values n·V^n",
            came=f"{n_sites}·{vocabulary_size}^{n_sites}",
        )
    shape = (n_sites, *(vocabulary_size,) * n_sites)
    return strength * generator(seed, stream=Stream.LAW).standard_normal(shape)
