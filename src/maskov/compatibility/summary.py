"""What sampled rectangles say: defects under several normalisations, with intervals clustered by text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskov.compatibility import clustered
from maskov.compatibility.paths import Rectangles
from maskov.quantities import Estimate, Quantity
from maskov.results import Result, jsonable

BANDS = ((1, 1), (2, 3), (4, 7), (8, 15), (16, 31), (32, 10**9))
# Noise is measured as a difference from a float64 twin, so a compatible model has a ratio near 1.
COMPATIBLE_BELOW, INCOMPATIBLE_ABOVE = 3.0, 10.0


@dataclass(frozen=True)
class RectangleResult(Result):
    """Defects Δ of sampled rectangles at temperature 1, in nats.

    mean_abs, median_abs, rms, relative_mean (mean of |Δ|/(|path1| + |path2|)): with 95 % intervals, clustered by text;
    quantiles, histogram (over decades): of |Δ|; normalisations: other ways to say it, by name; noise_floor: root mean
    square of Δ's rounding error;
    noise_ratio: rms/noise_floor; by_distance, by_proposal: the same split; examples: the largest defects, readable.
    """

    command = "rectangle"

    mean_abs: Estimate
    median_abs: Estimate
    rms: Estimate
    relative_mean: Estimate
    quantiles: dict[str, float]
    histogram: dict[str, list[float]]
    normalisations: dict[str, Estimate]
    noise_floor: Quantity
    noise_ratio: float
    verdict: str
    n_rectangles: int
    n_texts: int
    clustered_by: str
    by_distance: tuple[dict[str, Any], ...]
    by_proposal: tuple[dict[str, Any], ...]
    examples: tuple[dict[str, Any], ...]
    rectangles: Rectangles = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """The record's ``results``; the rectangles themselves go to ``table``."""
        return {key: jsonable(value) for key, value in self.__dict__.items() if key != "rectangles"}

    def _lines(self) -> list[tuple[str, str]]:
        head = [("verdict", self.verdict), ("rectangles", f"{self.n_rectangles} in {self.n_texts} texts")]
        named = ("mean_abs", "median_abs", "rms", "relative_mean", "noise_floor")
        head += [(name, str(getattr(self, name))) for name in named]
        head += [(name, str(value)) for name, value in self.normalisations.items()]
        head += [(f"mean |Δ|, {row['proposal']}", str(row["mean_abs"])) for row in self.by_proposal]
        return head + [(f"mean |Δ|, distance {row['distance']}", str(row["mean_abs"])) for row in self.by_distance]

    def table(self) -> dict[str, NDArray[Any]]:
        """One row a rectangle: text, columns, tokens, path1, path2, delta."""
        return {**self.rectangles._asdict(), "delta": self.rectangles.delta}


def summarise(
    model: Any, states: Sequence[Any], measured: dict[str, Rectangles], noise: Estimate, seed: int
) -> RectangleResult:
    headline = next(iter(measured.values()))
    stats = _statistics(headline, seed)
    ratio = stats["rms"].value / noise.value
    return RectangleResult(
        mean_abs=stats["mean_abs"],
        median_abs=stats["median_abs"],
        rms=stats["rms"],
        relative_mean=stats["relative_mean"],
        quantiles={
            f"{q:g}": float(v) for q, v in zip(_QUANTILES, np.quantile(np.abs(headline.delta), _QUANTILES), strict=True)
        },
        histogram=_histogram(np.abs(headline.delta)),
        normalisations={
            name: value
            for name, value in stats.items()
            if name not in ("mean_abs", "median_abs", "rms", "relative_mean")
        },
        noise_floor=noise,
        noise_ratio=ratio,
        verdict=verdict(ratio),
        n_rectangles=len(headline.delta),
        n_texts=len(np.unique(headline.text)),
        clustered_by="text" if len(np.unique(headline.text)) >= 5 else "pair of sites",
        by_distance=tuple(_by_distance(headline, seed)),
        by_proposal=tuple(_by_proposal(model, measured, seed)),
        examples=tuple(_examples(model, states, headline)),
        rectangles=headline,
    )


_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95, 1.0)

# Smaller defects than this are exact zeros of float64 arithmetic; they share the lowest bin.
_SMALLEST = 1e-17


def _histogram(size: NDArray[np.float64]) -> dict[str, list[float]]:
    """Counts of |Δ| over quarter decades."""
    logs = np.log10(np.maximum(size, _SMALLEST))
    edges = np.arange(np.floor(logs.min() * 4) / 4, logs.max() + 0.5, 0.25)
    return {"log10_edges": edges.tolist(), "counts": np.histogram(logs, edges)[0].tolist()}


def verdict(ratio: float) -> str:
    """The verdict from rms/noise: below 3 compatible, above 10 incompatible, between them undecided."""
    if ratio <= COMPATIBLE_BELOW:
        return "compatible within rounding"
    if ratio < INCOMPATIBLE_ABOVE:
        return f"undecided: the defect is {ratio:.1f} times the rounding noise"
    return f"incompatible: the defect is {ratio:,.0f} times the rounding noise"


def _clusters(r: Rectangles) -> NDArray[np.int64]:
    if len(np.unique(r.text)) >= 5:
        return r.text
    return np.unique(np.stack([r.text, r.first, r.second]), axis=1, return_inverse=True)[1].ravel()


def _no_interval(q: Estimate) -> Estimate:
    """Squares of defects have tails so heavy that no interval tried covers 92 % (docs/reliability.md)."""
    return replace(q, interval=None)


def _statistics(r: Rectangles, seed: int) -> dict[str, Estimate]:
    size = np.abs(r.delta)
    total = np.abs(r.path1) + np.abs(r.path2)
    relative = np.divide(size, total, out=np.zeros_like(size), where=total > 0)
    largest = np.maximum(np.abs(r.path1), np.abs(r.path2))
    of_largest = np.divide(size, largest, out=np.zeros_like(size), where=largest > 0)
    squares = np.column_stack([r.delta**2, (r.path1**2 + r.path2**2) / 2])
    clusters = _clusters(r)
    weights, units = clustered.cluster_weights(clusters, seed), len(np.unique(clusters))

    def one(statistic: Any, values: NDArray[np.float64]) -> Estimate:
        return clustered.bootstrap(statistic, values.reshape(len(size), -1), weights, units)

    return {
        "mean_abs": one(clustered.mean, size),
        "median_abs": one(clustered.median, size),
        "rms": _no_interval(one(clustered.root_mean_square, size)),
        "relative_mean": one(clustered.mean, relative),
        "mean |Δ| / max(|path1|, |path2|)": one(clustered.mean, of_largest),
        "Σ|Δ| / Σ(|path1| + |path2|)": one(clustered.ratio_of_sums, np.column_stack([size, total])),
        "rms Δ / rms path": _no_interval(one(clustered.root_ratio, squares)),
        "mean tanh(|Δ|/2)": one(clustered.mean, np.tanh(size / 2)),
    }


def _part(r: Rectangles, rows: NDArray[np.bool_]) -> Rectangles:
    return Rectangles._make(column[rows] for column in r)


def _brief(r: Rectangles, seed: int) -> dict[str, Any]:
    stats = _statistics(r, seed)
    return {"mean_abs": stats["mean_abs"], "relative_mean": stats["relative_mean"], "n": len(r.delta)}


def _by_distance(r: Rectangles, seed: int) -> list[dict[str, Any]]:
    bands = [(low, high, (r.distance >= low) & (r.distance <= high)) for low, high in BANDS]
    return [
        {
            "distance": f"{low}" if low == high else f"{low}–{high}" if high < 10**9 else f"{low}+",
            "from": low,
            **_brief(_part(r, rows), seed),
        }
        for low, high, rows in bands
        if rows.any()
    ]


def _by_proposal(model: Any, measured: dict[str, Rectangles], seed: int) -> list[dict[str, Any]]:
    causal = not hasattr(model, "logits")
    return [
        {"proposal": "left_context" if causal and kind == "conditional" else kind, **_brief(r, seed)}
        for kind, r in measured.items()
    ]


def _examples(model: Any, states: Sequence[Any], r: Rectangles, most: int = 5) -> list[dict[str, Any]]:
    token = getattr(model, "token_text", str)
    found = []
    for k in np.argsort(-np.abs(r.delta), kind="stable")[:most]:
        text = model.decode(states[r.text[k]].tokens) if hasattr(model, "decode") else ""
        found.append(
            {
                "text": text,
                "site_i": int(r.first[k]),
                "site_j": int(r.second[k]),
                "a": token(int(r.a[k])),
                "a_new": token(int(r.a_new[k])),
                "b": token(int(r.b[k])),
                "b_new": token(int(r.b_new[k])),
                "delta": float(r.delta[k]),
            }
        )
    return found
