"""The rectangle test: is there any joint law with these conditionals?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskov.compatibility import clustered
from maskov.compatibility.paths import PROPOSALS, Pairs, Rectangles, build_pairs, choose_pairs, joined, measure
from maskov.errors import InputError
from maskov.glauber.run import encode_starts
from maskov.quantities import Estimate, Quantity
from maskov.randomness import generator
from maskov.results import Result, jsonable

BANDS = ((1, 1), (2, 3), (4, 7), (8, 15), (16, 31), (32, 10**9))
# Noise is measured as a difference from a float64 twin, so a compatible model has a ratio near 1.
COMPATIBLE_BELOW, INCOMPATIBLE_ABOVE = 3.0, 10.0


@dataclass(frozen=True)
class RectangleResult(Result):
    """Defects Δ of sampled rectangles at temperature 1, in nats.

    mean_abs, median_abs, rms, relative_mean (mean of |Δ|/(|path1| + |path2|)): with 95 % intervals, clustered by text;
    quantiles: of |Δ|; normalisations: other ways to say it, by name; noise_floor: root mean square of Δ's rounding error;
    noise_ratio: rms/noise_floor; by_distance, by_proposal: the same split; examples: the largest defects, readable.
    """

    command = "rectangle"

    mean_abs: Estimate
    median_abs: Estimate
    rms: Estimate
    relative_mean: Estimate
    quantiles: dict[str, float]
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

    def table(self) -> dict[str, NDArray[Any]]:
        """One row a rectangle: text, columns, tokens, path1, path2, delta."""
        return {**self.rectangles._asdict(), "delta": self.rectangles.delta}


def rectangle_test(
    model: Any,
    texts: Sequence[Any] | None = None,
    *,
    rectangles: int = 400,
    proposals: Sequence[str] = ("conditional",),
    per_site: int = 2,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> RectangleResult:
    """Kolmogorov's criterion on sampled rectangles of the Hamming graph.

    A joint law with these conditionals makes Δ = path1 − path2 = 0 for every rectangle (arXiv 2605.16378; on positive
    conditionals all rectangles closed ⇔ the Glauber chain is reversible ⇔ a joint law exists). Only scores of given tokens
    are used, so causal models and tables run the same code.

    model: ``TokenScores`` with a codec; texts: texts, records or states (None: a law's own random states); rectangles: per
    proposal; proposals: of "conditional" (causal models: their left context), "top_k", "uniform", the first is the
    headline; per_site: substitutions k at each site, k² rectangles share 2(k + 1) evaluations. Raises ``InputError``.

    >>> from maskov.models import load
    >>> rectangle_test(load("law:ising-ring?sites=5&beta=0.7"), rectangles=8, per_site=1).verdict
    'compatible within rounding'
    """
    _check(rectangles, proposals, per_site)
    states, _ = encode_starts(model, texts if texts is not None else _law_states(model, seed))
    per_site = min(per_site, model.vocabulary_size - 1)
    count = -(-rectangles // per_site**2)
    chosen = choose_pairs(states, count, seed)
    groups: dict[str, list[Pairs]] = {}
    measured: dict[str, Rectangles] = {}
    for done, kind in enumerate(proposals):
        groups[kind] = build_pairs(model, states, chosen, kind, per_site, seed)
        measured[kind] = joined([measure(model, pairs) for pairs in groups[kind]])
        if progress is not None:
            progress(done + 1, len(proposals) + 1)
    noise = noise_floor(model, groups[proposals[0]], measured[proposals[0]], seed)
    return _summarise(model, states, measured, noise, seed)


def _check(rectangles: int, proposals: Sequence[str], per_site: int) -> None:
    if rectangles < 1 or per_site < 1:
        raise InputError("rectangles", expected="a number of at least 1", came=str(min(rectangles, per_site)))
    unknown = [p for p in proposals if p not in PROPOSALS]
    if unknown or not proposals:
        raise InputError("proposals", expected="some of " + ", ".join(PROPOSALS), came=", ".join(unknown) or "none")


def _law_states(model: Any, seed: int) -> list[Any]:
    from maskov.protocols import State

    n = getattr(model, "n_sites", None)
    if n is None:
        raise InputError("texts", expected="texts to test on", came="none", remedy="pass --texts FILE")
    rng = generator(seed)
    return [State(rng.integers(model.vocabulary_size, size=n), np.arange(n)) for _ in range(20)]


def noise_floor(model: Any, groups: Sequence[Pairs], measured: Rectangles, seed: int) -> Estimate:
    """Root mean square of Δ's rounding error: the larger of two re-evaluations and of the last digit of the scores.

    Another batch composition (rows shuffled, batches cut elsewhere), and a float64 twin where the model has one.
    """
    rng = generator(seed, 1)
    shuffled = joined([measure(model, p, rng.permutation(p.a.size)) for p in groups])
    errors = [measured.delta - shuffled.delta]
    if hasattr(model, "in_float64"):
        twin, size, parts = model.in_float64(), 0, []
        for pairs in groups:  # the twin costs more per row: fifty pairs are enough for a root mean square
            parts.append(measure(twin, Pairs(*(column[: max(1, 50 - size)] for column in pairs))))
            size += len(parts[-1].delta)
        errors.append(_matching(measured, joined(parts)))
    last_digit = (
        np.finfo(np.float64).eps * float(np.abs(np.concatenate([measured.path1, measured.path2])).max() + 1) * 8
    )
    rms = [float(np.sqrt(np.mean(e**2))) for e in errors]
    best = errors[int(np.argmax(rms))]
    value = max(*rms, last_digit)
    spread = float(np.std(best**2) / np.sqrt(len(best)) / (2 * value)) if len(best) > 1 else np.inf
    return Estimate(value, spread, len(best))


def _matching(measured: Rectangles, twin: Rectangles) -> NDArray[np.float64]:
    """Δ − Δ_twin of the rectangles that both have."""
    names = ("text", "first", "second", "a_new", "b_new")
    keys = [
        {
            key: d
            for *key_parts, d in zip(*(getattr(r, n).tolist() for n in names), r.delta, strict=True)
            for key in [tuple(key_parts)]
        }
        for r in (measured, twin)
    ]
    return np.array([keys[0][key] - value for key, value in keys[1].items()])


def _summarise(
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


def _statistics(r: Rectangles, seed: int) -> dict[str, Estimate]:
    size = np.abs(r.delta)
    total = np.abs(r.path1) + np.abs(r.path2)
    relative = np.divide(size, total, out=np.zeros_like(size), where=total > 0)
    largest = np.maximum(np.abs(r.path1), np.abs(r.path2))
    of_largest = np.divide(size, largest, out=np.zeros_like(size), where=largest > 0)
    squares = np.column_stack([r.delta**2, (r.path1**2 + r.path2**2) / 2])
    clusters = _clusters(r)
    weights, units = clustered.cluster_weights(clusters, seed), len(np.unique(clusters))
    one = lambda statistic, values: clustered.bootstrap(statistic, values.reshape(len(size), -1), weights, units)  # noqa: E731
    return {
        "mean_abs": one(clustered.mean, size),
        "median_abs": one(clustered.median, size),
        "rms": one(clustered.root_mean_square, size),
        "relative_mean": one(clustered.mean, relative),
        "mean |Δ| / max(|path1|, |path2|)": one(clustered.mean, of_largest),
        "Σ|Δ| / Σ(|path1| + |path2|)": one(clustered.ratio_of_sums, np.column_stack([size, total])),
        "rms Δ / rms path": one(clustered.root_ratio, squares),
        "mean tanh(|Δ|/2)": one(clustered.mean, np.tanh(size / 2)),
    }


def _part(r: Rectangles, rows: NDArray[np.bool_]) -> Rectangles:
    return Rectangles(*(column[rows] for column in r))


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
