"""From numbers to a word, its reasons, and what to do: the part that a person reads."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maskov.diagnostics.convergence import Convergence
from maskov.quantities import Estimate

# R-hat above this is a disagreement whatever the noise [Gelman & Rubin 1992's own rule of thumb].
LARGE_R_HAT = 1.1


class Facts(NamedTuple):
    """What a verdict rests on.

    starts: different starts of one law; slowest: scalar of the least ESS per sweep, and its ESS; r_hats: every scalar
    in every group.
    """

    chains: int
    starts: int
    stuck: int
    slowest: tuple[str, float]
    r_hats: tuple[tuple[str, Convergence], ...]
    target_ess: float
    target_r_hat: float


class Verdict(NamedTuple):
    """word: "mixed", "too short", "not mixed" or "stuck"; can_extrapolate: whether a needed length means something."""

    word: str
    reasons: tuple[str, ...]
    can_extrapolate: bool
    remedy: str

    def advice(self, needed: Estimate | None, done: float) -> str:
        """What to do, in one sentence. needed, done: sweeps."""
        if needed is None:
            return f"no number can be given: {self.remedy}"
        low, high = needed.interval or (needed.value, needed.value)
        span = f"{_round(needed.value)} sweeps of each chain in all (95 %: {_round(low)} to {_round(high)})"
        if self.word == "mixed":
            return f"long enough: {span} would have done, {_round(done)} were run"
        return f"run {span}; {_round(done)} were run"


def judge(facts: Facts) -> Verdict:
    """Stuck chains first; then disagreement beyond noise; then length.

    "not mixed" needs an R-hat that mixed chains of as few effective draws would not have, or one above 1.1. Only the
    first rules out an extrapolation: the second may be what a slow chain has before it is long enough.
    """
    apart = [(n, c) for n, c in facts.r_hats if c.apart and c.r_hat > facts.target_r_hat]
    large = [(n, c) for n, c in facts.r_hats if c.r_hat > LARGE_R_HAT]
    short = _short(facts)
    if facts.stuck:
        some = f"{facts.stuck} of {facts.chains} chains stand still"
        return Verdict("stuck", (some, *_apart(apart, facts)), False, _REMEDY_STUCK)
    if apart:
        return Verdict("not mixed", _apart(apart, facts), False, _REMEDY_APART)
    if large:
        name, worst = max(large, key=lambda pair: pair[1].r_hat)
        reason = f"R-hat of {name} is {worst.r_hat:.3f}; so few effective draws cannot tell slow chains from split ones"
        return Verdict("not mixed", (reason, *short), True, "")
    if short:
        return Verdict("too short", short, True, "")
    return Verdict("mixed", _mixed(facts), True, "")


_REMEDY_STUCK = "the stuck chains add nothing, however long they run; raise the temperature or start from more texts"
_REMEDY_APART = (
    "the chains differ by more than they move, so their speed says nothing about how long it takes to agree; "
    "raise the temperature, start from more texts, or run several times as long and look again"
)


def _apart(apart: list[tuple[str, Convergence]], facts: Facts) -> tuple[str, ...]:
    if not apart:
        return ()
    name, worst = max(apart, key=lambda pair: pair[1].r_hat)
    value = f"{worst.r_hat:.3f}" if np.isfinite(worst.r_hat) else "infinite"
    noise = f"mixed chains of this length stay below {worst.noise:.3f}"
    if facts.chains == 1 or np.isnan([worst.replicas, worst.starts]).all():
        return (f"the first and second half of a chain disagree in {name}: R-hat {value}, and {noise}",)
    who = "replicas of one start" if worst.replicas >= np.nan_to_num(worst.starts) else "chains of different starts"
    return (f"{who} disagree in {name}: R-hat {value}, and {noise}",)


def _short(facts: Facts) -> tuple[str, ...]:
    name, effective = facts.slowest
    reasons = []
    if effective < facts.target_ess:
        reasons.append(f"{name} has {effective:.0f} effective draws of the {facts.target_ess:g} wanted")
    high = [(n, c.r_hat) for n, c in facts.r_hats if c.r_hat > facts.target_r_hat]
    if high:
        name, value = max(high, key=lambda pair: pair[1])
        reasons.append(f"R-hat of {name} is {value:.3f}, above {facts.target_r_hat:g}, within what noise explains")
    return tuple(reasons)


def _mixed(facts: Facts) -> tuple[str, ...]:
    said = f"every scalar has R-hat ≤ {facts.target_r_hat:g} and at least {facts.target_ess:g} effective draws"
    if facts.starts > 1:
        return (said,)
    return (said, "no two chains of one law had different starts: whether the start is forgotten was not tested")


def _round(value: float) -> str:
    """Two digits of a large number, a small one as it is."""
    return f"{float(f'{value:.2g}'):,.0f}" if value >= 10 else f"{value:.2g}"
