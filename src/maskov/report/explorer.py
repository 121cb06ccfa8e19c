"""The trajectory explorer of a page: JSON that no text can leave, and a script with the hash that allows it."""

from __future__ import annotations

import base64
import hashlib
import json
from importlib import resources
from typing import Any

from maskov.report.words import number

SCRIPT = "static/explorer.js"


def script() -> str:
    """The explorer's script, as it stands in the page."""
    return (resources.files("maskov") / "report" / SCRIPT).read_text(encoding="utf-8")


def script_hash(text: str) -> str:
    """What a Content-Security-Policy lists to allow exactly this script and no other.

    >>> script_hash("")
    'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='
    """
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode()


def embedded(data: Any) -> str:
    """JSON for a script element: no ``<``, ``>`` or ``&`` that could end it, whatever the texts hold.

    >>> embedded({"text": "</script>"})
    '{"text":"\\\\u003c/script\\\\u003e"}'
    """
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for mark in "<>&\u2028\u2029":
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    return text


def explorer_context(results: dict[str, Any]) -> dict[str, Any] | None:
    """What the page needs of an audit's results; None where no chains were kept for it."""
    record = results.get("explorer")
    if not record or not record["chains"]:
        return None
    basins = _assigned(results.get("basins"))
    chains = [{**c, "basin": basins(c["chain"], c["steps"])} for c in record["chains"]]
    return {
        "embedder": record["embedder"],
        "share": f"{100 * sum(record['explained']):.0f} %",
        "moments": _moments(results.get("dwell"), {c["chain"] for c in record["chains"]}),
        "data": embedded({"steps": record["steps"], "texts": record["texts"], "chains": chains}),
    }


def _moments(dwell: dict[str, Any] | None, chains: set[int]) -> list[dict[str, Any]]:
    """The longest stays of chains that the map shows."""
    segments = [s for s in (dwell or {"segments": []})["segments"] if s["chain"] in chains]
    return [
        {
            "length": ("" if s["ended"] else "≥ ") + number(s["sweeps"]),
            "temperature": f"{s['temperature']:g}",
            "chain": s["chain"],
            "step": s["start"],
            "kind": "perfect" if s["perfect"] else "approximate",
            "text": s["text"],
        }
        for s in segments
    ]


def _assigned(basins: dict[str, Any] | None) -> Any:
    """A lookup (chain, steps) → basin at the nearest kept time, None without basins."""
    found: dict[int, tuple[list[int], list[int | None]]] = {}
    for cell in (basins or {}).get("cells", []):
        for path in cell.get("paths", []):
            found[path["chain"]] = (path["steps"], path["basin"])

    def lookup(chain: int, steps: list[int]) -> list[int | None] | None:
        if chain not in found:
            return None
        times, labels = found[chain]
        return [labels[min(range(len(times)), key=lambda k: abs(times[k] - step))] for step in steps]

    return lookup
