"""Run chains: from texts and temperatures to a trace, resumable at any moment."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from maskov.errors import InputError, Interrupted, StoreError
from maskov.glauber.block import run_block_chunk
from maskov.glauber.block_refill import choose_refill, make_refill
from maskov.glauber.chains import Chains, arrange, check_temperatures
from maskov.glauber.engine import Chunk, run_chunk
from maskov.glauber.lazy import ENGINES
from maskov.glauber.manifest import Manifest, versions
from maskov.glauber.scan import SINGLE, SYSTEMATIC, Scan, block_scan, read_scan
from maskov.glauber.store import Store, create, open_store, start_crc, writing
from maskov.glauber.trace import Trace
from maskov.models.cost import row_seconds
from maskov.place import Place, place_of
from maskov.protocols import State, Tokens
from maskov.schedules import Schedule


class Progress(NamedTuple):
    """How far a run is: steps done and wanted (of every chain); site updates (their mean, where a step draws several)
    and model rows evaluated by this call."""

    step: int
    steps: int
    updates: int
    forwards: int


# A chunk is worth about four nominal seconds: an interrupt waits no longer than that, and storing it costs little. Its
# steps are bounded, since the plain loop keeps a row per step that changed something.
_CHUNK_SECONDS, _FEWEST_UPDATES, _MOST_STEPS_IN_CHUNK, _MOST_CHUNKS = 4.0, 32, 65536, 1000
_MOST_STEPS = 2**53


def glauber(
    model: Any,
    starts: Sequence[Any] | None = None,
    *,
    temperature: float | Sequence[float] = 1.0,
    steps: int | None = None,
    sweeps: float | None = None,
    seed: int = 0,
    chains: int | None = None,
    out: str | os.PathLike[str] | None = None,
    clamp: str | None = None,
    resume: bool = False,
    window: int | None = None,
    chunk_steps: int | None = None,
    command: str = "",
    progress: Callable[[Progress], None] | None = None,
    engine: str = "auto",
    scan: str | Schedule = SINGLE,
    refill: str = "auto",
) -> Trace:
    """Single-site Glauber dynamics with uniform random sites, all temperatures in one batch.

    P(x, y) = (1/n) p_{i,τ}(y_i | x_{-i}), p_{i,τ} = softmax(s_i/τ) (arXiv 2605.16378). The draws of chain c at step t
    are a function of (seed, c, t): batch, chunking and resuming do not change a trajectory.

    model: a ``TextModel``, or any ``Conditionals`` when ``starts`` are ``State`` values; starts: texts, ``State``
    values or None (a law's all-zero state); temperature: one or several, > 0; steps or sweeps: length of every chain (a
    sweep is the largest n of the starts); chains: per temperature, default one per start; out: path or fsspec URL of a
    new store, None for memory; clamp: free sites to hold, numbered from 1 ("3-10,15"); resume: continue ``out`` if it
    exists; window: steps per entry of a series; engine: "lazy" remembers what it has evaluated and skips waiting times,
    "plain" evaluates every step, "auto" chooses; the trajectory is the same; scan: "single" (a random site),
    "systematic" (the free sites in order), or a mask schedule, whose hidden sites are resampled as a block
    (``block_glauber`` tells of it and of refill). Raises ``InputError`` on unusable input, ``Interrupted`` after
    Ctrl-C, ``RunError`` on a full disk.

    >>> from maskov.laws import law
    >>> trace = glauber(law("curie-weiss?sites=6&beta=0.5"), [State(np.zeros(6, int), np.arange(6))], steps=20)
    >>> trace.steps, trace.state(0, 20).shape
    (20, (6,))
    """
    temperatures = check_temperatures(temperature)
    _check_engine(engine)
    states, labels = encode_starts(model, starts, clamp)
    arranged = arrange(states, temperatures, chains)
    sites = int(arranged.n_sites.max())
    order = _check_scan(model, scan, refill, engine)
    updates = order.updates_per_step(sites)
    total = _total_steps(steps, sweeps, order.steps_per_sweep(sites))
    window = window or max(1, round(-(-sites // 4) / updates))
    manifest = Manifest(
        steps=total,
        seed=_check_seed(seed),
        window=window,
        chunk_steps=chunk_steps or _chunk_steps(model, arranged, total, window, updates),
        temperatures=tuple(temperatures),
        chains=arranged.count // len(temperatures),
        model=_model_identity(model),
        texts=tuple(labels),
        start_crc=start_crc(arranged),
        versions=versions(),
        command=command,
        scan=order.text,
    )
    if manifest.chunk_steps % window:
        raise InputError("chunk_steps", expected=f"a multiple of window = {window}", came=str(manifest.chunk_steps))
    place = None if out is None else place_of(out)
    with writing(place, resume) as there:
        store = _continue(place, manifest) if there and place is not None else create(place, arranged, manifest)
        advance(model, store, arranged, total, progress, engine)
    return Trace(store)


def _continue(place: Place, manifest: Manifest) -> Store:
    store = open_store(place)
    old, new = store.manifest.identity(), manifest.identity()
    for key, value in old.items():
        if value != new[key]:
            raise StoreError(
                str(place),
                expected=f"the run's own {key} ({value})",
                came=str(new[key]),
                remedy="resume with the same model, texts, temperatures, chains, seed and scan, or choose another out",
            )
    if manifest.steps > store.manifest.complete_steps:
        store.extend(manifest.steps)
    return store


def advance(
    model: Any,
    store: Store,
    chains: Chains,
    steps: int,
    progress: Callable[[Progress], None] | None = None,
    engine: str = "auto",
) -> None:
    """Run the chunks that a store lacks up to ``steps``.

    Ctrl-C or SIGTERM finishes the chunk and raises ``Interrupted``.
    """
    states = Trace(store)._boundary(len(store.manifest.chunks)).copy()
    done = first = store.manifest.complete_steps
    order, forwards = read_scan(store.manifest.scan), 0
    run, updates = _runner(model, order, engine), order.updates_per_step(int(chains.n_sites.max()))
    with _interrupts() as stopped:
        while done < steps:
            stop = min(steps, done - done % store.manifest.chunk_steps + store.manifest.chunk_steps)
            chunk = run(chains, states, store.manifest.seed, done, stop, store.manifest.window)
            store.append(chunk)
            states, done, forwards = chunk.states, stop, forwards + chunk.forwards
            if progress is not None:
                progress(Progress(done, steps, round((done - first) * chains.count * updates), forwards))
            if stopped.is_set() and done < steps:
                raise Interrupted(
                    done,
                    f"{store.manifest.command} --resume"
                    if store.manifest.command
                    else "the same call with resume=True",
                )


def _runner(model: Any, scan: Scan, engine: str) -> Callable[[Chains, Tokens, int, int, int, int], Chunk]:
    """A function (chains, states, seed, start, stop, window) of one scan that runs a chunk."""
    if scan.schedule is not None:
        schedule, refill = scan.schedule, make_refill(model, scan.refill)
        return lambda *a: run_block_chunk(model, a[0], a[1], a[2], a[3], a[4], a[5], schedule, refill)
    loop, in_order = ENGINES[engine](model), scan.order == SYSTEMATIC
    return lambda *a: run_chunk(model, a[0], a[1], a[2], a[3], a[4], a[5], loop, in_order)


@contextmanager
def _interrupts() -> Iterator[threading.Event]:
    """An event that the first SIGINT or SIGTERM sets; a second one stops at once (the store is safe all the same)."""
    stopped = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stopped
        return

    def note(number: int, frame: Any) -> None:
        if stopped.is_set():
            raise KeyboardInterrupt
        stopped.set()

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopped
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def encode_starts(
    model: Any, starts: Sequence[Any] | None, clamp: str | None = None
) -> tuple[list[State], list[dict[str, Any]]]:
    """States and labels (``topic``, ``name``) of texts, text records or states; ``None`` is a law's all-zero state."""
    if starts is None:
        starts = [_zero_state(model)]
    if isinstance(starts, (str, State)):
        starts = [starts]
    if not starts:
        raise InputError("texts", expected="at least one", came="none")
    pairs = [_encode_numbered(model, k, start, clamp) for k, start in enumerate(starts, 1)]
    return [state for state, _ in pairs], [label for _, label in pairs]


def _encode_numbered(model: Any, number: int, start: Any, clamp: str | None) -> tuple[State, dict[str, Any]]:
    """One start; an error names which text it is about."""
    try:
        return _encode_one(model, start, clamp)
    except InputError as error:
        what = f"{error.what}, text {number}"
        raise InputError(what, expected=error.expected, came=error.came, remedy=error.remedy) from error


def _encode_one(model: Any, start: Any, clamp: str | None) -> tuple[State, dict[str, Any]]:
    if isinstance(start, State):
        state, label = start, {}
    else:
        text = start if isinstance(start, str) else start.text
        state = model.encode(text)
        label = {key: value for key in ("topic", "name") if (value := getattr(start, key, None))}
        clamp = getattr(start, "clamp", None) or clamp
    if clamp:
        from maskov.models.sites import apply_clamp

        state = apply_clamp(state, clamp)
    return state, label


def _zero_state(model: Any) -> State:
    n = getattr(model, "n_sites", None)
    if n is None:
        raise InputError(
            "texts",
            expected="texts to start from",
            came="none",
            remedy="pass --texts FILE (only laws have a default start)",
        )
    return State(np.zeros(n, dtype=np.int64), np.arange(n, dtype=np.int64))


def _total_steps(steps: int | None, sweeps: float | None, steps_per_sweep: float) -> int:
    if (steps is None) == (sweeps is None):
        came = "both" if steps is not None else "neither"
        remedy = "pass --steps N or --sweeps N"
        raise InputError("length of the run", expected="either steps or sweeps", came=came, remedy=remedy)
    wanted = float(steps if steps is not None else sweeps * steps_per_sweep)  # type: ignore[operator]
    if not 0.5 <= wanted < _MOST_STEPS:  # false for NaN too
        came = f"{steps if steps is not None else sweeps}"
        raise InputError("length of the run", expected="1 to 2^53 steps", came=came)
    return round(wanted)


def _check_engine(engine: str) -> None:
    if engine not in ENGINES:
        raise InputError("engine", expected="one of " + ", ".join(ENGINES), came=repr(engine))


def _check_scan(model: Any, scan: str | Schedule, refill: str, engine: str) -> Scan:
    if isinstance(scan, str) and scan in (SINGLE, SYSTEMATIC):
        return Scan(scan)
    if engine != "auto":
        came = f"{engine} with a block scan"
        raise InputError("engine", expected="auto, the only one for blocks", came=came, remedy="leave it out")
    return block_scan(scan, choose_refill(model, refill))


def _check_seed(seed: int) -> int:
    if not 0 <= int(seed) < 2**64:
        raise InputError("seed", expected="0 … 2^64 − 1", came=str(seed))
    return int(seed)


def _chunk_steps(model: Any, chains: Chains, steps: int, window: int, updates_per_step: float) -> int:
    """A multiple of the window, so that no window spans two chunks; a function of the run alone, to be repeatable."""
    updates = _CHUNK_SECONDS / row_seconds(model, int(chains.lengths.max()))
    in_seconds = min(max(updates, _FEWEST_UPDATES) / chains.count / updates_per_step, _MOST_STEPS_IN_CHUNK)
    wanted = max(in_seconds, steps / _MOST_CHUNKS)
    return window * max(1, round(wanted / window))


def _model_identity(model: Any) -> dict[str, Any]:
    name = str(getattr(model, "name", type(model).__name__))
    return {
        "name": name,
        "fingerprint": str(getattr(model, "fingerprint", name)),
        "vocabulary_size": int(model.vocabulary_size),
    }
