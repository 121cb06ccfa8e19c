"""One call: what a mask schedule can identify of a law's mode weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskov.errors import InputError
from maskov.identifiability.against import default_against, far, read_against
from maskov.identifiability.bridge import count_log_gap, dense_log_gap, is_binary
from maskov.identifiability.discrepancy import (
    blindness_ratio,
    log_joint_discrepancy,
    log_kl_joint,
    log_kl_weights,
    log_token_discrepancy,
)
from maskov.identifiability.log_quantities import LogBound, LogEstimate, LogExact, LogQuantity
from maskov.identifiability.modulus import check_epsilons
from maskov.identifiability.pinning import Pinning, chernoff_information, fit_pinning
from maskov.identifiability.result import Identification
from maskov.identifiability.sandwich import sandwich, searchable
from maskov.identifiability.tensorization import searched_tensorization, witness_tensorization
from maskov.identifiability.views import View, log_estimate, mmse_curve, view
from maskov.laws import ProductMixture
from maskov.laws import law as parse_law
from maskov.schedules import Schedule
from maskov.schedules import schedule as parse_schedule

Floats = NDArray[np.float64]
EPSILONS = (1e-4, 1e-3, 1e-2, 1e-1)
SAMPLED = (
    "estimated by Rao-Blackwell Monte Carlo: each number has a standard error; "
    "the tensorization and the lower ends of the modulus estimate a lower bound"
)


def identify(
    law: Any,
    schedule: str | Schedule,
    against: float | Sequence[float] | None = None,
    epsilons: Sequence[float] | float = EPSILONS,
    seed: int = 0,
) -> Identification:
    """Decomposition, modulus, tensorisation and bridge of a law under a mask schedule.

    law: a law with modes (or its text form); against: λ, P(Z = 1) under q_λ for two modes, all K weights otherwise
    (default: the weight of the last mode moved by 0.05 towards 1/2); epsilons: excess losses in nats. Raises
    ``InputError``.

    >>> from maskov.laws import law
    >>> found = identify(law("product?sites=64&gap=0.3&weight=0.3"), "hide:1", against=0.5)
    >>> f"{found.blindness_ratio.value:.6e} {found.spectral_gap.value:.6e}"
    '3.877798e-08 2.864378e-08'
    """
    law, mu, levels = _read_law(law), parse_schedule(schedule), check_epsilons(epsilons)
    seen = view(law, mu, seed, far(against))
    return _without_modes(law, mu) if seen is None else _with_modes(law, mu, seen, against, levels, seed)


def _read_law(law: Any) -> Any:
    law = parse_law(law) if isinstance(law, str) else law
    if not hasattr(law, "log_marginal") and not hasattr(law, "log_table"):
        raise InputError(
            "law",
            expected="a joint law",
            came=getattr(law, "text", type(law).__name__),
            remedy="conditionals without a joint law have no mode weights",
        )
    return law


def _without_modes(law: Any, mu: Schedule) -> Identification:
    gap = dense_log_gap(law, mu)
    if gap is None:
        raise InputError(
            "law",
            expected="a mixture of modes, or at most 1100 states to enumerate",
            came=f"{_text(law)} without modes",
            remedy="use product?…, or take fewer sites",
        )
    return Identification(
        **_about(law, mu, law.n_sites, "enumeration"),
        spectral_gap=LogExact.of(gap),
        tensorization=LogBound.lower(-gap),
        warnings=("this law has no modes: discrepancy, modulus and blindness ratio need a mixture",),
    )


def _with_modes(
    law: Any, mu: Schedule, seen: View, against: Any, levels: tuple[float, ...], seed: int
) -> Identification:
    w, N = seen.weights, seen.experiments[0].n_sites
    b = default_against(w) if against is None else read_against(against, len(w))
    warnings = [] if seen.exact else [SAMPLED]
    if mu.weighted:
        warnings.append(
            "loss weights enter discrepancy and modulus; blindness ratio, gap and tensorization are of the sampling law"
        )
    rho = local_ratio(seen)
    gap = spectral_gap(law, mu, seen, rho, warnings)
    witness = _witness_tensorization(seen)
    searched = _searched_tensorization(law, mu)
    curve = mmse_curve(seen, curve_counts(N, mu, 4 if seen.how == "sampling" else 64), seed)
    return Identification(
        **_about(law, mu, N, seen.how),
        mode_weights=w.tolist(),
        against=b.tolist(),
        kl_weights=LogExact.of(log_kl_weights(w, b)),
        kl_joint=seen.log_quantity(lambda e: log_kl_joint(e, w, b)),
        discrepancy=seen.log_quantity(lambda e: log_joint_discrepancy(e, w, b)),
        discrepancy_tokens=seen.log_quantity(lambda e: log_token_discrepancy(e, w, b)),
        blindness_ratio=rho,
        spectral_gap=gap,
        tensorization=_best_tensorization(seen, rho, gap, witness, searched),
        tensorization_witness=witness,
        tensorization_searched=searched,
        mmse=tuple(curve),
        modulus=sandwich(law, mu, seen, levels),
        pinning=_pinning(curve),
        chernoff=_chernoff(law),
        warnings=tuple(warnings),
    )


def _about(law: Any, mu: Schedule, N: int, how: str) -> dict[str, Any]:
    """What every answer says about its law and schedule."""
    about = {"law": _text(law), "schedule": mu.text, "n_sites": N, "how": how}
    return {**about, "v_min": mu.v_min(N), "full_mask_mass": mu.full_mask_mass(N)}


def _text(law: Any) -> str:
    return str(getattr(law, "text", type(law).__name__))


def curve_counts(N: int, mu: Schedule, most: int = 64) -> NDArray[np.int64]:
    """Counts of the MMSE curve: all where N ≤ ``most``; else powers of two and the schedule's own smallest and mean
    count."""
    if most >= N:
        return np.arange(N + 1)
    powers = 2 ** np.arange(int(np.log2(N)) + 1)
    return np.unique(np.concatenate([[0], powers, [mu.v_min(N), round(mu.mean_visible(N)), N]])).astype(np.int64)


def local_ratio(seen: View) -> LogQuantity:
    """ρ_μ of the sampling law: exact, an estimate, or for K > 2 an upper bound where rounding hides the least
    eigenvalue."""
    found = blindness_ratio(seen.experiments[0].sampling())
    if seen.exact:
        return LogExact.of(found.log_ratio) if found.exact else LogBound.upper(found.log_ratio)
    return seen.log_quantity(lambda e: blindness_ratio(e.sampling()).log_ratio)


def spectral_gap(law: Any, mu: Schedule, seen: View, rho: LogQuantity, warnings: list[str]) -> LogQuantity | None:
    """The exact gap where a kernel is small enough, else an exact blindness ratio as its upper bound, else nothing; a
    warning says so."""
    monotone = getattr(law, "vocabulary_size", 0) == 2 and getattr(law, "beta", 0.0) >= 0
    count = (
        count_log_gap(seen.model, mu)
        if seen.model is not None and is_binary(seen.model) and mu.uniform_given_count
        else None
    )
    if count is not None and monotone:
        return LogExact.of(count)
    dense = dense_log_gap(law, mu) if hasattr(law, "vocabulary_size") else None
    if dense is not None:
        return LogExact.of(dense)
    if not seen.exact:
        warnings.append("spectral gap: not available where the law is sampled; it is at most the true blindness ratio")
        return None
    warnings.append("spectral gap: the kernel is too large or the gap too small for float64; an upper bound is given")
    return LogBound.upper(min(rho.log_value, count if count is not None else np.inf))


def _witness_tensorization(seen: View) -> LogQuantity:
    parts = [e.sampling() for e in (seen.experiments if seen.exact else seen.experiments[:8])]
    logs = [witness_tensorization(e, 24 if seen.exact and len(e.log_table) < 200_000 else 12).log_value for e in parts]
    return LogBound.lower(logs[0]) if seen.exact else log_estimate(np.array(logs))


def _searched_tensorization(law: Any, mu: Schedule) -> LogBound | None:
    if not searchable(law):
        return None
    return LogBound.lower(float(np.log(searched_tensorization(law, mu).value)))


def _best_tensorization(
    seen: View, rho: LogQuantity, gap: LogQuantity | None, *others: LogQuantity | None
) -> LogQuantity:
    """The largest of the lower bounds: 1/gap where the gap is exact, 1/ρ, the witness family, the search."""
    if not seen.exact:
        return others[0] or rho
    logs = [-rho.log_value, *(q.log_value for q in others if q is not None)]
    return LogBound.lower(max([*logs, -gap.log_value] if isinstance(gap, LogExact) else logs))


def _pinning(curve: list[tuple[int, Any]]) -> Pinning | None:
    if len(curve) < 4:
        return None
    counts, logs = [v for v, _ in curve], [q.log_value for _, q in curve]
    errors = [q.relative if isinstance(q, LogEstimate) else 0.0 for _, q in curve]
    try:
        return fit_pinning(counts, logs, log_stderr=errors if max(errors) > 0 else None)
    except InputError:
        return None


def _chernoff(law: Any) -> float | None:
    if not isinstance(law, ProductMixture) or not law.exchangeable or len(law.weights) != 2:
        return None
    return chernoff_information(*law.log_rows)
