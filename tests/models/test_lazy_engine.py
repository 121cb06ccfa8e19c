"""The lazy engine runs the plain engine's trajectory on every architecture and at every temperature."""

from __future__ import annotations

import numpy as np
import pytest
from builders import ARCHITECTURES, UNKNOWN, masked

from maskov.glauber import glauber

TEXTS = ["the old red bird sings", "a quiet river falls and runs", "the house sleeps under a hill"]


@pytest.mark.parametrize("name", [*ARCHITECTURES, *UNKNOWN])
def test_the_same_trajectory_on_every_architecture(name: str) -> None:
    model = masked(name)
    options = {"temperature": [0.1, 0.5, 1.0, 2.0], "steps": 40, "seed": 6}
    plain, lazy = (glauber(model, TEXTS, engine=engine, **options) for engine in ("plain", "lazy"))  # type: ignore[arg-type]
    assert len(plain.changes().step) > 40
    for a, b in zip(plain.changes(), lazy.changes(), strict=True):
        assert np.array_equal(a, b)
    for key, values in plain.series.items():
        np.testing.assert_allclose(lazy.series[key], values, rtol=1e-3, atol=1e-4)
