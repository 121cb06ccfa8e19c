"""The advice: where a schedule stands, the smallest fixes, what they cost, in words and numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from maskov.quantities import Bound
from maskov.results import Result


@dataclass(frozen=True)
class Standing:
    """One schedule at one excess loss. v_min, mean_visible: sites; blindness_ratio: ρ; left_open: TV of the mode
    weights that the excess loss leaves open inside the witness family; certified: an upper bound of TV for every
    predictor (1 without mass at full mask); verdict: "certified", "identifies", "partly" or "blind".
    """

    schedule: str
    v_min: int
    mean_visible: float
    full_mask_mass: float
    predictions: float
    blindness_ratio: Any
    left_open: Any
    certified: Bound
    verdict: str


@dataclass(frozen=True)
class Fix:
    """A share of sequences with another mask that reaches the tolerance. added: the schedule of those sequences; share:
    of sequences; promise: "every predictor" (a proof) or "witness family"; schedule: the whole, None where no share
    reaches it; standing: of the whole; lost: share of the old schedule's predictions that are given up.
    """

    added: str
    share: float | None
    promise: str
    schedule: str | None
    standing: Standing | None
    mean_visible_change: float | None
    predictions_change: float | None
    lost: float | None


@dataclass(frozen=True)
class Advice(Result):
    """What a mask schedule misses of the mode weights and the smallest fix (what ``maskov advise`` prints).

    ground: "law" or "corpus"; name: of it; length: N sites; weights: w; tolerance: TV of the mode weights; excess_loss:
    ε in nats per sequence, joint form; standing: of the schedule asked about; recommended: the schedule to train with;
    fixes: by promise and by what is added; table: common schedules; sentences: the plain words; questions: what people
    ask, with answers from the numbers; snippet: Python that realises the recommendation.
    """

    command: ClassVar[str] = "advise"
    ground: str
    name: str
    length: int
    weights: tuple[float, ...]
    schedule: str
    tolerance: float
    excess_loss: float
    standing: Standing
    recommended: str
    fixes: tuple[Fix, ...]
    table: tuple[Standing, ...]
    sentences: tuple[str, ...]
    questions: tuple[dict[str, str], ...]
    snippet: str

    def __str__(self) -> str:
        answers = [line for q in self.questions for line in ("", q["question"], f"  {q['answer']}")]
        return "\n".join(
            [*self.sentences, "", *self._fix_lines(), "", *self._table_lines(), *answers, "", self.snippet]
        )

    def _fix_lines(self) -> list[str]:
        head = f"{'added mask':<14} {'share':>10}  {'holds for':<18} {'visible':>9} {'predictions':>12}"
        return [head, *(_fix_line(fix) for fix in self.fixes)]

    def _table_lines(self) -> list[str]:
        head = (
            f"{'schedule':<28} {'v_min':>6} {'full mask':>10} {'rho':>11} {'left open':>10} {'certified':>10}  verdict"
        )
        return [head, *(_table_line(row) for row in (self.standing, *self.table))]


def _fix_line(fix: Fix) -> str:
    if fix.share is None:
        return f"{fix.added:<14} {'none':>10}  {fix.promise:<18} no share reaches the tolerance"
    return (
        f"{fix.added:<14} {fix.share:>10.3g}  {fix.promise:<18} {fix.mean_visible_change or 0:>+9.2%}"
        f" {fix.predictions_change or 0:>+12.2%}"
    )


def _table_line(row: Standing) -> str:
    return (
        f"{row.schedule:<28} {row.v_min:>6} {row.full_mask_mass:>10.3g} {row.blindness_ratio.value:>11.3g}"
        f" {row.left_open.value:>10.3g} {row.certified.value:>10.3g}  {row.verdict}"
    )
