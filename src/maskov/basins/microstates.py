"""Microstates of kept trajectories: clusters, transition counts of each chain, and the Markov chain behind them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from maskov.basins.field_library import library, told_elsewhere

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]

MOST_MICROSTATES = 80
_KEPT_PER_MICROSTATE = 60
_DECIMALS = 9


class Clusters(NamedTuple):
    """centres: [m, q]; labels: int64, which centre each point is nearest to."""

    centres: Floats
    labels: Labels


class Chain(NamedTuple):
    """A Markov chain on part of the microstates. P: [k, k], rows sum to 1; pi: [k], πP = π; states: int64 [k], which
    microstates; lag: in kept times.
    """

    P: Floats
    pi: Floats
    states: Labels
    lag: int


def cluster(points: Floats, most: int | None, seed: int) -> Clusters:
    """k-means of points (deeptime), or the different points themselves where there are no more than microstates.

    points: [N, q]; most: microstates, default one per 60 points and at most 80.
    """
    different, labels = np.unique(np.round(points, _DECIMALS), axis=0, return_inverse=True)
    m = most or int(np.clip(len(points) // _KEPT_PER_MICROSTATE, 2, MOST_MICROSTATES))
    if len(different) <= m:
        return Clusters(different, np.asarray(labels.ravel(), dtype=np.int64))
    kmeans = library("deeptime.clustering").KMeans(m, max_iter=200, fixed_seed=seed % 2**31, n_jobs=1)
    with told_elsewhere():
        model = kmeans.fit(points).fetch_model()
    found = np.asarray(model.transform(points), dtype=np.int64)
    used, labels = np.unique(found, return_inverse=True)  # a cluster can end empty
    return Clusters(np.asarray(model.cluster_centers, dtype=np.float64)[used], labels.astype(np.int64))


def chain_counts(labels: Labels, m: int, lag: int) -> Floats:
    """Sliding-window transition counts at ``lag`` of each chain by itself, deeptime's: float64 [B, m, m].

    labels: [K, B]; counts never join two chains.
    """
    estimator = library("deeptime.markov").TransitionCountEstimator(lagtime=lag, count_mode="sliding", n_states=m)
    out = np.empty((labels.shape[1], m, m))
    for b, path in enumerate(labels.T):
        counts = estimator.fit_fetch(np.ascontiguousarray(path, dtype=np.int32)).count_matrix
        out[b] = counts.toarray() if hasattr(counts, "toarray") else counts
    return out


def strong_sets(counts: Floats) -> list[Labels]:
    """Sets of microstates that lead to one another, the one with the most transitions inside first."""
    number, which = connected_components(csr_array(counts), directed=True, connection="strong")
    inside = np.bincount(which, weights=(counts * (which[:, None] == which)).sum(axis=1), minlength=number)
    order = np.argsort(-inside, kind="stable")
    return [np.flatnonzero(which == k).astype(np.int64) for k in order]


def transition_matrix(counts: Floats, reversible: bool) -> tuple[Floats, Labels] | None:
    """The maximum-likelihood transition matrix (deeptime) of the strongly connected set with the most transitions, and
    that set; None where fewer than two microstates lead to one another.

    Without ``reversible`` the counts are taken as they are, each row divided by its sum, never symmetrised: a chain
    whose conditionals belong to no joint law has currents, and symmetrising would deny them. counts: [m, m].
    """
    states = strong_sets(counts)[0]
    if len(states) < 2:
        return None
    with told_elsewhere():
        P = library("deeptime.markov.tools.estimation").transition_matrix(
            counts[np.ix_(states, states)], reversible=reversible, maxiter=20_000
        )
    return np.asarray(P), states


def estimate(counts: Floats, lag: int, reversible: bool) -> Chain | None:
    """``transition_matrix`` with its stationary law."""
    found = transition_matrix(counts, reversible)
    if found is None:
        return None
    P, states = found
    with told_elsewhere():
        pi = np.asarray(library("deeptime.markov.tools.analysis").stationary_distribution(P))
    pi = np.maximum(pi, 0)
    return Chain(P, pi / pi.sum(), states, lag)


def decay(P: Floats, lag: int, number: int) -> Floats:
    """Implied timescales −lag/ln|λ_k|, k = 2, 3, …, in kept times, slowest first.

    number: how many; fewer where there are fewer microstates. A vanishing eigenvalue has timescale 0.
    """
    size = np.sort(np.abs(np.linalg.eigvals(P)))[::-1][1 : number + 1]
    return np.asarray(-lag / np.log(np.clip(size, 1e-300, 1 - 1e-15)))
