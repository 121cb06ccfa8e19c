"""Growth laws on planted times, censored and seen on a grid, and the twins that a fit must not be."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, stats

from maskov.drift.censored import fit_normal, log_interval
from maskov.drift.fits import FEWEST_LENGTHS, LAWS, fit_growth, hitting_growth

N = np.repeat([8, 16, 32, 64], 40)


def planted(shape: np.ndarray, constant: float, seed: int = 0, spread: float = 0.4) -> np.ndarray:
    return constant * shape * np.exp(spread * np.random.default_rng(seed).normal(size=len(N)))


def cut(times: np.ndarray, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.minimum(times, at), times < at


@pytest.mark.parametrize(
    ("law", "shape", "constant"),
    [
        ("n log n", N * np.log(N), 3.0),
        ("n", N.astype(float), 9.0),
        ("n^2", N.astype(float) ** 2, 0.5),
        ("exp(cn)", np.exp(0.12 * N), 20.0),
    ],
)
def test_the_planted_law_wins_and_its_constant_is_found(law: str, shape: np.ndarray, constant: float) -> None:
    times = planted(shape, constant)
    found = fit_growth(1.0, N, times, times, np.ones(len(N), bool))
    best = found.law(law)
    assert found.verdict == found.best == law and best.wins > 0.9
    assert best.C.interval[0] < constant < best.C.interval[1]
    assert best.spread == pytest.approx(0.4, rel=0.15)
    assert (best.rate is not None) == (law == "exp(cn)")
    if best.rate is not None:
        assert best.rate.interval[0] < 0.12 < best.rate.interval[1]


def test_intervals_of_the_constant_cover_it() -> None:
    inside, few = 0, np.arange(0, len(N), 4)
    for seed in range(20):
        times, met = cut(planted(N * np.log(N), 3.0, seed), 3.5 * N * np.log(N))
        low, high = fit_growth(1.0, N[few], times[few], times[few], met[few], seed).law("n log n").C.interval
        inside += low < 3.0 < high
    assert inside >= 16  # binomial(20, 0.95): below 16 in one of 400


def test_the_met_times_alone_are_rejected() -> None:
    """The twin: runs cut at 0.9 of the median. With them C is found; without them it is far too small."""
    whole = planted(N * np.log(N), 3.0)
    times, met = cut(whole, 2.7 * N * np.log(N))
    ours = fit_growth(1.0, N, times, times, met).law("n log n").C
    twin = fit_growth(1.0, N[met], times[met], times[met], met[met]).law("n log n").C
    assert 0.3 < met.mean() < 0.6
    assert ours.interval[0] < 3.0 < ours.interval[1]
    assert twin.value < 2.4 and twin.interval[1] < 2.6


def test_a_cell_that_never_met_speaks_for_exponential_growth() -> None:
    """Exponential times cut at 10 n log n: the longest length never met, and dropping it changes the verdict."""
    times, met = cut(planted(np.exp(0.15 * N), 5.0), 10 * N * np.log(N))
    found = fit_growth(1.0, N, times, times, met)
    assert found.met[-1] == 0 and found.verdict == "exp(cn)"
    assert found.law("exp(cn)").rate.interval[0] < 0.15 < found.law("exp(cn)").rate.interval[1]


def test_times_seen_on_a_grid_are_intervals() -> None:
    """First grid times are up to 1.5 of the truth: taken as exact they overstate C, as intervals they do not."""
    whole = planted(N * np.log(N), 3.0, spread=0.3)
    grid = np.concatenate([[0.0], 1.5 ** np.arange(0, 30)])
    k = np.searchsorted(grid, whole)
    low, high = grid[k - 1], grid[k]
    met = np.ones(len(N), bool)
    ours, twin = (fit_growth(1.0, N, side, high, met).law("n log n").C for side in (low, high))
    assert ours.interval[0] < 3.0 < ours.interval[1]
    assert twin.interval[0] > 3.3


def test_too_few_lengths_or_met_times_give_no_law() -> None:
    two = N < 32
    times = planted(N * np.log(N), 3.0)
    few = fit_growth(1.0, N[two], times[two], times[two], np.ones(two.sum(), bool))
    assert few.laws == () and few.best is None and f"at least {FEWEST_LENGTHS}" in few.verdict
    none = fit_growth(0.3, N, times, times, np.zeros(len(N), bool))
    assert none.laws == () and "not enough met" in none.verdict and none.met == (0, 0, 0, 0)


def test_close_laws_are_not_told_apart() -> None:
    n = np.repeat([14, 15, 16], 4)
    times = n * np.log(n) * np.tile([0.5, 1.0, 1.5, 2.0], 3)
    found = fit_growth(1.0, n, times, times, np.ones(12, bool))
    assert found.verdict.startswith("cannot tell: ") and found.best in LAWS


def test_a_time_within_the_first_step_is_open_below() -> None:
    ones = np.ones(len(N))
    found = fit_growth(5.0, N, 0 * ones, np.where(np.arange(len(N)) % 3, ones, 3.0), ones > 0)
    assert all(np.isfinite(fit.C.value) and np.isfinite(fit.aic) for fit in found.laws)


def test_the_fit_is_the_maximum_of_its_likelihood() -> None:
    """Known, right-censored and interval values at once, against a general optimiser."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=60)
    y = 1 + 0.7 * x + 0.5 * rng.normal(size=60)
    low, high = np.minimum(y, 1.3), np.where(y < 1.3, y, np.inf)
    low[:15], high[:15] = np.floor(2 * low[:15]) / 2, np.where(y[:15] < 1.3, np.floor(2 * low[:15]) / 2 + 0.5, np.inf)

    def loss(p: np.ndarray) -> float:
        mean, s = p[0] + p[1] * x, np.exp(p[2])
        mass = stats.norm.cdf(np.minimum(high, 1e6), mean, s) - stats.norm.cdf(low, mean, s)
        return -np.where(low == high, stats.norm.logpdf(low, mean, s), np.log(np.maximum(mass, 1e-300))).sum()

    ours = fit_normal(low, high, np.ones((1, 60)), x)
    best = optimize.minimize(loss, np.zeros(3), method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-9})
    assert ours.log_likelihood[0] == pytest.approx(-best.fun, abs=1e-4)
    assert [ours.a[0], ours.b[0], np.log(ours.width[0])] == pytest.approx(best.x, abs=1e-4)


def test_weights_are_repetitions() -> None:
    rng = np.random.default_rng(0)
    y, counts = rng.normal(size=12), rng.integers(1, 4, size=12)
    high = np.where(y < 0.5, y, np.inf)
    weighted = fit_normal(np.minimum(y, 0.5), high, counts[None].astype(float))
    repeated = fit_normal(*(np.repeat(v, counts) for v in (np.minimum(y, 0.5), high)), np.ones((1, counts.sum())))
    assert weighted.a[0] == pytest.approx(repeated.a[0], abs=1e-7)
    assert weighted.log_likelihood[0] == pytest.approx(repeated.log_likelihood[0], abs=1e-9)


def test_intervals_keep_their_mass_in_both_tails() -> None:
    ends = np.array([[-40.0, -39.0], [39.0, 40.0], [-1.0, 1.0], [-np.inf, np.inf], [37.0, np.inf]])
    found = log_interval(ends[:, 0], ends[:, 1])
    assert found[0] == pytest.approx(found[1], rel=1e-12) and np.isfinite(found).all()
    assert found[2] == pytest.approx(np.log(stats.norm.cdf(1) - stats.norm.cdf(-1)))
    assert found[3] == 0 and found[4] == pytest.approx(stats.norm.logsf(37.0))


def test_hitting_times_on_a_grid_show_their_growth() -> None:
    """Planted at 1.2 n, seen at the next grid time."""
    sizes, rng = np.repeat([8, 16, 32, 64], 30), np.random.default_rng(0)
    steps = np.rint(sizes * 1.2 * np.exp(0.2 * rng.normal(size=len(sizes)))).astype(int)
    grid = np.unique(np.rint(np.geomspace(1, 200, 40)).astype(int))
    hits = [{"step": int(grid[np.searchsorted(grid, t)]), "met": True} for t in steps]
    found = hitting_growth(1.0, grid, hits, sizes, np.arange(len(sizes)), 0)
    assert found.verdict == "n" and found.law("n").C.interval[0] < 1.2 < found.law("n").C.interval[1]
    assert hitting_growth(1.0, grid, (), sizes, sizes, 0).verdict == "no level to hit"


def test_ragged_lengths_resample_texts_and_not_each_length_alone() -> None:
    n = np.arange(40, 100)
    times = 2.0 * n * np.exp(0.3 * np.random.default_rng(1).normal(size=len(n)))
    found = fit_growth(1.0, n, times, times, np.ones(len(n), bool))
    low, high = found.law("n").C.interval
    assert low < 2.0 < high and high - low > 0.15  # 2 · 1.96 · 2 · 0.3/√60 = 0.30 is expected


def test_runs_of_one_passage_are_one_unit() -> None:
    """Copies of each run widen nothing when they are named as copies, and would halve the interval otherwise."""
    n = np.repeat([8, 16, 32], 10)
    times = 3 * n * np.log(n) * np.exp(0.4 * np.random.default_rng(2).normal(size=len(n)))
    four = [np.tile(v, 4) for v in (n, times, np.arange(len(n)))]
    met = np.ones(4 * len(n), bool)
    one = fit_growth(1.0, n, times, times, met[: len(n)]).law("n log n").C
    own = fit_growth(1.0, four[0], four[1], four[1], met, groups=four[2]).law("n log n").C
    naive = fit_growth(1.0, four[0], four[1], four[1], met).law("n log n").C
    assert own.stderr == pytest.approx(one.stderr, rel=0.15) and naive.stderr < 0.65 * own.stderr


def test_a_run_that_a_resample_leaves_out_does_not_overflow() -> None:
    """A censored time far beyond the others has a mass of e^(−10⁵) there, and no weight."""
    low, high = np.array([0.0, 0.1, 0.2, 90.0]), np.array([0.0, 0.1, 0.2, np.inf])
    found = fit_normal(low, high, np.array([[1.0, 1.0, 1.0, 0.0]]))
    assert found.a[0] == pytest.approx(0.1) and found.width[0] == pytest.approx(np.sqrt(0.02 / 3))
