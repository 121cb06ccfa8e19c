"""Problems: what is drawn follows the law of texts and masks; loss weights are the schedule's."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from maskov.errors import InputError
from maskov.learning import draw_problems, exact_problems, modes_of, population
from maskov.learning.modes import seen_counts
from maskov.learning.problems import check_schedule, count_problems, counted, loss_weights
from maskov.schedules import Schedule, schedule

LAW = "product?sites=5&gap=0.3&weight=0.3"


def rng(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.Philox(seed))


@pytest.mark.parametrize("spec", ["fixed:0.4", "uniform*1/t", "0.5*hide:1+0.5*full", "span:0.4"])
def test_drawn_problems_have_the_exact_frequencies(spec: str) -> None:
    modes, mu, size = modes_of(LAW), schedule(spec), 20_000
    drawn = counted(draw_problems(modes, mu, size, rng(0), rng(1)), 2)
    exact = count_problems(modes, mu)
    assert exact is not None
    seen = np.unique(drawn.counts, axis=0, return_counts=True)
    frequency = {tuple(c): k / size for c, k in zip(*seen, strict=True)}
    for c, mass in zip(exact.counts, exact.mass, strict=True):
        assert abs(frequency.get(tuple(c), 0.0) - mass) < 5 * np.sqrt(mass / size) + 1e-9
    assert drawn.weight @ drawn.mass == pytest.approx(float(mu.objective_law(5)[:5].sum()), rel=0.05)


def test_enumeration_and_counting_hold_the_same_law() -> None:
    modes, mu = modes_of(LAW), schedule("uniform*1/t")
    texts, counts = population(modes, mu), count_problems(modes, mu)
    assert counts is not None and texts.mass.sum() == pytest.approx(1)
    assert counts.mass.sum() == pytest.approx(1 - mu.visible_law(5)[5])
    assert texts.mass @ texts.weight == pytest.approx(counts.mass @ counts.weight)
    assert exact_problems(modes_of("markov?sites=14&stay=0.9,0.4&weight=0.3"), mu) is None


def test_texts_do_not_depend_on_the_schedule() -> None:
    modes = modes_of(LAW)
    a, b = (draw_problems(modes, schedule(s), 50, rng(0), rng(1)) for s in ("hide:1", "full"))
    assert (a.states == b.states).all() and not b.visible.any() and (a.visible.sum(axis=1) == 4).all()


def test_loss_weights_of_a_mixture_are_means() -> None:
    mu = schedule("0.5*hide:1+0.5*full*N/h")
    np.testing.assert_allclose(loss_weights(mu, 4), [1, 0, 0, 1, 0])
    np.testing.assert_allclose(loss_weights(schedule("hide:1*N/h"), 4), [0, 0, 0, 4, 0])


class ShowsAll(Schedule):
    """A schedule that hides nothing."""

    text = "all"  # type: ignore[assignment]

    def log_visible_law(self, length: int) -> NDArray[np.float64]:
        return np.append(np.full(length, -np.inf), 0.0)


def test_schedules_that_cannot_be_trained_on() -> None:
    with pytest.raises(InputError, match="one that hides a site"):
        check_schedule(ShowsAll(), 4)
    with pytest.raises(InputError, match="leave the weight or the spans away"):
        check_schedule(schedule("0.5*span:0.5+0.5*uniform*1/t"), 4)


@pytest.mark.parametrize("text", ["curie-weiss?sites=5&beta=1.2", LAW])
def test_count_marginals_are_marginals(text: str) -> None:
    modes = modes_of(text)
    x = modes.law.sample(rng(0), 40)
    visible = rng(1).random(x.shape) < 0.6
    joint = modes.log_marginals(x, visible) + np.log(modes.weights)
    np.testing.assert_allclose(np.logaddexp.reduce(joint, axis=1), modes.law.log_marginal(x, visible), atol=1e-10)
    assert seen_counts(x, visible, 2).sum() == visible.sum()
