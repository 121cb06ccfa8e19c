"""What every example does at its end: one figure (SVG) and one record (JSON) in the folder given by --out."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from maskov import __version__


def axes() -> Any:
    """New axes of the usual size."""
    return Figure(figsize=(6.4, 4.2), layout="constrained").subplots()


def write(name: str, ax: Any, inputs: dict[str, Any], results: Any) -> None:
    """Save ``name``.svg and ``name``.json under --out (default results/)."""
    parser = argparse.ArgumentParser(description=f"Draw {name}.svg and write {name}.json.")
    parser.add_argument("--out", type=Path, default=Path("results"), metavar="FOLDER")
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    ax.figure.savefig(out / f"{name}.svg", metadata={"Title": name.replace("_", " ")})
    record = {"maskov": __version__, "command": name, "inputs": inputs, "results": results, "warnings": []}
    (out / f"{name}.json").write_text(json.dumps(record, indent=1, allow_nan=False) + "\n", encoding="utf-8")
