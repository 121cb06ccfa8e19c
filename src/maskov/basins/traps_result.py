"""What a search for traps returns."""

from __future__ import annotations

from dataclasses import dataclass

from maskov.basins.escape import Escape
from maskov.quantities import Bound, Estimate, Exact
from maskov.results import Result


@dataclass(frozen=True)
class Leave:
    """Leaving one state at one temperature. probability: (1/n) Σ_i (1 − p_{i,τ}(x_i | x_{-i})) per step; bound:
    q/(1 + q); predicted_dwell: 1/probability, steps; measured_dwell: exposure / exits, None where no replica left;
    exits, exposure: replicas seen to leave, and steps watched in all.
    """

    temperature: float
    probability: Exact
    bound: Bound
    predicted_dwell: Exact
    measured_dwell: Estimate | None
    exits: int
    exposure: int


@dataclass(frozen=True)
class BallEscape:
    """Leaving a Hamming ball at one temperature, by chains run from its centre. mean: steps, None where none left."""

    temperature: float
    radius: int
    mean: Estimate | None
    exits: int
    exposure: int


@dataclass(frozen=True)
class Trap:
    """One trap. perfect: every margin > 0 (otherwise approximate: held by its ball); margins: nats at τ = 1, one per
    free site in order of column; basin: how many starts descended to it; start: the first of them; ball: of an
    approximate trap.
    """

    text: str
    perfect: bool
    min_margin: Exact
    margins: tuple[float, ...]
    sites: int
    basin: int
    start: str
    leave: tuple[Leave, ...]
    ball: tuple[BallEscape, ...]


@dataclass(frozen=True)
class TrapsResult(Result):
    """Traps, those that hold longest at the coldest temperature first, and how escape slows down as it gets colder.

    n_starts: descents; unsettled: those that found no fixed point; n_perfect: distinct perfect traps found, listed or
    not; replicas, steps: chains of each measurement and the longest watch.
    """

    command = "traps"

    traps: tuple[Trap, ...]
    escape: tuple[Escape, ...]
    n_starts: int
    unsettled: int
    n_perfect: int
    replicas: int
    steps: int

    def _lines(self) -> list[tuple[str, str]]:
        head = [
            ("starts", f"{self.n_starts}, of which {self.unsettled} did not settle"),
            ("perfect traps", str(self.n_perfect)),
        ]
        lines = []
        for k, trap in enumerate(self.traps):
            kind = "perfect" if trap.perfect else "approximate"
            lines.append((f"trap {k}", f"{kind}, least margin {trap.min_margin.value:.3g} nats: {trap.text[:70]}"))
            lines += [("", _dwell_line(leave)) for leave in trap.leave]
            lines += [("", _ball_line(ball)) for ball in trap.ball]
        lines += [(f"escape {e.trap}", _slope_line(e)) for e in self.escape if e.slope is not None]
        return head + lines


def _dwell_line(leave: Leave) -> str:
    m = leave.measured_dwell
    seen = f"{m.value:.4g} ± {m.stderr:.2g} ({leave.exits} exits)" if m else f"no exit in {leave.exposure} steps"
    return f"τ = {leave.temperature:g}: dwell {leave.predicted_dwell.value:.4g} steps predicted, {seen} measured"


def _ball_line(ball: BallEscape) -> str:
    seen = f"{ball.mean.value:.4g} ± {ball.mean.stderr:.2g} steps" if ball.mean else f"none in {ball.exposure} steps"
    return f"τ = {ball.temperature:g}: escape from radius {ball.radius}: {seen} ({ball.exits} exits)"


def _slope_line(e: Escape) -> str:
    slope = f"slope {e.slope:.3g} ± {e.stderr:.1g} nats (exact means {e.predicted_slope:.3g})"
    return f"{slope}, least margin {e.min_margin:.3g}"
