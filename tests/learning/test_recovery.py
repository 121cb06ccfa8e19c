"""Witness training: recovery within the exact standard error, blindness, and twins that the same tests reject."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from maskov.errors import InputError, RunError
from maskov.identifiability import log_token_discrepancy, view
from maskov.laws import law
from maskov.learning import (
    Settings,
    Witness,
    draw_problems,
    error_slope,
    learn,
    learn_weights,
    modes_of,
    optimal_loss,
    steps_needed,
    weight_stderr,
)
from maskov.learning.cell import train_cell
from maskov.learning.optimum import excess_loss
from maskov.learning.scaling import initial_slope, spread_ratio
from maskov.learning.training import check_above_optimum, train
from maskov.quantities import Estimate, Exact
from maskov.schedules import schedule

Floats = NDArray[np.float64]
LAW = "product?sites=16&gap=0.3&weight=0.3"


def rng(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.Philox(seed))


def scores(spec: str, loss: str, seeds: int = 24) -> Floats:
    """(λ̂ − w)/(exact standard error) over seeds."""
    weights = learn_weights(LAW, spec, samples=3000, seeds=seeds, loss=loss)[:, 1]
    return np.asarray((weights - 0.3) / weight_stderr(LAW, spec, 3000, loss)[1])


def accepted(z: Floats) -> bool:
    """Whether z looks standard normal: mean and variance, each at the 0.1 % level."""
    mean = abs(z.mean()) * np.sqrt(len(z)) < stats.norm.isf(5e-4)
    low, high = stats.chi2(len(z)).ppf([5e-4, 1 - 5e-4])
    return bool(mean and low < z @ z < high)


@pytest.mark.parametrize(("spec", "loss"), [("full", "joint"), ("0.9*fixed:0.15+0.1*full", "token")])
def test_weights_are_within_their_exact_standard_error(spec: str, loss: str) -> None:
    z = scores(spec, loss)
    assert accepted(z)
    assert not accepted(z + 1.5) and not accepted(2 * z)  # the test has the power to see a bias and a wrong scale


def test_fisher_information_of_the_joint_form() -> None:
    """With everything hidden and x fixing its mode, n problems are n draws of the mode."""
    assert weight_stderr("product?sites=64&gap=0.4&weight=0.3", "full", 1000, "joint")[1] == pytest.approx(
        np.sqrt(0.3 * 0.7 / 1000), rel=1e-6
    )
    token, joint = (weight_stderr(LAW, "uniform", 1000, loss)[1] for loss in ("token", "joint"))
    assert joint < token < 1.2 * joint


def test_one_symbol_mean_by_hand() -> None:
    """Token loss at full mask is the moment estimator of the mean count: its variance has a closed form."""
    N, g, w, n = 16, 0.3, 0.3, 1000
    mean, between = 0.25 - g**2, 4 * g**2 * w * (1 - w)
    variance = (N * mean + N**2 * between) / (N * 2 * g) ** 2 / n
    assert weight_stderr(LAW, "full", n)[1] == pytest.approx(np.sqrt(variance), rel=1e-9)


def test_a_law_whose_single_sites_say_nothing_is_blind_to_full_masks_in_the_token_form() -> None:
    text = "markov?sites=6&stay=0.9,0.4&weight=0.3"
    assert weight_stderr(text, "full", 1000)[1] > 1e6
    assert weight_stderr(text, "full", 1000, "joint")[1] < 0.03


def test_blind_schedules_leave_the_weights_where_they_were() -> None:
    found = learn("product?sites=64&gap=0.3&weight=0.3", ["hide:1", "fixed:0.15"], seeds=4, samples=1000, epochs=3)
    for row in found.schedules:
        assert row.excess_loss.value < 1e-6 * row.optimal_loss.value
        assert row.spread_ratio is not None and row.spread_ratio.value == pytest.approx(1, abs=0.01)
        assert row.initial_slope is not None and row.initial_slope.value == pytest.approx(1, abs=0.01)
        assert row.predicted_error is not None and row.predicted_error.value > 2
    assert len(found.warnings) == 2


def test_a_schedule_with_full_masks_forgets_the_start() -> None:
    found = learn("product?sites=64&gap=0.3&weight=0.3", "0.8*fixed:0.15+0.2*full", seeds=4, samples=2000, epochs=5)
    (row,) = found.schedules
    assert row.weight_error is not None and row.weight_error.value < 0.04
    assert row.spread_ratio is not None and row.spread_ratio.value < 0.3


def test_steps_needed_forget_the_start_and_a_warning_says_so() -> None:
    text, spec = "product?sites=64&gap=0.3&weight=0.3", "0.9*fixed:0.15+0.1*full"
    needed = steps_needed(text, spec)
    weights = []
    for theta in (-1.5, 0.5):  # weights 0.18 and 0.62
        modes, mu = modes_of(text), schedule(spec)
        problems = draw_problems(modes, mu, 4000, rng(0), rng(1))
        options = Settings(epochs=round(3 * needed / 32), fresh=10)
        learner = Witness(modes, [theta])
        train(learner, problems, problems, Witness(modes), options, rng(2))
        weights.append(learner.weights[1])
    assert abs(weights[0] - weights[1]) < 0.01
    short = learn(text, spec, seeds=1, samples=200, epochs=1)
    assert "pass --epochs" in short.warnings[0]
    assert not learn(text, spec, seeds=1, samples=200, epochs=1, optimizer="adam").warnings


def test_final_loss_is_the_discrepancy_of_the_learned_weights() -> None:
    modes, mu = modes_of(LAW), schedule("0.9*hide:1+0.1*full")
    done = train_cell(modes, mu, 0, Settings(samples=500, epochs=2))
    seen = view(modes.law, mu)
    assert seen is not None
    D = float(np.exp(log_token_discrepancy(seen.experiments[0], modes.weights, done.learner.weights)))
    excess = excess_loss(done.learner, mu, "token", done.fresh)
    assert isinstance(excess, Exact) and excess.value == pytest.approx(D, rel=1e-12)
    assert abs(done.curve[-1].excess - D) < 5 * done.curve[-1].stderr


@pytest.mark.parametrize("text", [LAW, "curie-weiss?sites=8&beta=1.2", "markov?sites=6&stay=0.9,0.4&weight=0.3"])
def test_any_order_masses_make_the_optimum_the_entropy(text: str) -> None:
    """With the masses of the any-order factorisation the token form of the least loss is H(p)."""
    modes = modes_of(text)
    x = modes.law.sample(np.random.Generator(np.random.Philox(3)), 20_000)
    log_p = modes.law.log_prob(x)
    entropy, stderr = -log_p.mean(), log_p.std() / np.sqrt(len(log_p))
    token = optimal_loss(modes, schedule("uniform*1/t")).value
    assert token == pytest.approx(optimal_loss(modes, schedule("full"), "joint").value, rel=1e-9)
    assert abs(token - entropy) < 5 * stderr


def test_the_optimum_of_a_large_law_is_an_estimate() -> None:
    modes, mu = modes_of("markov?sites=14&stay=0.9,0.4&weight=0.3"), schedule("uniform*N/h")
    x = modes.law.sample(rng(3), 20_000)
    found = optimal_loss(modes, mu, fresh=draw_problems(modes, mu, 2000, rng(0), rng(1)))
    assert isinstance(found, Estimate) and abs(found.value + modes.law.log_prob(x).mean()) < 5 * found.stderr
    with pytest.raises(InputError, match="or fresh texts"):
        optimal_loss(modes, mu)
    with pytest.raises(InputError, match="few enough counts or states"):
        weight_stderr(modes.law, mu, 100)


class PeekingLoss(Witness):
    """Broken: its loss reads the predicted token, so it falls below what hidden tokens allow."""

    def losses(self, rows: Any) -> Floats:
        return 0.5 * super().losses(rows)


def test_a_loss_below_the_optimum_is_refused() -> None:
    modes, mu = modes_of(LAW), schedule("fixed:0.15")
    done = train_cell(modes, mu, 0, Settings(samples=200, epochs=1))
    rng = np.random.Generator(np.random.Philox(0))
    options = Settings(samples=200, epochs=1)
    train(Witness(modes), done.fresh, done.fresh, Witness(modes), options, rng)
    with pytest.raises(RunError, match="sees tokens that it should predict"):
        train(PeekingLoss(modes), done.fresh, done.fresh, Witness(modes), options, rng)
    with pytest.raises(RunError, match="smaller --rate"):
        check_above_optimum(float("nan"), 0.0, 1.0)


def test_slope_of_exact_errors() -> None:
    rng = np.random.Generator(np.random.Philox(1))
    masses = np.geomspace(0.003, 0.3, 5)
    errors = np.abs(rng.standard_normal((5, 40))) / np.sqrt(1e4 * masses)[:, None]
    slope = error_slope(masses, errors)
    assert slope is not None and slope.interval is not None
    assert slope.interval[0] < -0.5 < slope.interval[1] and slope.stderr < 0.06
    wrong = error_slope(masses, errors / masses[:, None] ** 0.5)  # a twin whose error falls like 1/π₀
    assert wrong is not None and wrong.interval is not None and wrong.interval[1] < -0.7
    assert error_slope(masses[:4], errors[:4]) is None


def test_spreads() -> None:
    x = np.array([0.1, 0.4, 0.8, 0.5])
    same, none = spread_ratio(x, x), initial_slope(x, np.full(4, 0.3))
    assert same is not None and same.value == 1 and same.stderr == 0
    assert none is not None and abs(none.value) < 1e-12
    assert spread_ratio(x[:2], x[:2]) is None


def test_three_modes() -> None:
    from maskov.laws import ProductMixture

    rows = [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]]
    source = ProductMixture([0.5, 0.3, 0.2], rows, 12)
    weights = learn_weights(source, "0.5*hide:1+0.5*full", samples=3000, seeds=4)
    error = weight_stderr(source, "0.5*hide:1+0.5*full", 3000)
    assert (np.abs(weights - source.weights) < 4 * error).all()
    run = learn(source, "full", seeds=1, samples=200, epochs=1).schedules[0].runs[0]
    assert isinstance(run.weight_full_mask, list) and len(run.weight_full_mask) == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"law": "ising-ring?sites=6&beta=0.5"}, "mixture of two or more modes"),
        ({"schedules": "visible:16"}, "a schedule hides at least one site"),
        ({"schedules": []}, "one or more that differ"),
        ({"schedules": ["bert", "bert"]}, "one or more that differ"),
        ({"learner": "forest"}, "one of witness, table, transformer"),
        ({"seeds": 0}, "whole number above 0"),
        ({"samples": 0}, "whole number above 0"),
        ({"rate": -1.0}, "finite number above 0"),
        ({"loss": "mean"}, "token or joint"),
        ({"loss": "joint", "learner": "table"}, "joint with table"),
        ({"optimizer": "lion"}, "sgd or adam"),
        ({"law": law("product?sites=4&gap=0.3&weight=0.3"), "out": "x"}, "a text form"),
    ],
)
def test_bad_input(arguments: dict[str, Any], message: str) -> None:
    given = {"law": LAW, "schedules": "hide:1", "seeds": 1, **arguments}
    with pytest.raises(InputError) as error:
        learn(**given)
    assert message in str(error.value)
