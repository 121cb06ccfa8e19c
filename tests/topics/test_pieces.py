"""Thresholds, nulls, intervals, visits: against definitions, exact laws and brute force."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from maskov.errors import InputError
from maskov.survival import survival_median
from maskov.topics import (
    AnchorMargin,
    benjamini_hochberg,
    clustered_share,
    difference,
    holm,
    margins,
    p_above,
    passage_share,
    reference_share,
    return_median,
    returns,
    threshold,
    visit_counts,
)
from maskov.topics.null import check_prior
from maskov.topics.score import centroids, checked_scores
from maskov.topics.shares import count_estimate, passage_means
from maskov.topics.shuffles import permutation_p, start_memory
from maskov.topics.walk import even_times


def fresh(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.Philox(key=[seed, 5]))


# Scores


def test_margins_are_those_of_the_definition() -> None:
    s = fresh(0).standard_normal((5, 4, 6))
    s[0, 0, :2] = s[0, 0].max() + 1  # a tie at the top: both margins are 0
    expected = [[[row[k] - np.delete(row, k).max() for k in range(6)] for row in part] for part in s]
    np.testing.assert_allclose(margins(s), expected, atol=1e-15)


def test_left_out_scores_leave_an_anchor_out_of_its_own_centroid(world) -> None:
    scorer = AnchorMargin(world.anchors(each=4), world)
    found = scorer.left_out_scores()
    for a, label in enumerate(scorer.labels):
        rest = np.arange(len(scorer.labels)) != a
        c = np.array([scorer.rows[(scorer.labels == k) & (rest | (k != label))].sum(axis=0) for k in range(6)])
        c /= np.linalg.norm(c, axis=1, keepdims=True)
        np.testing.assert_allclose(found[a], margins(scorer.rows[a] @ c.T), atol=1e-12)
    own = np.arange(len(found)), scorer.labels
    everything = margins(scorer.rows @ scorer.centroids.T)
    assert (found[own] < everything[own]).all()  # an anchor that made its own centroid looks better than it is


def test_centroids_of_opposite_anchors_are_refused() -> None:
    with pytest.raises(InputError, match="whose mean is 0"):
        centroids(np.array([[1.0, 0], [-1.0, 0], [0, 1], [0, 1]]), np.array([[0, 0, 1, 1]]), 2)


class Broken:
    name, topics = "broken", ("a", "b")

    def scores(self, texts):
        return np.full((len(texts), 2), np.nan)


def test_a_classifier_must_give_finite_scores_of_the_right_shape() -> None:
    with pytest.raises(InputError, match="NaN"):
        checked_scores(Broken(), ["x"])
    Broken.scores = lambda self, texts: np.zeros((len(texts), 3))  # type: ignore[method-assign]
    with pytest.raises(InputError, match=r"\(1, 3\)"):
        checked_scores(Broken(), ["x"])


# Thresholds


@given(st.lists(st.integers(0, 30), min_size=19, max_size=80), st.sampled_from([0.05, 0.1, 0.2]))
def test_at_most_the_allowed_number_passes_and_no_lower_threshold_would_do(scores: list[int], rate: float) -> None:
    others = np.array(scores, dtype=float)
    t = threshold("a", np.append(others, 31.0), np.arange(len(others) + 1) == len(others), rate)
    allowed = math.floor(rate * (len(others) + 1) + 1e-9)
    assert t.passed == (others >= t.value).sum() <= allowed == t.allowed
    below = others[others < t.value]
    assert below.size == 0 or (others >= below.max()).sum() > allowed
    assert t.recall is not None and t.recall.value == 1.0


def test_too_few_held_out_texts_are_an_error_that_says_how_many() -> None:
    with pytest.raises(InputError, match=r"at least 19 .* got 18"):
        threshold("a", np.arange(18.0), np.zeros(18, dtype=bool), 0.05)
    assert threshold("a", np.arange(19.0), np.zeros(19, dtype=bool), 0.05).passed == 1


def test_the_printed_interval_holds_the_true_rate_though_the_same_texts_set_the_threshold() -> None:
    """The chance of a new text to pass is Beta(k, m + 1 − k); Clopper–Pearson of k in m covers it at 95 % or more."""
    m, none, covered, true = 132, np.zeros(132, dtype=bool), 0, []
    for seed in range(300):
        t = threshold("a", fresh(seed).random(m), none, 0.05)
        true.append(1 - t.value)  # uniform scores: the exact chance
        low, high = t.false_positive_rate.interval
        covered += low <= true[-1] <= high
    assert covered / 300 >= 0.95 - 0.03
    assert stats.kstest(true, stats.beta(6, 127).cdf).pvalue > 0.01
    # A broken twin: the threshold of m·α texts strictly above is one text too low, and its rate too high on average.
    twin = [1 - np.sort(fresh(seed).random(m))[::-1][math.floor(0.05 * (m + 1))] for seed in range(300)]
    assert np.mean(true) < 0.05 < np.mean(twin) and stats.kstest(twin, stats.beta(6, 127).cdf).pvalue < 1e-6


# Nulls


def test_the_null_share_has_the_moments_of_its_law() -> None:
    scores = fresh(1).random(144)
    inside = np.arange(144) < 12
    scores[:11] += 1
    t = threshold("a", scores, inside, 0.05)
    null = passage_share(t, 0.25)
    q, r = stats.beta(t.allowed, t.outside + 1 - t.allowed), stats.beta(t.recognised + 1, t.inside - t.recognised)
    assert null.weights.sum() == pytest.approx(1)
    assert null.estimate.value == pytest.approx(0.25 * r.mean() + 0.75 * q.mean(), abs=1e-9)
    assert null.estimate.stderr**2 == pytest.approx(0.25**2 * r.var() + 0.75**2 * q.var(), rel=1e-6)
    draws = 0.25 * r.rvs(40_000, random_state=fresh(2)) + 0.75 * q.rvs(40_000, random_state=fresh(3))
    np.testing.assert_allclose(null.estimate.interval, np.quantile(draws, [0.025, 0.975]), atol=0.004)
    assert reference_share(10_000, 100_000).estimate.value == pytest.approx(0.1, abs=1e-4)


def test_p_is_the_average_of_students_tests() -> None:
    means, null = fresh(4).random(9) * 0.5, reference_share(3, 60)
    x = np.append(means, 0)
    expected = [stats.ttest_1samp(x, v, alternative="greater").pvalue for v in null.values]
    assert p_above(means, null) == pytest.approx(np.dot(expected, null.weights), abs=1e-12)
    assert p_above(means[:1], null) is None


LAWS = {
    "all or nothing": lambda rng, p, G: (rng.random((len(p), G)) < p[:, None]).astype(float),
    "all alike": lambda rng, p, G: np.repeat(p[:, None], G, axis=1),
    "mostly one value": lambda rng, p, G: (rng.random((len(p), G)) < 0.8) * np.minimum(p / 0.8, 1)[:, None],
    "spread": lambda rng, p, G: rng.beta(2 * p[:, None], 2 * (1 - p[:, None]), (len(p), G)),
}


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("passages", [4, 16])
def test_the_test_keeps_its_level_where_passages_agree_by_chance(name: str, passages: int) -> None:
    """Under the null 1,000 studies: at most 5 % below 0.05 and 0.4 % below 0.05/12, but for the simulation's error."""
    R, m, k = 1000, 132, 6
    rng = fresh(6)
    q = rng.beta(k, m + 1 - k, R)
    phi = 0.9 / 12 + 11 / 12 * q
    scores = np.arange(144.0)
    t = threshold("a", scores, np.isin(np.arange(144), [0, *range(133, 144)]), 0.05)
    assert (t.allowed, t.outside, t.recognised, t.inside) == (6, 132, 11, 12)
    null, means = passage_share(t, 1 / 12), LAWS[name](rng, phi, passages)
    p = np.array([p_above(row, null) for row in means])
    assert (p <= 0.05).mean() <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / R)
    assert (p <= 0.05 / 12).mean() <= 0.05 / 12 + 3 * math.sqrt(0.05 / 12 / R)
    if name == "mostly one value" and passages == 4:  # the twin without the passage that never visits: 5 times as often
        twin = np.array([p_above(row, null, pseudo=False) for row in means])
        assert (twin <= 0.05 / 12).mean() > 5 * 0.05 / 12


def test_holm_and_benjamini_hochberg_keep_gaps_and_agree_with_brute_force() -> None:
    p = [0.2, None, 0.001, 0.013, 0.04]
    assert holm(p) == [0.2, None, 0.004, pytest.approx(0.039), pytest.approx(0.08)]
    assert benjamini_hochberg(p) == [
        pytest.approx(x) if x is not None else None for x in [0.2, None, 0.004, 0.026, 0.04 * 4 / 3]
    ]
    assert holm([]) == [] and benjamini_hochberg([None]) == [None]


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        ([0.1], "shares by topic"),
        ({"a": 0.1}, "none for 'b'"),
        ({"a": 0.1, "b": 0.1, "c": 0.1}, "'c', which is no topic"),
        ({"a": 0.1, "b": "x"}, "shares in"),
        ({"a": 0.1, "b": True}, "shares in"),
        ({"a": 0.1, "b": -0.1}, "shares in"),
        ({"a": 0.1, "b": float("nan")}, "shares in"),
        ({"a": 0.6, "b": 0.6}, "at most 1, got 1.2"),
    ],
)
def test_priors_are_checked(prior, message: str) -> None:
    with pytest.raises(InputError) as caught:
        check_prior(prior, ["a", "b"], ["a"])
    assert message in str(caught.value)


def test_start_memory_against_all_permutations() -> None:
    shares = fresh(7).random((5, 2))
    shares[[0, 1], 0] += 2
    found = start_memory(np.clip(shares, 0, 1), np.array([0, 0, 1, 1, 1]), 4000, 0)
    import itertools

    s = np.clip(shares, 0, 1)
    every = [s[range(5), list(order)].mean() for order in itertools.permutations([0, 0, 1, 1, 1])]
    assert found.shuffled == pytest.approx(np.mean(every))
    assert found.p == pytest.approx(np.mean(np.array(every) >= found.own.value - 1e-12), abs=0.03)
    assert start_memory(s, np.zeros(5, dtype=int), 9, 0).p is None
    assert permutation_p(1.0, np.zeros(99)) == 0.01


# Shares


def test_clustered_share_is_clopper_pearson_for_whole_passages_and_wider_for_few() -> None:
    ones = np.array([1.0] * 3 + [0.0] * 17)
    found = clustered_share(ones)
    exact = stats.binomtest(3, 20).proportion_ci(method="exact")
    assert found.value == 0.15 and found.interval[0] <= exact.low + 0.01 and found.interval[1] >= exact.high - 0.01
    assert clustered_share(np.zeros(8)).interval == (0.0, pytest.approx(1 - 0.025 ** (1 / 8)))
    assert clustered_share(np.ones(8)).interval == (pytest.approx(0.025 ** (1 / 8)), 1.0)
    alone = clustered_share(np.array([0.4]))
    assert alone.interval is None and math.isinf(alone.stderr)


def test_clustered_share_covers_and_counting_states_as_units_does_not() -> None:
    """Passages' shares are Beta(1, 3), states of a passage share its law; 200 studies of 12 passages × 50 states."""
    inside = naive = 0
    for seed in range(200):
        rng = fresh(1000 + seed)
        states = rng.random((12, 50)) < rng.beta(1, 3, 12)[:, None]
        low, high = clustered_share(states.mean(axis=1)).interval
        inside += low <= 0.25 <= high
        twin = stats.binomtest(int(states.sum()), states.size).proportion_ci(method="exact")
        naive += twin.low <= 0.25 <= twin.high
    assert inside / 200 >= 0.92 and naive / 200 < 0.75


def test_differences_and_counts() -> None:
    a, b = clustered_share(np.array([0.2, 0.4, 0.6])), clustered_share(np.zeros(5))
    d = difference(a, b)
    assert d.value == pytest.approx(0.4) and d.interval[0] < a.interval[0]
    assert d.interval[1] == pytest.approx(a.interval[1])
    assert count_estimate(np.zeros(10)).interval == (0.0, pytest.approx(0.3689, abs=1e-4))
    assert passage_means(np.array([1.0, 3.0, 5.0]), np.array([4, 4, 9])).tolist() == [2.0, 5.0]


# Visits


def slow_returns(column: np.ndarray, times: np.ndarray) -> tuple[int, list[tuple[float, float, bool]]]:
    visits, spells, last = 0, [], None
    for k, x in enumerate(column):
        if x:
            if last is None or last < k - 1:
                visits += 1
                if last is not None:
                    spells.append((times[k - 1] - times[last + 1], times[k] - times[last], True))
            last = k
    if last is not None and last < len(times) - 1:
        spells.append((times[-1] - times[last],) * 2 + (False,))
    return visits, spells


@given(st.lists(st.lists(st.booleans(), min_size=7, max_size=7), min_size=1, max_size=4))
def test_visits_and_returns_are_those_of_a_plain_walk(flags: list[list[bool]]) -> None:
    inside, times = np.array(flags).T, np.array([3, 5, 8, 13, 20, 22, 31])
    found = returns(inside, times)
    for b in range(inside.shape[1]):
        visits, spells = slow_returns(inside[:, b], times)
        assert visit_counts(inside)[b] == visits
        mine = found.chain == b
        got = zip(found.low[mine], found.high[mine], found.met[mine], strict=True)
        assert sorted(got) == sorted(spells)


def test_the_median_return_counts_spells_that_the_end_cut_off() -> None:
    """Spells outside are geometric of mean 40; a run of 60 sees the short ones. Broken twin: finished spells alone."""
    steps, chains = 60, 400
    rng, path = fresh(8), []
    x = np.ones(chains, dtype=bool)
    for _ in range(steps + 1):
        path.append(x)
        x = np.where(x, rng.random(chains) < 0.7, rng.random(chains) < 1 / 40)
    inside, times = np.array(path), np.arange(steps + 1)
    found, groups = returns(inside, times), np.arange(chains)
    true = math.log(0.5) / math.log(1 - 1 / 40) + 1  # from the last time inside
    estimate = return_median(found, groups, 0)
    assert estimate is not None and estimate.interval[0] - 1 <= true <= estimate.interval[1] + 1
    assert estimate.value == survival_median(found.high, found.met)
    assert np.median(found.high[found.met]) < 0.8 * true
    assert return_median(returns(inside[:2] * False, times[:2]), groups, 0) is None


def test_times_are_even() -> None:
    assert np.ptp(np.diff(even_times(100_000, 187))) <= 1
    with pytest.raises(InputError, match="at least 2"):
        even_times(10, 1)
