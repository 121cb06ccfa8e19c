"""Mixtures of Markov chains along the sites: marginals on any visible set by transfer matrices in log space."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

from maskov.errors import InputError
from maskov.laws.base import check_states, check_visible, digest, draw_rows, number_text
from maskov.laws.mixtures import Mixture, check_probabilities, check_weights, log_of
from maskov.protocols import Flags, Tokens

Step = Callable[[NDArray[np.float64]], NDArray[np.float64]]
RARE = -300.0


class MarkovMixture(Mixture):
    """p(x) = Σ_z w_z π_z(x_1) Π_i P_z(x_i, x_{i+1}): K homogeneous chains on V symbols, n sites.

    weights: [K], sum 1; initial: [K, V]; transition: [K, V, V], rows sum to 1. Hidden sites are summed by the forward
    recursion, O(n V²) per mode and state. Raises ``InputError`` on shapes and rows that do not fit.

    >>> law = sticky_mixture(sites=4, symbols=2, stay=[0.9, 0.6], weight=[0.3])
    >>> x = np.zeros((1, 4), int)
    >>> round(float(np.exp(law.log_marginal(x, np.array([[True, True, False, False]])))[0]), 6)
    0.405
    """

    def __init__(
        self, weights: ArrayLike, initial: ArrayLike, transition: ArrayLike, sites: int, text: str | None = None
    ) -> None:
        self.weights = check_weights(weights)
        self.log_weights = log_of(self.weights)
        self.log_initial = check_probabilities("initial law", initial)
        self.log_transition = check_probabilities("transition matrix", transition)
        K, V = len(self.weights), self.log_initial.shape[-1]
        if self.log_initial.shape != (K, V) or self.log_transition.shape != (K, V, V) or V < 2 or sites < 1:
            came = f"{self.log_initial.shape}, {self.log_transition.shape} and {sites} sites"
            raise InputError("Markov mixture", expected=f"[{K}, V], [{K}, V, V] with V ≥ 2, and sites ≥ 1", came=came)
        self.n_sites, self.vocabulary_size = sites, V
        self._text = text

    @property
    def text(self) -> str:
        """The canonical form, or a digest where the parameters have none."""
        return self._text or f"markov?sha256={self.fingerprint[:12]}"

    @property
    def fingerprint(self) -> str:
        """The canonical form, or the SHA-256 of the parameters."""
        parts = (self.weights, self.log_initial, self.log_transition, np.array([self.n_sites]))
        return self._text or digest(*parts)

    def log_mode_marginals(self, states: Tokens, visible: Flags) -> NDArray[np.float64]:
        """log p_z(x_S) by the forward recursion with hidden sites summed: [B, K]."""
        x = check_states(self, states)
        S = check_visible(x, visible)
        if S.all():
            return self._log_paths(x)
        modes = zip(self.log_initial, self._steps, strict=True)
        return np.stack([self._forward(start, step, x, S) for start, step in modes], axis=1)

    @cached_property
    def _steps(self) -> list[Step]:
        return [_in_logs(step) if step.min() < RARE else _scaled(step) for step in self.log_transition]

    def _log_paths(self, x: Tokens) -> NDArray[np.float64]:
        """log p_z(x) of whole states: [B, K]."""
        moves = self.log_transition[:, x[:, :-1], x[:, 1:]].sum(axis=2)
        return np.asarray((self.log_initial[:, x[:, 0]] + moves).T)

    def _forward(self, start: NDArray[np.float64], step: Step, x: Tokens, S: Flags) -> NDArray[np.float64]:
        symbols = np.arange(self.vocabulary_size)
        message = np.broadcast_to(start, (len(x), self.vocabulary_size))
        for i in range(self.n_sites):
            if i:
                message = step(message)
            message = np.where(~S[:, i, None] | (x[:, i, None] == symbols), message, -np.inf)
        return np.asarray(logsumexp(message, axis=1))

    def sample_modes(self, rng: np.random.Generator, modes: Tokens) -> Tokens:
        """One path of each given mode: [B, n]."""
        out = np.empty((len(modes), self.n_sites), dtype=np.int64)
        out[:, 0] = draw_rows(self.log_initial[modes], rng.random(len(modes)))
        for i in range(1, self.n_sites):
            out[:, i] = draw_rows(self.log_transition[modes, out[:, i - 1]], rng.random(len(modes)))
        return out


def _scaled(log_step: NDArray[np.float64]) -> Step:
    """A step as one matrix product, each row scaled by its maximum. log_step: [V, V], all above ``RARE``.

    An entry e^−745 below its row's maximum is lost; what it could have become is below e^(RARE + 745) of the sum.
    """
    chances = np.exp(log_step)

    def step(message: NDArray[np.float64]) -> NDArray[np.float64]:
        scale = _row_scale(message)
        return log_of(np.exp(message - scale) @ chances) + scale

    return step


def _in_logs(log_step: NDArray[np.float64]) -> Step:
    """The same for transitions that are impossible or nearly so, in log space throughout."""

    def step(message: NDArray[np.float64]) -> NDArray[np.float64]:
        terms = message[:, :, None] + log_step
        top = terms.max(axis=1)
        safe = np.where(np.isfinite(top), top, 0.0)
        return log_of(np.exp(terms - safe[:, None]).sum(axis=1)) + safe

    return step


def _row_scale(message: NDArray[np.float64]) -> NDArray[np.float64]:
    top = message.max(axis=1, keepdims=True)
    return np.where(np.isfinite(top), top, 0.0)


def sticky_mixture(sites: int, symbols: int, stay: Sequence[float], weight: Sequence[float] = ()) -> MarkovMixture:
    """Symmetric chains: mode z repeats the symbol with probability stay_z and else moves to another one, uniformly.

    stay: K numbers in (0, 1); weight: the K − 1 weights of modes 1 … K − 1 in (0, 1), mode 0 has the rest. The first
    site is uniform, so single sites say nothing about the mode. Raises ``InputError`` on other numbers.

    >>> sticky_mixture(20, 2, [0.9, 0.6], [0.3]).text
    'markov?sites=20&symbols=2&stay=0.9,0.6&weight=0.3'
    """
    if not all(0 < s < 1 for s in stay):
        raise InputError("stay", expected="numbers above 0 and below 1", came=str(list(stay)))
    if len(weight) != len(stay) - 1 or not all(0 < w < 1 for w in weight) or sum(weight) >= 1:
        expected = f"{len(stay) - 1} numbers above 0 with a sum below 1 (one for each stay but the first)"
        raise InputError("weight", expected=expected, came=str(list(weight)))
    if symbols < 2:
        raise InputError("symbols", expected="at least 2", came=str(symbols))
    move = [(1 - s) / (symbols - 1) for s in stay]
    transition = [np.full((symbols, symbols), m) + (s - m) * np.eye(symbols) for s, m in zip(stay, move, strict=True)]
    parts = [f"markov?sites={sites}&symbols={symbols}&stay={','.join(map(number_text, stay))}"]
    parts += [f"weight={','.join(map(number_text, weight))}"] if weight else []
    weights = [1 - sum(weight), *weight]
    return MarkovMixture(weights, np.full((len(stay), symbols), 1 / symbols), transition, sites, text="&".join(parts))
