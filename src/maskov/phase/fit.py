"""What the times of all cells say together: the crossover, its shift with n, and how times grow on either side."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from maskov.drift.fits import DECISIVE, LAWS, Growth, fit_growth
from maskov.phase.crossover import Column, Crossings, Crossover, Shift, crossing, shift
from maskov.quantities import Bound, Estimate


@dataclass(frozen=True)
class Side:
    """Growth on one side of every crossover. temperatures: those whose growth could be fitted; aic: of each law, summed
    over them (each has its own C); best, verdict: as in ``Growth``. Temperatures share starts and randomness, so sums
    weigh the evidence of one set of pairs and not of several.
    """

    temperatures: tuple[float, ...]
    aic: dict[str, float]
    best: str | None
    verdict: str


@dataclass(frozen=True)
class TimeLaws:
    """Crossovers by n, their shift, growth by temperature, and growth above and below all crossovers."""

    crossovers: tuple[Crossover, ...]
    shift: Shift
    growth: tuple[Growth, ...]
    above: Side
    below: Side


def time_laws(columns: list[Column], low: list[Column], multiple: float, seed: int) -> TimeLaws:
    """Crossovers and growth of one kind of times. columns: one per n, all with the same temperatures; low: the same
    with the last times below a level in place of the first ones at it (the columns themselves where times are exact).
    """
    found = [crossing(column, multiple, seed) for column in columns]
    temperatures = columns[0].temperatures
    growth = tuple(_growth(columns, low, k, seed) for k in range(len(temperatures)))
    cold, hot = _inside(found)
    return TimeLaws(
        tuple(c.crossover for c in found),
        shift(found, temperatures),
        growth,
        _side([g for g in growth if g.temperature > hot]),
        _side([g for g in growth if g.temperature < cold]),
    )


def _growth(columns: list[Column], low: list[Column], k: int, seed: int) -> Growth:
    sites = np.concatenate([np.full(c.times.shape[1], c.sites) for c in columns])
    first = np.concatenate([c.times[k] for c in low])
    last, met = (np.concatenate([getattr(c, name)[k] for c in columns]) for name in ("times", "met"))
    return fit_growth(float(columns[0].temperatures[k]), sites, first, last, met, seed)


def _inside(found: list[Crossings]) -> tuple[float, float]:
    """Below the first every n is slow, above the second none is; a bound says nothing beyond itself."""
    values = [c.crossover.value for c in found]
    cold = [v.value if isinstance(v, Estimate) or (v is not None and v.side == "lower") else -np.inf for v in values]
    hot = [v.value if isinstance(v, Estimate) or (v is not None and v.side == "upper") else np.inf for v in values]
    # A lower bound lies on the grid, and that cell is slow itself; so is the cell of an upper bound fast.
    edge_cold = [np.nextafter(v, np.inf) if isinstance(q, Bound) else v for v, q in zip(cold, values, strict=True)]
    edge_hot = [np.nextafter(v, -np.inf) if isinstance(q, Bound) else v for v, q in zip(hot, values, strict=True)]
    return float(min(edge_cold)), float(max(edge_hot))


def _side(growth: list[Growth]) -> Side:
    told = [g for g in growth if g.laws]
    if not told:
        return Side((), {}, None, "no temperature there with enough lengths")
    aic = {law: sum(g.law(law).aic for g in told) for law in LAWS}
    best = min(aic, key=lambda law: aic[law])
    near = [law for law in sorted(LAWS, key=lambda law: aic[law]) if aic[law] - aic[best] < DECISIVE]
    verdict = near[0] if len(near) == 1 else "cannot tell: " + " or ".join(near)
    return Side(tuple(g.temperature for g in told), aic, best, verdict)
