"""How firmly a state holds itself: margins at every free site, perfect traps, exact leave probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from maskov.errors import InputError
from maskov.protocols import Conditionals, Floats, Tokens

# Rows at once: 128 rows of a 30,522-token vocabulary take 31 MB in float64.
_ROWS = 128


class Hold(NamedTuple):
    """What B states of n free sites say about themselves, from one set of logits.

    margins: float64 [B, n], nats at τ = 1; temperatures: [K]; leave: float64 [K, B, n], 1 − p_{i,τ}(x_i | x_{-i}).
    """

    margins: NDArray[np.float64]
    temperatures: NDArray[np.float64]
    leave: NDArray[np.float64]

    @property
    def perfect(self) -> NDArray[np.bool_]:
        """Perfect traps: every m_i > 0, so every token is the one arg max. bool [B]."""
        return np.asarray((self.margins > 0).all(axis=1))

    @property
    def min_margin(self) -> NDArray[np.float64]:
        """min_i m_i: [B], nats."""
        return np.asarray(self.margins.min(axis=1))

    @property
    def leave_probability(self) -> NDArray[np.float64]:
        """P(x_1 ≠ x_0) = (1/n) Σ_i (1 − p_{i,τ}(x_i | x_{-i})): exact, [K, B]. Its inverse is the mean dwell in that
        one state.
        """
        return np.asarray(self.leave.mean(axis=2))


def hold(model: Conditionals, states: Tokens, free: Tokens, temperatures: Sequence[float] = (1.0,)) -> Hold:
    """Margins m_i(x) = s_i(x_i; x_{-i}) − max_{v ≠ x_i} s_i(v; x_{-i}) and leave probabilities at every temperature.

    The model is asked once per (state, site), never per temperature. Leave probabilities are sums over the other
    tokens, not 1 − p, so those of deep traps keep their digits.

    states: int64 [B, L] of one length; free: int64 [n] columns shared by all, or [B, n]. Raises ``InputError``.

    >>> from maskov.laws import law
    >>> h = hold(law("ising-ring?sites=4&beta=0.5"), np.zeros((1, 4), int), np.arange(4))
    >>> h.margins.round(6).tolist(), bool(h.perfect[0])
    ([[2.0, 2.0, 2.0, 2.0]], True)
    """
    tau = _check_temperatures(temperatures)
    states, sites = _check_states(states, free)
    B, n = sites.shape
    rows, columns = np.repeat(np.arange(B), n), sites.ravel()
    margins, leave = np.empty(B * n), np.empty((len(tau), B * n))
    for k in range(0, B * n, _ROWS):
        part = slice(k, k + _ROWS)
        block = states[rows[part]]
        logits = model.logits(block, columns[part])
        margins[part], leave[:, part] = _site_hold(logits, block[np.arange(len(block)), columns[part]], tau)
    return Hold(margins.reshape(B, n), tau, leave.reshape(len(tau), B, n))


def margins(model: Conditionals, states: Tokens, free: Tokens) -> NDArray[np.float64]:
    """m_i(x) at every free site: float64 [B, n], nats; see ``hold``."""
    return hold(model, states, free).margins


def is_perfect_trap(model: Conditionals, states: Tokens, free: Tokens) -> NDArray[np.bool_]:
    """Whether every free site holds its one arg max: bool [B]; see ``hold``."""
    return hold(model, states, free).perfect


def _site_hold(
    logits: Floats, own: Tokens, tau: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Margin [r] and leave probability [K, r] from rows [r, V] and the tokens there [r]."""
    scores = np.asarray(logits, dtype=np.float64).copy()
    each = np.arange(len(own))
    held = scores[each, own]
    if np.isnan(scores).any() or not np.isfinite(held).all():
        raise InputError(
            "state",
            expected="tokens that the model may write at every free site",
            came="a forbidden token, or NaN logits",
            remedy="leave special tokens out of the free sites",
        )
    scores[each, own] = -np.inf
    best = scores.max(axis=1)
    scores -= np.where(np.isfinite(best), best, 0.0)[:, None]
    # (1 − p)/p = Σ_{v≠x} e^{(s_v − s_x)/τ}, its largest term taken out; a site with one allowed token has the empty
    # sum.
    totals = np.array([np.exp(scores / t).sum(axis=1) for t in tau])
    log_odds = (best - held) / tau[:, None] + np.log(np.maximum(totals, 1e-300))
    return held - best, np.asarray(expit(log_odds))


def _check_temperatures(temperatures: ArrayLike) -> NDArray[np.float64]:
    tau = np.atleast_1d(np.asarray(temperatures, dtype=np.float64))
    if tau.ndim != 1 or tau.size == 0 or not (np.isfinite(tau) & (tau > 0)).all():
        raise InputError("temperature", expected="finite numbers above 0", came=str(temperatures))
    return tau


def _check_states(states: Tokens, free: Tokens) -> tuple[Tokens, Tokens]:
    x, sites = np.asarray(states), np.asarray(free)
    if x.ndim != 2 or x.shape[0] == 0:
        raise InputError(
            "states",
            expected="an array [B, L] of at least one state",
            came=f"shape {x.shape}",
            remedy="bucket states by length",
        )
    if sites.ndim == 1:
        sites = np.tile(sites, (len(x), 1))
    if sites.ndim != 2 or len(sites) != len(x) or sites.shape[1] == 0:
        raise InputError(
            "free sites", expected=f"columns [n] or [{len(x)}, n] with n ≥ 1", came=f"shape {np.shape(free)}"
        )
    if sites.min() < 0 or sites.max() >= x.shape[1]:
        raise InputError(
            "free sites", expected=f"columns from 0 to {x.shape[1] - 1}", came=f"{sites.min()} … {sites.max()}"
        )
    return x, sites
