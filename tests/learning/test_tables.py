"""Tables end at the exact conditionals; readings of exact conditionals are exact; learners obey the protocol."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import log_softmax

from maskov.conformance import check_ignores_hidden, check_model
from maskov.errors import ConformanceError, InputError
from maskov.learning import (
    CountTable,
    SetTable,
    Settings,
    any_order_weight,
    chain_weight,
    full_mask_weight,
    learn,
    modes_of,
    population,
    table_learner,
)
from maskov.learning.cell import train_cell
from maskov.learning.optimizers import Adam
from maskov.learning.optimum import excess_loss, true_rows
from maskov.learning.problems import count_problems
from maskov.learning.readings import any_order_texts, project, sampled_chain_weight
from maskov.learning.witness import Witness
from maskov.schedules import schedule

PRODUCT, MARKOV = "product?sites=6&gap=0.3&weight=0.3", "markov?sites=4&stay=0.9,0.4&weight=0.3"


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.Generator(np.random.Philox(seed))


def fill_exactly(table: CountTable | SetTable) -> Any:
    """Write the law's own conditionals into every row that can be asked for."""
    problems = population(table.modes, schedule("uniform"))
    row, site = np.nonzero(~problems.visible)
    x, hidden = problems.states[row], ~problems.visible[row]
    cells = table.cells(x, ~hidden, site)
    table.parameters[cells] = log_softmax(true_rows(table.modes, x, hidden, site), axis=1)
    return table


def descend(table: Any, problems: Any, steps: int = 600) -> Any:
    """Adam on the exact expected loss."""
    rows, optimizer = table.prepare(problems), Adam()
    for k in range(steps):
        table.parameters = optimizer.step(table.parameters, table.gradient(rows), 0.3 * (1 - k / steps))
    return table


@pytest.mark.parametrize("text", [PRODUCT, MARKOV])
def test_the_optimum_is_the_exact_conditionals(text: str) -> None:
    modes, mu = modes_of(text), schedule("uniform")
    problems = population(modes, mu)
    table = descend(table_learner(modes, rng()), problems)
    row, site = np.nonzero(~problems.visible)
    x, hidden = problems.states[row], ~problems.visible[row]
    expected = log_softmax(true_rows(modes, x, hidden, site), axis=1)
    assert np.abs(np.exp(table.predict(x, hidden, site)) - np.exp(expected)).max() < 1e-3
    assert excess_loss(table, mu, "token", problems).value < 1e-6


def test_a_twin_that_trains_on_visible_tokens_does_not_get_there() -> None:
    modes, mu = modes_of(PRODUCT), schedule("0.5*hide:1+0.5*hide:2")
    problems = population(modes, mu)
    wrong = descend(table_learner(modes, rng()), problems._replace(visible=~problems.visible))
    right = descend(table_learner(modes, rng()), problems)
    assert (
        excess_loss(right, mu, "token", problems).value < 1e-6 < 0.01 < excess_loss(wrong, mu, "token", problems).value
    )


def test_gradient_is_numeric() -> None:
    modes = modes_of(MARKOV)
    table = SetTable(modes, rng())
    problems = population(modes, schedule("uniform*1/t"))
    rows = table.prepare(problems)
    gradient, start = table.gradient(rows), table.parameters.copy()
    for cell in np.argwhere(np.abs(gradient) > 1e-3)[::40]:
        values = []
        for h in (1e-5, -1e-5):
            table.parameters = start.copy()
            table.parameters[tuple(cell)] += h
            values.append(float(problems.mass @ table.losses(rows)))
        assert (values[0] - values[1]) / 2e-5 == pytest.approx(gradient[tuple(cell)], abs=1e-8)


def test_counts_and_texts_are_the_same_problems() -> None:
    modes, mu = modes_of(PRODUCT), schedule("uniform*1/t")
    table = CountTable(modes, rng())
    parts = [table.prepare(p) for p in (count_problems(modes, mu), population(modes, mu))]
    np.testing.assert_allclose(table.gradient(parts[0]), table.gradient(parts[1]), atol=1e-12)


@pytest.mark.parametrize("text", [PRODUCT, "curie-weiss?sites=6&beta=1.2", "markov?sites=4&stay=0.9,0.4&weight=0.3"])
def test_readings_of_exact_conditionals_are_the_weights(text: str) -> None:
    modes = modes_of(text)
    table = fill_exactly(table_learner(modes))
    chain, full = chain_weight(table, modes), full_mask_weight(table, modes)
    assert chain is not None and np.abs(chain - modes.weights).max() < 1e-6
    if text == MARKOV:
        assert full is None  # single sites are uniform in both modes
    elif full is not None:
        assert np.abs(full - modes.weights).max() < 1e-6
    size = 4000
    written = any_order_weight(table, modes, rng(), size)
    assert np.abs(written - modes.weights).max() < (1e-6 if modes.exchangeable else 0.08)


def test_readings_differ_where_a_schedule_trains_one_of_them() -> None:
    """hide:1 trains the conditionals given all others (chain), full trains the full mask."""
    modes = modes_of(PRODUCT)
    hide, full = (descend(CountTable(modes, rng(2)), count_problems(modes, schedule(s))) for s in ("hide:1", "full"))
    chain, mask = chain_weight(hide, modes), full_mask_weight(full, modes)
    assert chain is not None and abs(chain[1] - 0.3) < 0.01 and mask is not None and abs(mask[1] - 0.3) < 1e-3
    untrained = full_mask_weight(hide, modes), full_mask_weight(CountTable(modes, rng(2)), modes)
    assert untrained[0] is not None and untrained[1] is not None and (untrained[0] == untrained[1]).all()
    other = chain_weight(full, modes)
    assert other is not None and abs(other[1] - 0.3) > 0.05


def test_chains_agree_with_the_stationary_law() -> None:
    modes = modes_of(PRODUCT)
    table = fill_exactly(CountTable(modes))
    sampled = sampled_chain_weight(table, modes, sweeps=300, seed=0)
    assert abs(sampled[1] - 0.3) < 0.08


def test_projection_of_a_member_is_its_weights() -> None:
    log_rows = rng(4).standard_normal((40, 3))
    log_rows -= np.log(np.exp(log_rows).sum(axis=0))
    for weights in ([0.5, 0.3, 0.2], [0.9, 0.1, 0.0]):
        assert np.abs(project(np.exp(log_rows) @ weights, log_rows) - weights).max() < 2e-3
    assert project(np.array([1.0, 0.0]), np.log([[0.9, 0.1], [0.1, 0.9]]))[1] < 1e-9


def test_written_texts_follow_the_law() -> None:
    modes = modes_of(MARKOV)
    x = any_order_texts(fill_exactly(SetTable(modes)), rng(1), 4000)
    counts = np.bincount(x @ [8, 4, 2, 1], minlength=16)
    states = (np.arange(16)[:, None] >> [3, 2, 1, 0]) & 1
    p = np.exp(modes.law.log_prob(states))
    assert ((counts - 4000 * p) ** 2 / (4000 * p)).sum() < 45  # χ², 15 degrees of freedom


class Peeks(CountTable):
    """Broken: it counts hidden tokens as if they were seen."""

    def predict(self, states: Any, hidden: Any, sites: Any) -> Any:
        return super().predict(states, np.zeros_like(hidden) | (np.arange(states.shape[1]) == 0), sites)


def test_wrapped_tables_obey_the_protocol() -> None:
    modes = modes_of(PRODUCT)
    x = modes.law.sample(rng(), 8)
    for table in (CountTable(modes, rng()), SetTable(modes, rng())):
        assert max(check.deviation for check in check_model(table, x).values()) < 1e-9
    hidden = np.zeros(x.shape, dtype=bool)
    hidden[:, :3] = True
    with pytest.raises(ConformanceError):
        check_ignores_hidden(Peeks(modes, rng()), x, hidden, np.zeros(8, dtype=np.int64))


def test_blind_tables_keep_their_full_mask_row() -> None:
    found = learn("product?sites=32&gap=0.3&weight=0.3", ["hide:1", "full"], "table", seeds=3, samples=2000, epochs=4)
    hide, full = found.schedules
    assert all(run.initial_weight == pytest.approx(run.weight_full_mask, rel=1e-12) for run in hide.runs)
    assert full.weight_error is not None and full.weight_error.value < 0.05
    assert {run.implied_by for run in hide.runs} == {"stationary law"}


def test_a_table_that_is_too_large() -> None:
    with pytest.raises(InputError, match="a table of at most"):
        learn("markov?sites=20&stay=0.9,0.4&weight=0.3", "hide:1", "table", seeds=1)


def test_training_approaches_the_optimum() -> None:
    modes, mu = modes_of(MARKOV), schedule("uniform")
    done = train_cell(modes, mu, 0, Settings(learner="table", samples=6000, epochs=6))
    assert done.curve[-1].excess < 0.1 * done.curve[0].excess
    assert isinstance(done.learner, SetTable)


def test_problems_of_another_kind_are_refused() -> None:
    modes = modes_of(PRODUCT)
    with pytest.raises(InputError, match="texts"):
        SetTable(modes).prepare(count_problems(modes, schedule("hide:1")))
    with pytest.raises(InputError, match="whole texts"):
        learner = Witness(modes, loss="joint")
        learner.losses(learner.prepare(count_problems(modes, schedule("hide:1"))))
