"""The promise of the advice, kept by training: who reaches the excess loss under the recommended schedule knows the
mode weights to the tolerance, seed by seed; under the old schedule the same loss leaves them open.
"""

from __future__ import annotations

import pytest

from maskov.advisor import advise
from maskov.learning import learn

LAW = "product?sites=32&gap=0.3&weight=0.3"
TOLERANCE, EPSILON = 0.05, 5e-4


@pytest.mark.parametrize("promise", ["every predictor", "witness family"])
def test_the_recommended_schedule_reaches_the_tolerance(promise: str) -> None:
    advice = advise(LAW, "hide:1", tolerance=TOLERANCE, excess_loss=EPSILON)
    assert advice.recommended != "hide:1"
    fix = next(fix for fix in advice.fixes if fix.promise == promise and fix.added == "full")
    found = learn(LAW, ["hide:1", fix.schedule], "witness", seeds=20, samples=2000, epochs=30, loss="joint")  # type: ignore[list-item]
    old, new = (row.runs for row in found.schedules)
    kept = [run for run in new if run.excess_loss <= EPSILON]
    assert len(kept) >= 12  # training does get there
    assert all(run.error is not None and run.error <= TOLERANCE for run in kept)
    # The same excess loss under the old schedule promises nothing, and nothing comes of it.
    blind = [run for run in old if run.excess_loss <= EPSILON]
    assert len(blind) == 20 and sum((run.error or 0) > TOLERANCE for run in blind) >= 12


@pytest.mark.slow
def test_a_network_under_the_recommended_schedule_reaches_it_too() -> None:
    law = "product?sites=16&gap=0.3&weight=0.3"
    advice = advise(law, "bert", tolerance=0.1, excess_loss=2e-3)
    found = learn(law, [advice.recommended], "transformer", seeds=5, samples=20_000, epochs=6)
    errors = [run.error for run in found.schedules[0].runs]
    assert sum(error is not None and error <= 0.1 for error in errors) >= 4, errors
