"""How long to run: the effective draws per step so far, carried on to the target."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from maskov.diagnostics.convergence import ess
from maskov.quantities import Estimate
from maskov.randomness import Stream, generator

_RESAMPLES, _FEWEST_CHAINS = 49, 3


def relative_error(effective: float) -> float:
    """Standard error of log ESS of one long series, √(10/ESS): τ_int summed over a window of 5 τ_int [Sokal 1997]."""
    return float(np.sqrt(10 / max(effective, 1.0)))


def needed_factor(
    values: NDArray[np.float64], method: str, r_hat: float, target_ess: float, target_r_hat: float, seed: int = 0
) -> Estimate:
    """How many times as long each chain must be for the target, in its slower requirement; 95 % interval.

    ESS grows in proportion to the steps of chains that mix, and R-hat² − 1 falls in proportion. values: [m, D] of the
    slowest scalar; method: which ESS it falls short in. The error of log ESS is the larger of Sokal's and, from three
    chains on, that of a bootstrap over chains.
    """
    found = ess(values, method)
    by_ess = target_ess / found
    by_r_hat = (r_hat**2 - 1) / (target_r_hat**2 - 1)
    error = max(relative_error(found), _bootstrap_error(values, method, seed))
    value = max(by_ess, by_r_hat, 0.0)
    interval = value * np.exp(-1.96 * error), value * np.exp(1.96 * error)
    return Estimate(value, value * error, found, (float(interval[0]), float(interval[1])))


def _bootstrap_error(values: NDArray[np.float64], method: str, seed: int) -> float:
    """Standard deviation of log ESS over resamples of whole chains; 0 where there are fewer than three."""
    m = len(values)
    if m < _FEWEST_CHAINS:
        return 0.0
    rng = generator(seed, stream=Stream.BOOTSTRAP)
    found = [np.log(ess(values[rng.integers(m, size=m)], method)) for _ in range(_RESAMPLES)]
    return float(np.std(found, ddof=1))


def scaled(quantity: Estimate, by: float) -> Estimate:
    """The estimate in another unit."""
    low, high = quantity.interval or (np.nan, np.nan)
    return Estimate(quantity.value * by, quantity.stderr * by, quantity.n, (low * by, high * by))
