"""Every law that applies to a model, in one call: what runs when an architecture is loaded for the first time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from maskov.conformance.rows import (
    EXACT,
    check_batch_independent,
    check_ignores_hidden,
    check_ignores_own_token,
    check_no_forbidden_mass,
    check_normalised,
    check_padding_independent,
    check_predict_matches_logits,
    check_rows,
    check_scores_ignore_own_token,
    check_scores_match_logits,
)
from maskov.conformance.verdict import Conformance
from maskov.errors import ConformanceError, InputError
from maskov.protocols import State, Tokens


def check_model(
    model: Any,
    states: Tokens | Sequence[State],
    sites: Tokens | None = None,
    tolerance: float = EXACT,
    seed: int = 0,
) -> dict[str, Conformance]:
    """All laws that apply to this model, by name: what it may ignore, what it must not hold, that its views agree.

    states: int64 [B, L], or states of one length as ``encode`` gives them; sites: [B] columns to ask about, default
    random free ones. tolerance in nats: 1e-9 for exact laws, 1e-3 for float32 networks. A model without ``logits``
    (causal) is held to the law of scores only. Raises ``ConformanceError`` with the first law that is broken.

    >>> from maskov.laws import law
    >>> checks = check_model(law("ising-ring?sites=4&beta=0.5"), np.zeros((2, 4), dtype=np.int64))
    >>> max(check.deviation for check in checks.values()) < 1e-9
    True
    """
    x, i = _cases(states, sites, np.random.default_rng(seed))
    if not hasattr(model, "logits"):
        return {"own_token": check_scores_ignore_own_token(model, x, i, tolerance, seed)}
    rows = model.logits(x, i)
    checks = {
        "rows": check_rows(rows, model.vocabulary_size),
        "own_token": check_ignores_own_token(model, x, i, tolerance, seed=seed),
        "batch": check_batch_independent(model, x, i, tolerance),
        "padding": check_padding_independent(model, x, i, tolerance),
        "scores": check_scores_match_logits(model, x, i, tolerance * max(1.0, _size(rows)), seed=seed),
    }
    if getattr(model, "forbidden", None) is not None:
        checks["forbidden"] = check_no_forbidden_mass(model, model.forbidden, x, i)
    if hasattr(model, "log_conditionals"):
        checks["normalised"] = check_normalised(model.log_conditionals(x, i), tolerance)
    if hasattr(model, "predict"):
        checks["predict"] = check_predict_matches_logits(model, x, i, tolerance)
        checks |= _hidden(model, x, i, tolerance, seed)
    return checks


def _cases(states: Any, sites: Tokens | None, rng: np.random.Generator) -> tuple[Tokens, Tokens]:
    """States [B, L] and a site of each."""
    if len(states) == 0:
        raise InputError("states", expected="at least one", came="none")
    if not isinstance(states, np.ndarray):
        if len({len(state.tokens) for state in states}) > 1:
            raise InputError(
                "states", expected="states of one length", came="several", remedy="check each length by itself"
            )
        free = [rng.choice(state.free) for state in states]
        return np.stack([state.tokens for state in states]), np.array(free if sites is None else sites, dtype=np.int64)
    return states, rng.integers(states.shape[1], size=len(states)) if sites is None else np.asarray(sites)


def _hidden(model: Any, x: Tokens, i: Tokens, tolerance: float, seed: int) -> dict[str, Conformance]:
    """The law of hidden sites, every second requested column hidden; skipped where ``predict`` refuses."""
    hidden = np.zeros(x.shape, dtype=bool)
    hidden[:, np.unique(i)[::2]] = True
    hidden[np.arange(len(x)), i] = True
    try:
        return {"hidden": check_ignores_hidden(model, x, hidden, i, tolerance, seed)}
    except ConformanceError:
        raise
    except InputError:
        return {}


def _size(rows: Any) -> float:
    finite = np.asarray(rows, dtype=np.float64)
    return float(np.abs(finite[np.isfinite(finite)]).max(initial=0.0))
