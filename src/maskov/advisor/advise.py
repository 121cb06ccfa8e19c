"""From a ground, a schedule and a tolerance to the smallest fix.

With a share a of sequences masked by ν, the objective is (1 − a)μ + aν, so the discrepancy is linear in a:

    D((1 − a)μ + aν) = (1 − a) D_μ + a D_ν.

D grows along every ray of mode weights from w (``identifiability.modulus``). So the excess loss ε leaves at most a
distance t open along a ray exactly when the discrepancy at distance t is at least ε, and the smallest share is

    a = max over rays of (ε − D_μ(t)) / (D_ν(t) − D_μ(t)).

For every predictor, inside the witness family or not, mass π_0 at full mask gives TV ≤ √(ε/(2π_0)) [Pinsker], so
π_0 ≥ ε/(2t²) is enough.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from maskov.advisor.ground import CurveGround, Ground, LawGround, directions, moved
from maskov.advisor.result import Advice, Fix, Standing
from maskov.advisor.words import questions, sentences, snippet
from maskov.corpora.result import CorpusUncertainty
from maskov.errors import InputError
from maskov.identifiability.modulus import full_mask_bound
from maskov.laws import law as parse_law
from maskov.quantities import Bound
from maskov.schedules import Schedule, schedule

COMMON = ("bert", "mae", "mar", "mage", "clipped", "uniform", "llada", "cosine", "full")
LOW = (1, 2, 4, 8, 16, 32)
# Shares are rounded up to this many digits, so that the promise survives the rounding.
_DIGITS = 3


def advise(
    ground: Any,
    spec: str | Schedule,
    *,
    tolerance: float = 0.05,
    excess_loss: float = 1e-3,
    length: int | None = None,
    common: Sequence[str] = COMMON,
) -> Advice:
    """What a schedule misses of the mode weights, and the smallest share of other masks that mends it.

    ground: a law with modes, its text form, a result of ``corpus_uncertainty`` or ``read_corpus``, or a ``Ground``;
    spec: the schedule; tolerance: TV of the mode weights, in (0, 1); excess_loss: ε in nats per sequence that training
    is thought to reach (joint form: E_S KL of the hidden sites given the visible ones); length: N for a corpus; common:
    schedules of the table. Raises ``InputError``.

    >>> found = advise("product?sites=64&gap=0.3&weight=0.3", "bert", tolerance=0.05, excess_loss=1e-3)
    >>> found.standing.verdict, found.recommended
    ('blind', '0.8*bert+0.2*full')
    """
    base = as_ground(ground, length)
    mu, t, epsilon = schedule(spec), _checked(tolerance), _checked_loss(excess_loss)
    standing = stand(base, mu, t, epsilon)
    fixes = _fixes(base, mu, t, epsilon)
    recommended = _recommended(mu, standing, fixes)
    others = [name for name in common if schedule(name) != mu]
    table = tuple(stand(base, schedule(name), t, epsilon, name) for name in others)
    return Advice(
        ground=base.kind,
        name=base.name,
        length=base.length,
        weights=tuple(float(w) for w in base.weights),
        schedule=mu.text,
        tolerance=t,
        excess_loss=epsilon,
        standing=standing,
        recommended=recommended,
        fixes=fixes,
        table=table,
        sentences=sentences(base, standing, fixes, recommended, t, epsilon),
        questions=questions((standing, *table)),
        snippet=snippet(recommended),
    )


def as_ground(ground: Any, length: int | None = None) -> Ground:
    """A ground from what a caller has; a law has its own length."""
    if isinstance(ground, CorpusUncertainty):
        return CurveGround(ground, length)
    if hasattr(ground, "price") and hasattr(ground, "left_open"):
        return ground  # type: ignore[no-any-return]
    base = LawGround(parse_law(ground) if isinstance(ground, str) else ground)
    if length is not None and length != base.length:
        remedy = "leave --length away; the law says its sites"
        raise InputError("length", expected=f"{base.length}, the law's sites", came=str(length), remedy=remedy)
    return base


def stand(base: Ground, mu: Schedule, tolerance: float, epsilon: float, name: str | None = None) -> Standing:
    """Where a schedule stands at an excess loss."""
    N = base.length
    left, certified = base.left_open(mu, epsilon), full_mask_bound(epsilon, float(mu.objective_law(N)[0]))
    return Standing(
        schedule=name or mu.text,
        v_min=mu.v_min(N),
        mean_visible=mu.mean_visible(N),
        full_mask_mass=mu.full_mask_mass(N),
        predictions=N - mu.mean_visible(N),
        blindness_ratio=base.blindness(mu),
        left_open=left,
        certified=Bound(certified, side="upper"),
        verdict=_verdict(base, left.value, certified, tolerance),
    )


def _verdict(base: Ground, left: float, certified: float, tolerance: float) -> str:
    if certified <= tolerance:
        return "certified"
    if left <= tolerance:
        return "identifies"
    furthest = max(1 - float(w) for w in base.weights)
    return "blind" if left > 0.9 * furthest else "partly"


def _fixes(base: Ground, mu: Schedule, t: float, epsilon: float) -> tuple[Fix, ...]:
    """First the proof for every predictor, then the witness family: full mask, and a few visible sites."""
    added = ["full", *(f"visible:{s}" for s in LOW if s < base.length)]
    inside = [_fix(base, mu, spec, smallest_share(base, mu, schedule(spec), t, epsilon), t, epsilon) for spec in added]
    return (_fix(base, mu, "full", certified_share(base, mu, t, epsilon), t, epsilon, proof=True), *inside)


def certified_share(base: Ground, mu: Schedule, t: float, epsilon: float) -> float | None:
    """The share of fully masked sequences with √(ε/(2π_0)) ≤ t; None where even all of them are too few."""
    wanted, have = epsilon / (2 * t * t), float(mu.objective_law(base.length)[0])
    if wanted > 1:
        return None
    return 0.0 if have >= wanted else (wanted - have) / (1 - have)


def smallest_share(base: Ground, mu: Schedule, nu: Schedule, t: float, epsilon: float) -> float | None:
    """The smallest share of ν that leaves at most t open inside the witness family; None where no share does."""
    shares = [0.0]
    for direction in directions(base.weights):
        other = moved(base.weights, direction, t)
        if other is None:  # t lies beyond the simplex: nothing is left open that far
            continue
        old, new = base.price(mu, other), base.price(nu, other)
        if old >= epsilon:
            continue
        if new < epsilon:
            return None
        shares.append((epsilon - old) / (new - old))
    return max(shares)


def _fix(
    base: Ground, mu: Schedule, added: str, share: float | None, t: float, epsilon: float, proof: bool = False
) -> Fix:
    promise = "every predictor" if proof else "witness family"
    if share is None:
        return Fix(added, None, promise, None, None, None, None, None)
    a = round_up(share)
    whole = mixed(mu, added, a)
    standing, N = stand(base, whole, t, epsilon), base.length
    visible, hidden = mu.mean_visible(N), N - mu.mean_visible(N)
    new_hidden = N - whole.mean_visible(N)
    return Fix(
        added=added,
        share=a,
        promise=promise,
        schedule=whole.text,
        standing=standing,
        mean_visible_change=(whole.mean_visible(N) - visible) / max(visible, 1e-12),
        predictions_change=(new_hidden - hidden) / hidden,
        lost=a,
    )


def round_up(share: float) -> float:
    """A share rounded up to three digits; 0 stays 0, and nothing passes 1.

    >>> round_up(0.17061), round_up(0.0), round_up(0.99999)
    (0.171, 0.0, 1.0)
    """
    if share <= 0:
        return 0.0
    power = 10.0 ** (_DIGITS - 1 - math.floor(math.log10(share)))
    return min(1.0, float(f"{math.ceil(share * power - 1e-9) / power:.12g}"))


def mixed(mu: Schedule, added: str, share: float) -> Schedule:
    """(1 − a)μ + aν as a schedule of its own."""
    if share <= 0:
        return mu
    if share >= 1:
        return schedule(added)
    old = list(zip(getattr(mu, "shares", (1.0,)), getattr(mu, "parts", (mu,)), strict=True))
    kept = [(float(f"{(1 - share) * a:.9g}"), part.text) for a, part in old]
    rest = float(f"{1 - sum(a for a, _ in kept):.12g}")
    return schedule("+".join(f"{a:.12g}*{text}" for a, text in [*kept, (rest, added)]))


def _recommended(mu: Schedule, standing: Standing, fixes: tuple[Fix, ...]) -> str:
    """The schedule itself where it is good enough; else the proof, else the smallest share at full mask."""
    if standing.verdict in ("certified", "identifies"):
        return mu.text
    affordable = [fix for fix in fixes[:2] if fix.share is not None and fix.share <= 0.5]
    possible = affordable or [fix for fix in fixes if fix.share is not None]
    return possible[0].schedule or mu.text if possible else mu.text


def _checked(tolerance: float) -> float:
    if not 0 < tolerance < 1:
        raise InputError("tolerance", expected="a distance of mode weights above 0 and below 1", came=f"{tolerance:g}")
    return float(tolerance)


def _checked_loss(epsilon: float) -> float:
    if not (math.isfinite(epsilon) and epsilon > 0):
        raise InputError("excess loss", expected="nats per sequence, above 0", came=f"{epsilon:g}")
    return float(epsilon)
