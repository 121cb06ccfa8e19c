"""The result of ``identify``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from maskov.identifiability.log_quantities import LogQuantity
from maskov.identifiability.pinning import Pinning
from maskov.quantities import Bound, Estimate
from maskov.results import Result, jsonable


@dataclass(frozen=True)
class ModulusRow:
    """The sandwich at one excess loss ε (nats), TV of the joint laws unless the name says ``weights``.

    lower: witness family; searched: best q found over all q (small laws); upper: full mask; lower_weights: TV of mode
    weights in the witness family; upper_weights: its low-visibility bound (upper within the witness family), with the
    s it uses.
    """

    epsilon: float
    lower: Bound | Estimate
    upper: Bound
    lower_weights: Bound | Estimate
    upper_weights: Bound | None = None
    upper_weights_s: int | None = None
    searched: Bound | None = None


@dataclass(frozen=True)
class Identification(Result):
    """What the schedule sees of the mode weights (what ``maskov identify`` prints); discrepancies in nats.

    Quantities are ``None`` where the law has no modes, with the reason in ``warnings``.
    """

    command: ClassVar[str] = "identify"
    law: str
    schedule: str
    n_sites: int
    how: str
    v_min: int
    full_mask_mass: float
    mode_weights: list[float] | None = None
    against: list[float] | None = None
    kl_weights: LogQuantity | None = None
    kl_joint: LogQuantity | None = None
    discrepancy: LogQuantity | None = None
    discrepancy_tokens: LogQuantity | None = None
    blindness_ratio: LogQuantity | None = None
    tensorization: LogQuantity | None = None
    spectral_gap: LogQuantity | None = None
    tensorization_witness: LogQuantity | None = None
    tensorization_searched: LogQuantity | None = None
    mmse: tuple[tuple[int, LogQuantity], ...] = ()
    modulus: tuple[ModulusRow, ...] = ()
    pinning: Pinning | None = None
    chernoff: float | None = None
    warnings: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The record's ``results``; ``mmse`` as [{visible, value, log_value, kind}], quantities with ``log_value``
        beside ``value``.

        ``value`` is null where a float64 can't hold it (below 1e-304 or above 1e304): read ``log_value`` (nats) there.
        """
        record = {k: v for k, v in vars(self).items() if k not in ("warnings", "mmse", "pinning")}
        record["mmse"] = [{"visible": v, **q.to_dict()} for v, q in self.mmse]
        record["pinning"] = None if self.pinning is None else self.pinning.to_dict()
        return dict(jsonable(record))

    def table(self) -> str:
        """The readable answer: one number a line, how it was obtained, what it means."""
        lines = [(name, _shown(getattr(self, name)), meaning) for name, meaning in MEANINGS.items()]
        width = max(len(shown) for _, shown, _ in lines)
        head = [f"{self.law} under {self.schedule}: {self.n_sites} sites, v_min {self.v_min}, by {self.how}"]
        if self.mode_weights is not None and self.against is not None:
            head.append(f"mode weights {_weights(self.mode_weights)} against {_weights(self.against)}")
        body = [f"  {name:<19} {shown:<{width}}  {meaning}" for name, shown, meaning in lines]
        pinning = [] if self.pinning is None else [f"pinning: {self.pinning}"]
        return "\n".join([*head, *body, *self._curves(), *pinning])

    def _curves(self) -> list[str]:
        marks = [(v, q) for v, q in self.mmse if v & (v - 1) == 0 or v in (self.n_sites, self.v_min)]
        curve = [f"  {v:>8}  {_value(q)}" for v, q in marks]
        rows = [f"  {row.epsilon:>8g}  {_sandwich(row)}" for row in self.modulus]
        parts = ["residual mode uncertainty MMSE(v), v visible sites:", *curve] if curve else []
        return parts + (["modulus: TV(p, q) left open by an excess loss of ε nats:", *rows] if rows else [])

    def __str__(self) -> str:
        return "\n".join([self.table(), *(f"warning: {text}" for text in self.warnings)])


MEANINGS = {
    "kl_weights": "KL of the mode weights, nats",
    "kl_joint": "KL(p‖q_λ), nats",
    "discrepancy": "D_μ(p‖q_λ), joint form, nats",
    "discrepancy_tokens": "D_μ(p‖q_λ), token form, nats",
    "blindness_ratio": "ρ_μ: local discrepancy / KL",
    "spectral_gap": "of the block chain with this schedule; at most ρ_μ",
    "tensorization": "C_AT(μ)",
    "chernoff": "limit of the rate at which MMSE(v) falls, per site",
}


def _value(quantity: Any) -> str:
    return str(quantity).removesuffix(" (exact)")


def _shown(value: Any) -> str:
    return "not available" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


def _weights(weights: list[float]) -> str:
    return "(" + ", ".join(f"{w:.4g}" for w in weights) + ")"


def _sandwich(row: ModulusRow) -> str:
    searched = f" <= {row.searched.value:.4g} searched" if row.searched is not None else ""
    return f"{row.lower.value:.4g} witness{searched} <= A(ε) <= {row.upper.value:.4g}"
