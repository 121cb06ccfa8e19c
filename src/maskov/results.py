"""The base of every frozen result: how it shows itself, and how it becomes a record."""

from __future__ import annotations

import dataclasses
import html
import importlib
from typing import Any, ClassVar

import numpy as np

from maskov.errors import InputError
from maskov.quantities import Bound, Estimate, Exact, json_number


def jsonable(value: Any) -> Any:
    """``value`` in the terms of JSON: quantities as their records, arrays as lists, NaN and infinities as ``None``.

    >>> jsonable({"a": Exact(1.0), "b": np.array([1.0, np.inf])})
    {'a': {'value': 1.0, 'kind': 'exact'}, 'b': [1.0, None]}
    """
    if isinstance(value, (Exact, Bound, Estimate)):
        return value.to_dict()
    if isinstance(value, np.ndarray):
        return jsonable(value.tolist())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: jsonable(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if hasattr(value, "_asdict"):
        return jsonable(value._asdict())
    if isinstance(value, dict):
        return {str(key): jsonable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [jsonable(item) for item in value]
    return _scalar(value)


def _scalar(value: Any) -> Any:
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return json_number(float(value))
    return value


class Result:
    """A frozen value that an analysis returns.

    Subclasses are frozen dataclasses; ``command`` names the record and the plot. ``to_dict`` is the content of a
    record's ``results``; fields are its keys unless the subclass says otherwise.
    """

    command: ClassVar[str] = ""

    def to_dict(self) -> dict[str, Any]:
        """The JSON-ready content of a record's ``results``."""
        record = jsonable(self)
        assert isinstance(record, dict)
        return record

    def plot(self, ax: Any = None) -> Any:
        """Draw this result (needs matplotlib); returns the axes."""
        plots = importlib.import_module("maskov.plots")
        return plots.plot(self.command, self.to_dict(), ax=ax)

    def to_dataframe(self, table: str | None = None) -> Any:
        """A pandas DataFrame of one of the result's tables; a quantity is three columns: value, ``_stderr``, ``_kind``.

        table: a field that holds rows, default the first one; a result without such a field is one row. Raises
        ``InputError`` for another name.

        >>> from maskov.schedules import compare_schedules
        >>> compare_schedules(["full"], 4).to_dataframe()["v_min"].tolist()
        [0]
        """
        import pandas as pd

        record = self.to_dict()
        tables = [k for k, v in record.items() if isinstance(v, list) and v and all(isinstance(x, dict) for x in v)]
        if table is not None and table not in tables:
            raise InputError("table", expected="one of " + (", ".join(tables) or "none"), came=repr(table))
        rows = record[table or tables[0]] if tables else [record]
        return pd.DataFrame([_flat(row) for row in rows])

    def _lines(self) -> list[tuple[str, str]]:
        fields = dataclasses.fields(self)  # type: ignore[arg-type]
        return [(f.name, _short(getattr(self, f.name))) for f in fields]

    def __str__(self) -> str:
        lines = self._lines()
        width = max((len(name) for name, _ in lines), default=0)
        return "\n".join([type(self).__name__, *(f"  {name:<{width}}  {text}" for name, text in lines)])

    def _repr_html_(self) -> str:
        if type(self).__str__ is not Result.__str__:  # a text of its own, laid out in columns
            return f"<pre>{html.escape(str(self))}</pre>"
        rows = "".join(f"<tr><th>{html.escape(k)}</th><td>{html.escape(v)}</td></tr>" for k, v in self._lines())
        return f"<table><caption>{type(self).__name__}</caption>{rows}</table>"


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    """A row whose quantities are columns of their own; other nested values stay as they are."""
    flat: dict[str, Any] = {}
    for key, value in row.items():
        if isinstance(value, dict) and "kind" in value and "value" in value:
            flat[key] = value["value"]
            flat |= {f"{key}_{part}": value[part] for part in ("stderr", "kind") if part in value}
        else:
            flat[key] = value
    return flat


def _short(value: Any) -> str:
    if isinstance(value, (Exact, Bound, Estimate)):
        return str(value)
    if isinstance(value, np.ndarray):
        return f"array{value.shape}"
    if isinstance(value, (list, tuple, dict)) and len(value) > 4:
        return f"{len(value)} entries"
    return str(value) if not isinstance(value, float) else f"{value:.6g}"
