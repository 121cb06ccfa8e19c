"""The laws of joint laws and of mask schedules: everything adds up."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, logsumexp

from maskov.conformance.samplers import check_frequencies
from maskov.conformance.verdict import Conformance, GoodnessOfFit, held, log_gap
from maskov.errors import ConformanceError, InputError
from maskov.protocols import JointLaw, MaskSchedule, Tokens

_MOST = 4096


def check_joint_law(law: JointLaw, tolerance: float = 1e-9, seed: int = 0) -> dict[str, Conformance]:
    """Probabilities sum to 1, marginals are sums of the joint, conditionals and predictions are ratios; by enumeration.

    law: at most 4096 states; all visible sets for n ≤ 5, else 24 random ones. Deviations in nats. Rows are held to
    the joint where the law has ``logits`` and ``predict``. Raises ``ConformanceError`` with the first broken law.

    >>> from maskov.laws import law
    >>> sorted(check_joint_law(law("potts?sites=3&symbols=3&beta=1")))
    ['conditionals', 'marginals', 'mass', 'predictions']
    """
    states = _all_states(law)
    log_p = np.asarray(law.log_prob(states), dtype=np.float64)
    if np.isnan(log_p).any():
        raise ConformanceError("probabilities are numbers", expected="log p(x) ≤ 0", came="NaN")
    mass = abs(float(np.exp(log_p).sum()) - 1)
    checks = {"mass": held("probabilities sum to 1", mass, tolerance, len(states), "subtract the log-normaliser")}
    sets = _visible_sets(law.n_sites, np.random.default_rng(seed))
    sums = {tuple(S): _summed(states, log_p, S) for S in sets}
    checks["marginals"] = _marginals(law, states, sums, tolerance)
    if hasattr(law, "logits"):
        checks["conditionals"] = _conditionals(law, states, log_p, tolerance)
    if hasattr(law, "predict"):
        checks["predictions"] = _predictions(law, states, log_p, sets, tolerance)
    return checks


def _all_states(law: JointLaw) -> Tokens:
    V, n = law.vocabulary_size, law.n_sites
    if n * np.log2(V) > 12:
        raise InputError(
            "law", expected=f"at most {_MOST} states to enumerate", came=f"{V}^{n}", remedy="take fewer sites"
        )
    return np.array(list(itertools.product(range(V), repeat=n)), dtype=np.int64)


def _visible_sets(n: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    if n <= 5:
        return np.array(list(itertools.product([False, True], repeat=n)))
    return np.concatenate([np.zeros((1, n), bool), np.ones((1, n), bool), rng.random((24, n)) < rng.random((24, 1))])


def _summed(states: Tokens, log_p: NDArray[np.float64], visible: NDArray[np.bool_]) -> NDArray[np.float64]:
    """log of the sum of p over all states that agree with each state on the visible sites: [V^n]."""
    if not visible.any():
        return np.full(len(states), logsumexp(log_p))
    group = np.unique(states[:, visible], axis=0, return_inverse=True)[1].ravel()
    top = np.full(group.max() + 1, -np.inf)
    np.maximum.at(top, group, log_p)
    scale = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray((np.log(np.bincount(group, weights=np.exp(log_p - scale[group]))) + scale)[group])


def _marginals(
    law: JointLaw, states: Tokens, sums: dict[tuple[bool, ...], NDArray[np.float64]], tolerance: float
) -> Conformance:
    worst = 0.0
    for S, expected in sums.items():
        visible = np.broadcast_to(np.array(S), states.shape)
        worst = max(worst, log_gap(expected, law.log_marginal(states, visible)))
    name, remedy = "marginals are sums of the joint law", "hold log_marginal against log_prob by enumeration"
    return held(name, worst, tolerance, len(sums) * len(states), remedy)


def _agree(rows: NDArray[np.float64], expected: NDArray[np.float64]) -> float:
    """Largest difference of normalised rows, over contexts that have probability."""
    possible = expected.max(axis=1) > -np.inf
    if np.isnan(rows).any() or (rows[possible].max(axis=1) == -np.inf).any():
        return float("inf")
    return log_gap(log_softmax(rows[possible], axis=1), log_softmax(expected[possible], axis=1))


def _substituted(states: Tokens, site: int, V: int) -> Tokens:
    """Number of the state with x_site = v, for every v: [V^n, V]."""
    stride = V ** (states.shape[1] - 1 - site)
    rest = np.arange(len(states)) - states[:, site] * stride
    return np.asarray(rest[:, None] + np.arange(V) * stride)


def _conditionals(law: JointLaw, states: Tokens, log_p: NDArray[np.float64], tolerance: float) -> Conformance:
    worst = 0.0
    for i in range(law.n_sites):
        rows = np.asarray(law.logits(states, np.full(len(states), i)), dtype=np.float64)  # type: ignore[attr-defined]
        worst = max(worst, _agree(rows, log_p[_substituted(states, i, law.vocabulary_size)]))
    name, remedy = "conditionals are ratios of the joint law", "derive logits from log_prob with x_i replaced"
    return held(name, worst, tolerance, law.n_sites * len(states), remedy)


def _predictions(
    law: JointLaw, states: Tokens, log_p: NDArray[np.float64], sets: NDArray[np.bool_], tolerance: float
) -> Conformance:
    worst, checked = 0.0, 0
    for k, S in enumerate(sets):
        if S.all():
            continue
        site = int(np.flatnonzero(~S)[k % int((~S).sum())])
        sums = _summed(states, log_p, S | (np.arange(law.n_sites) == site))
        hidden = np.broadcast_to(~S, states.shape)
        rows = law.predict(states, hidden, np.full(len(states), site))  # type: ignore[attr-defined]
        expected = sums[_substituted(states, site, law.vocabulary_size)]
        worst, checked = max(worst, _agree(np.asarray(rows, dtype=np.float64), expected)), checked + len(states)
    name, remedy = "predictions are ratios of marginals", "derive predict from log_marginal"
    return held(name, worst, tolerance, checked, remedy)


def check_law_samples(law: JointLaw, size: int = 20_000, seed: int = 0, level: float = 1e-4) -> GoodnessOfFit:
    """Independent draws follow the law (chi-square over its states, at most 4096). Raises ``ConformanceError``."""
    states = _all_states(law)
    x = np.asarray(law.sample(np.random.default_rng(seed), size))
    if x.shape != (size, law.n_sites) or x.min() < 0 or x.max() >= law.vocabulary_size:
        raise ConformanceError(
            "samples are states", expected=f"[{size}, {law.n_sites}] in 0 … V − 1", came=f"{x.shape}"
        )
    powers = law.vocabulary_size ** np.arange(law.n_sites - 1, -1, -1)
    return check_frequencies(np.bincount(x @ powers, minlength=len(states)), np.exp(law.log_prob(states)), level)


def check_schedule(
    schedule: MaskSchedule, length: int, size: int = 40_000, seed: int = 0, level: float = 1e-4, uniform: bool = False
) -> GoodnessOfFit:
    """The visible law is a law on 0 … N that sums to 1, and sampled sets follow it (chi-square on |S|).

    size: draws, bool [size, N] at once; 40,000 tell apart rates that differ by 3 %; uniform: also that every site is
    visible equally often, as it is when S is uniform given its size. Raises ``ConformanceError`` that names the law.
    """
    law = np.asarray(schedule.visible_law(length), dtype=np.float64)
    if law.shape != (length + 1,) or not (law >= 0).all():
        raise ConformanceError("the visible law is a law", expected=f"[{length + 1}] numbers ≥ 0", came=f"{law.shape}")
    held("the visible law sums to 1", abs(float(law.sum()) - 1), 1e-9, length + 1, "normalise it")
    S = np.asarray(schedule.sample_visible(length, size, np.random.default_rng(seed)))
    if S.shape != (size, length) or S.dtype != np.bool_:
        raise ConformanceError(
            "samples are visible sets", expected=f"bool [{size}, {length}]", came=f"{S.dtype} {S.shape}"
        )
    if uniform and S.any():
        # Site counts of uniform sets vary at most as independent draws do: the test errs on the side of accepting.
        check_frequencies(S.sum(axis=0), np.full(length, 1 / length), level)
    return check_frequencies(np.bincount(S.sum(axis=1), minlength=length + 1), law, level)
