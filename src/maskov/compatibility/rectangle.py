"""The rectangle test: is there any joint law with these conditionals?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskov.compatibility.paths import PROPOSALS, Pairs, Rectangles, build_pairs, choose_pairs, joined, measure
from maskov.compatibility.summary import RectangleResult, summarise
from maskov.errors import InputError
from maskov.glauber.run import encode_starts
from maskov.quantities import Estimate
from maskov.randomness import generator


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
    conditionals all rectangles closed ⇔ the Glauber chain is reversible ⇔ a joint law exists). Only scores of given
    tokens are used, so causal models and tables run the same code.

    model: ``TokenScores`` with a codec; texts: texts, records or states (None: a law's own random states); rectangles:
    per proposal; proposals: of "conditional" (causal models: their left context), "top_k", "uniform", the first is the
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
    return summarise(model, states, measured, noise, seed)


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
