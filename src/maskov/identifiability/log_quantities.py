"""Quantities that carry their logarithm: a discrepancy of e^{−5000} is not 0."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from maskov.quantities import Bound, Estimate, Exact, json_number

SMALLEST = -700.0


def _with_log(record: dict[str, Any], log_value: float) -> dict[str, Any]:
    """Adds ``log_value``; ``value`` becomes ``None`` where a float64 can't hold it (below 1e-304 or above 1e304)."""
    if math.isfinite(log_value) and abs(log_value) > -SMALLEST:
        record["value"] = None
    return {**record, "log_value": json_number(log_value)}


def scientific(log_value: float) -> str:
    """e^log_value in decimal notation, whatever its size.

    >>> scientific(-5000.0)
    '3.370e-2172'
    """
    if log_value == -math.inf:
        return "0"
    if not math.isfinite(log_value):
        return str(log_value)
    if abs(log_value) < -SMALLEST:
        return f"{math.exp(log_value):.7g}"
    power = math.floor(log_value / math.log(10))
    return f"{10 ** (log_value / math.log(10) - power):.3f}e{power:+d}"


@dataclass(frozen=True)
class LogExact(Exact):
    """An exact value with its natural logarithm.

    >>> LogExact.of(-5000.0).to_dict()
    {'value': None, 'kind': 'exact', 'log_value': -5000.0}
    """

    log_value: float = 0.0

    @classmethod
    def of(cls, log_value: float) -> LogExact:
        """From the logarithm."""
        return cls(_exp(log_value), float(log_value))

    def to_dict(self) -> dict[str, Any]:
        """The record form with ``log_value``."""
        return _with_log(super().to_dict(), self.log_value)

    def __str__(self) -> str:
        return f"{scientific(self.log_value)} (exact)"


@dataclass(frozen=True)
class LogBound(Bound):
    """A bound with its natural logarithm."""

    log_value: float = 0.0

    @classmethod
    def lower(cls, log_value: float) -> LogBound:
        """A lower bound from the logarithm."""
        return cls(_exp(log_value), side="lower", log_value=float(log_value))

    @classmethod
    def upper(cls, log_value: float) -> LogBound:
        """An upper bound from the logarithm."""
        return cls(_exp(log_value), side="upper", log_value=float(log_value))

    def to_dict(self) -> dict[str, Any]:
        """The record form with ``log_value``."""
        return _with_log(super().to_dict(), self.log_value)

    def __str__(self) -> str:
        return f"{'<=' if self.side == 'upper' else '>='} {scientific(self.log_value)} ({self.side} bound)"


@dataclass(frozen=True)
class LogEstimate(Estimate):
    """An estimate with the logarithm of its value, and its standard error relative to the value."""

    log_value: float = 0.0
    relative: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """The record form with ``log_value`` and ``relative_stderr``; absolute errors where a float64 holds them."""
        record = {**_with_log(super().to_dict(), self.log_value), "relative_stderr": json_number(self.relative)}
        if record["value"] is None:
            record = {key: item for key, item in record.items() if key not in ("stderr", "interval")}
        return record

    def __str__(self) -> str:
        if abs(self.log_value) < -SMALLEST or not math.isfinite(self.log_value):
            return super().__str__()
        return f"{scientific(self.log_value)} ± {100 * self.relative:.2g} % (estimate, n = {self.n:.4g})"


def _exp(log_value: float) -> float:
    return math.exp(log_value) if log_value < -SMALLEST else math.inf


LogQuantity = LogExact | LogBound | LogEstimate
