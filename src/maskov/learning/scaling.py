"""How the error of the learned weights scales with the full-mask mass, and how far a schedule moves them at all."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from maskov.quantities import Estimate, resampled_estimate
from maskov.randomness import Stream, generator

Floats = NDArray[np.float64]
REPLICATES = 2000
FEWEST_MASSES = 5


def error_slope(masses: Floats, errors: Floats, seed: int = 0) -> Estimate | None:
    """Slope of log mean |error| on log π_0, with a 95 % interval from a bootstrap over seeds.

    masses: π_0 > 0 [M]; errors: [M, seeds], the same seeds at every mass (they share texts, so seeds are resampled
    jointly). None below five distinct masses or two seeds. The theory says −1/2.

    >>> errors = np.array([1.0, 2.0])[None, :] / np.sqrt([[1], [2], [4], [8], [16]])
    >>> round(error_slope(np.array([1, 2, 4, 8, 16]) / 100, errors).value, 6)
    -0.5
    """
    if len(np.unique(masses)) < FEWEST_MASSES or errors.shape[1] < 2 or not (errors.mean(axis=1) > 0).all():
        return None
    x = np.log(masses) - np.log(masses).mean()
    rng = generator(seed, stream=Stream.BOOTSTRAP)
    chosen = rng.integers(errors.shape[1], size=(REPLICATES, errors.shape[1]))
    slopes = np.log(errors[:, chosen].mean(axis=2)).T @ x / (x @ x)
    value = float(np.log(errors.mean(axis=1)) @ x / (x @ x))
    return resampled_estimate(value, slopes, errors.shape[1], errors.shape[1])


def spread_ratio(initial: Floats, final: Floats, seed: int = 0) -> Estimate | None:
    """sd of the end weights over sd of the initial weights, bootstrapped over seeds; None below three seeds.

    initial, final: [seeds], P(Z = last mode). 1: as spread as initialised; 0: all seeds agree.
    """
    if len(initial) < 3 or initial.std() == 0:
        return None
    chosen = _resampled(initial, seed)
    ratios = final[chosen].std(axis=1) / initial[chosen].std(axis=1)
    value = float(final.std() / initial.std())
    return resampled_estimate(value, ratios, len(initial), len(initial), positive=True)


def initial_slope(initial: Floats, final: Floats, seed: int = 0) -> Estimate | None:
    """Least-squares slope of the end weight on the initial weight, bootstrapped over seeds; None below three seeds.

    1: the end is where it began; 0: the end forgets the beginning.
    """
    if len(initial) < 3 or initial.std() == 0:
        return None
    slopes = np.array([_slope(initial[k], final[k]) for k in _resampled(initial, seed)])
    return resampled_estimate(_slope(initial, final), slopes, len(initial), len(initial))


def _slope(x: Floats, y: Floats) -> float:
    centred = x - x.mean()
    return float(centred @ y / (centred @ centred))


def _resampled(initial: Floats, seed: int) -> NDArray[np.int64]:
    """Bootstrap samples of the seeds; those that hold one seed only have no spread and are left out."""
    rng = generator(seed, chain=1, stream=Stream.BOOTSTRAP)
    chosen = rng.integers(len(initial), size=(REPLICATES, len(initial)))
    return chosen[(chosen != chosen[:, :1]).any(axis=1)]
