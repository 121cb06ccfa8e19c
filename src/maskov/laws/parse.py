"""The text form of a law: ``family?key=value&key=value``."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from maskov.errors import InputError
from maskov.laws.incompatible import random_conditionals
from maskov.laws.ising import IsingRing, IsingTorus
from maskov.laws.markov import sticky_mixture
from maskov.laws.mixtures import reference_mixture
from maskov.laws.spins import CurieWeiss, Potts
from maskov.laws.tabular import random_tabular, read_table

MOST_SITES = 1_000_000
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


class Family(NamedTuple):
    """One family: how it is built, its keys with their readers, and the text of optional keys."""

    build: Callable[..., Any]
    keys: dict[str, Callable[[str, str], Any]]
    defaults: dict[str, str]


def _refuse(key: str, expected: str, text: str) -> InputError:
    return InputError(f"law parameter {key}", expected=expected, came=repr(text[:60]) if text else "nothing")


def _real(key: str, text: str) -> float:
    if text.lower().lstrip("+-") in ("nan", "inf", "infinity"):
        raise _refuse(key, "a finite number", text)
    if not _NUMBER.fullmatch(text):
        raise _refuse(key, "a number such as 0.5", text)
    if not math.isfinite(float(text)):
        raise _refuse(key, "a finite number", text)
    return float(text)


def _between(low: float, high: float) -> Callable[[str, str], float]:
    def read(key: str, text: str) -> float:
        value = _real(key, text)
        if not low < value < high:
            raise _refuse(key, f"a number above {low:g} and below {high:g}", text)
        return value

    return read


def _count(least: int, most: int = MOST_SITES) -> Callable[[str, str], int]:
    def read(key: str, text: str) -> int:
        if not re.fullmatch(r"-?\d{1,18}", text, re.ASCII):
            raise _refuse(key, "a whole number", text)
        if not least <= int(text) <= most:
            raise _refuse(key, f"a whole number from {least} to {most}", text)
        return int(text)

    return read


def _list_of(read: Callable[[str, str], Any]) -> Callable[[str, str], list[Any]]:
    return lambda key, text: [read(key, part) for part in text.split(",")] if text else []


def _strength(key: str, text: str) -> float:
    value = _real(key, text)
    if value < 0:
        raise _refuse(key, "a number, at least 0", text)
    return value


def _path(key: str, text: str) -> str:
    if not text or "\0" in text:
        raise _refuse(key, "the path of an .npz file", text)
    return text


_SITES, _SYMBOLS, _SEED = _count(1), _count(2, 1024), _count(0, 10**18)
_OPEN = _between(0, 1)


def _random(sites: int, symbols: int, seed: int, concentration: float) -> Any:
    return random_tabular(symbols, sites, seed, concentration)


def _incompatible(sites: int, symbols: int, seed: int, strength: float) -> Any:
    return random_conditionals(symbols, sites, seed, strength)


FAMILIES: dict[str, Family] = {
    "curie-weiss": Family(CurieWeiss, {"sites": _SITES, "beta": _real}, {}),
    "ising-ring": Family(IsingRing, {"sites": _count(3), "beta": _real}, {}),
    "ising-torus": Family(IsingTorus, {"rows": _count(2, 20), "cols": _count(2, 20), "beta": _real}, {}),
    "potts": Family(Potts, {"sites": _SITES, "symbols": _SYMBOLS, "beta": _real}, {}),
    "product": Family(reference_mixture, {"sites": _SITES, "gap": _between(0, 0.5), "weight": _OPEN}, {}),
    "markov": Family(
        sticky_mixture,
        {"sites": _SITES, "symbols": _SYMBOLS, "stay": _list_of(_OPEN), "weight": _list_of(_OPEN)},
        {"symbols": "2", "weight": ""},
    ),
    "random": Family(
        _random,
        {"sites": _SITES, "symbols": _SYMBOLS, "seed": _SEED, "concentration": _real},
        {"seed": "0", "concentration": "1"},
    ),
    "incompatible": Family(
        _incompatible,
        {"sites": _SITES, "symbols": _SYMBOLS, "seed": _SEED, "strength": _strength},
        {"seed": "0", "strength": "1"},
    ),
    "table": Family(lambda file: read_table(file), {"file": _path}, {}),
}


def law(text: str) -> Any:
    """The law that a text form names, with or without ``law:`` before it.

    A ``JointLaw`` that is a ``MaskedPredictor`` too; ``incompatible?…`` alone gives ``Conditionals`` without one.
    Forms:
    ``curie-weiss?sites=50&beta=1.2``, ``ising-ring?sites=20&beta=0.5``, ``ising-torus?rows=3&cols=3&beta=0.4``,
    ``potts?sites=20&symbols=3&beta=1`` (mean-field), ``product?sites=64&gap=0.3&weight=0.3``,
    ``markov?sites=20&symbols=2&stay=0.9,0.6&weight=0.3`` (chains that stay with these probabilities; weights of all but
    the first), ``random?sites=3&symbols=3&seed=0&concentration=1`` (Dirichlet), ``table?file=law.npz``,
    ``incompatible?sites=3&symbols=3&seed=0&strength=1``. Raises ``InputError`` that names the part it can't use.

    >>> law("ising-ring?sites=20&beta=0.5").text
    'ising-ring?sites=20&beta=0.5'
    """
    name, query = _split(text)
    family = FAMILIES[name]
    given = _read_pairs(name, family, query)
    missing = [key for key in family.keys if key not in given and key not in family.defaults]
    if missing:
        raise InputError(
            f"law {name}",
            expected="the keys " + ", ".join(family.keys),
            came=f"none for {', '.join(missing)}",
            remedy=f"add {missing[0]}=… after {name}?",
        )
    defaults = {key: family.keys[key](key, value) for key, value in family.defaults.items() if key not in given}
    return family.build(**given, **defaults)


def law_text(law: Any) -> str:
    """The canonical text form of a law; ``law`` reads it back where the family has a form (not for tables in memory).

    >>> law_text(law("potts?beta=1.0&symbols=3&sites=4"))
    'potts?sites=4&symbols=3&beta=1'
    """
    return str(law.text)


def _split(text: str) -> tuple[str, str]:
    """Family and query; ``InputError`` on what is no text form at all."""
    if not isinstance(text, str):
        raise InputError("law", expected="a text form", came=type(text).__name__)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        came = f"a lone surrogate at character {error.start}"
        raise InputError("law", expected="valid Unicode", came=came, remedy="read the text as UTF-8") from error
    name, _, query = text.removeprefix("law:").strip().partition("?")
    if name not in FAMILIES:
        close = difflib.get_close_matches(name.lower(), FAMILIES, n=1, cutoff=0.5)
        hint = (
            f"did you mean {close[0]}?" if close else "a form is family?key=value, such as ising-ring?sites=20&beta=0.5"
        )
        came = repr(name[:80]) if name else "no family"
        raise InputError("law", expected="one of " + ", ".join(FAMILIES), came=came, remedy=hint)
    return name, query


def _read_pairs(name: str, family: Family, query: str) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for pair in query.split("&") if query else []:
        key, separator, value = pair.partition("=")
        _check_key(name, family, pair, key, bool(separator))
        if key in given:
            raise InputError(f"law {name}", expected="each key once", came=f"{key} twice")
        given[key] = family.keys[key](key, value)
    return given


def _check_key(name: str, family: Family, pair: str, key: str, has_value: bool) -> None:
    keys = ", ".join(family.keys)
    if key == "sha256":
        raise InputError(
            f"law {name}",
            expected="a form with its parameters",
            came="a digest",
            remedy="store the law's table and use table?file=…",
        )
    if key not in family.keys:
        close = difflib.get_close_matches(key.lower(), family.keys, n=1)
        hint = f"did you mean {close[0]}?" if close else ""
        raise InputError(
            f"law {name}", expected=f"keys of {keys}", came=repr(pair[:80]) if pair else "an empty part", remedy=hint
        )
    if not has_value:
        raise InputError(f"law {name}", expected=f"{key}=value", came=repr(pair[:80]))
