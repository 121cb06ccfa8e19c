"""The notebook of the documentation runs from top to bottom, and shows what it promises to show."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

NOTEBOOK = Path(__file__).parents[2] / "docs" / "notebook.py"
# In a process of its own: a kernel's sockets and event loops warn on their own account.
EXECUTE = """
import sys, jupytext, nbformat
from nbclient import NotebookClient
book = jupytext.read(sys.argv[1])
NotebookClient(book, timeout=120, kernel_name="python3").execute()
nbformat.write(book, sys.argv[2])
"""


def executed(source: Path, out: Path) -> Any:
    """The notebook with its outputs; ``CalledProcessError`` where a cell raises."""
    for name in ("nbclient", "jupytext", "ipykernel"):
        pytest.importorskip(name, reason="runs the notebook")
    command = [sys.executable, "-c", EXECUTE, str(source), str(out)]
    subprocess.run(command, check=True, capture_output=True, text=True, timeout=240)
    return json.loads(out.read_text(encoding="utf-8"))


def outputs(book: Any, word: str) -> list[Any]:
    """Outputs of the one code cell whose last line is ``word``."""
    cells = [c for c in book["cells"] if c["cell_type"] == "code"]
    found = [c for c in cells if "".join(c["source"]).strip().splitlines()[-1] == word]
    assert len(found) == 1, f"{len(found)} cells end in {word}"
    return list(found[0]["outputs"])


def html(shown: list[Any]) -> str:
    return "".join("".join(o.get("data", {}).get("text/html", "")) for o in shown)


def images(shown: list[Any]) -> int:
    return sum("image/png" in o.get("data", {}) for o in shown)


def test_the_notebook_runs_and_shows_tables_and_figures(tmp_path: Path) -> None:
    book = executed(NOTEBOOK, tmp_path / "notebook.ipynb")
    said = ["".join(o["text"]) for c in book["cells"] for o in c.get("outputs", []) if o.get("name") == "stderr"]
    assert not [text for text in said if "TqdmWarning" not in text]  # it misses ipywidgets, which nothing here needs
    assert "<caption>Trace</caption>" in html(outputs(book, "trace"))
    for name in ("meeting", "rectangles", "found"):
        shown = outputs(book, name)
        assert images(shown) == 1 and html(shown), name
    assert "τ = 1.5: mixed" in html(outputs(book, "diagnosis"))
    assert all(column in html(outputs(book, "summary")) for column in ("r_hat", "ess_bulk", "entropy"))


def test_a_notebook_with_a_wrong_cell_is_rejected(tmp_path: Path) -> None:
    source = tmp_path / "broken.py"
    source.write_text("# %%\nimport maskov as mk\n\n# %%\nmk.load('law:no-such-law')\n", encoding="utf-8")
    with pytest.raises(subprocess.CalledProcessError) as failed:
        executed(source, tmp_path / "broken.ipynb")
    assert "no-such-law" in failed.value.stderr
