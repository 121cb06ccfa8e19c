"""The folder of an audit: results.json grows study by study, tables lie beside it, nothing is ever half written."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

from maskov.errors import InputError, StoreError
from maskov.files import write_whole
from maskov.report.record import make_record, read_record, write_record

RESULTS = "results.json"


class AuditFolder:
    """``results.json``, ``tables/*.parquet``, ``trace.zarr``, ``phase/`` and ``report.html`` of one audit."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        inputs: dict[str, Any],
        resume: bool = False,
        provenance: dict[str, Any] | None = None,
    ) -> None:
        self.path = Path(path)
        self.inputs = inputs
        self.provenance = provenance or {}
        self.results: dict[str, Any] = {}
        self.warnings: list[str] = []
        if (self.path / RESULTS).is_file() and resume:
            self._continue()
        else:
            self._create()

    @property
    def trace_path(self) -> str:
        """Where the chains lie."""
        return str(self.path / "trace.zarr")

    @property
    def phase_path(self) -> str:
        """Where the cells of the phase diagram lie."""
        return str(self.path / "phase")

    def _continue(self) -> None:
        record = read_record(self.path / RESULTS)
        wanted = make_record("audit", self.inputs, {}, [])["inputs"]
        for key, value in wanted.items():
            if record["inputs"].get(key) != value:
                remedy = "resume with the same model, texts, seed and budget, or choose another --out"
                came = f"{record['inputs'].get(key)!r}"[:120]
                raise StoreError(str(self.path), expected=f"an audit of the same {key}", came=came, remedy=remedy)
        self.results, self.warnings = record["results"], list(record.get("warnings", []))

    def _create(self) -> None:
        if self.path.exists() and (not self.path.is_dir() or any(self.path.iterdir())):
            remedy = "choose another --out, or pass --resume to continue an audit"
            raise InputError(str(self.path), expected="a new or empty folder", came="one with files", remedy=remedy)
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(str(self.path), expected="a folder that can be made", came=str(error.strerror)) from error
        self.save()

    def add(self, name: str, results: dict[str, Any], tables: dict[str, dict[str, Any]]) -> None:
        """One study's results, stored at once."""
        for table, columns in tables.items():
            self._write_table(table, columns)
        self.results[name] = results
        self.save()

    def save(self) -> None:
        """``results.json`` as it stands."""
        write_record(self.record(), self.path / RESULTS)

    def record(self) -> dict[str, Any]:
        """The audit's record as it stands."""
        return make_record("audit", {**self.inputs, **self.provenance}, self.results, self.warnings)

    def _write_table(self, name: str, columns: dict[str, Any]) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        (self.path / "tables").mkdir(exist_ok=True)
        buffer = io.BytesIO()
        pq.write_table(pa.table(columns), buffer)
        write_whole(self.path / "tables" / f"{name}.parquet", buffer.getvalue())
