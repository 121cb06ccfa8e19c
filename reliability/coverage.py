"""Laws with known answers for every kind of interval that maskov prints: what is true, and one repetition of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from maskov.quantities import Estimate

Draw = Callable[[np.random.Generator, int], Any]


class Case(NamedTuple):
    """interval: its kind; printed: where; law: what is repeated; truth: the known answer; draw: (generator, seed) → an
    ``Estimate`` (None or a ``Bound`` where this repetition prints no interval); careful: whether the method is meant to
    cover more than 95 % (exact binomial ends and the like).
    """

    interval: str
    printed: str
    law: str
    truth: float
    draw: Draw
    careful: bool = False


def _means() -> list[Case]:
    from maskov.quantities import mean_estimate

    return [
        Case(
            "mean", "influence, identify, learn", "5 normal values", 0.0, lambda r, s: mean_estimate(r.normal(size=5))
        ),
        Case(
            "mean",
            "influence, identify, learn",
            "30 exponential values",
            1.0,
            lambda r, s: mean_estimate(r.exponential(size=30)),
        ),
        Case("mean", "influence, identify, learn", "200 coins", 0.3, lambda r, s: mean_estimate(r.random(200) < 0.3)),
    ]


def _survival() -> list[Case]:
    from maskov.survival import median_or_bound, met_fraction, restricted_mean, survival_curve

    def censored(r: np.random.Generator, m: int, horizon: float) -> tuple[Any, Any]:
        t = np.ceil(r.exponential(100.0, size=m))
        return np.minimum(t, horizon), t <= horizon

    def pointwise(r: np.random.Generator, seed: int) -> Estimate:
        curve = survival_curve(*censored(r, 16, 150.0))
        k = int(np.searchsorted(curve.times, 70.0, side="right")) - 1
        return Estimate(curve.survival[k], math.nan, 16, (curve.lower[k], curve.upper[k]))

    q = math.exp(-1 / 100)
    short = sum(q**t for t in range(150))  # E min(T, 150) of the geometric law
    median = math.ceil(math.log(0.5) / math.log(q))
    return [
        Case(
            "share met (Wilson)",
            "couple, phase, drift",
            "16 runs, P = 0.3",
            0.3,
            lambda r, s: met_fraction(r.random(16) < 0.3),
        ),
        Case(
            "share met (Wilson)",
            "couple, phase, drift",
            "40 runs, P = 0.9",
            0.9,
            lambda r, s: met_fraction(r.random(40) < 0.9),
        ),
        Case("survival at a time", "couple, drift", "16 geometric times, 22 % censored", q**70, pointwise),
        Case(
            "median time (Kaplan–Meier)",
            "couple, phase",
            "16 geometric times, 22 % censored",
            median,
            lambda r, s: median_or_bound(*censored(r, 16, 150.0), 150.0, s),
        ),
        Case(
            "median time (Kaplan–Meier)",
            "couple, phase",
            "60 geometric times, 22 % censored",
            median,
            lambda r, s: median_or_bound(*censored(r, 60, 150.0), 150.0, s),
        ),
        Case(
            "mean of min(T, h)",
            "couple, phase",
            "16 geometric times, 22 % censored",
            short,
            lambda r, s: restricted_mean(*censored(r, 16, 150.0), 150.0),
        ),
        Case(
            "mean of min(T, h)",
            "couple, phase",
            "60 geometric times, 22 % censored",
            short,
            lambda r, s: restricted_mean(*censored(r, 60, 150.0), 150.0),
        ),
    ]


def _escapes() -> list[Case]:
    from maskov.basins.escape import mean_dwell, mean_escape
    from maskov.basins.residence import dwelling, stays

    def dwells(r: np.random.Generator, seed: int) -> Estimate | None:
        t = r.geometric(1 / 300, size=16)
        return mean_dwell(np.minimum(t, 400), t <= 400)

    def escapes(r: np.random.Generator, seed: int) -> Estimate | None:
        t = r.exponential(300.0, size=16)
        return mean_escape(np.minimum(t, 400.0), t <= 400.0)

    def all_seen(r: np.random.Generator, seed: int) -> Estimate | None:
        return mean_escape(r.exponential(300.0, size=64), np.ones(64, dtype=bool))

    def resident(r: np.random.Generator, seed: int) -> Estimate:
        """Sixteen chains between two basins left with 2 % and 1 % a kept time, 400 kept times."""
        path = np.empty((400, 16), dtype=np.int64)
        path[0] = r.random(16) < 2 / 3
        for k in range(1, 400):
            path[k] = np.where(r.random(16) < np.where(path[k - 1] == 0, 0.02, 0.01), 1 - path[k - 1], path[k - 1])
        weights = r.multinomial(16, np.full(16, 1 / 16), size=100)
        return dwelling(stays(path), 0, weights, 400).mean

    return [
        Case("mean dwell", "traps", "16 geometric times, 26 % censored", 300.0, dwells),
        Case("mean escape, censored", "traps, tokens", "16 exponential times, 26 % censored", 300.0, escapes),
        Case("mean escape, all seen", "traps, tokens", "64 exponential times", 300.0, all_seen),
        Case("lifetime on paths", "basins", "16 chains of two states", 50.0, resident),
    ]


def _clusters() -> list[Case]:
    """Rectangles in texts that have a level of their own. On the bundled model and passages the logarithm of a text's
    mean |Δ| has a standard deviation of 0.8 over 144 texts."""
    from maskov.compatibility import clustered
    from maskov.drift.plateau import grouped_mean, independent_distance

    def values(r: np.random.Generator, groups: Any, spread: float) -> Any:
        levels = np.exp(spread * r.normal(size=groups[-1] + 1))
        return r.exponential(size=len(groups)) * levels[groups]

    def boot(statistic: Any, texts: int, each: int, spread: float) -> Draw:
        groups = np.repeat(np.arange(texts), each)

        def draw(r: np.random.Generator, seed: int) -> Estimate:
            x = values(r, groups, spread)
            columns = np.stack([x, x + 1], axis=1)
            return clustered.bootstrap(statistic, columns, clustered.cluster_weights(groups, seed, 399), texts)

        return draw

    def pair(name: str, statistic: Any, truth: Callable[[float], float]) -> list[Case]:
        return [
            Case(name, "rectangle", f"{texts} texts × {each} rectangles, spread {spread}", truth(spread), draw)
            for texts, each, spread in ((12, 40, 0.5), (144, 14, 0.8))
            for draw in (boot(statistic, texts, each, spread),)
        ]

    def mean(spread: float) -> float:
        return math.exp(spread**2 / 2)

    def middle(spread: float) -> float:
        many = np.arange(400_000)
        return float(np.median(values(np.random.default_rng(12345), many, spread)))

    def directions(r: np.random.Generator, seed: int) -> Estimate | None:
        x = r.normal(size=(24, 8))
        return independent_distance(x / np.linalg.norm(x, axis=1, keepdims=True), np.arange(24))

    def drifts(r: np.random.Generator, seed: int) -> Estimate:
        """Twelve passages, four chains each: drift in [0, 1] about the passage's own."""
        own = np.repeat(r.beta(4, 2, size=12), 4)
        return grouped_mean(r.beta(20 * own, 20 * (1 - own)), np.repeat(np.arange(12), 4))

    return [
        *pair("mean over texts", clustered.mean, mean),
        *pair("ratio over texts", clustered.ratio_of_sums, lambda s: mean(s) / (mean(s) + 1)),
        *pair("median over texts", clustered.median, middle),
        Case("mean over passages (jackknife)", "drift", "12 passages × 4 chains, beta", 2 / 3, drifts),
        Case("plateau (U-statistic)", "drift, phase", "24 directions in 8 dimensions", 1.0, directions),
    ]


def _series() -> list[Case]:
    from maskov.compatibility.entropy_production import correlated_mean
    from maskov.diagnostics.convergence import ess
    from maskov.diagnostics.diagnose import _estimate

    def autoregressive(r: np.random.Generator, chains: int, draws: int, phi: float) -> Any:
        x = np.empty((chains, draws))
        x[:, 0] = r.normal(size=chains)
        for k in range(1, draws):
            x[:, k] = phi * x[:, k - 1] + math.sqrt(1 - phi**2) * r.normal(size=chains)
        return x

    def effective(r: np.random.Generator, seed: int) -> Any:
        return _estimate(ess(autoregressive(r, 8, 400, 0.6), "bulk"), 3200)

    return [
        Case(
            "mean of correlated series",
            "entropy",
            "8 chains × 200 draws, φ = 0.6",
            0.0,
            lambda r, s: correlated_mean(autoregressive(r, 8, 200, 0.6)),
        ),
        Case(
            "mean of correlated series",
            "entropy",
            "4 chains × 40 draws, φ = 0.5",
            0.0,
            lambda r, s: correlated_mean(autoregressive(r, 4, 40, 0.5)),
        ),
        Case("effective sample size", "diagnose", "8 chains × 400 draws, φ = 0.6", 8 * 400 * 0.4 / 1.6, effective),
    ]


def _chains() -> list[Case]:
    """Real chains on an exact law from exact starts: entropy production is 0, the change rate enumerated."""
    import maskov as mk
    from maskov.compatibility import entropy_production

    model = mk.load("law:curie-weiss?sites=6&beta=0.8")
    change = _change_rate(model)

    def run(name: str) -> Draw:
        def draw(r: np.random.Generator, seed: int) -> Estimate:
            starts = ["".join(map(str, row)) for row in model.law.sample(r, 6).tolist()]
            trace = mk.glauber(model, starts, steps=480, temperature=1.0, window=8, chains=6, seed=seed)
            return getattr(entropy_production(trace).cells[0], name)

        return draw

    return [
        Case("entropy production", "entropy, audit", "6 chains × 480 steps, Curie–Weiss", 0.0, run("production")),
        Case("change rate", "entropy, audit", "6 chains × 480 steps, Curie–Weiss", change, run("change_rate")),
    ]


def _change_rate(model: Any) -> float:
    """Mean over the law and the sites of 1 − P(the token stays)."""
    states = np.array([[(k >> i) & 1 for i in range(6)] for k in range(64)])
    weight = np.exp(model.law.log_prob(states))
    stay = 0.0
    for site in range(6):
        logits = model.logits(states, np.full(64, site))
        p = np.exp(logits - np.logaddexp.reduce(logits, axis=1, keepdims=True))
        stay += float(weight @ p[np.arange(64), states[:, site]]) / 6
    return 1 - stay


def _phases() -> list[Case]:
    from maskov.drift.fits import fit_growth
    from maskov.drift.hitting import first_hits, hitting_median
    from maskov.phase.crossover import Column, crossing

    tau = np.array([0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0])
    n, multiple = 16, 5.0
    threshold = multiple * n * math.log(n)
    middle = threshold * (1.6 / tau) ** 4

    def column(r: np.random.Generator, seed: int) -> Any:
        t = middle[:, None] * np.exp(0.8 * r.normal(size=16))[None, :] * np.exp(0.3 * r.normal(size=(9, 16)))
        return crossing(
            Column(n, tau, np.minimum(t, 2 * threshold), t <= 2 * threshold), multiple, seed
        ).crossover.value

    lengths = np.repeat([8, 16, 32, 64], 12)

    def growth(r: np.random.Generator, seed: int) -> Any:
        t = 2 * lengths * np.log(lengths) * np.exp(0.6 * r.normal(size=48))
        end = 4.0 * lengths * np.log(lengths)
        return fit_growth(1.0, lengths, np.minimum(t, end), np.minimum(t, end), t <= end, seed).law("n log n").C

    grid = np.unique(np.rint(np.geomspace(1, 400, 24))).astype(np.int64)

    def hitting(r: np.random.Generator, seed: int) -> Any:
        t = r.exponential(100.0, size=24)
        drift = (grid[:, None] >= t[None, :]).astype(float)
        found = hitting_median(first_hits(grid, drift, 0.5), np.arange(24), seed)
        return None if found is None else found.estimate

    return [
        Case("crossover τ_c(n)", "phase", "16 pairs × 9 temperatures, lognormal", 1.6, column),
        Case("growth constant C", "phase, drift", "12 runs at 4 lengths, 12 % censored", 2.0, growth),
        Case("median hitting time", "drift, phase", "24 exponential times on a grid", 100 * math.log(2), hitting, True),
    ]


def _topics() -> list[Case]:
    from maskov.topics.calibrate import share
    from maskov.topics.null import reference_share
    from maskov.topics.shares import clustered_share, count_estimate, difference

    def passages(r: np.random.Generator, G: int, p: float) -> Any:
        return r.binomial(40, r.beta(4 * p, 4 * (1 - p), size=G)) / 40

    def excess(r: np.random.Generator, seed: int) -> Any:
        return difference(
            clustered_share(passages(r, 24, 0.2)), reference_share(int(r.binomial(200, 0.05)), 200).estimate
        )

    return [
        Case(
            "share of time over passages",
            "topics",
            "24 passages, beta-binomial",
            0.2,
            lambda r, s: clustered_share(passages(r, 24, 0.2)),
            True,
        ),
        Case(
            "share of time over passages",
            "topics",
            "12 passages, rare",
            0.05,
            lambda r, s: clustered_share(passages(r, 12, 0.05)),
            True,
        ),
        Case(
            "visits",
            "topics",
            "24 passages, Poisson counts",
            1.5,
            lambda r, s: count_estimate(r.poisson(1.5, size=24).astype(float)),
        ),
        Case(
            "share (Clopper–Pearson)",
            "topics",
            "60 held-out texts, P = 0.1",
            0.1,
            lambda r, s: share(int(r.binomial(60, 0.1)), 60),
            True,
        ),
        Case("excess over the null", "topics", "24 passages against 200 reference texts", 0.15, excess, True),
    ]


def _learning() -> list[Case]:
    from maskov.learning.scaling import error_slope, initial_slope, spread_ratio

    masses = np.array([0.01, 0.03, 0.1, 0.3, 1.0])

    def slope(r: np.random.Generator, seed: int) -> Any:
        shared = r.normal(size=10)[None, :]
        own = r.normal(size=(5, 10))
        return error_slope(masses, np.abs(0.7 * shared + math.sqrt(0.51) * own) / np.sqrt(1000 * masses[:, None]), seed)

    def pairs(r: np.random.Generator) -> Any:
        start = r.normal(size=10)
        return start, 0.5 * start + 0.3 * r.normal(size=10)

    return [
        Case("error slope on log π₀", "learn", "5 masses × 10 seeds", -0.5, slope),
        Case("slope on the start", "learn", "10 seeds", 0.5, lambda r, s: initial_slope(*pairs(r), s)),
        Case("spread ratio", "learn", "10 seeds", math.sqrt(0.34), lambda r, s: spread_ratio(*pairs(r), s)),
    ]


def _theory() -> list[Case]:
    from maskov.identifiability.views import log_estimate

    return [
        Case(
            "sampled discrepancy",
            "identify, schedule",
            "8 replicates, lognormal",
            math.exp(0.02),
            lambda r, s: log_estimate(0.2 * r.normal(size=8)),
        )
    ]


def _basins() -> list[Case]:
    """A law with two phases: by symmetry each has half of the time."""
    import maskov as mk
    from maskov.basins import find_basins

    model = mk.load("law:curie-weiss?sites=8&beta=1.4")

    def population(r: np.random.Generator, seed: int) -> Any:
        starts = ["".join(map(str, row)) for row in model.law.sample(r, 12).tolist()]
        trace = mk.glauber(model, starts, steps=6000, temperature=1.0, chains=12, seed=seed)
        found = find_basins(trace, model, keep=200, microstates=9, basins=2, lag=60, resamples=60, seed=seed).cells[0]
        return found.basins[0].population if len(found.basins) == 2 else None

    return [Case("population of a basin", "basins", "12 chains × 6,000 steps, Curie–Weiss", 0.5, population)]


@lru_cache(maxsize=1)
def cases() -> tuple[Case, ...]:
    """All of them; those that run chains come last."""
    rooms = (_means, _survival, _escapes, _clusters, _series, _phases, _topics, _learning, _theory, _chains, _basins)
    return tuple(case for room in rooms for case in room())
