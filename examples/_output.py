"""What every example does at its end: one figure (SVG) and one record (JSON) in the folder given by --out."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from maskov.plots.style import plain_powers
from maskov.report.record import make_record, write_record


def write(name: str, ax: Any, inputs: dict[str, Any], results: dict[str, Any]) -> None:
    """Save ``name``.svg and ``name``.json under --out (default results/)."""
    parser = argparse.ArgumentParser(description=f"Draw {name}.svg and write {name}.json.")
    parser.add_argument("--out", type=Path, default=Path("results"), metavar="FOLDER")
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    plain_powers(ax)
    ax.figure.savefig(out / f"{name}.svg", metadata={"Title": name.replace("_", " ")})
    write_record(make_record("example", {"example": name, **inputs}, results, []), out / f"{name}.json")
