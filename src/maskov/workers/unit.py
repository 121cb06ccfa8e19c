"""A unit of work: a function by name and its arguments in JSON, so that any process can do it."""

from __future__ import annotations

import hashlib
import importlib
import json
import re
from typing import Any, NamedTuple

from maskov.errors import ConformanceError, InputError, MaskovError, RunError, StoreError
from maskov.results import jsonable

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._=+-]{0,120}")
_REFUSALS = {kind.__name__: kind for kind in (InputError, StoreError, ConformanceError)}


class Unit(NamedTuple):
    """One unit. name: of its file, letters, digits and ``._=+-``; call: ``module:function``; arguments: JSON values.

    Law: the result is a function of ``call`` and ``arguments`` alone, whoever does it and in whichever order.
    """

    name: str
    call: str
    arguments: dict[str, Any]

    def digest(self) -> str:
        """What the unit asks, as a hash: a stored result of another question is not mistaken for this one's.

        >>> Unit("a", "math:sqrt", {}).digest() == Unit("b", "math:sqrt", {}).digest()
        True
        """
        text = json.dumps([self.call, self.arguments], sort_keys=True, allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()[:32]


def check_units(units: list[Unit]) -> None:
    """Names that are files and differ; ``InputError`` otherwise."""
    names = [unit.name for unit in units]
    wrong = [name for name in names if not _NAME.fullmatch(name)]
    if wrong:
        raise InputError("unit", expected="a name of letters, digits and ._=+-", came=repr(wrong[0])[:80])
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError("units", expected="names that differ", came=f"{twice!r} twice")


def do(unit: Unit) -> Any:
    """Do one unit here; its result in terms of JSON."""
    module, _, function = unit.call.partition(":")
    return jsonable(getattr(importlib.import_module(module), function)(**unit.arguments))


def carry_out(unit: Unit) -> dict[str, Any]:
    """Do one unit in a worker; an error comes back as data, since exceptions with fields do not pickle."""
    try:
        return {"result": do(unit)}
    except InputError as error:
        fields = {"what": error.what, "expected": error.expected, "came": error.came, "remedy": error.remedy}
        return {"refused": type(error).__name__, **fields}
    except MaskovError as error:
        return {"failed": str(error)}
    except Exception as error:
        return {"failed": f"{unit.name}: {type(error).__name__}: {error}"}


def result_of(answer: dict[str, Any]) -> Any:
    """The result of a worker's answer; its error is raised here."""
    if "refused" in answer:
        kind = _REFUSALS[answer["refused"]]
        raise kind(answer["what"], **{key: answer[key] for key in ("expected", "came", "remedy")})
    if "failed" in answer:
        raise RunError(answer["failed"])
    return answer["result"]
