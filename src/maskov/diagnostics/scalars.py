"""Scalar summaries of chains: window means that a run stores, and functions of its states."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maskov.diagnostics.groups import Group
from maskov.errors import InputError
from maskov.glauber.walk import states_over
from maskov.protocols import Tokens

Floats = NDArray[np.float64]
# A function of states [m, L] of one group: [m] numbers.
Scalar = Callable[[Tokens], Any]

FEWEST_DRAWS, MOST_DRAWS = 16, 2000
_BUFFER_TOKENS = 1 << 22


class Draws(NamedTuple):
    """When a run is looked at: D draws of ``factor`` windows each, from window ``first`` on; steps: int64 [D], ends."""

    first: int
    factor: int
    steps: Tokens
    window: int

    @property
    def discarded(self) -> int:
        """Steps left out at the start."""
        return self.first * self.window


def choose_draws(trace: Any, discard: float) -> Draws:
    """At most 2,000 draws of the run without its first part; ``InputError`` on fewer than 16 windows."""
    if not 0 <= discard < 1:
        raise InputError("discard", expected="a share in [0, 1)", came=str(discard))
    windows = trace.steps // trace.window  # a last short window would weigh as much as a whole one
    kept = windows - int(np.ceil(discard * windows))
    if kept < FEWEST_DRAWS:
        expected = f"at least {FEWEST_DRAWS} windows of {trace.window} steps after the first {100 * discard:g} %"
        raise InputError("run", expected=expected, came=str(kept), remedy="run more steps")
    factor = -(-kept // MOST_DRAWS)
    first = windows - kept // factor * factor
    steps = trace.window * np.arange(first + factor, windows + 1, factor)
    return Draws(first, factor, steps, trace.window)


def series_scalars(trace: Any, draws: Draws) -> dict[str, Floats]:
    """Change rate, entropy, production and mean log-conditional of each draw: name → [D, B]; what a run lacks is left
    out.

    The mean log-conditional is log p(x_i | x_{-i}) of the token that a step found, nats.
    """
    last = draws.first + draws.factor * len(draws.steps)
    means = {
        name: values[draws.first : last].reshape(len(draws.steps), draws.factor, -1).mean(axis=1)
        for name, values in trace.series.items()
    }
    found = {
        "change_rate": means["changed"],
        "entropy": means["entropy"],
        "production": means["production"],
        "log_conditional": -means["entropy"] - means["production"],  # production is −entropy − log p(old)
    }
    return {name: values for name, values in found.items() if np.isfinite(values).all()}


def state_scalars(
    trace: Any, groups: Sequence[Group], draws: Draws, own: Mapping[str, Scalar] | None = None
) -> dict[str, Floats]:
    """Functions of the state at the end of each draw: name → [D, B].

    distance: sites that differ from the start of the group's first chain: one function for all chains of a group, so
    that chains of different starts may be compared; distinct_tokens: different tokens among the free sites; own: the
    caller's, each called with int64 [m, L] states of one group.
    """
    names = ["distance", "distinct_tokens", *(own or {})]
    found = {name: np.full((len(draws.steps), trace.n_chains), np.nan) for name in names}
    size = max(1, _BUFFER_TOKENS // max(1, trace.chains().tokens.size))
    held: list[list[Tokens]] = []
    for k, (_, states) in enumerate(states_over(trace, draws.steps.tolist())):
        held.append(states)
        if len(held) == size or k + 1 == len(draws.steps):
            _evaluate(held, groups, slice(k + 1 - len(held), k + 1), found, own or {})
            held = []
    return found


def _evaluate(
    held: list[list[Tokens]], groups: Sequence[Group], where: slice, found: dict[str, Floats], own: Mapping[str, Scalar]
) -> None:
    """held: d times the states of all chains."""
    for group in groups:
        rows = np.stack([states[b] for states in held for b in group.members])
        free = rows[:, group.first.free]
        values = {
            "distance": (free != group.first.tokens[group.first.free]).sum(axis=1),
            "distinct_tokens": 1 + (np.diff(np.sort(free, axis=1), axis=1) != 0).sum(axis=1),
            **{name: _checked(name, function(rows), len(rows)) for name, function in own.items()},
        }
        for name, value in values.items():
            found[name][where, group.members] = np.asarray(value, dtype=np.float64).reshape(len(held), -1)


def _checked(name: str, value: Any, rows: int) -> Floats:
    found = np.asarray(value, dtype=np.float64)
    if found.shape != (rows,) or not np.isfinite(found).all():
        came = f"shape {found.shape}" if found.shape != (rows,) else "NaN or infinity"
        raise InputError(f"scalar {name}", expected=f"one finite number a state, [{rows}]", came=came)
    return found
