"""What the report's explorer shows: kept states of the chains as points of a map, with their texts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskov.drift.embed import embedder

# A page of this many points and texts stays below 2 MB and opens at once.
MOST_POINTS = 2400
FEWEST_TIMES = 12


def explorer_times(steps: int, count: int) -> NDArray[np.int64]:
    """0 … steps in about ``count`` times: half of them evenly, half growing, since the first steps change most.

    >>> explorer_times(100, 8).tolist()
    [0, 1, 5, 22, 33, 67, 100]
    """
    even = np.linspace(0, steps, max(2, count // 2))
    growing = np.geomspace(1, max(steps, 1), max(2, count // 2))
    return np.unique(np.rint(np.concatenate([even, growing]))).astype(np.int64)


def shown_chains(temperatures: NDArray[np.float64], most: int) -> list[int]:
    """At most ``most`` chains, the first of every temperature in turn."""
    ranks = np.zeros(len(temperatures), dtype=np.int64)
    for t in np.unique(temperatures):
        of = np.flatnonzero(temperatures == t)
        ranks[of] = np.arange(len(of))
    return sorted(np.argsort(ranks, kind="stable")[:most].tolist())


def explore(trace: Any, model: Any, encoder: str = "auto") -> dict[str, Any]:
    """The record of the explorer: per chain its steps, 2-D places and texts (as indices into ``texts``).

    Places are the first two principal components of the embeddings of all kept states; explained: their shares of the
    variance.
    """
    chains = shown_chains(trace.temperatures, MOST_POINTS // FEWEST_TIMES)
    times = explorer_times(trace.steps, max(FEWEST_TIMES, MOST_POINTS // len(chains)))
    told = [[model.decode(trace_states[b]) for b in chains] for trace_states in map(trace.states_at, times.tolist())]
    texts = list(dict.fromkeys(text for row in told for text in row))
    number = {text: k for k, text in enumerate(texts)}
    encode = embedder(encoder, model)
    index = np.array([[number[text] for text in row] for row in told])  # [T, B]
    places, explained = principal_plane(encode.encode(texts), index)
    labels = trace.manifest.texts
    return {
        "embedder": encode.name,
        "explained": explained,
        "steps": trace.steps,
        "texts": texts,
        "chains": [_chain(trace, b, k, times, places, index, labels) for k, b in enumerate(chains)],
    }


def _chain(
    trace: Any,
    b: int,
    k: int,
    times: NDArray[np.int64],
    places: NDArray[np.float64],
    index: NDArray[np.int64],
    labels: Any,
) -> dict[str, Any]:
    label = labels[int(trace.chain_ids[b]) % len(labels)]
    xy = np.round(places[index[:, k]], 4)
    return {
        "chain": b,
        "temperature": float(trace.temperatures[b]),
        "from": label.get("topic") or label.get("name"),
        "sites": len(trace.starts[b].free),
        "steps": times.tolist(),
        "x": xy[:, 0].tolist(),
        "y": xy[:, 1].tolist(),
        "text": index[:, k].tolist(),
    }


def principal_plane(
    rows: NDArray[np.float64], index: NDArray[np.int64]
) -> tuple[NDArray[np.float64], tuple[float, float]]:
    """The first two principal components of the states ``rows[index]``, and their shares of the variance.

    rows: [m, d] one row per distinct text; index: which text each state has, any shape. Result: [m, 2].
    """
    weights = np.bincount(index.ravel(), minlength=len(rows)).astype(np.float64)
    weights /= weights.sum()
    centred = rows - weights @ rows
    _, values, axes = np.linalg.svd(np.sqrt(weights)[:, None] * centred, full_matrices=False)
    axes = np.vstack([axes, np.zeros((2, rows.shape[1]))])[:2]
    shares = np.concatenate([values**2 / max(float((values**2).sum()), 1e-300), [0.0, 0.0]])
    return centred @ axes.T, (float(shares[0]), float(shares[1]))
