"""From a result to a record: JSON with its provenance, checked against the schema that the package ships."""

from __future__ import annotations

import json
import os
import re
import sys
from importlib import resources
from pathlib import Path
from typing import Any

from maskov import __version__
from maskov.errors import StoreError
from maskov.files import write_whole
from maskov.results import jsonable

SCHEMA = "record.schema.json"
_NOT_ASCII = re.compile(r"[^\n -~]")


def make_record(command: str, inputs: dict[str, Any], results: dict[str, Any], warnings: list[str]) -> dict[str, Any]:
    """A record: what was asked, what came out, what to mind; NaN and infinities are null.

    >>> make_record("models", {}, {"models": []}, [])["command"]
    'models'
    """
    return {
        "maskov": __version__,
        "command": command,
        "inputs": jsonable(inputs),
        "results": jsonable(results),
        "warnings": list(warnings),
    }


def write_record(record: dict[str, Any], target: str | os.PathLike[str]) -> None:
    """Write a record to a file (whole or not at all), or to standard output with ``-``."""
    text = _shown(json.dumps(record, ensure_ascii=False, indent=1, allow_nan=False)) + "\n"
    if os.fspath(target) == "-":
        sys.stdout.write(text)
    else:
        write_whole(Path(target), text.encode("utf-8"))


def _shown(text: str) -> str:
    """JSON in which no character steers a terminal: C1 controls, direction marks and lone surrogates as ``\\uXXXX``."""
    return _NOT_ASCII.sub(lambda m: m[0] if m[0].isprintable() else json.dumps(m[0])[1:-1], text)


def read_record(path: str | os.PathLike[str]) -> dict[str, Any]:
    """A stored record, checked against the schema; ``StoreError`` where it isn't one."""
    name = os.fspath(path)
    try:
        value = json.loads(Path(name).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise StoreError(name, expected="a stored record", came="nothing there") from None
    except (OSError, ValueError, RecursionError) as error:
        raise StoreError(name, expected="a JSON record", came=str(error)[:80], remedy="run the study again") from error
    missing = {"maskov", "command", "inputs", "results"} - set(value if isinstance(value, dict) else ())
    if missing:
        raise StoreError(name, expected="a record", came="no " + ", ".join(sorted(missing)), remedy="run it again")
    wrong = [key for key in ("inputs", "results") if not isinstance(value[key], dict)]
    if wrong:
        came = f"{wrong[0]} of type {type(value[wrong[0]]).__name__}"
        raise StoreError(name, expected="a record", came=came, remedy="run it again")
    return dict(value)


def schema() -> dict[str, Any]:
    """The JSON Schema of every record."""
    text = (resources.files("maskov") / "report" / SCHEMA).read_text(encoding="utf-8")
    return dict(json.loads(text))


def validate(record: dict[str, Any]) -> None:
    """Check a record against the schema (needs the jsonschema package); raises its ``ValidationError``."""
    import jsonschema

    jsonschema.Draft202012Validator(schema()).validate(record)
