"""Basins of long trajectories: a Markov state model of the embedded chains, one per temperature."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from maskov import survival
from maskov.basins.cells import Settings, cell_of
from maskov.basins.coarse import MOST_BASINS
from maskov.basins.field_library import require
from maskov.basins.markov_result import BasinsResult
from maskov.basins.timescales import RESAMPLES
from maskov.drift.embed import Embedder
from maskov.drift.trajectories import COMPONENTS, Kept, kept_states, start_labels, start_numbers
from maskov.errors import InputError
from maskov.protocols import JointLaw
from maskov.quantities import Exact

_FEWEST_TIMES = 40


def find_basins(
    trace: Any,
    model: Any,
    embedder: Embedder | str = "auto",
    *,
    basins: int | None = None,
    lag: int | None = None,
    keep: int | None = None,
    microstates: int | None = None,
    components: int = COMPONENTS,
    reversible: bool | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
    kept: Kept | None = None,
) -> BasinsResult:
    """Regions of texts that chains leave far more slowly than they forget where inside they were.

    1. Embed evenly spaced states of the whole trace, each text once; principal components of all of them.
    2. Per temperature: k-means microstates, transition counts chain by chain (deeptime).
    3. The lag: the smallest one whose slowest implied timescale is flat over the next two (``timescales.choose_lag``).
    4. The Markov chain on the largest set of microstates that lead to one another. Without detailed balance, unless the
       model is a joint law under random-site updates or ``reversible`` asks for it: counts are not symmetrised.
    5. The number of basins by the spectral gap and by cores (``coarse.find_basins_of``); G-PCCA memberships.
    6. Populations, lifetimes, transitions with bootstrap intervals over chains; a Chapman–Kolmogorov check; stays on
       the paths from core to core, cut ones as such; texts nearest to each centre.

    A single basin is an answer. Microstates outside the linked set that hold 2 % of the time or more are listed as
    separate basins, without a population: nothing says how often a long chain would be there.

    trace: ``Trace``, best of 10⁴ steps and more and of several chains; model: decodes its states; embedder: as for
    ``drift_curves``; basins: their number, chosen here by default; lag: in steps, rounded to kept times; keep: times
    per chain; microstates: at most; components: principal ones that are clustered; reversible: impose detailed balance;
    resamples: of whole chains, behind every interval; kept: states from ``maskov.drift.kept_states``. Raises
    ``InputError`` on a run that is too short, and
    where deeptime or pygpcca is missing.

    >>> from maskov.glauber import glauber
    >>> from maskov.models import load
    >>> model = load("law:curie-weiss?sites=12&beta=1.6")
    >>> trace = glauber(model, ["0" * 12, "1" * 12], chains=8, steps=20_000)
    >>> len(find_basins(trace, model, keep=500).cells[0].basins)
    2
    """
    require()
    _check(trace, basins, lag, microstates, components, resamples)
    kept = kept or kept_states(trace, model, embedder, keep, components, progress)
    if len(kept.times) < _FEWEST_TIMES:
        raise InputError(
            "run",
            expected=f"at least {_FEWEST_TIMES} kept states of every chain",
            came=f"{len(kept.times)} in {trace.steps} steps",
            remedy="run longer, or raise --keep",
        )
    settings = Settings(
        asked=basins,
        lag=None if lag is None else max(1, round(lag / kept.stride)),
        most=microstates,
        reversible=_is_reversible(trace, model) if reversible is None else reversible,
        seed=seed,
        resamples=resamples,
    )
    starts, labels = start_numbers(trace), start_labels(trace)
    sites = np.array([len(s.free) for s in trace.starts], dtype=np.float64)
    cells = tuple(
        cell_of(kept, np.flatnonzero(trace.temperatures == t), float(t), sites, starts, labels, settings)
        for t in dict.fromkeys(trace.temperatures.tolist())
    )
    explained = tuple(Exact(float(e)) for e in kept.explained)
    return BasinsResult(kept.embedder, int(trace.steps), kept.stride, explained, seed, cells)


def _check(
    trace: Any, basins: int | None, lag: int | None, microstates: int | None, components: int, resamples: int
) -> None:
    if basins is not None and not 1 <= basins <= MOST_BASINS:
        raise InputError("basins", expected=f"a number from 1 to {MOST_BASINS}", came=str(basins))
    if microstates is not None and not 2 <= microstates <= 1000:
        raise InputError("microstates", expected="a number from 2 to 1000", came=str(microstates))
    if components < 1:
        raise InputError("components", expected="at least 1", came=str(components))
    if not 0 <= resamples <= survival.RESAMPLES:
        raise InputError("resamples", expected=f"0 … {survival.RESAMPLES}", came=str(resamples))
    if lag is not None and not 1 <= lag <= trace.steps // 4:
        raise InputError("lag", expected=f"1 … {trace.steps // 4} steps, a quarter of the run", came=str(lag))


def _is_reversible(trace: Any, model: Any) -> bool:
    """A joint law under single random sites is reversible, at any temperature: p^{1/τ} has the conditionals."""
    scan = getattr(getattr(trace, "manifest", None), "scan", "single")
    return isinstance(getattr(model, "law", model), JointLaw) and scan == "single"
