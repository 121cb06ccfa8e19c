"""Lower, searched and upper value of the modulus at one excess loss."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskov.identifiability.modulus import WitnessFamily, full_mask_bound
from maskov.identifiability.result import ModulusRow
from maskov.identifiability.search import BlockDivergence, searched_modulus
from maskov.identifiability.views import View
from maskov.identifiability.visibility import LowVisibilityBound
from maskov.laws import enumerate_states
from maskov.quantities import Bound, Estimate, mean_estimate
from maskov.schedules import Schedule

Floats = NDArray[np.float64]
MOST_SEARCHED = 32


def sandwich(law: Any, mu: Schedule, seen: View, epsilons: tuple[float, ...]) -> tuple[ModulusRow, ...]:
    """One row for each ε; where the law is sampled the witness is an estimate over four replicates."""
    families = [WitnessFamily(e, 30 if seen.exact else 0) for e in seen.experiments[:4]]
    confined = len(seen.weights) == 2 and seen.exact and mu.uniform_given_count and epsilons
    low = LowVisibilityBound(seen.experiments[0]) if confined else None
    full_mask = float(np.exp(mu.log_objective_law(seen.experiments[0].n_sites)[0]))
    return tuple(_row(law, mu, families, low, full_mask, epsilon) for epsilon in epsilons)


def _row(
    law: Any,
    mu: Schedule,
    families: list[WitnessFamily],
    low: LowVisibilityBound | None,
    full_mask: float,
    epsilon: float,
) -> ModulusRow:
    found = [family.at(epsilon) for family in families]
    recovered = None if low is None else low.at(epsilon)
    searched = (
        _searched(law, mu, found[0].weights, epsilon) if searchable(law) and hasattr(law, "with_weights") else None
    )
    return ModulusRow(
        epsilon=epsilon,
        lower=_lower([one.joint for one in found]),
        upper=Bound(full_mask_bound(epsilon, full_mask), "upper"),
        lower_weights=_lower([one.mode_weights for one in found]),
        upper_weights=None if recovered is None else Bound(recovered.bound, "upper"),
        upper_weights_s=None if recovered is None else recovered.s,
        searched=None if searched is None else Bound(searched, "lower"),
    )


def _lower(values: list[float]) -> Bound | Estimate:
    return Bound(values[0], "lower") if len(values) == 1 else mean_estimate(values)


def _searched(law: Any, mu: Schedule, weights: Floats, epsilon: float) -> float:
    member = np.clip(weights, 1e-12, None)
    states = enumerate_states(law.vocabulary_size, law.n_sites)
    candidate = np.exp(law.with_weights(member / member.sum()).log_prob(states))
    return searched_modulus(BlockDivergence(law, mu), epsilon, candidate)[0]


def searchable(law: Any) -> bool:
    """Whether a search over all q is cheap: at most 32 states."""
    V, N = getattr(law, "vocabulary_size", 0), law.n_sites
    return bool(V > 0 and N <= 5 and V**N <= MOST_SEARCHED)
