"""Several schedules side by side."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from maskov.errors import InputError
from maskov.results import Result, jsonable
from maskov.schedules.base import Schedule, check_length
from maskov.schedules.parse import schedule


@dataclass(frozen=True)
class ScheduleRow:
    """One schedule at one length: masses are probabilities, counts are sites.

    visible_law, objective_law: [N + 1]; low_visibility: π_s at s = N/16, N/8, N/4, N/2 by the name of s.
    """

    spec: str
    form: str
    visible_law: NDArray[np.float64]
    v_min: int
    mean_visible: float
    full_mask_mass: float
    low_visibility: dict[int, float]
    objective_law: NDArray[np.float64] | None

    def to_dict(self) -> dict[str, Any]:
        """The record of one schedule; counts without mass are left out of the law."""
        laws = {"visible_law": _law_records(self.visible_law)}
        if self.objective_law is not None:
            laws["objective_law"] = _law_records(self.objective_law)
        numbers = {"v_min": self.v_min, "mean_visible": self.mean_visible, "full_mask_mass": self.full_mask_mass}
        low = [{"visible": s, "mass": m} for s, m in self.low_visibility.items()]
        return dict(jsonable({"spec": self.spec, "form": self.form, **laws, **numbers, "low_visibility": low}))


def _law_records(law: NDArray[np.float64]) -> list[dict[str, float]]:
    return [{"visible": int(v), "mass": float(law[v])} for v in np.flatnonzero(law)]


@dataclass(frozen=True)
class ScheduleTable(Result):
    """Schedules side by side at one length (what ``maskov schedule`` prints)."""

    command: ClassVar[str] = "schedule"
    length: int
    schedules: tuple[ScheduleRow, ...]

    def to_dict(self) -> dict[str, Any]:
        """``{"length", "schedules": [{"spec", "visible_law", "v_min", "mean_visible", "full_mask_mass", …}]}``."""
        return {"length": self.length, "schedules": [row.to_dict() for row in self.schedules]}

    def table(self) -> str:
        """The readable table."""
        lows = list(self.schedules[0].low_visibility)
        head = ["schedule", "is", "v_min", "mean visible", "π_0", *[f"π_{s}" for s in lows]]
        rows = [
            [
                r.spec,
                r.form if r.form != r.spec else "",
                str(r.v_min),
                f"{r.mean_visible:.2f}",
                _mass(r.full_mask_mass),
                *[_mass(r.low_visibility[s]) for s in lows],
            ]
            for r in self.schedules
        ]
        widths = [max(len(row[k]) for row in [head, *rows]) for k in range(len(head))]
        lines = [
            "  ".join(
                cell.ljust(w) if k < 2 else cell.rjust(w) for k, (cell, w) in enumerate(zip(row, widths, strict=True))
            )
            for row in [head, *rows]
        ]
        note = f"{self.length} sites; v visible sites; v_min smallest v with mass; π_s = P(v ≤ s)"
        return "\n".join([note, *[line.rstrip() for line in lines]])

    def __str__(self) -> str:
        return self.table()


def _mass(x: float) -> str:
    return "0" if x == 0 else f"{x:.4f}" if x >= 1e-3 else f"{x:.1e}"


def describe(text: str | Schedule, length: int) -> ScheduleRow:
    """One schedule's law and numbers at a length.

    >>> describe("fixed:0.15", 512).v_min
    435
    """
    mu = schedule(text)
    law = mu.visible_law(check_length(length))
    marks = sorted({max(1, length // k) for k in (16, 8, 4, 2)})
    return ScheduleRow(
        spec=text if isinstance(text, str) else mu.text,
        form=getattr(mu, "base", mu).text if not mu.weighted else mu.text,
        visible_law=law,
        v_min=mu.v_min(length),
        mean_visible=float(law @ np.arange(length + 1)),
        full_mask_mass=float(law[0]),
        low_visibility={s: float(law[: s + 1].sum()) for s in marks},
        objective_law=mu.objective_law(length) if mu.weighted else None,
    )


def compare_schedules(specs: Iterable[str | Schedule], length: int) -> ScheduleTable:
    """Laws of the visible count of several schedules at N = ``length`` sites.

    >>> print(compare_schedules(["bert", "full"], 8).table().splitlines()[2])
    bert      fixed:0.15      7          7.00       0       0       0       0
    """
    specs = list(specs)
    if not specs:
        raise InputError(
            "schedules", expected="at least one", came="none", remedy="maskov schedule bert uniform --length 512"
        )
    return ScheduleTable(check_length(length), tuple(describe(spec, length) for spec in specs))
