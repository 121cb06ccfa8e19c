"""The result of ``learn``."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from maskov.learning.training import Point
from maskov.quantities import Estimate, Exact, Quantity
from maskov.results import Result, jsonable

Weight = float | list[float] | None


@dataclass(frozen=True)
class LearningRun:
    """One seed under one schedule. Weights are P(Z = 1) for two modes, all K weights otherwise, None where a reading
    has no meaning.

    weight_full_mask: read with nothing visible; weight_implied: read from the conditionals (``implied_by`` says how);
    weight_any_order: of texts written in random order; error: TV of the weights of the learner's own reading (full
    mask, or implied where that has none); final_loss, optimal_loss: nats a text; excess_loss: their difference, its
    kind in the schedule's summary; curve: held-out excess loss by step.
    """

    seed: int
    initial_weight: Weight
    weight_full_mask: Weight
    weight_implied: Weight
    implied_by: str
    weight_any_order: Weight
    error: float | None
    final_loss: float
    optimal_loss: float
    excess_loss: float
    curve: tuple[Point, ...]


@dataclass(frozen=True)
class ScheduleLearning:
    """All seeds under one schedule.

    weight_error: mean TV to the true weights over seeds; predicted_error: what n problems allow (exact asymptotic mean
    of |error|, two modes and the witness); spread_ratio: sd of end weights over sd of initial ones; initial_slope: of
    end on initial weights; excess_loss: mean over seeds, nats a text (each seed's is exact for witness and table);
    held_out_excess: the same on fresh problems; optimal_loss: nats a text.
    """

    spec: str
    full_mask_mass: float
    v_min: int
    runs: tuple[LearningRun, ...]
    weight_error: Estimate | None
    predicted_error: Exact | None
    spread_ratio: Estimate | None
    initial_slope: Estimate | None
    excess_loss: Estimate
    held_out_excess: Estimate
    optimal_loss: Quantity


@dataclass(frozen=True)
class Learning(Result):
    """Masked predictors trained on one law under several schedules (what ``maskov learn`` prints)."""

    command: ClassVar[str] = "learn"
    law: str
    learner: str
    loss: str
    samples: int
    steps: int
    n_sites: int
    mode_weights: tuple[float, ...]
    schedules: tuple[ScheduleLearning, ...]
    slope: Estimate | None = None
    warnings: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The record's ``results``."""
        return dict(jsonable({k: v for k, v in vars(self).items() if k != "warnings"}))

    def table(self) -> str:
        """One line a schedule, and the slope where there is one."""
        w = ", ".join(f"{x:.4g}" for x in self.mode_weights)
        first = (
            f"{self.law}, mode weights ({w}): {self.learner} learner, {self.loss} loss, {self.samples} problems a run"
        )
        head = ["schedule", "π₀", "optimum", "excess loss", "weight error", "allowed", "spread", "slope on start"]
        rows = [head, *(_cells(row) for row in self.schedules)]
        widths = [max(len(row[k]) for row in rows) for k in range(len(head))]
        lines = ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in rows]
        slope = [] if self.slope is None else [f"slope of log error on log π₀: {_short(self.slope)} (theory: −0.5)"]
        return "\n".join([first, *lines, *slope])

    def __str__(self) -> str:
        return "\n".join([self.table(), *(f"warning: {text}" for text in self.warnings)])


def _cells(row: ScheduleLearning) -> list[str]:
    values = (row.excess_loss, row.weight_error, row.predicted_error, row.spread_ratio, row.initial_slope)
    return [row.spec, f"{row.full_mask_mass:.3g}", f"{row.optimal_loss.value:.5g}", *(_short(q) for q in values)]


def _short(quantity: Any) -> str:
    if quantity is None:
        return "–"
    interval = getattr(quantity, "interval", None)
    if interval is None or not math.isfinite(interval[0]):  # one seed has no interval
        return f"{quantity.value:.3g}"
    tail = f" [{interval[0]:.2g}, {interval[1]:.2g}]"
    return f"{quantity.value:.3g}{tail}"
