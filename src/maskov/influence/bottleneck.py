"""Bottlenecks and spectral bounds of exact chains, beside their exact mixing times."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maskov.errors import InputError
from maskov.glauber.kernel import is_reversible, mixing_time, spectral_gap, stationary_law, transition_matrix
from maskov.influence.contraction import Influence, mixing_time_bound
from maskov.influence.dobrushin import dobrushin_matrix

Vector = NDArray[np.float64]


def bottleneck_ratio(P: NDArray[np.float64], pi: Vector, inside: NDArray[np.bool_]) -> float:
    """Φ(B) = Σ_{x∈B, y∉B} π(x) P(x, y)/π(B): the chance to leave B in one step of a stationary chain that is in B.

    P: [N, N]; pi: [N]; inside: bool [N]. Raises ``InputError`` on an empty or whole B.
    """
    if not inside.any() or inside.all():
        raise InputError(
            "bottleneck", expected="a set that is neither empty nor everything", came=f"{int(inside.sum())}"
        )
    flow = float((pi[inside, None] * P[inside][:, ~inside]).sum())
    return flow / float(pi[inside].sum())


def bottleneck_bound(P: NDArray[np.float64], pi: Vector, inside: NDArray[np.bool_]) -> float:
    """t_mix(1/4) ≥ 1/(4 Φ(B)) for any B with π(B) ≤ 1/2; reversibility is not needed [Levin & Peres 2017, thm 7.4]."""
    if float(pi[inside].sum()) > 0.5 + 1e-12:
        inside = ~inside
    return 1 / (4 * bottleneck_ratio(P, pi, inside))


class BoundsRow(NamedTuple):
    """Mixing time of a law at a temperature, in steps, between its bounds; NaN or infinity where one has no value."""

    name: str
    temperature: float
    bottleneck: float
    relaxation_lower: float
    exact: int
    relaxation_upper: float
    dobrushin: float

    @property
    def lower(self) -> float:
        """The best lower bound."""
        return float(np.nanmax([self.bottleneck, self.relaxation_lower, 0.0]))

    @property
    def upper(self) -> float:
        """The best upper bound."""
        return float(np.nanmin([self.relaxation_upper, self.dobrushin, math.inf]))


def bounds_row(name: str, law: Any, temperature: float, inside: NDArray[np.bool_] | None = None) -> BoundsRow:
    """Exact t_mix(1/4) by enumeration between its lower and upper bounds.

    Reversible chains: (1/γ − 1) log 2 ≤ t_mix(1/4) ≤ log(4/π_min)/γ, γ the absolute spectral gap [Levin & Peres 2017,
    thms 12.4, 12.5]; Dobrushin's bound where some α < 1; the bottleneck of ``inside`` (bool over enumerated states).
    """
    P = np.asarray(_dense(transition_matrix(law, law.n_sites, temperature)))
    pi = stationary_law(P)
    low, high = math.nan, math.inf
    if is_reversible(P, pi):
        gap = spectral_gap(P, pi)
        low, high = (1 / gap - 1) * math.log(2), math.log(4 / pi.min()) / gap
    certified = mixing_time_bound(Influence(dobrushin_matrix(law, temperature), "exact"))
    return BoundsRow(
        name,
        temperature,
        math.nan if inside is None else bottleneck_bound(P, pi, inside),
        low,
        mixing_time(P, pi),
        high,
        math.inf if certified is None else certified.value,
    )


def bounds_table(
    laws: Mapping[str, Any],
    temperatures: Sequence[float] = (0.5, 1.0, 2.0),
    sets: Mapping[str, NDArray[np.bool_]] | None = None,
) -> list[BoundsRow]:
    """``bounds_row`` of every law at every temperature.

    laws: by name, each of at most 4096 states; sets: for some of the names, the bottleneck's set (bool over the states
    in the order of ``enumerate_states``). Raises ``InputError``.

    >>> from maskov.laws import IsingRing
    >>> [row.exact for row in bounds_table({"ring": IsingRing(4, 0.4)}, [1.0, 2.0])]
    [10, 7]
    """
    unknown = sorted(set(sets or {}) - set(laws))
    if unknown:
        raise InputError("sets", expected="names of laws", came=", ".join(unknown))
    return [bounds_row(name, law, tau, (sets or {}).get(name)) for tau in temperatures for name, law in laws.items()]


def _dense(P: Any) -> NDArray[np.float64]:
    return np.asarray(P.toarray() if hasattr(P, "toarray") else P)
