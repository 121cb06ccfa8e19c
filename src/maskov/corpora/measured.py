"""A bound whose value is itself a mean over documents: one-sided in expectation, with an interval for the sample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from maskov.quantities import Bound, json_number


@dataclass(frozen=True)
class MeasuredBound(Bound):
    """A bound that was measured: value, standard error and 95 % interval over documents.

    Only the interval's far end certifies anything.

    >>> bound = MeasuredBound(0.1, "upper", 400, stderr=0.02, interval=(0.06, 0.14))
    >>> bound.certifies_below(0.12), bound.certifies_below(0.15)
    (False, True)
    """

    stderr: float = 0.0
    interval: tuple[float, float] = (0.0, 0.0)

    def certifies_below(self, limit: float) -> bool:
        """Whether the far end of the interval is an upper bound below ``limit``."""
        return self.side == "upper" and self.interval[1] < limit

    def to_dict(self) -> dict[str, Any]:
        """The record form, with ``stderr`` and ``interval``."""
        ends = [json_number(end) for end in self.interval]
        return {**super().to_dict(), "stderr": float(self.stderr), "interval": ends}

    def __str__(self) -> str:
        sign = "<=" if self.side == "upper" else ">="
        return f"{sign} {self.value:.4g} [{self.interval[0]:.3g}, {self.interval[1]:.3g}] ({self.side} bound)"


def measured_from(record: dict[str, Any], side: Literal["upper", "lower"]) -> MeasuredBound:
    """The bound of a record's quantity."""
    low, high = record["interval"]
    return MeasuredBound(record["value"], side, record.get("n"), record["stderr"], (low, high))
