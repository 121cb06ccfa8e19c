"""The text form of a schedule: ``family:numbers``, ``a*SPEC+b*SPEC``, ``SPEC*weight``, and preset names."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable
from typing import NamedTuple

from maskov.errors import InputError
from maskov.schedules.base import Schedule, number_text
from maskov.schedules.combine import Mixture, Named, Weighted
from maskov.schedules.counts import FixedRatio, FullMask, HiddenCount, Spans, VisibleCount
from maskov.schedules.rates import Bernoulli, BetaRate, CosineRate, PowerRate, TruncatedNormal, UniformRate

LOSS_WEIGHTS = ("1/t", "N/h", "elbo")
_PLUS = re.compile(r"(?<!\d[eE])\+")


class Family(NamedTuple):
    """One family: its text form for messages, how many numbers it takes, and how it is built from them."""

    form: str
    arity: tuple[int, ...]
    build: Callable[..., Schedule]


def _rate(text: str, form: str) -> float:
    value = _number(text, form)
    if not 0 <= value <= 1:
        raise InputError(
            f"rate in {form}", expected="a number from 0 to 1", came=text, remedy="a rate is the hidden fraction"
        )
    return value


def _number(text: str, form: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(f"schedule {form}", expected="a finite number", came=repr(text[:80]))
    return value


def _positive(text: str, form: str) -> float:
    """Above 0, and within nine decades of 1: beyond them the law of the visible count is lost to rounding."""
    value = _number(text, form)
    if not 1e-9 <= value <= 1e9:
        raise InputError(f"schedule {form}", expected="a number above 0, from 1e-9 to 1e9", came=text)
    return value


def _count(least: int, form: str) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not (text.isascii() and text.isdigit() and len(text) < 12) or int(text) < least:
            raise InputError(f"count in {form}", expected=f"a whole number, at least {least}", came=repr(text[:80]))
        return int(text)

    return read


def _interval(low: str, high: str, form: str) -> tuple[float, float]:
    a, b = _rate(low, form), _rate(high, form)
    if not a < b:
        raise InputError(
            f"interval in {form}",
            expected="a lower end below the upper end",
            came=f"{low},{high}",
            remedy=f"write {high},{low}" if a > b else "use bernoulli:p for one rate",
        )
    return a, b


def _bernoulli(p: str) -> Schedule:
    rate = _rate(p, "bernoulli:p")
    if rate == 0:
        raise InputError("bernoulli:p", expected="a rate above 0", came=p, remedy="a schedule hides something")
    return Bernoulli(rate)


def _uniform(low: str = "0", high: str = "1") -> Schedule:
    return UniformRate(*_interval(low, high, "uniform:low,high"))


def _truncnorm(mean: str, sd: str, low: str, high: str) -> Schedule:
    form = "truncnorm:mean,sd,low,high"
    cut = TruncatedNormal(_number(mean, form), _positive(sd, form), *_interval(low, high, form))
    nearest = min(max(cut.mean, cut.low), cut.high)
    if abs(nearest - cut.mean) > 30 * cut.sd:
        raise InputError(form, expected="an interval within 30 sd of the mean", came=f"{mean},{sd},{low},{high}")
    return cut


def _span(ratio: str, span: str | None = None) -> Schedule:
    return Spans(_rate(ratio, "span:r,m"), None if span is None else _count(1, "span:r,m")(span))


FAMILIES = {
    "fixed": Family("fixed:r", (1,), lambda r: FixedRatio(_rate(r, "fixed:r"))),
    "bernoulli": Family("bernoulli:p", (1,), _bernoulli),
    "visible": Family("visible:k", (1,), lambda k: VisibleCount(_count(0, "visible:k")(k))),
    "hide": Family("hide:k", (1,), lambda k: HiddenCount(_count(1, "hide:k")(k))),
    "full": Family("full", (0,), FullMask),
    "uniform": Family("uniform or uniform:low,high", (0, 2), _uniform),
    "truncnorm": Family("truncnorm:mean,sd,low,high", (4,), _truncnorm),
    "cosine": Family("cosine", (0,), CosineRate),
    "poly": Family("poly or poly:k", (0, 1), lambda k="2": PowerRate.of(_positive(k, "poly:k"))),
    "beta": Family("beta:a,b", (2,), lambda a, b: BetaRate(_positive(a, "beta:a,b"), _positive(b, "beta:a,b"))),
    "span": Family("span:r or span:r,m", (1, 2), _span),
}

PRESETS = {
    "bert": "fixed:0.15",
    "bert-bernoulli": "bernoulli:0.15",
    "roberta": "bernoulli:0.15",
    "modernbert": "bernoulli:0.3",
    "electra": "fixed:0.15",
    "esm": "bernoulli:0.15",
    "spanbert": "span:0.15,4",
    "t5": "span:0.15,3",
    "mae": "fixed:0.75",
    "mdlm": "uniform",
    "sedd": "uniform",
    "llada": "uniform:0.001,1",
    "clipped": "uniform:0.3,0.8",
    "block-diffusion": "uniform:0.3,0.8",
    "maskgit": "cosine",
    "md4": "cosine",
    "muse": "cosine",
    "mage": "truncnorm:0.55,0.25,0.5,1",
    "mar": "truncnorm:1,0.25,0.7,1",
    "glauber": "hide:1",
}


def schedule(text: str | Schedule) -> Schedule:
    """The schedule that a text form names; a schedule is returned as it is.

    Rates are hidden fractions. Forms: ``fixed:0.15``, ``bernoulli:0.15``, ``visible:8``, ``hide:1``, ``full``,
    ``uniform``, ``uniform:0.3,0.8``, ``truncnorm:0.55,0.25,0.5,1``, ``cosine``, ``poly:2``, ``beta:2,5``,
    ``span:0.15,3``, presets (``bert``, ``mae``, ``mdlm``, …), mixtures ``0.95*bert+0.05*full`` (shares sum to 1),
    loss weights ``uniform*1/t``, ``*N/h``, ``*elbo``. Raises ``InputError`` that names the part it can't use.
    ``schedule(s.text) == s``.

    >>> schedule("0.95*fixed:0.15 + 0.05*full").text
    '0.95*fixed:0.15+0.05*full'
    """
    if isinstance(text, Schedule):
        return text
    if not isinstance(text, str):
        raise InputError("schedule", expected="a text form such as fixed:0.15", came=type(text).__name__)
    terms = _PLUS.split(re.sub(r"\s+", "", text).replace("·", "*"))
    if len(terms) == 1 and _share(terms[0]) is None:
        return _weighted(terms[0])
    return _mixture(terms)


def _share(term: str) -> str | None:
    """The leading share of ``a*SPEC``, if there is one."""
    head, star, _ = term.partition("*")
    return head if star and re.match(r"^[-+.\d]", head) else None


def _mixture(terms: list[str]) -> Schedule:
    shares, parts = [], []
    for term in terms:
        head = _share(term)
        if head is None:
            raise InputError(
                "mixture",
                expected="a share before every part, such as 0.95*bert+0.05*full",
                came=repr(term[:80]),
                remedy=f"write 0.5*{term[:40]}",
            )
        shares.append(_number(head, "a*SPEC"))
        parts.append(_weighted(term.partition("*")[2]))
    _check_shares(shares)
    return Mixture(tuple(shares), tuple(parts))


def _check_shares(shares: list[float]) -> None:
    if len(shares) == 1 or any(not 0 < a < 1 for a in shares):
        bad = next((a for a in shares if not 0 < a < 1), shares[0])
        raise InputError("mixture share", expected="numbers above 0 and below 1, at least two parts", came=f"{bad:g}")
    if abs(sum(shares) - 1) > 1e-9:
        raise InputError(
            "mixture shares",
            expected="shares that sum to 1",
            came=f"{'+'.join(map(number_text, shares))} = {sum(shares):.6g}",
            remedy="change one share",
        )


def _weighted(term: str) -> Schedule:
    spec, star, weight = term.partition("*")
    if not star:
        return _single(spec)
    if weight not in LOSS_WEIGHTS:
        raise InputError(
            "loss weight",
            expected="one of " + ", ".join(LOSS_WEIGHTS),
            came=repr(weight[:80]),
            remedy="write the share first: 0.5*bert",
        )
    weighted = Weighted(_single(spec), weight)
    weighted.log_objective_law(8)  # refuses a weight that the family can't carry
    return weighted


def _single(spec: str) -> Schedule:
    if spec in PRESETS:
        return Named(spec, _single(PRESETS[spec]))
    name, colon, rest = spec.partition(":")
    if name not in FAMILIES:
        close = difflib.get_close_matches(name, [*FAMILIES, *PRESETS], n=1)
        hint = f"did you mean {close[0]}?" if close else "presets: " + ", ".join(PRESETS)
        raise InputError(
            "schedule",
            expected="one of " + ", ".join(f.form for f in FAMILIES.values()) + " or a preset",
            came=repr(spec[:80]),
            remedy=hint,
        )
    family = FAMILIES[name]
    numbers = rest.split(",") if colon else []
    if len(numbers) not in family.arity:
        raise InputError("schedule", expected=f"the form {family.form}", came=repr(spec[:80]))
    return family.build(*numbers)
