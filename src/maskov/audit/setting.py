"""What every study of an audit gets and gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from maskov.audit.plan import Plan

Table = dict[str, Any]


@dataclass(frozen=True)
class Setting:
    """What every study gets. starts: texts or states; trace_path: where the chains lie; phase_path: where the cells
    of a phase diagram lie; progress: takes a share in [0, 1] and what the study is at.
    """

    model: Any
    starts: Sequence[Any]
    plan: Plan
    seed: int
    trace_path: str
    phase_path: str
    resume: bool
    command: str
    progress: Callable[[float, str], None] = lambda share, at: None

    def counted(self, done: int, total: int) -> None:
        """The progress of a study that counts."""
        self.progress(done / total, "")


class Outcome(NamedTuple):
    """results: a record's ``results``; tables: name → columns, each a table of its own."""

    results: dict[str, Any]
    tables: dict[str, Table]


def scalars_of(row: dict[str, Any]) -> Table:
    """A record's row as one line of a table: quantities by their values, series left out."""
    plain = {key: v["value"] if isinstance(v, dict) and "kind" in v else v for key, v in row.items()}
    return {key: v for key, v in plain.items() if v is None or np.isscalar(v)}


def columns_of(rows: Sequence[dict[str, Any]]) -> Table:
    """Rows as columns."""
    return {key: [row[key] for row in rows] for key in (rows[0] if rows else ())}
