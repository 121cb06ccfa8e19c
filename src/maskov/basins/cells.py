"""One temperature of a basin study: microstates, lag, basins, and all that is said about them."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maskov.basins.coarse import (
    Coarse,
    chapman_kolmogorov,
    coarse_matrix,
    find_basins_of,
    gaps,
    lifetimes,
    min_chi,
)
from maskov.basins.describe import Described, describe
from maskov.basins.markov_result import Basin, BasinCell, CheckRow, LagTimescales
from maskov.basins.microstates import Chain, Floats, Labels, chain_counts, cluster, estimate, strong_sets
from maskov.basins.timescales import Lag, Spectrum, choose_lag, estimate_of, estimates, spectrum, weights_over
from maskov.drift.trajectories import Kept
from maskov.quantities import Estimate, Exact

SEPARATE_SHARE = 0.02
_FACTORS = (2, 3, 4, 5)
_MOST_INDICATORS = 6
_FEW_EXITS = 5


class Settings(NamedTuple):
    """asked: number of basins, None to choose; lag: in kept times, None to choose; most: microstates, None to choose;
    resamples: of the bootstrap over chains.
    """

    asked: int | None
    lag: int | None
    most: int | None
    reversible: bool
    seed: int
    resamples: int


class Model(NamedTuple):
    """What the counts say. chain: None where no two microstates lead to one another; coarse: None for one basin;
    regions: int64 [m], basin of each microstate, −1 elsewhere, the linked ones first; cores: bool [m]; linked: how
    many basins are linked.
    """

    chain: Chain | None
    coarse: Coarse | None
    regions: Labels
    cores: NDArray[np.bool_]
    linked: int


class Replicas(NamedTuple):
    """Resampled chains: population and lifetime (steps) [R, n], transition matrix [R, n, n]."""

    population: Floats
    lifetime: Floats
    transition: Floats


def cell_of(
    kept: Kept,
    chains: Labels,
    temperature: float,
    sites: Floats,
    starts: Labels,
    topics: list[str | None],
    settings: Settings,
) -> BasinCell:
    """The basins of the chains at one temperature. chains: their indices; sites, starts: of every chain."""
    places = kept.places[:, chains]
    K, b, q = places.shape
    clusters = cluster(places.reshape(K * b, q), settings.most, settings.seed)
    labels, m = clusters.labels.reshape(K, b), len(clusters.centres)
    weights = weights_over(b, settings.seed, settings.resamples)
    found = spectrum(labels, m, settings.reversible, weights)
    lag, step = _lag(found, settings)
    counts = chain_counts(labels, m, step)
    model = _model(counts.sum(axis=0), step, lag, labels, settings)
    replicas = _replicas(model, counts, weights, settings.reversible, kept.stride)
    check, error = _check(model, labels, m, weights, settings.reversible, kept.stride)
    told = describe(
        kept, chains, labels, model.regions, model.cores, weights, starts, topics, float(sites[chains].mean())
    )
    basins = tuple(_with_model(told, k, model, replicas, kept.stride, b) for k in range(len(told.basins)))
    linked = np.isin(labels, model.chain.states) if model.chain is not None else np.zeros_like(labels, dtype=bool)
    sets = strong_sets(counts.sum(axis=0))
    return BasinCell(
        temperature=temperature,
        verdict=_verdict(model, lag, found, kept.stride, settings.asked, m, len(basins)),
        chains=b,
        kept=K * b,
        sites=float(sites[chains].mean()),
        microstates=m,
        reversible=settings.reversible,
        linked_share=Exact(float(linked.mean())),
        linked_chains=int(linked.any(axis=0).sum()),
        pieces=len(sets),
        lag_steps=step * kept.stride,
        plateau=lag.plateau,
        slowest_steps=_slowest(found, step, b, kept.stride),
        timescales=_all_timescales(found, b, kept.stride),
        gaps=gaps(model.chain) if model.chain is not None else {},
        min_chi=min_chi(model.chain, _MOST_INDICATORS) if model.chain is not None else {},
        core_share=model.coarse.core_share if model.coarse is not None else None,
        ck_error=error,
        check=check,
        basins=basins,
        transition=_transition(model, replicas, b),
        jumps=told.jumps,
        by_start=told.by_start,
        paths=told.paths,
        notes=_notes(model, lag, b, basins, float(linked.mean())),
    )


def _lag(found: Spectrum, settings: Settings) -> tuple[Lag, int]:
    chosen = choose_lag(found)
    if settings.lag is None:
        return chosen, found.lags[chosen.at]
    return Lag(chosen.at, chosen.plateau and settings.lag >= found.lags[chosen.at], chosen.slow), settings.lag


def _model(total: Floats, step: int, lag: Lag, labels: Labels, settings: Settings) -> Model:
    m = len(total)
    chain = estimate(total, step, settings.reversible)
    coarse = find_basins_of(chain, settings.asked) if chain is not None and (lag.slow or settings.asked) else None
    regions, cores, linked = np.full(m, -1, dtype=np.int64), np.ones(m, dtype=bool), 0
    if chain is not None:
        linked = coarse.number if coarse is not None else 1
        regions[chain.states] = coarse.sets if coarse is not None else 0
        cores[chain.states] = coarse.cores if coarse is not None else True
    share = np.bincount(labels.ravel(), minlength=m) / labels.size
    inside = chain.states if chain is not None else np.empty(0, dtype=np.int64)
    outside = [s for s in strong_sets(total) if not np.isin(s, inside).any() and share[s].sum() >= SEPARATE_SHARE]
    for k, states in enumerate(sorted(outside, key=lambda s: -share[s].sum())):
        regions[states] = linked + k
    return Model(chain, coarse, regions, cores, linked)


def _replicas(model: Model, counts: Floats, weights: NDArray[np.int64], reversible: bool, stride: int) -> Replicas:
    """Populations, lifetimes and transitions of resampled chains, on the same microstates and memberships."""
    n = model.linked
    out = Replicas(
        np.zeros((len(weights), n)), np.full((len(weights), n), np.inf), np.full((len(weights), n, n), np.nan)
    )
    if model.chain is None or model.coarse is None:
        return out
    states, coarse = model.chain.states, model.coarse
    inside = counts[:, states][:, :, states]
    for r, w in enumerate(weights):
        drawn = estimate(np.tensordot(w.astype(np.float64), inside, axes=1), model.chain.lag, reversible)
        if drawn is None:
            continue
        out.population[r] = np.bincount(coarse.sets[drawn.states], weights=drawn.pi, minlength=n)
        chi = coarse.chi[drawn.states]
        if np.linalg.matrix_rank(chi) < n:  # a basin that these chains never linked
            continue
        P_c = coarse_matrix(drawn.P, drawn.pi, chi)
        out.transition[r] = P_c
        out.lifetime[r] = lifetimes(P_c, drawn.lag * stride)
    return out


def _with_model(told: Described, k: int, model: Model, replicas: Replicas, stride: int, chains: int) -> Basin:
    """A basin with its population and lifetime from the model, where it is linked."""
    basin = told.basins[k]
    if model.chain is None or k >= model.linked:
        return basin.separate()
    if model.coarse is None:
        return basin.linked(Estimate(1.0, math.inf, chains), None)
    sets, coarse = model.coarse.sets, model.coarse
    share = float(model.chain.pi[sets == k].sum())
    life = lifetimes(coarse_matrix(model.chain.P, model.chain.pi, coarse.chi), model.chain.lag * stride)[k]
    return basin.linked(
        estimate_of(share, replicas.population[:, k], chains),
        estimate_of(float(life), replicas.lifetime[:, k], chains),
    )


def _transition(model: Model, replicas: Replicas, chains: int) -> tuple[tuple[Estimate, ...], ...]:
    if model.chain is None or model.coarse is None:
        return ()
    P_c = coarse_matrix(model.chain.P, model.chain.pi, model.coarse.chi)
    known = replicas.transition[~np.isnan(replicas.transition[:, 0, 0])]
    return tuple(
        tuple(estimate_of(float(P_c[i, j]), known[:, i, j], chains) for j in range(len(P_c))) for i in range(len(P_c))
    )


def _check(
    model: Model, labels: Labels, m: int, weights: NDArray[np.int64], reversible: bool, stride: int
) -> tuple[tuple[CheckRow, ...], Estimate | None]:
    """The Chapman–Kolmogorov check, and its largest difference with the error of that one."""
    if model.chain is None or model.coarse is None:
        return (), None
    factors = [f for f in _FACTORS if f * model.chain.lag <= (len(labels) - 1) // 2]
    per_chain = {f: chain_counts(labels, m, f * model.chain.lag) for f in factors}
    if not factors:
        return (), None
    found = chapman_kolmogorov(model.chain, model.coarse, {f: c.sum(axis=0) for f, c in per_chain.items()}, reversible)
    drawn = [
        chapman_kolmogorov(
            model.chain,
            model.coarse,
            {f: np.tensordot(w.astype(np.float64), c, axes=1) for f, c in per_chain.items()},
            reversible,
        ).estimated
        for w in weights
    ]
    replicas = np.array(drawn).reshape(len(weights), *found.estimated.shape)
    rows, difference = [], np.abs(found.predicted - found.estimated)
    for i, factor in enumerate(factors):
        for k in range(model.coarse.number):
            if np.isfinite(difference[i, k]):
                spread = replicas[:, i, k][np.isfinite(replicas[:, i, k])]
                value = estimate_of(float(found.estimated[i, k]), spread, labels.shape[1])
                rows.append(CheckRow(factor * model.chain.lag * stride, k, float(found.predicted[i, k]), value))
    if not rows:
        return (), None
    worst = max(rows, key=lambda row: abs(row.predicted - row.estimated.value))
    return tuple(rows), Estimate(
        abs(worst.predicted - worst.estimated.value), worst.estimated.stderr, worst.estimated.n
    )


def _slowest(found: Spectrum, step: int, chains: int, stride: int) -> Estimate | None:
    j = int(np.argmin([abs(lag - step) for lag in found.lags]))
    return estimates(found.values[j, :1], found.replicas[:, j, :1], chains, stride)[0]


def _all_timescales(found: Spectrum, chains: int, stride: int) -> tuple[LagTimescales, ...]:
    return tuple(
        LagTimescales(lag * stride, tuple(estimates(found.values[j], found.replicas[:, j], chains, stride)))
        for j, lag in enumerate(found.lags)
    )


def _verdict(model: Model, lag: Lag, found: Spectrum, stride: int, asked: int | None, m: int, basins: int) -> str:
    """The answer in plain words."""
    separate = basins - model.linked
    rest = f"; {separate} more that no chain was seen to reach and leave" if separate and model.linked else ""
    if m == 1:
        return "no basins: every kept state is the same text"
    if model.chain is None:
        return f"{separate} places that no chain was seen to leave and return to: run longer, or warmer"
    if model.coarse is not None:
        how = "as asked for" if asked is not None else f"timescales {model.coarse.gap:.3g} times apart"
        return f"{model.coarse.number} basins, {how}{rest}"
    if asked is not None and asked > 1:
        return f"one basin: {len(model.chain.states)} microstates that can't be parted into {asked}{rest}"
    if not lag.slow:
        return f"one basin: within {found.lags[0] * stride} steps chains forget where they were{rest}"
    slowest = np.nanmax(found.values[lag.at, :1]) * stride
    return f"one basin: the slowest timescale, {slowest:.3g} steps, parts no two regions with cores of their own{rest}"


def _notes(model: Model, lag: Lag, chains: int, basins: tuple[Basin, ...], linked: float) -> tuple[str, ...]:
    notes = []
    if chains == 1:
        notes.append("one chain: no number has an interval; run several")
    if model.chain is not None and linked < 0.9:
        notes.append(f"the linked set holds {linked:.0%} of the kept states; populations are shares of that")
    if lag.slow and not lag.plateau:
        notes.append("implied timescales still grow at the largest usable lag: take lifetimes as lower bounds")
    few = [str(b.number) for b in basins if b.kind == "linked" and len(basins) > 1 and b.exits < _FEW_EXITS]
    if few:
        notes.append(f"basin {', '.join(few)}: fewer than {_FEW_EXITS} exits were seen, so its lifetime is a guess")
    once = sum(b.once for b in basins)
    if once and len(basins) > 1:
        notes.append(f"{once} of {len(basins)} basins rest on one stay of one chain")
    return tuple(notes)
