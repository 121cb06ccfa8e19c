"""The trap finder: descent from many starts, exact leave probabilities, dwell times predicted and measured."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maskov.basins.descent import Descent, descend
from maskov.basins.escape import Escape, EscapePoint, ball_exits, escape_line, first_exits, mean_dwell, mean_escape
from maskov.basins.margin import Hold, hold
from maskov.basins.token_counts_scan import allowed
from maskov.basins.traps_result import BallEscape, Leave, Trap, TrapsResult
from maskov.errors import InputError
from maskov.glauber.chains import check_temperatures
from maskov.glauber.run import encode_starts
from maskov.protocols import Conditionals, State
from maskov.quantities import Bound, Exact
from maskov.randomness import generator

# The longest watch of a replica: 64 of them take a second or two per trap, since no model is asked.
STEPS = 100_000
# The sweep has eight times as many cells, and points with fewer than 30 exits are not used anyway.
_SWEEP_POINTS, _SWEEP_STEPS = 8, 20_000
# Escape from a ball asks the model: fewer replicas, a shorter watch.
_BALL_REPLICAS, _BALL_SWEEPS = 8, 20
_RADIUS = 0.1

Move = Callable[[int, int], None]


def find_traps(
    model: Any,
    texts: Sequence[Any] | None = None,
    *,
    temperatures: float | Sequence[float] = (0.2, 0.5, 1.0),
    replicas: int = 64,
    seed: int = 0,
    limit: int = 10,
    starts: int = 32,
    steps: int = STEPS,
    clamp: str | None = None,
    progress: Move | None = None,
) -> TrapsResult:
    """States that a cold chain rarely leaves: descended to from many starts, with how long they hold and why.

    A *perfect trap* has every margin m_i > 0. It is left with probability (1/n) Σ_i (1 − p_{i,τ}(x_i | x_{-i})) per
    step, exactly, at every τ from one set of logits, so it holds for 1/that on average; the uniform-margin bound
    q/(1 + q), q = (V − 1) e^{−m/τ} with m = min m_i, stands beside it. The measured dwell is of chains run from it.
    An *approximate trap* is an end of descent with some m_i ≤ 0 which chains at the coldest temperature still keep
    within a tenth of the sites for ten sweeps on average.

    model: a ``TextModel``; texts: default the bundled texts of a catalogue model, random states of a law; temperatures:
    > 0; replicas: chains per measurement; limit: traps listed; starts: descents, from the texts first, then from their
    shuffles; steps: longest watch; progress takes (done, total). Raises ``InputError``.

    >>> from maskov.models import load
    >>> found = find_traps(load("law:curie-weiss?sites=6&beta=2"), temperatures=[0.5], starts=8)
    >>> sorted(t.text for t in found.traps), round(found.traps[0].leave[0].predicted_dwell.value, 1)
    (['000000', '111111'], 786.8)
    """
    tau = check_temperatures(temperatures)
    _check(model, replicas, limit, starts, steps)
    states, total = choose_starts(model, texts, starts, clamp, seed), starts + limit
    found = descend(model, states, seed=seed, progress=_upto(progress, total))
    ends = _distinct(model, states, found, tau)
    ends.sort(key=lambda end: (not end.perfect, end.hold.leave_probability[int(np.argmin(tau)), 0], -end.basin))
    measure = _Measure(model, tau, replicas, seed, steps)
    traps: list[Trap] = []
    escapes: list[Escape] = []
    for end in ends:
        if len(traps) == limit:
            break
        trap = measure.trap(end, len(traps))
        if trap is not None:
            escapes.append(measure.escape(end, len(traps)))
            traps.append(trap)
        if progress is not None:
            progress(starts + len(traps), total)
    perfect = sum(end.perfect for end in ends)
    unsettled = int((~found.settled).sum())
    return TrapsResult(tuple(traps), tuple(escapes), len(states), unsettled, perfect, replicas, steps)


def _upto(progress: Move | None, total: int) -> Move | None:
    return None if progress is None else lambda done, _: progress(done, total)


def _check(model: Any, replicas: int, limit: int, starts: int, steps: int) -> None:
    if not (isinstance(model, Conditionals) and hasattr(model, "decode")):
        raise InputError(
            "model",
            expected="a model with conditionals that decodes states",
            came=getattr(model, "name", type(model).__name__),
            remedy='load laws as maskov.load("law:…"); causal models have no traps of this chain',
        )
    for what, value in (("replicas", replicas), ("limit", limit), ("starts", starts), ("steps", steps)):
        if value < 1:
            raise InputError(what, expected="at least 1", came=str(value))


def choose_starts(model: Any, texts: Sequence[Any] | None, count: int, clamp: str | None, seed: int) -> list[State]:
    """``count`` states: the texts (evenly spread where there are more), then their shuffles; of a law random states.

    Raises ``InputError`` where a network has no texts.
    """
    rng = generator(seed, stream=STARTS)
    n = getattr(model, "n_sites", None)
    if texts is None and n is not None:
        return [State(rng.integers(model.vocabulary_size, size=n), np.arange(n)) for _ in range(count)]
    given, _ = encode_starts(model, own_texts(model) if texts is None else texts, clamp)
    if len(given) > count:
        given = [given[k * len(given) // count] for k in range(count)]
    shuffles = [_shuffled(given[k % len(given)], rng) for k in range(count - len(given))]
    return given + shuffles


# A stream number beside those of ``Stream``: descents use STUDY with the chain numbers of their own.
STARTS = 17


def own_texts(model: Any) -> Sequence[Any]:
    """The bundled texts of a catalogue model; ``InputError`` for another."""
    from maskov.texts import bundled_texts

    found = bundled_texts(str(getattr(model, "name", "")))
    if found is None:
        raise InputError("texts", expected="texts to start from", came="none", remedy="pass texts (--texts FILE)")
    return found


def _shuffled(state: State, rng: np.random.Generator) -> State:
    tokens = state.tokens.copy()
    tokens[state.free] = rng.permutation(tokens[state.free])
    return State(tokens, state.free)


class _End(NamedTuple):
    """A distinct end of descent. hold: at the temperatures asked for, then at those of the escape sweep."""

    state: State
    settled: bool
    perfect: bool
    basin: int
    start: str
    hold: Hold


def _distinct(model: Any, starts: Sequence[State], found: Descent, tau: Sequence[float]) -> list[_End]:
    """The ends of descent, each once, with margins and leave probabilities from one set of logits."""
    groups: dict[tuple[bytes, bytes], list[int]] = {}
    for k, end in enumerate(found.states):
        groups.setdefault((end.tokens.tobytes(), end.free.tobytes()), []).append(k)
    ends = []
    for members in groups.values():
        first = members[0]
        state = found.states[first]
        own = hold(model, state.tokens[None], state.free, [*tau, *sweep_temperatures(tau)])
        start = model.decode(starts[first].tokens)
        ends.append(_End(state, bool(found.settled[first]), bool(own.perfect[0]), len(members), start, own))
    return ends


def sweep_temperatures(tau: Sequence[float]) -> NDArray[np.float64]:
    """Temperatures of the escape sweep: from half to twice the coldest one asked for, evenly in the logarithm."""
    return np.geomspace(min(tau) / 2, min(tau) * 2, _SWEEP_POINTS)


class _Measure(NamedTuple):
    """How replicas are run. Trap k has chain numbers of its own, so that measurements are independent."""

    model: Any
    tau: list[float]
    replicas: int
    seed: int
    steps: int

    def trap(self, end: _End, k: int) -> Trap | None:
        """The trap's numbers; None for an end of descent that holds neither its tokens nor its ball."""
        ball = () if end.perfect else self._ball(end, k)
        if not end.perfect and not self._holds(ball, len(end.state.free)):
            return None
        own = end.hold
        return Trap(
            text=self.model.decode(end.state.tokens),
            perfect=end.perfect,
            min_margin=Exact(float(own.min_margin[0]) + 0.0),  # no −0 of a tie
            margins=tuple(own.margins[0].tolist()),
            sites=len(end.state.free),
            basin=end.basin,
            start=end.start,
            leave=self._leaves(own, self._ids(k, 0)),
            ball=ball,
        )

    def _leaves(self, own: Hold, ids: NDArray[np.int64]) -> tuple[Leave, ...]:
        K, margin = len(self.tau), float(own.min_margin[0])
        exits = first_exits(1 - own.leave[:K, 0], ids, self.seed, self.steps)
        return tuple(
            Leave(
                temperature=t,
                probability=Exact(p),
                bound=uniform_margin_bound(margin, t, len(allowed(self.model))),
                predicted_dwell=Exact(1 / p if p > 0 else math.inf),
                measured_dwell=mean_dwell(exits.times[j], exits.observed[j]),
                exits=int(exits.exits[j]),
                exposure=int(exits.exposure[j]),
            )
            for j, (t, p) in enumerate(zip(self.tau, own.leave_probability[:K, 0].tolist(), strict=True))
        )

    def escape(self, end: _End, k: int) -> Escape:
        """Mean escape times over the sweep, each temperature on chains of its own, and their line."""
        K, points = len(self.tau), []
        p, stay = end.hold.leave_probability[K:, 0], 1 - end.hold.leave[K:, 0]
        for j, t in enumerate(end.hold.temperatures[K:].tolist()):
            exits = first_exits(stay[j : j + 1], self._ids(k, 1 + j), self.seed, min(self.steps, _SWEEP_STEPS))
            measured = mean_dwell(exits.times[0], exits.observed[0])
            points.append(EscapePoint(t, 1 / t, float(1 / p[j]) if p[j] > 0 else math.inf, measured))
        return escape_line(k, float(end.hold.min_margin[0]), points)

    def _ids(self, k: int, block: int) -> NDArray[np.int64]:
        blocks = 2 + _SWEEP_POINTS
        return (k * blocks + block) * self.replicas + np.arange(self.replicas, dtype=np.int64)

    def _ball(self, end: _End, k: int) -> tuple[BallEscape, ...]:
        n, out = len(end.state.free), []
        radius, R = math.ceil(_RADIUS * n - 1e-9), min(_BALL_REPLICAS, self.replicas)
        horizon = min(self.steps, _BALL_SWEEPS * n)
        for t in self.tau:
            ids = self._ids(k, 1 + _SWEEP_POINTS)[:R]
            exits = ball_exits(self.model, end.state, t, radius, ids, self.seed, horizon)
            mean = mean_escape(exits.times, exits.observed)
            out.append(BallEscape(t, radius, mean, int(exits.exits), int(exits.exposure)))
        return tuple(out)

    def _holds(self, ball: Sequence[BallEscape], n: int) -> bool:
        """Half of the longest watch on average at the coldest temperature."""
        coldest = min(ball, key=lambda b: b.temperature)
        return coldest.exposure >= max(1, coldest.exits) * min(self.steps, _BALL_SWEEPS * n) / 2


def uniform_margin_bound(margin: float, temperature: float, tokens: int) -> Bound:
    """leave ≤ q/(1 + q), q = (V − 1) e^{−m/τ}: every site keeps its token with at least 1/(1 + q). V: allowed tokens.

    >>> round(uniform_margin_bound(2.0, 1.0, 2).value, 4)
    0.1192
    """
    with np.errstate(over="ignore"):
        q = (tokens - 1) * float(np.exp(-margin / temperature))
    return Bound(q / (1 + q) if math.isfinite(q) else 1.0, side="upper")
