"""Entropy production: how irreversible the chain is, from a run that was made anyway."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskov.errors import InputError
from maskov.quantities import Estimate, t_quantile
from maskov.results import Result

FEWEST_WINDOWS = 8


@dataclass(frozen=True)
class EntropyCell:
    """Stationary rates per step of the chains at one temperature, burn-in discarded; entropies in nats.

    change_rate: share of steps that change a token; entropy: mean −Σ p log p of the conditionals; stay: mean p of the
    current token; production: σ from the Rao–Blackwellised increment; production_raw: from the drawn one; drift: second
    half minus first half of σ's series, 0 once stationary; stationary: whether it is within 3 of its errors.
    """

    temperature: float
    change_rate: Estimate
    entropy: Estimate
    stay: Estimate
    production: Estimate
    production_raw: Estimate
    drift: Estimate
    stationary: bool
    steps: int
    discarded: int
    chains: int
    sites: float


@dataclass(frozen=True)
class EntropyProduction(Result):
    """One ``EntropyCell`` per temperature."""

    command = "entropy"

    cells: tuple[EntropyCell, ...]

    def __str__(self) -> str:
        rows = [f"{'τ':>6}  {'change rate':>16}  {'entropy (nats)':>16}  {'production σ (nats/step)':>26}"]
        for c in self.cells:
            parts = (f"{q.value:.4f} ± {q.stderr:.4f}" for q in (c.change_rate, c.entropy, c.production))
            columns = "  ".join(f"{part:>{width}}" for part, width in zip(parts, (16, 16, 26), strict=True))
            rows.append(f"{c.temperature:>6g}  {columns}" + ("" if c.stationary else "  not stationary yet"))
        return "\n".join(rows)


def entropy_production(trace: Any, *, discard: float = 0.25) -> EntropyProduction:
    """σ = E[ℓ_i(new) − ℓ_i(old)] per step of a stationary run, mean log P(x, y)/P(y, x) of the chain: 0 iff reversible.

    The Rao–Blackwellised increment Σ_v p(v) ℓ(v) − ℓ(old) replaces the drawn one by its mean. Errors come from the
    effective sample size of all chains together [Vehtari et al. 2021]. Before stationarity σ also holds the relaxation
    of −log μ, so the first part is discarded.

    trace: ``Trace`` (its window means); discard: share of the steps to leave out, in [0, 1). Raises ``InputError`` on
    a run too short for an error.
    """
    if not 0 <= discard < 1:
        raise InputError("discard", expected="a share in [0, 1)", came=str(discard))
    windows = trace.steps // trace.window  # a last short window would weigh as much as a whole one
    first = int(np.ceil(discard * windows))
    if windows - first < FEWEST_WINDOWS:
        raise InputError(
            "run",
            expected=f"at least {FEWEST_WINDOWS} windows of {trace.window} steps after the first {100 * discard:g} %",
            came=f"{windows - first}",
            remedy="run more steps",
        )
    series = {name: values[first:windows] for name, values in trace.series.items()}
    if np.isnan(series["production"]).any():
        came = f"the scan {trace.manifest.scan}, which does not measure it"
        raise InputError("run", expected="one with entropy production", came=came, remedy="run single sites")
    temperatures, sites = trace.temperatures, np.array([len(s.free) for s in trace.starts])
    cells = [_cell(t, temperatures == t, series, trace, first, sites) for t in dict.fromkeys(temperatures.tolist())]
    return EntropyProduction(tuple(cells))


def _cell(
    temperature: float,
    members: NDArray[np.bool_],
    series: dict[str, NDArray[np.float64]],
    trace: Any,
    first: int,
    sites: NDArray[np.int64],
) -> EntropyCell:
    names = {
        "change_rate": "changed",
        "entropy": "entropy",
        "stay": "stay",
        "production": "production",
        "production_raw": "production_raw",
    }
    values = {name: correlated_mean(series[key][:, members].T) for name, key in names.items()}
    drift = _halves(series["production"][:, members].T)
    return EntropyCell(
        temperature=float(temperature),
        **values,
        drift=drift,
        stationary=abs(drift.value) <= 3 * drift.stderr,
        steps=trace.steps,
        discarded=first * trace.window,
        chains=int(members.sum()),
        sites=float(sites[members].mean()),
    )


def correlated_mean(values: NDArray[np.float64]) -> Estimate:
    """Mean of several correlated series with stderr s/√ESS and a 95 % interval. values: [chains, draws].

    The interval is Student's with ESS/5 degrees of freedom: log ESS has variance 10/ESS [Sokal 1997], and a variance of
    ν degrees of freedom has 2/ν [Satterthwaite 1946].
    """
    from arviz_stats.base import array_stats

    mean, spread = float(values.mean()), float(values.std(ddof=1))
    if spread == 0:
        return Estimate(mean, 0.0, values.size, (mean, mean))
    effective = float(array_stats.ess(values, method="mean", chain_axis=0, draw_axis=1))
    effective = min(max(effective, 1.0), values.size)
    stderr = spread / np.sqrt(effective)
    reach = t_quantile(max(effective / 5, 1.0)) * float(stderr)
    return Estimate(mean, float(stderr), effective, (mean - reach, mean + reach))


def _halves(values: NDArray[np.float64]) -> Estimate:
    """Second half minus first half of the series, with the errors of both."""
    half = values.shape[1] // 2
    a, b = correlated_mean(values[:, :half]), correlated_mean(values[:, half:])
    return Estimate(b.value - a.value, float(np.hypot(a.stderr, b.stderr)), min(a.n, b.n))
