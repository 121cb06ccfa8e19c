"""Resampling the hidden sites of a block given the visible ones: jointly and exactly, or site by site.

Joint: y ~ p(· | x_S)^{1/τ} over all V^h fillings, from the table of a small law. Site by site: in random order, each
site drawn from its row with the sites not yet drawn still hidden. For a joint law at τ = 1 both are draws from
p(· | x_S), by the chain rule; at another τ the second is not the first, since tempering and summing do not commute.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from maskov.errors import InputError
from maskov.glauber.draw import draw_tokens
from maskov.laws.base import MOST_STATES, as_log_table, enumerate_states
from maskov.protocols import MaskedPredictor, Tokens

# Up to this many states a law's block is drawn from its table by default: half a megabyte of float64.
MOST_TABULATED = 1 << 16


class Blocks(NamedTuple):
    """One step of B chains of L columns and n free sites: what is hidden, and the innovations.

    hidden: int64 [B], numbers of hidden sites; order: int64 [B, n], free-site numbers, hidden ones first; columns:
    int64 [B, n], the columns of ``order``; joint: [B] and each: [B, n] uniforms; temperatures: [B].
    """

    hidden: Tokens
    order: Tokens
    columns: Tokens
    joint: NDArray[np.float64]
    each: NDArray[np.float64]
    temperatures: NDArray[np.float64]


class Refilled(NamedTuple):
    """The numbers of one step, each [B], and the rows evaluated; NaN where the way of refilling does not give them.

    stay: probability that nothing changes; entropy: of the block's conditional law (nats; site by site its mean is
    that); log_old, rise: log-probability of the old filling, and new minus old.
    """

    stay: NDArray[np.float64]
    entropy: NDArray[np.float64]
    log_old: NDArray[np.float64]
    rise: NDArray[np.float64]
    rows: int


class Refill(Protocol):
    """A way to resample the hidden sites."""

    def __call__(self, states: Tokens, blocks: Blocks) -> Refilled:
        """Resample in place; states: int64 [B, L]."""
        ...


class SequentialRefill:
    """One hidden site at a time, in the order given, the hidden sites not yet drawn staying masked: h rows a chain."""

    def __init__(self, model: MaskedPredictor) -> None:
        self.model = model

    def __call__(self, states: Tokens, blocks: Blocks) -> Refilled:
        """All chains that still have a hidden site, in one batch a round."""
        B = len(states)
        masked, entropy = _masked(states, blocks), np.zeros(B)
        for k in range(int(blocks.hidden.max(initial=0))):
            active = np.flatnonzero(blocks.hidden > k)
            sites = blocks.columns[active, k]
            rows = self.model.predict(states[active], masked[active], sites)
            u = blocks.each[active, blocks.order[active, k]]
            drawn = draw_tokens(rows, blocks.temperatures[active], states[active, sites], u)
            states[active, sites] = drawn.tokens
            masked[active, sites] = False
            entropy[active] += drawn.entropy
        unknown = np.full(B, np.nan)
        return Refilled(unknown, entropy, unknown, unknown, int(blocks.hidden.sum()))


def _masked(states: Tokens, blocks: Blocks) -> NDArray[np.bool_]:
    masked = np.zeros(states.shape, dtype=bool)
    rows, ranks = np.nonzero(np.arange(blocks.columns.shape[1]) < blocks.hidden[:, None])
    masked[rows, blocks.columns[rows, ranks]] = True
    return masked


class JointRefill:
    """All hidden sites in one draw from the table of a law of at most 2^20 states."""

    def __init__(self, law: Any) -> None:
        self.table, self.V, n = as_log_table(law).ravel(), int(law.vocabulary_size), int(law.n_sites)
        self.powers = self.V ** np.arange(n - 1, -1, -1, dtype=np.int64)
        self._offsets = lru_cache(maxsize=1024)(self._make_offsets)

    def __call__(self, states: Tokens, blocks: Blocks) -> Refilled:
        """The chains with equally many hidden sites in one batch."""
        B = len(states)
        info = Refilled(np.ones(B), np.zeros(B), np.zeros(B), np.zeros(B), B)
        for h in map(int, np.unique(blocks.hidden[blocks.hidden > 0])):
            self._refill(states, blocks, np.flatnonzero(blocks.hidden == h), h, info)
        return info

    def _refill(self, states: Tokens, blocks: Blocks, members: Tokens, h: int, info: Refilled) -> None:
        sites = np.sort(blocks.columns[members, :h], axis=1)
        places = members[:, None], sites
        old, digits = states[places], self.V ** np.arange(h - 1, -1, -1, dtype=np.int64)
        base = states[members] @ self.powers - (old * self.powers[sites]).sum(axis=1)
        rows = self.table[base[:, None] + np.stack([self._offsets(tuple(s)) for s in sites.tolist()])]
        drawn = draw_tokens(rows, blocks.temperatures[members], old @ digits, blocks.joint[members])
        states[places] = drawn.tokens[:, None] // digits % self.V
        info.stay[members], info.entropy[members] = drawn.stay, drawn.entropy
        info.log_old[members], info.rise[members] = drawn.log_old, drawn.log_new - drawn.log_old

    def _make_offsets(self, sites: tuple[int, ...]) -> Tokens:
        """Table positions of all fillings of the sites, in lexicographic order: int64 [V^h]."""
        fillings = enumerate_states(self.V, len(sites))
        return np.asarray(fillings @ self.powers[list(sites)], dtype=np.int64)


def joint_law(model: Any, most: int) -> Any:
    """The law behind a model if it is a joint one of at most ``most`` states on the columns themselves, else None."""
    law = vars(model).get("law", model)  # not getattr: a wrapper that tempers rows hands on its model's attributes
    if not (hasattr(law, "log_prob") and hasattr(law, "n_sites")):
        return None
    return law if law.n_sites * np.log2(max(2, law.vocabulary_size)) <= np.log2(most) else None


def choose_refill(model: Any, refill: str) -> str:
    """``auto`` made definite: joint for a law of up to 2^16 states, else site by site; ``InputError`` where a wish
    cannot be met."""
    if refill == "auto":
        refill = "sequential" if joint_law(model, MOST_TABULATED) is None else "joint"
    if refill == "joint" and joint_law(model, MOST_STATES) is None:
        came = str(getattr(model, "name", type(model).__name__))
        remedy = "use refill='sequential'"
        raise InputError("refill", expected=f"a joint law of at most {MOST_STATES} states", came=came, remedy=remedy)
    if refill == "sequential" and not hasattr(model, "predict"):
        came = f"{getattr(model, 'name', type(model).__name__)}, which gives single-site rows only"
        raise InputError("model", expected="rows with several sites hidden (predict)", came=came)
    return refill


def make_refill(model: Any, refill: str) -> Refill:
    """The refill of that name."""
    return JointRefill(joint_law(model, MOST_STATES)) if refill == "joint" else SequentialRefill(model)
