"""Influence of a law or a model over temperatures: exact where it can be enumerated, searched where it can't."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskov.errors import InputError
from maskov.glauber.chains import check_temperatures
from maskov.glauber.run import encode_starts
from maskov.influence.contraction import Contraction, Influence, contraction, mixing_time_bound
from maskov.influence.critical import exact_critical_temperature, searched_critical_temperature
from maskov.influence.dobrushin import dobrushin_matrix
from maskov.influence.search import Found, search
from maskov.influence.summary import by_class, by_distance
from maskov.models.sites import cut_state
from maskov.protocols import State
from maskov.quantities import Bound, Estimate, Exact, mean_estimate
from maskov.results import Result

GRID = (0.3, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 8.0, 12.0, 20.0, 30.0)
Quantity = Exact | Bound | Estimate


@dataclass(frozen=True)
class InfluencePoint:
    """Influence at one temperature. row, column, spectral, radius: α in four norms; typical, q99, maximum: of c_ij over
    sampled contexts and pairs; hilbert: max tanh(D/(4τ)), which bounds the pairs that were looked at and no others.
    """

    temperature: float
    row: Quantity
    column: Quantity
    spectral: Quantity
    radius: Quantity
    typical: Quantity
    q99: float
    maximum: Quantity
    hilbert: float | None


@dataclass(frozen=True)
class InfluenceResult(Result):
    """α(τ) and what it is made of.

    critical_temperature: where the smallest α, the radius, crosses 1 (exact: of the law; lower: the true one is not
    below), with ``critical_reason`` where there is none; mixing_time_bound: at the temperature nearest to 1, with
    ``mixing_time_reason``; matrix: c_ij there, row i moved by column j; by_distance, by_class: means (over texts) and
    maxima there; sites: n; n_contexts: texts; n_worst: filled states; n_rows: model rows; exact: by enumeration.
    """

    command = "influence"

    curve: tuple[InfluencePoint, ...]
    critical_temperature: Quantity | None
    critical_reason: str
    mixing_time_bound: Bound | None
    mixing_time_reason: str
    matrix_temperature: float
    matrix: NDArray[np.float64]
    by_distance: tuple[dict[str, Any], ...]
    by_class: tuple[dict[str, Any], ...]
    sites: int
    n_contexts: int
    n_worst: int
    n_rows: int
    exact: bool

    def _lines(self) -> list[tuple[str, str]]:
        critical = self.critical_reason if self.critical_temperature is None else str(self.critical_temperature)
        head = [("critical temperature", critical), ("exact", str(self.exact))]
        told = self.mixing_time_reason if self.mixing_time_bound is None else str(self.mixing_time_bound)
        points = [
            (
                f"τ = {p.temperature:g}",
                f"row {p.row}, column {p.column}, spectral {p.spectral}, typical {p.typical.value:.3g}",
            )
            for p in self.curve
        ]
        return [*head, (f"t_mix(1/4) at τ = {self.matrix_temperature:g}", told), *points]


def influence(
    model: Any,
    texts: Sequence[Any] | None = None,
    temperatures: float | Sequence[float] = GRID,
    *,
    contexts: int = 4,
    worst: int = 1,
    climbs: int = 8,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> InfluenceResult:
    """c_ij(τ) = sup TV(p_{i,τ}(·|x), p_{i,τ}(·|x′)), x and x′ different at j only, and α(τ) = ‖C(τ)‖ in four norms.

    Laws: exact, with a certified bound on the mixing time where α < 1. Networks: the largest over sampled contexts and
    substitutions, over states filled with one token, and over coordinate ascent from the strongest pairs, is a *lower*
    bound and certifies nothing; all temperatures come from one set of logits (arXiv 2605.16378, §4). Means, the 99th
    percentile and the token classes are of the texts alone.

    model: conditionals with a codec, or a law; texts: for a network, cut to one length; contexts: how many of them;
    worst: how many filled states; climbs: how many pairs are climbed. Model rows: about n² (contexts + worst) + 136
    climbs. Raises ``InputError``.

    >>> from maskov.models import load
    >>> r = influence(load("law:curie-weiss?sites=8&beta=0.5"), temperatures=[1.0])
    >>> round(r.curve[0].row.value, 6)  # 7 tanh(0.5/8)
    0.436931
    """
    values = sorted(check_temperatures(temperatures))
    if contexts < 1 or min(climbs, worst) < 0:
        came = f"contexts {contexts}, worst {worst}, climbs {climbs}"
        raise InputError("contexts", expected="at least 1 text, no negative counts", came=came)
    if getattr(model, "n_sites", None) is not None and texts is None:
        return _of_law(model, values, progress)
    return _of_network(model, texts, values, contexts, (worst, climbs), seed, progress)


def _of_law(model: Any, values: list[float], progress: Callable[[int, int], None] | None) -> InfluenceResult:
    matrices = []
    for k, tau in enumerate(values):
        matrices.append(Influence(dobrushin_matrix(model, tau), "exact"))
        if progress is not None:
            progress(k + 1, len(values))
    points = [_exact_point(t, C) for t, C in zip(values, matrices, strict=True)]
    near = _nearest(values)
    bound = mixing_time_bound(matrices[near])
    reason = "" if bound is not None else "every norm of the exact influence matrix is at least 1, up to rounding"
    C = matrices[near].values
    critical, critical_reason = exact_critical_temperature(
        lambda tau: _radius(model, tau), values, [p.radius.value for p in points]
    )
    return InfluenceResult(
        curve=tuple(points),
        critical_temperature=critical,
        critical_reason=critical_reason,
        mixing_time_bound=bound,
        mixing_time_reason=reason,
        matrix_temperature=values[near],
        matrix=C,
        by_distance=tuple(by_distance(C[None], C)),
        by_class=(),
        sites=len(C),
        n_contexts=0,
        n_worst=0,
        n_rows=0,
        exact=True,
    )


def _radius(model: Any, tau: float) -> float:
    return contraction(Influence(dobrushin_matrix(model, tau), "exact")).radius.value


def _exact_point(tau: float, C: Influence) -> InfluencePoint:
    norms = contraction(C)
    off = C.values[~np.eye(len(C.values), dtype=bool)]
    largest = float(off.max()) if off.size else 0.0
    q99 = float(np.quantile(off, 0.99)) if off.size else 0.0
    return InfluencePoint(tau, *_four(norms), Exact(float(off.mean()) if off.size else 0.0), q99, Exact(largest), None)


def _four(c: Contraction) -> tuple[Exact | Bound, Exact | Bound, Exact | Bound, Exact | Bound]:
    return c.row, c.column, c.spectral, c.radius


def _of_network(
    model: Any,
    texts: Sequence[Any] | None,
    values: list[float],
    contexts: int,
    effort: tuple[int, int],
    seed: int,
    progress: Callable[[int, int], None] | None,
) -> InfluenceResult:
    if texts is None:
        raise InputError("texts", expected="texts to start from", came="none", remedy="pass --texts FILE")
    states = _one_shape(encode_starts(model, texts)[0][:contexts])
    worst, climbs = effort
    found = search(model, states, np.array(values), climbs, seed, progress, worst)
    points = [_searched_point(k, t, found) for k, t in enumerate(values)]
    near = _nearest(values)
    critical, critical_reason = searched_critical_temperature(values, [p.radius.value for p in points])
    return InfluenceResult(
        curve=tuple(points),
        critical_temperature=critical,
        critical_reason=critical_reason,
        mixing_time_bound=None,
        mixing_time_reason="influence was searched, not certified: a sampled maximum is a lower bound",
        matrix_temperature=values[near],
        matrix=found.largest[near],
        by_distance=tuple(by_distance(found.total[near][None] / found.pairs, found.largest[near])),
        by_class=tuple(by_class(model, found, near)),
        sites=len(states[0].free),
        n_contexts=found.pairs,
        n_worst=found.worst,
        n_rows=found.rows,
        exact=False,
    )


def _one_shape(states: Sequence[State]) -> list[State]:
    """All states cut at their ends to the shortest, so that site i is the i-th token of each."""
    length = min(int(s.free[-1] - s.free[0]) + 1 for s in states)
    cut = [cut_state(s, length) for s in states]
    alike = [s for s in cut if len(s.tokens) == len(cut[0].tokens) and np.array_equal(s.free, cut[0].free)]
    if len(alike[0].free) < 2:
        raise InputError("influence", expected="texts with at least two free sites", came=str(len(alike[0].free)))
    return alike


def _searched_point(k: int, tau: float, found: Found) -> InfluencePoint:
    norms = contraction(Influence(found.largest[k], "lower"))
    off = ~np.eye(found.largest.shape[1], dtype=bool)
    # Pairs of one text are not independent observations; texts are.
    typical = mean_estimate(found.values[k].reshape(found.pairs, -1).mean(axis=1))
    largest = Bound(float(found.largest[k].max()), side="lower", n=found.values.shape[1])
    hilbert = float(np.tanh(found.hilbert[off].max() / (4 * tau)))
    return InfluencePoint(tau, *_four(norms), typical, float(np.quantile(found.values[k], 0.99)), largest, hilbert)


def _nearest(values: list[float]) -> int:
    return int(np.argmin([abs(math.log(v)) for v in values]))
