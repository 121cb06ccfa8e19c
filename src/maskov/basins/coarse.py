"""From microstates to basins: how many there are, G-PCCA memberships, lifetimes, the Chapman–Kolmogorov check."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maskov.basins.field_library import library, told_elsewhere
from maskov.basins.microstates import Chain, Floats, Labels, decay, transition_matrix

MOST_BASINS = 10
# A slow process stands apart where it is this many times slower than the next. A harmonic well gives 2 and free motion
# on a line 4, but neither has cores.
GAP = 3.0
# A microstate is in a basin's core where its membership is at least this, and basins are basins where cores hold this
# share of the stationary time. In a harmonic well cores of two halves hold some 10 %, on a line 59 %.
CORE, CORE_SHARE = 0.8, 2 / 3


class Coarse(NamedTuple):
    """n basins of a chain's microstates.

    chi: [k, n] memberships, rows sum to 1; sets: int64 [k], the basin of largest membership; cores: bool [k];
    core_share: stationary share of the cores; gap: t_n over the next timescale (at least half a lag).
    """

    chi: Floats
    sets: Labels
    cores: NDArray[np.bool_]
    core_share: float
    gap: float

    @property
    def number(self) -> int:
        """n."""
        return self.chi.shape[1]


def gaps(chain: Chain) -> dict[int, float]:
    """t_n / t_{n+1} for n = 2, 3, …, where t_n exceeds the lag; what is below half a lag counts as half a lag.

    Faster processes are not resolved at this lag, and noise of the counts alone reaches some 0.8 lags. The two of a
    complex pair are equally slow, so no gap ever parts them.
    """
    t = decay(chain.P, chain.lag, MOST_BASINS)
    after = np.maximum(np.append(t[1:], 0.0), chain.lag / 2)
    return {n: float(t[n - 2] / after[n - 2]) for n in range(2, len(t) + 1) if t[n - 2] > chain.lag}


def find_basins_of(chain: Chain, asked: int | None) -> Coarse | None:
    """The basins of a chain, or None where it has one basin only.

    Of the numbers n whose gap t_n / t_{n+1} is at least 3 the one with the largest gap is taken whose G-PCCA
    memberships [Reuter et al. 2018] have cores: microstates that belong to one basin by 0.8 or more hold two thirds of
    the stationary time. asked: a number of basins to find without those criteria; None too where it would leave a basin
    empty or part a pair of complex eigenvalues.
    """
    spread = gaps(chain)
    if asked is not None:
        return None if asked == 1 else _memberships(chain, asked, spread.get(asked, 0.0))
    for n in sorted((n for n, gap in spread.items() if gap >= GAP), key=lambda n: -spread[n]):
        found = _memberships(chain, n, spread[n])
        if found is not None and found.core_share >= CORE_SHARE:
            return found
    return None


def _memberships(chain: Chain, n: int, gap: float) -> Coarse | None:
    if n > len(chain.states):
        return None
    try:
        with told_elsewhere():
            chi = np.asarray(_gpcca(chain).optimize(n).memberships, dtype=np.float64)
    except ValueError:  # a pair of complex eigenvalues, or memberships that don't part the states
        return None
    sets = chi.argmax(axis=1).astype(np.int64)
    if len(np.unique(sets)) < n:
        return None
    cores = np.asarray(chi.max(axis=1) >= CORE)
    order = np.argsort(-np.bincount(sets, weights=chain.pi, minlength=n), kind="stable")
    chi = chi[:, order]
    return Coarse(chi, chi.argmax(axis=1).astype(np.int64), cores, float(chain.pi[cores].sum()), gap)


def _gpcca(chain: Chain) -> Any:
    return library("pygpcca").GPCCA(chain.P, eta=chain.pi, z="LM", method="brandts")


def min_chi(chain: Chain, most: int) -> dict[int, float]:
    """The minChi indicator of n = 2 … most basins [Röblitz & Weber 2013]: 0 is a perfect simplex, −1 none at all."""
    top = min(most, len(chain.states) - 1)
    for m in (top, top - 1):  # a Schur form can't end inside a complex pair
        if m < 3:
            break
        try:
            with told_elsewhere():
                return dict(zip(range(2, m + 1), map(float, _gpcca(chain).minChi(2, m)), strict=True))
        except ValueError:
            continue
    return {}


def coarse_matrix(P: Floats, pi: Floats, chi: Floats) -> Floats:
    """P_c = (χᵀDχ)⁻¹ χᵀDPχ, D = diag(π): keeps the eigenvalues of the slow processes [Reuter et al. 2018], [n, n].

    Rows sum to 1; entries can be slightly negative, since memberships overlap.
    """
    weighted = chi.T * pi
    return np.asarray(np.linalg.solve(weighted @ chi, weighted @ P @ chi))


def lifetimes(P_c: Floats, lag: float) -> Floats:
    """Mean time in each basin before the chain is in another: −1/Q_AA with Q = log(P_c)/lag, in the lag's unit: [n].

    The generator counts an excursion shorter than a lag, which lag/(1 − P_AA) misses; that one is the fall-back where
    P_c has no real logarithm (an eigenvalue ≤ 0). Infinite where nothing leaves.
    """
    values, vectors = np.linalg.eig(P_c)
    stay = np.diag(P_c)
    with np.errstate(divide="ignore", invalid="ignore"):
        plain = np.where(stay < 1, lag / np.maximum(1 - stay, 1e-300), np.inf)
        if (np.abs(values.imag) + np.maximum(values.real, 0) <= 1e-12).any() or np.linalg.cond(vectors) > 1e10:
            return np.asarray(plain)
        Q = ((vectors * np.log(values.astype(complex))) @ np.linalg.inv(vectors)).real / lag
        return np.where(np.diag(Q) < 0, -1 / np.diag(Q), np.inf)


class Check(NamedTuple):
    """Chapman–Kolmogorov at several multiples of the lag. predicted, estimated: [F, n] P(in basin A after f lags |
    started in A): from the chain's f-th power, and from a chain estimated at f lags.
    """

    predicted: Floats
    estimated: Floats


def chapman_kolmogorov(chain: Chain, coarse: Coarse, counts: dict[int, Floats], reversible: bool) -> Check:
    """P(lag)^f against P(f·lag) on the basins, started from the stationary law inside each.

    counts: at each factor f, [m, m]. Microstates that have no transitions at f lags are left out of both sides; NaN
    where a basin is then empty.
    """
    predicted = np.full((len(counts), coarse.number), np.nan)
    estimated = predicted.copy()
    for row, (factor, table) in enumerate(counts.items()):
        later = transition_matrix(table[np.ix_(chain.states, chain.states)], reversible)
        if later is None:
            continue
        P, states = later
        inside = np.eye(coarse.number)[coarse.sets]
        start = (inside * chain.pi[:, None])[states]
        power = np.linalg.matrix_power(chain.P, factor)[states]
        with np.errstate(invalid="ignore"):
            start = start / start.sum(axis=0)
        predicted[row] = ((start.T @ power) * inside.T).sum(axis=1)
        estimated[row] = ((start.T @ P) * inside[states].T).sum(axis=1)
    return Check(predicted, estimated)
