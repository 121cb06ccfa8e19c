"""What a schedule lets one see of the mode: the outcome tables on every visible set that matters.

Given S, the data about Z is x_S with the likelihoods log p_z(x_S). Discrepancy, modulus, tensorisation and the
blindness ratio are sums over these rows; this file stacks them once, so each evaluation is a few array operations.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maskov.errors import InputError
from maskov.identifiability.counting import CountModes, MultinomialCounts
from maskov.identifiability.log_space import group_logsumexp
from maskov.identifiability.modes import ModeLaw, mode_table
from maskov.identifiability.residual import log_pair_overlaps, log_posterior
from maskov.schedules import Schedule

Floats = NDArray[np.float64]
MARGIN = 64.0  # nats below the peak at which a row can't matter, with room for weights moved by e^28
MOST_SET_ROWS = 12_000_000
EAGER_ROWS = 1_000_000
THINNED = 1000
MERGED = 64


class Links(NamedTuple):
    """Revealing one more site: group ``source`` → group ``target`` in exp(log_times) ways; each [E]."""

    source: NDArray[np.int64]
    target: NDArray[np.int64]
    log_times: Floats


@dataclass(frozen=True)
class Experiment:
    """Stacked outcome tables of G visible sets (or counts).

    weights: [K]; log_table: [R, K] log p_z(outcome) (less the log-density of a proposal, where sampled); starts: [G]
    first row of each group; visible: [G] counts; log_mass, log_objective: [G] masses in the schedule and in the
    objective, −inf for groups that only serve as targets; full: the group with everything visible.
    """

    weights: Floats
    log_table: Floats
    starts: NDArray[np.int64]
    visible: NDArray[np.int64]
    log_mass: Floats
    log_objective: Floats
    full: int
    links: Links
    exact: bool = True
    n_sites: int = 0

    def group(self, g: int) -> Floats:
        """The rows of one group: [rows, K]."""
        ends = np.append(self.starts, len(self.log_table))
        return self.log_table[ends[g] : ends[g + 1]]

    def sampling(self) -> Experiment:
        """The same with sampling masses in place of objective masses: what a chain with this schedule does."""
        return replace(self, log_objective=self.log_mass)


def _stack(weights: Floats, tables: list[Floats], **fields: Any) -> Experiment:
    sizes = np.array([len(t) for t in tables])
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    return Experiment(
        weights=np.asarray(weights, dtype=np.float64), log_table=np.concatenate(tables), starts=starts, **fields
    )


def count_experiment(model: CountModes, schedule: Schedule, reach: float = 0.0) -> Experiment:
    """Groups are visible counts: exact for exchangeable mixtures, N to 10^4.

    Where there are many counts, those whose mass × residual uncertainty is below the largest by e^−64 are left out;
    reach widens that margin (nats) for mode weights further than e^28 from w.
    """
    N = model.n_sites
    log_mass, log_objective = schedule.log_visible_law(N), schedule.log_objective_law(N)
    chosen = _counts_that_matter(model, np.maximum(log_mass, log_objective), MARGIN + reach)
    counts = np.unique(np.concatenate([chosen, np.minimum(chosen + 1, N), [N]]))
    falling = counts[::-1]  # a binary count law is found from the next larger one
    tables = [_prune(model.log_table(int(v)), model, np.inf if v == N else MARGIN + reach) for v in falling][::-1]
    inside = np.isin(counts, chosen)
    source = np.flatnonzero(inside & (counts < N))
    target = np.searchsorted(counts, counts[source] + 1)
    return _stack(
        model.weights,
        tables,
        visible=counts,
        log_mass=np.where(inside, log_mass[counts], -np.inf),
        log_objective=np.where(inside, log_objective[counts], -np.inf),
        full=len(counts) - 1,
        links=Links(source, target, np.log(N - counts[source])),
        n_sites=N,
    )


def _counts_that_matter(model: CountModes, log_law: Floats, margin: float) -> NDArray[np.int64]:
    """Counts with mass; where their tables are large, only those that float64 can see in a sum of mass × E r_y r_z, for
    some pair of modes.

    Probes bound the counts between them: what a pair leaves open falls in v.
    """
    support = np.flatnonzero(log_law > -np.inf)
    if sum(model.rows(int(v)) for v in support) <= EAGER_ROWS:
        return support
    probes = np.unique(np.concatenate([[0], np.geomspace(1, model.n_sites, 40).astype(np.int64)]))
    start = np.zeros(1, dtype=np.int64)
    pairs = np.triu_indices(len(model.weights), 1)
    value = np.stack([log_pair_overlaps(model.log_table(int(v)), start, model.weights)[0][pairs] for v in probes[::-1]])
    falling = np.maximum.accumulate(value, axis=0)[::-1]
    bound = falling[np.searchsorted(probes, support, side="right") - 1] + log_law[support, None]
    return support[(bound > bound.max(axis=0) - margin - 5).any(axis=1)]


def _prune(table: Floats, model: CountModes, margin: float) -> Floats:
    """Rows that matter to some pair of modes: where log r_y r_z + log P(outcome) is within the margin of its largest
    value. One pair alone won't do: the slowest one would hide what the others leave open."""
    if margin == np.inf or len(table) < 200:
        return table
    log_outcome, log_r = log_posterior(table, model.weights)
    kept = np.zeros(len(table), dtype=bool)
    for y in range(log_r.shape[1]):
        for z in range(y):
            overlap = log_outcome + log_r[:, y] + log_r[:, z]
            kept |= overlap > max(float(overlap.max()) - margin, -1e300)
    binary = isinstance(model, MultinomialCounts) and model.log_symbols.shape[1] == 2
    return _thin(table, kept) if binary and len(table) >= THINNED and not (kept[0] or kept[-1]) else table[kept]


def _thin(table: Floats, kept: NDArray[np.bool_]) -> Floats:
    """Every h-th row of a long table of binary product modes, with weight h: exact to rounding.

    By Poisson summation the sum over k of g(k) and h Σ g(hk) differ by e^{−2πd/h}, g analytic in a strip of
    half-width d: here posteriors have their poles at log-odds iπ, a distance π/slope in k, and the binomial has the
    width σ, e^{−2(πσ/h)²}.
    """
    rows = np.flatnonzero(kept)
    slope = float(np.ptp(table[rows[0] + 1] - table[rows[0]]))
    curvature = float((2 * table[rows, 0] - table[rows - 1, 0] - table[rows + 1, 0]).max())
    widest = min(2 * np.pi**2 / (42 * max(slope, 1e-12)), np.sqrt(2 / 42 / max(curvature, 1e-12)) * np.pi)
    h = max(1, int(widest))
    return table[rows[rows % h == 0]] + np.log(h)


def set_experiment(law: ModeLaw, schedule: Schedule) -> Experiment:
    """Groups are visible sets: exact for any law of a few sites (rows Σ_S V^|S| up to 1.2·10^7)."""
    N, V = law.n_sites, law.vocabulary_size
    sets = schedule.set_law(N)
    masses = {_code(S): (m, o) for S, m, o in zip(sets.visible, sets.log_mass, sets.log_objective, strict=True)}
    pairs = [(S, S | 1 << i) for S in masses for i in range(N) if not S >> i & 1]
    codes = sorted({*masses, *(t for _, t in pairs), 2**N - 1})
    _check_rows(V, codes)
    index = {code: g for g, code in enumerate(codes)}
    visible = [np.array([code >> i & 1 == 1 for i in range(N)]) for code in codes]
    nothing = (-np.inf, -np.inf)
    source, target = (np.array([index[pair[end]] for pair in pairs], dtype=np.int64) for end in (0, 1))
    tables = [_possible(mode_table(law, S)) for S in visible]
    return _stack(
        law.weights,
        tables,
        visible=np.array([int(S.sum()) for S in visible]),
        log_mass=np.array([masses.get(code, nothing)[0] for code in codes]),
        log_objective=np.array([masses.get(code, nothing)[1] for code in codes]),
        full=len(codes) - 1,
        links=Links(source, target, np.zeros(len(pairs))),
        n_sites=N,
    )


def _code(visible: NDArray[np.bool_]) -> int:
    return int(sum(1 << i for i in np.flatnonzero(visible).tolist()))


def _possible(table: Floats) -> Floats:
    return merge_rows(table[(table > -np.inf).any(axis=1)])


def merge_rows(table: Floats) -> Floats:
    """Outcomes with the same posterior as one: [rows, K] → [fewer, K].

    Log-ratios of modes that agree to 1e-7 count as the same. Masses are added mode by mode, so what is lost is of
    second order in that difference, 1e-15.
    """
    if len(table) < MERGED:
        return table
    ratios = np.round(np.maximum(table - table.max(axis=1, keepdims=True), -1e4), 7)
    order = np.lexsort(ratios.T)
    fresh = np.flatnonzero(np.append(True, (np.diff(ratios[order], axis=0) != 0).any(axis=1)))
    return table if len(fresh) > len(table) / 2 else group_logsumexp(table[order], fresh.astype(np.int64))


def _check_rows(V: int, codes: Iterable[int]) -> None:
    rows = sum(V ** code.bit_count() for code in codes)
    if rows > MOST_SET_ROWS:
        raise InputError(
            "law",
            expected=f"at most {MOST_SET_ROWS} outcomes of its visible sets",
            came=str(rows),
            remedy="take fewer sites, or let it be sampled",
        )
