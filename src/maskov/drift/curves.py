"""Semantic drift: how far the texts of a trace are from where they began, its plateau, and when it is reached."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskov.drift.embed import Cached, Embedder, Rows, embedder
from maskov.drift.fits import Growth, hitting_growth
from maskov.drift.hitting import Hits, Median, first_hits, hitting_median, met_fraction
from maskov.drift.plateau import grouped_mean, independent_distance
from maskov.errors import InputError
from maskov.quantities import Estimate
from maskov.results import Result

POINTS = 24
_LATE_TIMES = 4
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class DriftCurve:
    """Drift at one temperature.

    chains, passages: chains, and the different starts among them; sites: mean n; times: steps of the grid [K]; sweeps:
    times over ``sites``; drift: mean over chains at each time, errors over passages; late_plateau: mean distance
    between late states of chains with different starts; level: what counts as hit; hitting_median (steps),
    hitting_median_sweeps: None where fewer than half were met; bracket: grid times (steps) between which the median
    lies; met_fraction; hits: per chain, in order, the first grid time (steps) at the level, or the run's end where
    ``met`` is false.
    """

    temperature: float
    chains: int
    passages: int
    sites: float
    times: NDArray[np.int64]
    sweeps: Floats
    drift: tuple[Estimate, ...]
    late_plateau: Estimate | None
    level: float | None
    hitting_median: Estimate | None
    hitting_median_sweeps: Estimate | None
    bracket: tuple[float, float] | None
    met_fraction: Estimate | None
    hits: tuple[dict[str, Any], ...]


@dataclass(frozen=True)
class DriftCurves(Result):
    """Drift of a trace; ``curves`` has one entry per temperature.

    embedder: its name; fraction: of the plateau that counts as hit; plateau_from: "starts" or "late"; plateau: mean
    distance between independent passages (None with ``plateau_from="late"`` and fewer than two different starts);
    steps: T; growth: of the hitting times with n, per temperature (needs texts of at least three lengths).
    """

    command = "drift"

    embedder: str
    fraction: float
    plateau_from: str
    plateau: Estimate | None
    steps: int
    curves: tuple[DriftCurve, ...]
    growth: tuple[Growth, ...] = ()

    def _lines(self) -> list[tuple[str, str]]:
        head = [
            ("embedder", self.embedder),
            ("plateau", str(self.plateau)),
            ("hit", f"at {self.fraction:g} of the plateau from {self.plateau_from}"),
        ]
        growth = [(f"growth, τ = {g.temperature:g}", g.verdict) for g in self.growth]
        return head + [(f"τ = {c.temperature:g}", _sentence(c)) for c in self.curves] + growth


def _sentence(c: DriftCurve) -> str:
    median = (
        f"median {c.hitting_median_sweeps.value:.3g} sweeps"
        if c.hitting_median_sweeps is not None
        else "no median within the run"
    )
    met = f"; hit by {c.met_fraction.value:.0%} of {c.chains} chains, {median}" if c.met_fraction is not None else ""
    return f"drift {c.drift[-1].value:.3f} after {c.sweeps[-1]:.3g} sweeps{met}"


def time_grid(steps: int, points: int = POINTS) -> NDArray[np.int64]:
    """0 and about ``points`` log-spaced whole times from 1 to ``steps``.

    >>> time_grid(100, 5).tolist()
    [0, 1, 3, 10, 32, 100]
    """
    return np.unique(np.concatenate([[0], np.rint(np.geomspace(1, max(steps, 1), points))])).astype(np.int64)


def drift_curves(
    trace: Any,
    model: Any,
    embedder: Embedder | str = "auto",
    times: Sequence[int] | None = None,
    plateau_from: str = "starts",
    fraction: float = 0.9,
    seed: int = 0,
    passages: Sequence[str] | None = None,
) -> DriftCurves:
    """drift(t) = 1 − cos(e(x_t), e(x_0)) on a grid of times, its plateau, and the time to ``fraction`` of the plateau.

    A hitting time is the first grid time at the level: a chain that crosses between two grid times is seen at the later
    one, and one that crosses and returns between them is not seen, so the true hitting time is never later. Chains that
    never reach the level are right-censored at the run's end (Kaplan–Meier). Chains of one passage are one unit of
    every error but that of ``met_fraction``, which is binomial over chains.

    trace: ``Trace``; model: decodes its states; embedder: an ``Embedder`` or a name for ``maskov.drift.embedder``;
    times: steps, default 24 log-spaced ones (0 is always there); plateau_from: "starts" (independent passages) or
    "late" (late states of different chains, per temperature); fraction: in (0, 1]; passages: texts that stand for
    independent passages in place of the trace's own starts. Raises ``InputError``.
    """
    _check(model, plateau_from, fraction)
    encoder = _encoder(embedder, model)
    grid = _check_times(times, trace.steps)
    start_texts = [model.decode(s.tokens) for s in trace.starts]
    numbers = {text: k for k, text in enumerate(dict.fromkeys(start_texts))}
    groups = np.array([numbers[text] for text in start_texts], dtype=np.int64)
    plateau = _passage_plateau(encoder, model, start_texts if passages is None else passages, passages is not None)
    if plateau_from == "starts" and (plateau is None or plateau.value <= 0):
        raise InputError(
            "plateau",
            expected="at least two different starts",
            came="one text",
            remedy='start from several passages, pass passages=, or use plateau_from="late"',
        )
    drift, late = _measure(trace, model, encoder, grid, start_texts)
    sites = np.array([len(s.free) for s in trace.starts], dtype=np.float64)
    curves, growth = [], []
    for temperature in dict.fromkeys(trace.temperatures.tolist()):
        b = np.flatnonzero(trace.temperatures == temperature)
        floor = _late_plateau(late[:, b], groups[b])
        reference = plateau if plateau_from == "starts" else floor
        level = fraction * reference.value if reference is not None and reference.value > 0 else None
        curve = _curve(temperature, grid, drift[:, b], sites[b], groups[b], floor, level, seed)
        curves.append(curve)
        growth.append(hitting_growth(temperature, grid, curve.hits, sites[b], groups[b], seed))
    told = (tuple(curves), tuple(growth))
    return DriftCurves(encoder.name, float(fraction), plateau_from, plateau, int(trace.steps), *told)


def _check(model: Any, plateau_from: str, fraction: float) -> None:
    if not hasattr(model, "decode"):
        raise InputError(
            "model",
            expected="a model that decodes states to text",
            came=type(model).__name__,
            remedy='load laws as maskov.load("law:…")',
        )
    if plateau_from not in ("starts", "late"):
        raise InputError("plateau_from", expected="starts or late", came=repr(plateau_from))
    if not 0 < fraction <= 1:
        raise InputError("fraction", expected="a share in (0, 1]", came=str(fraction))


def _encoder(given: Embedder | str, model: Any) -> Cached:
    if isinstance(given, str):
        return embedder(given, model)
    if not hasattr(given, "encode"):
        raise InputError("embedder", expected="a name, or an object with name and encode", came=type(given).__name__)
    return given if isinstance(given, Cached) else Cached(given)


def _check_times(times: Sequence[int] | None, steps: int) -> NDArray[np.int64]:
    if times is None:
        return time_grid(steps)
    values = np.asarray(times)
    if values.ndim != 1 or values.size == 0 or (values != np.rint(values)).any():
        raise InputError("times", expected="a list of whole steps", came=repr(times)[:60])
    if values.min() < 0 or values.max() > steps:
        raise InputError(
            "times", expected=f"steps from 0 to {steps}, the run's length", came=f"{values.min()} … {values.max()}"
        )
    return np.unique(np.concatenate([[0], values])).astype(np.int64)


def _passage_plateau(encoder: Cached, model: Any, texts: Sequence[str], retell: bool) -> Estimate | None:
    """Mean distance of different passages, as the model writes them (its tokenizer may drop case)."""
    told = [model.decode(model.encode(t).tokens) for t in texts] if retell else list(texts)
    distinct = list(dict.fromkeys(told))
    return independent_distance(encoder.encode(distinct), np.arange(len(distinct))) if distinct else None


def _measure(
    trace: Any, model: Any, encoder: Cached, grid: NDArray[np.int64], start_texts: list[str]
) -> tuple[Floats, Rows]:
    """Drift [K, B], and the rows of late times [q, B, d]; one grid time in memory at once, all chains in one batch."""
    starts, drift, late = encoder.encode(start_texts), [], []
    latest = grid[grid >= grid[-1] / 2][-_LATE_TIMES:]
    for t in grid:
        rows = encoder.encode([model.decode(x) for x in trace.states_at(int(t))])
        drift.append(np.clip(1 - (rows * starts).sum(axis=1), 0, 2))
        if t in latest:
            late.append(rows)
    return np.array(drift), np.array(late)


def _late_plateau(late: Rows, groups: NDArray[np.int64]) -> Estimate | None:
    """Chains with different starts, or all chains where there is one start."""
    single = len(np.unique(groups)) == 1
    return independent_distance(late, np.arange(len(groups)) if single else groups)


def _curve(
    temperature: float,
    grid: NDArray[np.int64],
    drift: Floats,
    sites: Floats,
    groups: NDArray[np.int64],
    late: Estimate | None,
    level: float | None,
    seed: int,
) -> DriftCurve:
    # With one start the error is over its chains: the curve is then that passage's own.
    units = groups if len(np.unique(groups)) > 1 else np.arange(len(groups))
    hits = first_hits(grid, drift, level) if level is not None else None
    steps, sweeps = (
        (hitting_median(h, units, seed) for h in (hits, hits.scaled(sites))) if hits is not None else (None, None)
    )
    return DriftCurve(
        temperature=float(temperature),
        chains=len(sites),
        passages=len(np.unique(groups)),
        sites=float(sites.mean()),
        times=grid,
        sweeps=grid / sites.mean(),
        drift=tuple(grouped_mean(row, units) for row in drift),
        late_plateau=late,
        level=level,
        hitting_median=_estimate(steps),
        hitting_median_sweeps=_estimate(sweeps),
        bracket=steps.bracket if steps is not None else None,
        met_fraction=met_fraction(hits.met) if hits is not None else None,
        hits=_rows(hits),
    )


def _estimate(median: Median | None) -> Estimate | None:
    return median.estimate if median is not None else None


def _rows(hits: Hits | None) -> tuple[dict[str, Any], ...]:
    return (
        ()
        if hits is None
        else tuple({"step": int(t), "met": bool(m)} for t, m in zip(hits.high, hits.met, strict=True))
    )
