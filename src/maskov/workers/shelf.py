"""Results of units in a folder: one checked file each, whole or not there."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from maskov.errors import InputError, StoreError
from maskov.files import write_whole
from maskov.workers.unit import Unit


class Shelf:
    """A folder of results, or memory when ``folder`` is None.

    resume: take up a folder that exists; without it, one that holds anything is refused.
    """

    def __init__(self, folder: str | os.PathLike[str] | None, resume: bool = False) -> None:
        self.path = None if folder is None else Path(folder)
        self.kept: dict[str, Any] = {}
        if self.path is not None:
            _prepare(self.path, resume)

    def read(self, unit: Unit) -> Any:
        """The stored result of a unit, None where there is none; ``StoreError`` when it is damaged or another's."""
        if self.path is None:
            return self.kept.get(unit.name)
        file = self.path / f"{unit.name}.json"
        if not file.exists():
            return None
        entry = _entry(file)
        if entry["asks"] != unit.digest():
            remedy = "choose another --out, or the inputs that the folder was made with"
            raise StoreError(str(file), expected="a result of the same inputs", came="of others", remedy=remedy)
        return entry["result"]

    def write(self, unit: Unit, result: Any) -> None:
        """Keep a result: whole or not at all."""
        if self.path is None:
            self.kept[unit.name] = result
            return
        body = {"asks": unit.digest(), "call": unit.call, "arguments": unit.arguments, "result": result}
        text = json.dumps({**body, "sum": _sum(body)}, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
        write_whole(self.path / f"{unit.name}.json", text.encode())


def _prepare(path: Path, resume: bool) -> None:
    if path.exists() and not path.is_dir():
        raise InputError(str(path), expected="a folder, or nothing yet", came="a file")
    if path.is_dir() and not resume and any(path.iterdir()):
        remedy = "pass --resume to go on with it, or choose another --out"
        raise InputError(str(path), expected="an empty folder, or nothing yet", came="one with files", remedy=remedy)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(str(path), expected="a folder that can be made", came=str(error.strerror)) from error


def _entry(file: Path) -> dict[str, Any]:
    """A stored entry whose sum agrees with its content."""
    remedy = "delete this file; --resume does the unit again"
    try:
        entry = json.loads(file.read_text(encoding="utf-8"))
        body = {key: entry[key] for key in ("asks", "call", "arguments", "result")}
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise StoreError(str(file), expected="a stored result", came=str(error)[:80], remedy=remedy) from error
    if entry.get("sum") != _sum(body):
        raise StoreError(str(file), expected="a result that matches its sum", came="another", remedy=remedy)
    return body


def _sum(body: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True, allow_nan=False).encode()).hexdigest()[:32]
