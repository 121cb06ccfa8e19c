"""The text form of a law: ``family?key=value&key=value``."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable
from typing import Any, NamedTuple

from maskov.errors import InputError
from maskov.laws.mixtures import reference_mixture
from maskov.laws.spins import CurieWeiss, IsingRing, Potts
from maskov.laws.tabular import random_conditionals, random_tabular, read_table

MOST_SITES = 1_000_000


class Family(NamedTuple):
    """One family: how it is built, its keys with their readers, and the defaults of optional keys."""

    build: Callable[..., Any]
    keys: dict[str, Callable[[str, str], Any]]
    defaults: dict[str, Any]


def _real(key: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(f"law parameter {key}", expected="a finite number", came=repr(text))
    return value


def _count(least: int, most: int = MOST_SITES) -> Callable[[str, str], int]:
    def read(key: str, text: str) -> int:
        if not (text.isascii() and text.isdigit() and len(text) < 20) or not least <= int(text) <= most:
            raise InputError(f"law parameter {key}", expected=f"a whole number from {least} to {most}", came=repr(text))
        return int(text)

    return read


def _between(low: float, high: float) -> Callable[[str, str], float]:
    def read(key: str, text: str) -> float:
        value = _real(key, text)
        if not low < value < high:
            raise InputError(f"law parameter {key}", expected=f"a number above {low:g} and below {high:g}", came=repr(text))
        return value

    return read


_SEED = {"seed": _count(0, 2**63)}
_SMALL = {"sites": _count(1, 20), "symbols": _count(2, 1024), "strength": _real, **_SEED}
FAMILIES = {
    "curie-weiss": Family(CurieWeiss, {"sites": _count(2), "beta": _real}, {}),
    "ising-ring": Family(IsingRing, {"sites": _count(3), "beta": _real}, {}),
    "potts": Family(Potts, {"sites": _count(2), "symbols": _count(2, 1024), "beta": _real}, {}),
    "product": Family(reference_mixture, {"sites": _count(1), "gap": _between(0, 0.5), "weight": _between(0, 1)}, {}),
    "random": Family(lambda sites, symbols, strength, seed: random_tabular(symbols, sites, seed, strength), _SMALL, {"strength": 1.0, "seed": 0}),
    "incompatible": Family(lambda sites, symbols, strength, seed: random_conditionals(symbols, sites, seed, strength), _SMALL, {"strength": 1.0, "seed": 0}),
    "table": Family(lambda file: read_table(file), {"file": lambda key, text: text}, {}),
}


def law(text: str) -> Any:
    """The law that a text form names: a ``JointLaw`` (``incompatible?…`` gives ``Conditionals`` only).

    Forms: ``curie-weiss?sites=50&beta=1.2``, ``ising-ring?sites=20&beta=0.5``, ``potts?sites=20&symbols=3&beta=1``,
    ``product?sites=64&gap=0.3&weight=0.3``, ``random?sites=3&symbols=3&seed=0``, ``incompatible?sites=3&symbols=3&seed=0``,
    ``table?file=law.npz``. Raises ``InputError`` that names the part it can't use.

    >>> law("ising-ring?sites=20&beta=0.5").text
    'ising-ring?sites=20&beta=0.5'
    """
    name, _, query = text.removeprefix("law:").partition("?")
    if name not in FAMILIES:
        close = difflib.get_close_matches(name, FAMILIES, n=1)
        hint = f"did you mean {close[0]}?" if close else "see `maskov models`"
        raise InputError("law", expected="one of " + ", ".join(FAMILIES), came=repr(name[:80]), remedy=hint)
    family = FAMILIES[name]
    given = _read_pairs(name, family, query)
    missing = [key for key in family.keys if key not in given and key not in family.defaults]
    if missing:
        raise InputError(f"law {name}", expected="the keys " + ", ".join(family.keys), came=f"none for {', '.join(missing)}", remedy=f"write {name}?{missing[0]}=…")
    return family.build(**{**family.defaults, **given})


def _read_pairs(name: str, family: Family, query: str) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for pair in filter(None, query.split("&")):
        key, separator, value = pair.partition("=")
        if not separator or key not in family.keys:
            raise InputError(f"law {name}", expected="key=value with a key of " + ", ".join(family.keys), came=repr(pair[:80]))
        if key in given:
            raise InputError(f"law {name}", expected="each key once", came=f"{key} twice")
        given[key] = family.keys[key](key, value)
    return given
