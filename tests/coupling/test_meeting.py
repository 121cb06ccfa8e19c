"""Meeting times on laws with known answers, censoring, and bounds on total variation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from maskov.coupling import COUPLINGS, Pair, lag_bound, make_pairs, meeting_times, run_pairs
from maskov.coupling.steps import couple_tokens
from maskov.errors import InputError
from maskov.glauber.kernel import magnetisation_mixing_time, stationary_law, total_variation_decay, transition_matrix
from maskov.laws import enumerate_states, random_conditionals, random_tabular, state_index
from maskov.models import LawModel, load
from maskov.protocols import State
from maskov.quantities import Bound, Estimate
from maskov.randomness import choose_site, draws
from maskov.survival import restricted_mean, survival_curve

# 10-dynamics §6: Curie–Weiss at β = 0.5; exact t_mix(1/4), and the mean meeting time of 100 pairs.
TABLE = {32: (114, 204.6), 64: (273, 507.1), 128: (635, 1205.0), 256: (1450, 2742.5)}


@pytest.mark.parametrize("n", [32, 64, 128, 256])
def test_exact_mixing_time(n: int) -> None:
    assert magnetisation_mixing_time(n, 0.5) == TABLE[n][0]


@pytest.mark.parametrize("n", [32, 64, 128])
def test_meeting_times_of_the_table(n: int) -> None:
    found = meeting_times(load(f"law:curie-weiss?sites={n}&beta=0.5"), coupling="uniform", n_pairs=100)
    cell = found.cells[0]
    assert cell.censored == 0
    # Both are means over 100 pairs, with errors of the same size.
    assert abs(cell.mean_steps.value - TABLE[n][1]) < 3 * math.sqrt(2) * cell.mean_steps.stderr
    assert cell.mean_steps.value == pytest.approx(np.mean(cell.times))


def test_at_high_beta_the_mixing_time_grows_exponentially() -> None:
    """log t_mix against n at β = 1.3: a line fits better than log(a n log n) by AIC, by a wide margin."""
    n = np.array([16, 24, 32, 48, 64, 96, 128])
    t = np.log([magnetisation_mixing_time(int(k), 1.3) for k in n])

    def aic(residuals: Any, parameters: int) -> float:
        return len(n) * math.log(float(np.mean(residuals**2))) + 2 * parameters

    exponential = aic(t - np.polyval(np.polyfit(n, t, 1), n), 2)
    shape = t - np.log(n * np.log(n))
    assert exponential < aic(shape - shape.mean(), 1) - 10


@pytest.mark.parametrize("coupling", COUPLINGS)
def test_after_meeting_chains_never_part(coupling: str) -> None:
    model = LawModel(random_conditionals(3, 4, seed=5))
    pairs = make_pairs(model, None, 30, "auto", None, 0)
    whole = run_pairs(model, pairs, [1.0], coupling, 400, seed=2)
    assert whole.met.all()
    assert (whole.first == whole.second).all()
    # Go on from the meeting with both chains evaluated, as the loop that leaves them alone does not.
    met = [Pair(State(a, p.first.free), State(b, p.first.free)) for a, b, p in zip(whole.first, whole.second, pairs, strict=True)]  # fmt: skip  # noqa: E501
    again = _run_to_the_end(model, met, coupling, 50, n=4)
    assert (again["first"] == again["second"]).all()
    assert (again["first"] != whole.first).any()


@pytest.mark.parametrize("coupling", COUPLINGS)
def test_each_chain_alone_is_the_glauber_chain(coupling: str) -> None:
    """Law of x_t by 6,000 pairs against the kernel's power, for both chains."""
    law = random_tabular(2, 3, seed=3)
    model = LawModel(law)
    size, steps = 6000, 4
    pairs = make_pairs(model, None, size, "worst", None, 0)
    power = np.linalg.matrix_power(transition_matrix(law, 3, 0.7).toarray(), steps)
    states = enumerate_states(2, 3)
    free = _run_to_the_end(model, pairs, coupling, steps)
    for which in ("first", "second"):
        start = np.ones((1, 3), int) if which == "first" else np.zeros((1, 3), int)
        expected = size * power[state_index(start, 2)[0]]
        counts = np.bincount(state_index(free[which], 2), minlength=len(states))
        chi = float(((counts - expected) ** 2 / expected).sum())
        assert chi < 7 + 5 * math.sqrt(14), (which, chi)


def _run_to_the_end(model: Any, pairs: Any, coupling: str, steps: int, n: int = 3) -> dict[str, Any]:
    """Both chains for ``steps`` steps: those that met go on as one chain from the same stream."""
    x = np.stack([p.first.tokens for p in pairs])
    y = np.stack([p.second.tokens for p in pairs])
    ids = np.arange(len(pairs))
    d = draws(1, ids, 0, steps)
    free = np.tile(np.arange(n), (len(pairs), 1))
    for t in range(steps):
        sites = choose_site(d.site[t], free, np.full(len(pairs), n))
        new = couple_tokens(
            coupling, model.logits(x, sites), model.logits(y, sites), np.full(len(pairs), 0.7), d.token[t], 1, ids,
            np.full(len(pairs), t),
        )  # fmt: skip
        x[ids, sites], y[ids, sites] = new
    return {"first": x, "second": y}


@pytest.mark.parametrize("coupling", COUPLINGS)
def test_survival_bounds_total_variation(coupling: str) -> None:
    """P(T > t) ≥ TV(law of x_t, law of y_t) at every t, on enumerable laws."""
    law = random_tabular(2, 4, seed=8)
    model = LawModel(law)
    found = meeting_times(model, coupling=coupling, n_pairs=800, temperatures=[0.8], max_steps=200)
    kernel = transition_matrix(law, 4, 0.8)
    states = enumerate_states(2, 4)
    a, b = np.eye(len(states))[[len(states) - 1, 0]]
    curve = found.cells[0].survival
    for t in range(1, 60):
        a, b = a @ kernel, b @ kernel
        k = int(np.searchsorted(curve["steps"], t, side="right")) - 1
        survival = curve["survival"][k]
        tv = 0.5 * np.abs(a - b).sum()
        assert survival >= tv - 4 * math.sqrt(max(tv * (1 - tv), 1e-4) / 800)


@pytest.mark.parametrize("coupling", ["maximal", "uniform"])
def test_lagged_bound_is_above_the_exact_distance(coupling: str) -> None:
    law = random_tabular(2, 4, seed=4)
    model = LawModel(law)
    start = State(np.zeros(4, dtype=np.int64), np.arange(4))
    bound = lag_bound(model, [start] * 600, [0.8], coupling, lag=8, max_steps=2000, seed=0)[0.8]
    assert bound.censored == 0
    kernel = transition_matrix(law, 4, 0.8)
    pi = stationary_law(kernel)
    exact = total_variation_decay(kernel, pi, 0, max(bound.steps) + 1)
    for t, value, stderr in zip(bound.steps, bound.bound, bound.stderr, strict=True):
        assert value >= exact[t] - 4 * stderr - (1 - 1e-4 ** (1 / 600))
    assert (np.array(bound.upper) >= exact[list(bound.steps)]).all()
    assert bound.bound[-1] < 0.05 and bound.bound[0] > exact[0] - 1e-9


def test_mean_over_the_met_only_is_caught() -> None:
    """Half of the runs end at 10: the mean over the met ones is 5.5, the restricted mean keeps the others in."""
    times = np.array([1.0, 10.0, 10.0, 10.0])
    met = np.array([True, True, False, False])
    ours = restricted_mean(times, met, 10.0).value
    assert ours == pytest.approx(7.75)
    assert times[met].mean() < ours - 2
    assert survival_curve(times, met).survival[-1] == pytest.approx(0.5)


def test_restricted_mean_without_censoring_is_the_mean() -> None:
    times = np.random.default_rng(0).exponential(10, 200)
    found = restricted_mean(times, np.ones(200, dtype=bool), 1000.0)
    assert found.value == pytest.approx(times.mean())
    assert found.stderr == pytest.approx(times.std(ddof=1) / math.sqrt(200), rel=0.02)


def test_restricted_mean_interval_covers_under_censoring() -> None:
    rng, inside = np.random.default_rng(1), 0
    horizon = 12.0
    truth = 10 * (1 - math.exp(-horizon / 10))
    for _ in range(300):
        t = rng.exponential(10, 60)
        cut = np.minimum(rng.uniform(4, 25, 60), horizon)
        found = restricted_mean(np.minimum(t, cut), t <= cut, horizon)
        low, high = found.interval or (0, 0)
        inside += low <= truth <= high
    assert 0.90 <= inside / 300 <= 0.99


def test_fewer_than_half_met_gives_a_lower_bound() -> None:
    found = meeting_times(load("law:curie-weiss?sites=24&beta=2"), coupling="uniform", n_pairs=10, max_steps=50)
    cell = found.cells[0]
    assert isinstance(cell.median_steps, Bound) and cell.median_steps.side == "lower"
    assert cell.median_steps.value == 50 and cell.censored == 10 and cell.mean_steps.value == 50
    assert "0 of 10 pairs met" in str(found)


def test_one_temperature_alone_gives_the_same_times() -> None:
    model = load("law:ising-ring?sites=8&beta=0.4")
    both = meeting_times(model, temperatures=[1.0, 2.0], n_pairs=6)
    assert meeting_times(model, temperatures=[2.0], n_pairs=6).cells[0] == both.cells[1]
    assert isinstance(both.cells[0].median_steps, Estimate)


def test_networks_meet_when_hot() -> None:
    model = load("en-tiny")
    found = meeting_times(model, ["the cat sat on it.", "a dog ran by him."], temperatures=[8.0], max_steps=400)
    cell = found.cells[0]
    assert cell.n_pairs == 2 and cell.censored == 0
    assert found.forwards < 2 * 2 * 400


def test_pairs_of_texts_are_cut_to_one_length() -> None:
    model = load("en-tiny")
    pairs = make_pairs(model, ["one two three.", "one two three four five six."], 4, "texts", None, 0)
    for pair in pairs:
        assert len(pair.first.tokens) == len(pair.second.tokens)
        assert pair.first.tokens[-1] == pair.second.tokens[-1]
        assert (pair.first.tokens != pair.second.tokens).any()


def test_permutation_and_worst_starts() -> None:
    model = load("en-tiny")
    text = "one two three four five six seven."
    swapped = make_pairs(model, [text], 1, "permutation", None, 0)[0]
    assert sorted(swapped.first.tokens) == sorted(swapped.second.tokens)
    worst = make_pairs(model, [text], 1, "worst", None, 0)[0]
    assert set(model.decode(worst.first.tokens).replace(" ", "")) == {"!"}
    assert model.decode(worst.second.tokens) == text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"coupling": "best"}, "coupling: expected one of"),
        ({"temperatures": [0.0]}, "temperature"),
        ({"n_pairs": 0}, "pairs: expected at least 1"),
        ({"starts": "far"}, "starts: expected one of"),
        ({"max_steps": 0}, "steps: expected at least 1"),
        ({"lag": 0}, "lag: expected at least 1"),
    ],
)
def test_bad_input(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        meeting_times(load("law:curie-weiss?sites=4&beta=0.5"), **options)


def test_one_text_cannot_be_two() -> None:
    with pytest.raises(InputError, match="two different texts"):
        meeting_times(load("en-tiny"), ["one two.", "one two."], starts="texts")
