"""Is my sampler mixed? ESS, R-hat, stuck chains, and how long to run, temperature by temperature."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maskov.compatibility import correlated_mean
from maskov.diagnostics.convergence import Convergence, convergence
from maskov.diagnostics.groups import Group, groups_of
from maskov.diagnostics.needed import needed_factor, relative_error, scaled
from maskov.diagnostics.result import Diagnosis, DiagnosisCell, DiagnosisGroup, ScalarDiagnosis, StuckChain
from maskov.diagnostics.scalars import Draws, Scalar, choose_draws, series_scalars, state_scalars
from maskov.diagnostics.stuck import stuck_chains
from maskov.diagnostics.verdict import Facts, judge
from maskov.errors import InputError
from maskov.glauber.scan import read_scan
from maskov.quantities import Estimate

Floats = NDArray[np.float64]
LEVEL = 0.01


class _Found(NamedTuple):
    """One scalar in one group. values: [m, D]; sweeps: kept sweeps of each chain."""

    name: str
    group: int
    values: Floats
    numbers: Convergence
    sweeps: float


def diagnose(
    trace: Any,
    model: Any = None,
    *,
    scalars: Mapping[str, Scalar] | None = None,
    discard: float = 0.25,
    target_ess: float = 400.0,
    target_r_hat: float = 1.01,
    seed: int = 0,
) -> Diagnosis:
    """ESS and rank-normalised split R-hat of scalar summaries, stuck chains, a verdict, and the length that is needed.

    Scalars: change rate, entropy and production of a step, mean log-conditional, distance to the group's first start,
    distinct tokens, and ``scalars``: name → function of int64 [m, L] states that gives [m] numbers. Chains are
    compared within one law only (same temperature, free sites and held tokens); R-hat over replicas of one start asks
    whether they agree, over different starts whether the start was forgotten. R-hat and ESS as in Vehtari et al. 2021.

    trace: ``Trace``; model: to tell the texts of stuck chains; discard: first share of the steps left out; seed: of
    the bootstrap over chains. Raises ``InputError`` on a run of fewer than 16 windows after that.

    >>> from maskov.glauber import glauber
    >>> from maskov.laws import law
    >>> trace = glauber(law("curie-weiss?sites=6&beta=0.2"), None, steps=9000, chains=4, window=6)
    >>> diagnose(trace).cells[0].verdict
    'mixed'
    """
    _check_targets(target_ess, target_r_hat)
    draws, temperatures = choose_draws(trace, discard), trace.temperatures
    grouped = {
        float(t): groups_of(trace.starts, np.flatnonzero(temperatures == t))
        for t in dict.fromkeys(temperatures.tolist())
    }
    groups = [group for found in grouped.values() for group in found]
    values = {**series_scalars(trace, draws), **state_scalars(trace, groups, draws, scalars)}
    targets = float(target_ess), float(target_r_hat)
    cells = [_cell(trace, t, found, values, draws, targets, seed) for t, found in grouped.items()]
    result = Diagnosis(tuple(cells), *targets, trace.manifest.scan)
    return result if model is None else with_texts(result, trace, model)


def _check_targets(ess: float, r_hat: float) -> None:
    if not (np.isfinite(ess) and ess >= 1):
        raise InputError("target ESS", expected="a number of at least 1", came=str(ess))
    if not (np.isfinite(r_hat) and r_hat > 1):
        raise InputError("target R-hat", expected="a number above 1", came=str(r_hat))


def with_texts(diagnosis: Diagnosis, trace: Any, model: Any) -> Diagnosis:
    """The diagnosis with the text of each stuck chain: the state at the step since which it is stuck, or the last."""

    def told(stuck: StuckChain) -> StuckChain:
        step = trace.steps if stuck.kind == "slow" else stuck.since_step
        return replace(stuck, text=model.decode(trace.state(stuck.chain, step)))

    cells = [replace(cell, stuck=tuple(told(s) for s in cell.stuck)) for cell in diagnosis.cells]
    return replace(diagnosis, cells=tuple(cells))


def _cell(
    trace: Any,
    temperature: float,
    groups: list[Group],
    values: dict[str, Floats],
    draws: Draws,
    targets: tuple[float, float],
    seed: int,
) -> DiagnosisCell:
    scan, kept = read_scan(trace.manifest.scan), draws.factor * draws.window * len(draws.steps)
    sweeps = [kept / scan.steps_per_sweep(g.sites) for g in groups]
    level = LEVEL / (len(groups) * len(values))
    found = [
        _Found(name, k, rows, convergence(rows, group.starts, level), sweeps[k])
        for name, table in values.items()
        for k, group in enumerate(groups)
        for rows in [np.ascontiguousarray(table[:, group.members].T)]
    ]
    stuck = stuck_chains(trace, groups, draws.discarded)
    worst = _slowest(found)
    numbers = worst.numbers
    method = "bulk" if numbers.ess_bulk <= numbers.ess_tail else "tail"
    highest = max((f.numbers.r_hat for f in found if not f.numbers.apart), default=1.0)
    factor = needed_factor(worst.values, method, highest, *targets, seed)
    facts = Facts(
        chains=sum(len(g.members) for g in groups),
        starts=max(len(set(g.starts.tolist())) for g in groups),
        stuck=len(stuck),
        slowest=(worst.name, min(numbers.ess_bulk, numbers.ess_tail)),
        r_hats=tuple((f.name, f.numbers) for f in found),
        target_ess=targets[0],
        target_r_hat=targets[1],
    )
    verdict = judge(facts)
    needed = scaled(factor, worst.sweeps * trace.steps / kept) if verdict.can_extrapolate else None
    steps = None if needed is None else scaled(needed, scan.steps_per_sweep(groups[worst.group].sites))
    return DiagnosisCell(
        temperature=temperature,
        chains=facts.chains,
        steps=trace.steps,
        sweeps=trace.steps / scan.steps_per_sweep(max(g.sites for g in groups)),
        discarded=draws.discarded,
        groups=tuple(DiagnosisGroup(tuple(g.members.tolist()), g.sites, len(set(g.starts.tolist()))) for g in groups),
        scalars=tuple(_summary([f for f in found if f.name == name]) for name in values),
        stuck=tuple(stuck),
        verdict=verdict.word,
        reasons=verdict.reasons,
        needed_sweeps=needed,
        needed_steps=steps,
        advice=verdict.advice(needed, trace.steps * worst.sweeps / kept),
    )


def _slowest(found: list[_Found]) -> _Found:
    """The scalar and group that needs most sweeps for a given ESS."""
    return min(found, key=lambda f: min(f.numbers.ess_bulk, f.numbers.ess_tail) / f.sweeps)


def _summary(found: list[_Found]) -> ScalarDiagnosis:
    """One scalar's worst numbers over the groups; each names the draws it rests on."""
    slowest, size = _slowest(found), len(found[0].values[0])
    effective = _estimate(slowest.numbers.ess_bulk, slowest.values.size)
    return ScalarDiagnosis(
        name=slowest.name,
        ess_bulk=effective,
        ess_tail=_estimate(slowest.numbers.ess_tail, slowest.values.size),
        r_hat=_plain(max(f.numbers.r_hat for f in found), size),
        r_hat_replicas=_largest([f.numbers.replicas for f in found], size),
        r_hat_starts=_largest([f.numbers.starts for f in found], size),
        r_hat_noise=max(found, key=lambda f: f.numbers.r_hat).numbers.noise,
        ess_per_sweep=scaled(effective, 1 / (len(slowest.values) * slowest.sweeps)),
        half_shift=_shift(max(found, key=lambda f: f.numbers.r_hat).values),
        group=slowest.group,
    )


def _estimate(value: float, draws: int) -> Estimate:
    error = relative_error(value)
    return Estimate(value, value * error, draws, (value * np.exp(-1.96 * error), value * np.exp(1.96 * error)))


def _plain(value: float, draws: int) -> Estimate:
    return Estimate(value, np.inf, draws)


def _largest(values: list[float], draws: int) -> Estimate | None:
    known = [value for value in values if not np.isnan(value)]
    return _plain(max(known), draws) if known else None


def _shift(values: Floats) -> Estimate:
    """Mean of the second half minus mean of the first, with the errors of both."""
    half = values.shape[1] // 2
    a, b = correlated_mean(values[:, :half]), correlated_mean(values[:, half:])
    return Estimate(b.value - a.value, float(np.hypot(a.stderr, b.stderr)), min(a.n, b.n))
