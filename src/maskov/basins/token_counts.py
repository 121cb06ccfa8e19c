"""Token-count basins: which tokens, once they fill a text, keep filling it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from maskov.basins.token_counts_profile import Effort, Profile, enumerable, profile
from maskov.basins.token_counts_scan import Ranked, allowed, frame_of, rank_tokens
from maskov.basins.traps import own_texts
from maskov.errors import InputError
from maskov.glauber.chains import check_temperatures
from maskov.glauber.run import encode_starts, glauber
from maskov.protocols import Conditionals, State, Tokens
from maskov.randomness import generator
from maskov.results import Result

_REST_STATES, _REST_SWEEPS = 12, 4


@dataclass(frozen=True)
class TokensResult(Result):
    """The strongest token-count basins. ranking: by p(a | every other site holds a), strongest first; profiles: of
    those among them whose state of a alone is left most rarely; sites: n; site: number of the masked free site, from 1;
    scanned: tokens looked at.
    """

    command = "tokens"

    temperature: float
    sites: int
    site: int
    scanned: int
    ranking: tuple[Ranked, ...]
    profiles: tuple[Profile, ...]

    def _lines(self) -> list[tuple[str, str]]:
        head = [("τ", f"{self.temperature:g}"), ("sites", str(self.sites)), ("tokens scanned", str(self.scanned))]
        rows = [(repr(r.text), _rank_line(r)) for r in self.ranking]
        return head + rows + [(f"basin {p.text!r}", _profile_line(p)) for p in self.profiles]


def _rank_line(r: Ranked) -> str:
    one = f"p = {r.probability.value:.6g}, margin {r.logit_margin.value:.4g} nats"
    return f"{one}; full of it, a step leaves with {r.leave.value:.3g}"


def _profile_line(p: Profile) -> str:
    seen = f"{p.measured_escape.value:.4g} ± {p.measured_escape.stderr:.2g}" if p.measured_escape else "none"
    return (
        f"counts {p.window[0]} … {p.window[1]}: mean escape at least {p.certificate.value:.4g} steps "
        f"({'certificate' if p.certificate.__class__.__name__ == 'Bound' else 'empirical'}), "
        f"measured {seen} ({p.escaped} of {p.replicas} left in {p.horizon} steps)"
    )


def token_basins(
    model: Any,
    texts: Sequence[Any] | None = None,
    *,
    temperature: float = 1.0,
    sites: int = 16,
    top: int = 10,
    profiles: int = 3,
    replicas: int = 64,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> TokensResult:
    """Scan the vocabulary for tokens that hold a text full of themselves, and certify how long.

    N_a(x): number of free sites with token a. Where N_a = k it grows with up = (1/n) Σ_{i: x_i ≠ a} p_i(a | x_{-i})
    per step and shrinks with down = (1/n) Σ_{i: x_i = a} (1 − p_i(a | x_{-i})). The birth–death chain of u_k = min up
    and d_k = max down leaves a window [k0, n] no later, on average, than the chain itself: a certificate where the
    minima are over all states (laws of up to 2^20/n states), an empirical one where they are over samples.

    model: a ``TextModel``; texts: for the special tokens around a text and for the tokens at other sites, default the
    bundled ones (a law: none); sites: n, a law's own; top: tokens listed; profiles: how many of them are followed;
    replicas: chains of the measured escape; progress takes (done, total). Raises ``InputError``.

    >>> from maskov.models import load
    >>> found = token_basins(load("law:curie-weiss?sites=8&beta=1.5"), profiles=1, replicas=4)
    >>> found.ranking[0].text, found.profiles[0].window, round(found.profiles[0].certificate.value, 1)
    ('0', (5, 8), 112.0)
    """
    tau = check_temperatures(temperature)[0]
    _check(model, top, profiles, replicas)
    given = _given(model, texts)
    n = int(getattr(model, "n_sites", None) or sites)
    frame = frame_of(given[0], n)
    scanned, total = len(allowed(model)), len(allowed(model)) + profiles * 1000
    ranking = rank_tokens(model, frame, tau, top, None if progress is None else lambda done: progress(done, total))
    wanted = sorted(ranking, key=lambda r: r.leave.value)[:profiles]
    rest = _rest(model, given, frame, tau, seed) if wanted and not enumerable(model, n) else np.empty((0, n), dtype=int)
    found = []
    for k, ranked in enumerate(wanted):
        found.append(profile(model, frame, ranked, rest, tau, seed, Effort(replicas=replicas)))
        if progress is not None:
            progress(scanned + (k + 1) * 1000, total)
    return TokensResult(tau, n, n // 2 + 1, scanned, tuple(ranking), tuple(found))


def _check(model: Any, top: int, profiles: int, replicas: int) -> None:
    if not (isinstance(model, Conditionals) and hasattr(model, "token_text")):
        came = getattr(model, "name", type(model).__name__)
        raise InputError("model", expected="a model with conditionals that writes tokens", came=came)
    for what, value, least in (("top", top, 1), ("profiles", profiles, 0), ("replicas", replicas, 1)):
        if value < least:
            raise InputError(what, expected=f"at least {least}", came=str(value))


def _given(model: Any, texts: Sequence[Any] | None) -> list[State]:
    if texts is None and getattr(model, "n_sites", None) is None:
        texts = own_texts(model)
    return encode_starts(model, texts)[0]


def _rest(model: Any, given: Sequence[State], frame: State, temperature: float, seed: int) -> Tokens:
    """What stands at the sites without a: windows of the texts, and where chains from them are: int64 [m, n]."""
    rng, n = generator(seed), len(frame.free)
    if getattr(model, "n_sites", None) is not None and len(given) == 1:
        windows = rng.integers(model.vocabulary_size, size=(_REST_STATES, n))
    else:
        windows = np.stack([_window(given[k * len(given) // _REST_STATES], n, rng) for k in range(_REST_STATES)])
    starts = np.tile(frame.tokens, (len(windows), 1))
    starts[:, frame.free] = windows
    states = [State(x, frame.free) for x in starts]
    trace = glauber(model, states, temperature=temperature, sweeps=_REST_SWEEPS, seed=seed)
    late = np.stack(trace.states_at(trace.steps))[:, frame.free]
    # By turns, so that every count gets as many of the one as of the other.
    return np.stack([windows, late], axis=1).reshape(-1, n)


def _window(state: State, n: int, rng: np.random.Generator) -> Tokens:
    body = state.tokens[state.free]
    if len(body) < n:
        return np.resize(body, n)
    first = int(rng.integers(len(body) - n + 1))
    return np.asarray(body[first : first + n])
