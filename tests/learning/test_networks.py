"""The transformer: a masked predictor by the protocol, trained to the optimum, undetermined where it is not trained."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from maskov.conformance import check_ignores_hidden, check_model
from maskov.errors import ConformanceError, InputError
from maskov.learning import learn, modes_of
from maskov.learning.networks import Transformer
from maskov.learning.problems import Masked
from maskov.learning.training import check_above_optimum
from maskov.learning.witness import Witness

pytest.importorskip("torch")
LAW = "product?sites=6&gap=0.35&weight=0.3"


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.Generator(np.random.Philox(seed))


def problems(size: int, seed: int = 0) -> Masked:
    states = modes_of(LAW).law.sample(rng(seed), size)
    visible = rng(seed + 1).random((size, 6)) < 0.5
    visible[:, 0] = False
    return Masked(states, visible, np.full(size, 1 / size), np.ones(size))


class SeesEverything(Transformer):
    """Broken: hidden tokens are not masked."""

    def prepare(self, problems: Any) -> Any:
        rows = super().prepare(problems)
        return rows._replace(inputs=rows.targets)

    def predict(self, states: Any, hidden: Any, sites: Any) -> Any:
        return super().predict(states, np.zeros_like(hidden), sites)


def fitted(kind: type[Transformer], steps: int = 150) -> Transformer:
    learner = kind(modes_of(LAW), seed=1)
    rows, order = learner.prepare(problems(2000)), rng(3)
    for _ in range(steps):
        learner.step(rows, order.integers(2000, size=128), 0.003)
    return learner


def held_out(learner: Transformer) -> tuple[float, float, float]:
    """Excess loss on fresh problems, its standard error, and the loss of the law."""
    fresh, truth = problems(1000, 7), Witness(modes_of(LAW))
    least = truth.losses(truth.prepare(fresh))
    gap = learner.losses(learner.prepare(fresh)) - least
    return float(gap.mean()), float(gap.std() / len(gap) ** 0.5), float(least.mean())


def test_training_comes_near_the_optimum_and_stays_above() -> None:
    excess, stderr, least = held_out(fitted(Transformer))
    check_above_optimum(excess, stderr, least)
    assert -3 * stderr < excess < 0.1 * least


def test_a_network_that_sees_hidden_tokens_is_refused() -> None:
    cheat = fitted(SeesEverything)
    with pytest.raises(Exception, match="sees tokens that it should predict"):
        check_above_optimum(*held_out(cheat))
    x, hidden = modes_of(LAW).law.sample(rng(), 8), np.ones((8, 6), dtype=bool)
    with pytest.raises(ConformanceError):
        check_ignores_hidden(cheat, x, hidden, np.zeros(8, dtype=np.int64), 1e-3)


def test_protocol() -> None:
    modes = modes_of(LAW)
    checks = check_model(Transformer(modes, seed=0), modes.law.sample(rng(), 8), tolerance=1e-4)
    assert max(check.deviation for check in checks.values()) < 1e-4


def test_same_seed_same_network_and_the_global_seed_is_left_alone() -> None:
    import torch

    torch.manual_seed(5)
    expected = float(torch.rand(()))
    torch.manual_seed(5)
    a, b = (Transformer(modes_of(LAW), seed=3) for _ in range(2))
    assert float(torch.rand(())) == expected
    x = modes_of(LAW).law.sample(rng(), 4)
    site = np.zeros(4, dtype=np.int64)
    assert (a.logits(x, site) == b.logits(x, site)).all()
    assert np.abs(a.logits(x, site) - Transformer(modes_of(LAW), seed=4).logits(x, site)).max() > 1e-3


def test_full_masks_determine_the_full_mask_reading() -> None:
    specs = ["hide:1", "0.5*hide:1+0.5*full"]
    found = learn(LAW, specs, "transformer", seeds=2, samples=1500, epochs=6, fresh=200)
    hide, full = found.schedules
    assert hide.weight_error is not None and full.weight_error is not None
    assert full.weight_error.value < 0.08 < hide.weight_error.value
    assert {run.implied_by for run in hide.runs} == {"stationary law"}
    assert hide.excess_loss.value < 0.05 * hide.optimal_loss.value


WITHOUT_TORCH = """
import sys

class NoTorch:
    def find_spec(self, name, path=None, target=None):
        if name == "torch":
            raise ImportError(name)

sys.meta_path.insert(0, NoTorch())
from maskov.learning import learn
learn("product?sites=4&gap=0.3&weight=0.3", "full", seeds=1, samples=50, epochs=1)
learn("product?sites=4&gap=0.3&weight=0.3", "full", "transformer", seeds=1)
"""


def test_chains_of_a_network_are_read_where_asked() -> None:
    options: dict[str, Any] = {"seeds": 1, "samples": 200, "epochs": 1, "fresh": 20, "batch": 50}
    source = "product?sites=11&gap=0.3&weight=0.3"
    (run,) = learn(source, "uniform", "transformer", chain_sweeps=1, **options).schedules[0].runs
    (other,) = learn(source, "uniform", "transformer", **options).schedules[0].runs
    assert run.implied_by == "chains" and run.weight_implied is not None
    assert other.implied_by == "any order" and other.weight_implied == other.weight_any_order == run.weight_any_order


def test_without_torch_the_room_works_and_says_what_is_missing() -> None:
    run = subprocess.run([sys.executable, "-c", WITHOUT_TORCH], capture_output=True, text=True, timeout=120)
    assert "InputError: learner transformer: expected the torch package" in run.stderr


def test_counts_are_no_texts() -> None:
    from maskov.learning.problems import count_problems
    from maskov.schedules import schedule

    with pytest.raises(InputError, match="texts"):
        Transformer(modes_of(LAW)).prepare(count_problems(modes_of(LAW), schedule("hide:1")))
