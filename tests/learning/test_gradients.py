"""The witness follows the exact gradient of the discrepancy; twins that see the wrong tokens do not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from maskov.identifiability import TableModes, log_joint_discrepancy, log_token_discrepancy, view
from maskov.identifiability.pinning import chernoff_information
from maskov.laws import law
from maskov.learning import Masked, Witness, exact_problems, modes_of, population
from maskov.learning.information import information
from maskov.learning.witness import mode_shift
from maskov.schedules import schedule

Floats = NDArray[np.float64]
LAWS = ["product?sites=5&gap=0.3&weight=0.3", "markov?sites=5&stay=0.9,0.4&weight=0.3", "curie-weiss?sites=5&beta=1.4"]
SPECS = ["hide:1", "fixed:0.4", "uniform*1/t", "0.8*hide:1+0.2*full"]


def three_modes() -> TableModes:
    rng = np.random.Generator(np.random.Philox(5))
    return TableModes([0.5, 0.3, 0.2], rng.standard_normal((3, 2, 2, 2, 2)))


def weights_of(theta: Floats) -> Floats:
    lifted = np.append(0.0, theta)
    return np.asarray(np.exp(lifted) / np.exp(lifted).sum())


def numeric_gradient(f: Callable[[Floats], float], theta: Floats, h: float = 1e-5) -> Floats:
    steps = h * np.eye(len(theta))
    return np.array([(f(theta + s) - f(theta - s)) / (2 * h) for s in steps])


def discrepancy(source: Any, spec: str, loss: str) -> Callable[[Floats], float]:
    """D_μ(p‖q_θ) by the identifiability room."""
    seen = view(source, schedule(spec))
    assert seen is not None and seen.exact
    form = log_token_discrepancy if loss == "token" else log_joint_discrepancy
    return lambda theta: float(np.exp(form(seen.experiments[0], seen.weights, weights_of(theta))))


def gradient_error(learner: Witness, source: Any, spec: str, loss: str) -> float:
    """Largest difference between a learner's population gradient and the derivative of the discrepancy."""
    rows = learner.prepare(population(learner.modes, schedule(spec)))
    expected = numeric_gradient(discrepancy(source, spec, loss), learner.parameters)
    return float(np.abs(learner.gradient(rows) - expected).max())


@pytest.mark.parametrize("loss", ["token", "joint"])
@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("text", LAWS)
def test_gradient_is_the_derivative_of_the_discrepancy(text: str, spec: str, loss: str) -> None:
    assert gradient_error(Witness(law(text), [0.4], loss), law(text), spec, loss) < 1e-8


@pytest.mark.parametrize("loss", ["token", "joint"])
def test_gradient_with_three_modes(loss: str) -> None:
    source = three_modes()
    for spec in SPECS:
        assert gradient_error(Witness(source, [0.4, -0.7], loss), source, spec, loss) < 1e-8


@pytest.mark.parametrize("text", [LAWS[0], LAWS[2]])
def test_counting_is_enumeration(text: str) -> None:
    modes, mu = modes_of(text), schedule("uniform*1/t")
    learner = Witness(modes, [0.4])
    counts, texts = (learner.prepare(p) for p in (exact_problems(modes, mu), population(modes, mu)))
    assert len(counts.base) < len(texts.base) / 10
    np.testing.assert_allclose(learner.gradient(counts), learner.gradient(texts), rtol=1e-10)
    loss = [float(rows.mass @ learner.losses(rows)) for rows in (counts, texts)]
    assert loss[0] == pytest.approx(loss[1], rel=1e-12)


class Peeks(Witness):
    """Broken: its evidence about a hidden token contains the token."""

    def prepare(self, problems: Any) -> Any:
        more = problems.visible.copy()
        first = (~more).argmax(axis=1)
        more[np.arange(len(more)), first] = True
        rows = super().prepare(problems)
        return rows._replace(base=self.modes.log_marginals(problems.states, more))


class TrainsOnVisible(Witness):
    """Broken: it predicts the tokens that are shown, each from the other ones that are shown."""

    def prepare(self, problems: Any) -> Any:
        return super().prepare(_flipped(problems))


def _flipped(problems: Masked) -> Masked:
    return problems._replace(visible=~problems.visible)


@pytest.mark.parametrize("twin", [Peeks, TrainsOnVisible])
def test_broken_twins_follow_another_gradient(twin: type[Witness]) -> None:
    for spec in ("hide:1", "fixed:0.4"):
        assert gradient_error(twin(law(LAWS[0]), [0.4]), law(LAWS[0]), spec, "token") > 1e-3


def test_gradient_of_a_blind_schedule_falls_at_the_chernoff_rate() -> None:
    sizes, gradients = [32, 64, 128, 256], []
    for N in sizes:
        modes = modes_of(f"product?sites={N}&gap=0.3&weight=0.3")
        learner = Witness(modes, [0.0])
        gradients.append(abs(float(learner.gradient(learner.prepare(exact_problems(modes, schedule("hide:1"))))[0])))
    rates = -np.diff(np.log(gradients)) / np.diff(sizes)
    rate = chernoff_information(*modes_of(LAWS[0]).law.log_rows)
    assert gradients[1] < 1e-7 and gradients[3] < 1e-26
    assert rates[-1] == pytest.approx(rate, rel=0.06) and (np.diff(np.abs(rates - rate)) < 0).all()


def test_shift_of_the_posterior_keeps_its_digits() -> None:
    for K in (2, 3):
        before = np.log(np.array([[1.0, 1e-30, 1e-31][:K], [1e-30, 1.0, 1e-31][:K]]))
        after = before + np.log(np.array([1.0, 2.0, 3.0][:K]))
        shift = mode_shift(before, after)
        assert shift[0, 1] == pytest.approx(1e-30, rel=1e-6) and shift[1, 0] == pytest.approx(-0.5e-30, rel=1e-6)
        assert np.abs(shift.sum(axis=1)).max() < 1e-45


def test_information_is_mean_squared_score() -> None:
    """H by its definition as the curvature of the expected loss, J as the variance of the score."""
    for text in LAWS[:2]:
        for loss in ("token", "joint"):
            modes, mu = modes_of(text), schedule("uniform*1/t")
            theta = Witness(modes).parameters
            H, J = information(modes, mu, loss)
            f = discrepancy(law(text), "uniform*1/t", loss)
            curvature = (f(theta + 1e-3) + f(theta - 1e-3) - 2 * f(theta)) / 1e-6
            learner = Witness(modes, loss=loss)
            rows = learner.prepare(population(modes, mu))
            assert H[0, 0] == pytest.approx(curvature, rel=1e-4)
            assert J[0, 0] == pytest.approx(float(rows.mass @ learner.scores(rows)[:, 0] ** 2), rel=1e-9)
