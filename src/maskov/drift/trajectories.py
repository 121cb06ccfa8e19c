"""Long trajectories as points: thinned embeddings of a whole trace and the principal components of all kept states."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maskov.drift.curves import _check, _encoder
from maskov.drift.embed import Cached, Embedder
from maskov.errors import InputError
from maskov.glauber.walk import states_over
from maskov.quantities import Exact
from maskov.randomness import Stream, generator
from maskov.results import Result

# States kept in all chains together where nothing is asked: what two cores embed in about 80 s. Measured on texts of 60
# tokens, per second of one core: 38 (use), 410 (pooled); onehot and hamming encode some 10^4.
MOST_KEPT = {"use": 6000, "minilm": 2500, "pooled": 20_000, "onehot": 40_000, "hamming": 40_000}
_OTHER_KEPT, _FEWEST_TIMES = 2500, 60
COMPONENTS = 10
_WIDEST = 1024  # columns: wider embeddings are hashed before their covariance is taken
_BATCH = 512
_POINTS = 12_000  # of a record
Floats = NDArray[np.float64]
Progress = Callable[[int, int], None]


class Kept(NamedTuple):
    """Thinned states of a trace in the coordinates of their principal components.

    embedder: its name; stride: steps between kept times; times: int64 [K]; places: float64 [K, B, q]; explained: [q]
    shares of the variance; texts: the distinct ones; which: int64 [K, B], text of each kept state; width: columns
    of the embedding, hashed to 1024 where wider.
    """

    embedder: str
    stride: int
    times: NDArray[np.int64]
    places: Floats
    explained: Floats
    texts: list[str]
    which: NDArray[np.int64]
    width: int


@dataclass(frozen=True)
class Path:
    """One chain on the map. start: number of its start text from 0; topic: of that text, where it has one; sites: n;
    x, y: [K] coordinates at the result's ``times``.
    """

    chain: int
    temperature: float
    start: int
    topic: str | None
    sites: int
    x: Floats
    y: Floats


@dataclass(frozen=True)
class Trajectories(Result):
    """The chains of a trace on the plane of the first two principal components of all kept states.

    kept: states behind the components, all chains together; distinct: different texts among them; stride: steps between
    them; steps: T; explained: shares of the variance of the components, largest first; times: steps at which ``paths``
    give coordinates (thinned further where a record would grow beyond 12,000 points).
    """

    command = "trajectories"

    embedder: str
    steps: int
    stride: int
    kept: int
    distinct: int
    explained: tuple[Exact, ...]
    times: NDArray[np.int64]
    paths: tuple[Path, ...]

    def _lines(self) -> list[tuple[str, str]]:
        two = sum(e.value for e in self.explained[:2])
        return [
            ("embedder", self.embedder),
            ("chains", f"{len(self.paths)} over {self.steps} steps"),
            ("kept", f"{self.kept} states, one in {self.stride} steps; {self.distinct} different texts"),
            ("plane", f"{two:.0%} of the variance"),
        ]


def trajectories(
    trace: Any,
    model: Any,
    embedder: Embedder | str = "auto",
    keep: int | None = None,
    progress: Progress | None = None,
) -> Trajectories:
    """Every chain of a trace as a path in two dimensions: the principal components of its thinned embeddings.

    trace: ``Trace``; model: decodes its states; embedder: an ``Embedder`` or a name for ``maskov.drift.embedder``;
    keep: times per chain after the start, default by the embedder's speed; progress: called with (states done, states
    in all). Raises ``InputError``.

    >>> from maskov.glauber import glauber
    >>> from maskov.models import load
    >>> model = load("law:curie-weiss?sites=6&beta=1.5")
    >>> trajectories(glauber(model, ["000000", "111111"], steps=200), model, keep=50).stride
    4
    """
    return paths_of(trace, kept_states(trace, model, embedder, keep, COMPONENTS, progress))


def paths_of(trace: Any, kept: Kept) -> Trajectories:
    """The result of ``trajectories`` from states that are kept already."""
    K, B, q = kept.places.shape
    thin = max(1, math.ceil(K * B / _POINTS))
    plane = np.zeros((len(kept.times[::thin]), B, 2))
    plane[..., : min(q, 2)] = significant(kept.places[::thin, :, :2])
    labels, starts = start_labels(trace), start_numbers(trace)
    return Trajectories(
        embedder=kept.embedder,
        steps=int(trace.steps),
        stride=kept.stride,
        kept=K * B,
        distinct=len(kept.texts),
        explained=tuple(Exact(float(e)) for e in kept.explained),
        times=kept.times[::thin],
        paths=tuple(
            Path(
                b,
                float(trace.temperatures[b]),
                int(starts[b]),
                labels[starts[b]],
                len(trace.starts[b].free),
                plane[:, b, 0],
                plane[:, b, 1],
            )
            for b in range(B)
        ),
    )


def start_numbers(trace: Any) -> NDArray[np.int64]:
    """Number of each chain's start text among the different ones, from 0: int64 [B]."""
    seen: dict[bytes, int] = {}
    return np.array([seen.setdefault(s.tokens.tobytes(), len(seen)) for s in trace.starts], dtype=np.int64)


def start_labels(trace: Any) -> list[str | None]:
    """Topic or name of each start text, by its number; None where it has none."""
    texts = getattr(getattr(trace, "manifest", None), "texts", None)
    numbers = start_numbers(trace)
    labels: list[str | None] = [None] * (int(numbers.max()) + 1)
    for b, number in enumerate(numbers):
        label = texts[int(trace.chain_ids[b]) % len(texts)] if texts else {}
        labels[number] = labels[number] or label.get("topic") or label.get("name")
    return labels


def significant(values: Floats) -> Floats:
    """Coordinates with four decimals of the largest: a map needs no more, and a record stays small."""
    most = float(np.abs(values).max()) if values.size else 0.0
    return np.asarray(np.round(values, 4 - math.ceil(math.log10(most)))) if most > 0 else np.zeros_like(values)


def kept_states(
    trace: Any,
    model: Any,
    embedder: Embedder | str = "auto",
    keep: int | None = None,
    components: int = COMPONENTS,
    progress: Progress | None = None,
) -> Kept:
    """Embed the states of evenly spaced times, each text once, and turn them to principal components.

    Memory is that of the kept states (float32 rows of at most 1024 columns) and of one chunk of the trace: it does not
    grow with the steps. Arguments as for ``trajectories``.
    """
    _check(model, "starts", 1.0)
    encoder = _encoder(embedder, model)
    times = _times(trace, encoder.name, keep)
    rows = _Rows(encoder)
    which = np.empty((len(times), trace.n_chains), dtype=np.int64)
    for k, (_, states) in enumerate(states_over(trace, times)):
        which[k] = [rows.number(model.decode(x)) for x in states]
        if progress is not None:
            progress((k + 1) * trace.n_chains, which.size)
    table = rows.table()
    places, explained = principal_components(table, np.bincount(which.ravel(), minlength=len(table)), components)
    stride = int(times[1] - times[0]) if len(times) > 1 else 1
    return Kept(encoder.name, stride, times, places[which], explained, rows.texts, which, rows.width)


def _times(trace: Any, name: str, keep: int | None) -> NDArray[np.int64]:
    if keep is None:
        keep = max(_FEWEST_TIMES, MOST_KEPT.get(name, _OTHER_KEPT) // trace.n_chains)
    if keep < 2:
        raise InputError("keep", expected="at least 2 times per chain", came=str(keep))
    stride = max(1, math.ceil(trace.steps / keep))
    return np.arange(0, trace.steps + 1, stride, dtype=np.int64)


class _Rows:
    """Embeddings by text, asked for in batches, each text once; wide rows are hashed.

    Hashing: column j goes to a random one of 1024 with a random sign [Weinberger et al. 2009], which keeps inner
    products up to about 1/√1024.
    """

    def __init__(self, encoder: Cached) -> None:
        self.encoder, self.numbers = encoder, dict[str, int]()
        self.texts: list[str] = []
        self.parts: list[NDArray[np.float32]] = []
        self.done = self.width = 0
        self.hash: Any = None

    def number(self, text: str) -> int:
        """Row of a text."""
        found = self.numbers.setdefault(text, len(self.texts))
        if found == len(self.texts):
            self.texts.append(text)
            if len(self.texts) - self.done >= _BATCH:
                self._encode()
        return found

    def table(self) -> NDArray[np.float32]:
        """Rows of all texts so far: [m, d]."""
        self._encode()
        return np.concatenate(self.parts)

    def _encode(self) -> None:
        fresh = self.texts[self.done :]
        if not fresh:
            return
        # The embedder behind the cache: every text here is new, and the cache would hold a second copy of its row.
        rows = self.encoder.embedder.encode(fresh)
        self.done, self.width = len(self.texts), rows.shape[1]
        self.parts.append(np.asarray(rows if self.width <= _WIDEST else self._hashed(rows), dtype=np.float32))

    def _hashed(self, rows: Floats) -> Floats:
        if self.hash is None:
            rng = generator(0, stream=Stream.STUDY)
            columns, signs = rng.integers(_WIDEST, size=self.width), rng.choice([-1.0, 1.0], size=self.width)
            self.hash = sparse.csr_array(
                (signs, (np.arange(self.width), columns)), shape=(self.width, _WIDEST), dtype=np.float64
            )
        return np.asarray((sparse.csr_array(rows) @ self.hash).toarray())


def principal_components(rows: NDArray[Any], weights: Any, components: int) -> tuple[Floats, Floats]:
    """Principal components of weighted rows from their covariance: coordinates [m, q] and shares of the variance [q].

    The component of each axis that is largest in size is made positive, so that a map never turns over by chance.

    rows: [m, d]; weights: [m] how often each row counts; q: at most d.

    >>> places, shares = principal_components(np.array([[0.0, 1.0], [2.0, 1.0]]), [1, 1], 2)
    >>> places[:, 0].tolist(), shares.tolist()
    ([-1.0, 1.0], [1.0, 0.0])
    """
    w = np.asarray(weights, dtype=np.float64) / np.sum(weights)
    mean = w @ rows
    covariance = (rows.T * w) @ rows - np.outer(mean, mean)
    values, axes = np.linalg.eigh(covariance)
    q = min(components, len(values))
    values, axes = np.maximum(values[::-1][:q], 0), axes[:, ::-1][:, :q]
    axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(q)])
    total = float(np.trace(covariance))
    if total <= 1e-12:  # below float32's rounding of unit rows: all texts are one
        return np.zeros((len(rows), q)), np.zeros(q)
    return rows @ axes - mean @ axes, values / total
