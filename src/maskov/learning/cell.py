"""One cell of the experiment: one seed under one schedule, from texts to a JSON-ready answer."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maskov.learning.modes import Modes, modes_of
from maskov.learning.networks import Transformer
from maskov.learning.optimizers import make_optimizer
from maskov.learning.optimum import excess_loss, optimal_loss
from maskov.learning.problems import Masked, draw_problems
from maskov.learning.readings import any_order_weight, chain_weight, full_mask_weight, sampled_chain_weight
from maskov.learning.tabular import table_learner
from maskov.learning.training import Point, Settings, train
from maskov.learning.witness import Witness
from maskov.randomness import Stream, generator
from maskov.results import jsonable
from maskov.schedules import Schedule
from maskov.schedules import schedule as parse_schedule

Floats = NDArray[np.float64]
# Streams of one seed: texts and start do not depend on the schedule, so schedules are compared on the same ones.
TEXTS, MASKS, START, ORDER, FRESH_TEXTS, FRESH_MASKS, WRITING = range(7)


class Trained(NamedTuple):
    """A trained learner. weights: [K] its own reading, NaN where there is none; initial: the same before training."""

    learner: Any
    fresh: Masked
    curve: list[Point]
    initial: Floats
    weights: Floats


def run_cell(law: Any, schedule: str, seed: int, settings: dict[str, Any]) -> dict[str, Any]:
    """Train and read one learner; the arguments and the answer are JSON values (``law`` may be a law in memory)."""
    modes, mu, options = modes_of(law), parse_schedule(schedule), Settings(**settings)
    done = train_cell(modes, mu, seed, options)
    optimum = optimal_loss(modes, mu, options.loss, done.fresh)
    excess = excess_loss(done.learner, mu, options.loss, done.fresh).value
    implied, how, any_order = _implied(done.learner, modes, seed, options)
    full = done.weights if not np.isnan(done.weights).any() else None
    used = implied if full is None else full
    return {
        "seed": seed,
        "initial_weight": weight(done.initial),
        "weight_full_mask": weight(full),
        "weight_implied": weight(implied),
        "implied_by": how,
        "weight_any_order": weight(any_order),
        "error": None if used is None else 0.5 * float(np.abs(used - modes.weights).sum()),
        "final_loss": optimum.value + excess,
        "optimal_loss": optimum.value,
        "excess_loss": excess,
        "curve": jsonable([list(point) for point in done.curve]),
        "optimum": optimum.to_dict(),
    }


def train_cell(modes: Modes, schedule: Schedule, seed: int, settings: Settings) -> Trained:
    """One learner from its random start to the end of training."""
    problems = draw_problems(modes, schedule, settings.samples, _stream(seed, TEXTS), _stream(seed, MASKS))
    fresh = draw_problems(modes, schedule, settings.fresh, _stream(seed, FRESH_TEXTS), _stream(seed, FRESH_MASKS))
    learner = make_learner(modes, seed, settings)
    initial = own_weights(learner, modes)
    truth = Witness(modes, loss=settings.loss)
    curve = train(learner, problems, fresh, truth, settings, _stream(seed, ORDER))
    return Trained(learner, fresh, curve, initial, own_weights(learner, modes))


def make_learner(modes: Modes, seed: int, settings: Settings) -> Any:
    """A learner at its random start."""
    rng = _stream(seed, START)
    if settings.learner == "witness":
        optimizer = make_optimizer(settings.optimizer or "sgd")
        return Witness.drawn(modes, rng, loss=settings.loss, optimizer=optimizer)
    if settings.learner == "table":
        return table_learner(modes, rng, make_optimizer(settings.optimizer or "adam"))
    return Transformer(modes, int(rng.integers(2**31)), settings.optimizer or "adam")


def own_weights(learner: Any, modes: Modes) -> Floats:
    """λ [K]: the witness's parameters, or the full-mask reading; NaN where that tells nothing."""
    if isinstance(learner, Witness):
        return learner.weights
    found = full_mask_weight(learner, modes)
    return np.full(len(modes.weights), np.nan) if found is None else found


def weight(weights: Floats | None) -> Any:
    """P(Z = 1) for two modes, a list otherwise, None for none."""
    if weights is None or np.isnan(weights).any():
        return None
    return float(weights[1]) if len(weights) == 2 else weights.tolist()


def _implied(learner: Any, modes: Modes, seed: int, settings: Settings) -> tuple[Floats | None, str, Floats | None]:
    """The implied weights, how they were read, and those of texts written in random order."""
    if isinstance(learner, Witness):
        return learner.weights, "joint law", learner.weights
    written = any_order_weight(learner, modes, _stream(seed, WRITING))
    chain = chain_weight(learner, modes)
    if chain is not None:
        return chain, "stationary law", written
    if settings.chain_sweeps and hasattr(modes.law, "sample_modes"):
        return sampled_chain_weight(learner, modes, settings.chain_sweeps, seed), "chains", written
    return written, "any order", written


def _stream(seed: int, purpose: int) -> np.random.Generator:
    return generator(seed, chain=purpose, stream=Stream.STUDY)
