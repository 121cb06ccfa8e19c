"""What the basins of long trajectories say on the page."""

from __future__ import annotations

from typing import Any

from maskov.report.words import number, quantity, shortened


def _says(r: dict[str, Any]) -> list[str]:
    """Sentences: what a basin is, and the verdict at each temperature."""
    says = [
        "A basin is a region of texts that chains leave far more slowly than they forget where inside it they were. "
        f"Every {number(r['stride'])} steps a state was kept and embedded ({r['embedder']})."
    ]
    for c in r["cells"]:
        check = (
            f" The Markov model's predictions at longer times are off by at most {number(c['ck_error']['value'])}."
            if c["ck_error"]
            else ""
        )
        notes = "".join(f" Note: {note}." for note in c["notes"])
        says.append(f"τ = {c['temperature']:g}: {c['verdict']}.{check}{notes}")
    return says


def _rows(r: dict[str, Any]) -> list[list[Any]]:
    """A row per basin."""
    return [
        [
            f"{c['temperature']:g}",
            b["number"],
            quantity(b["population"]) if b["population"] else "not linked",
            quantity(b["lifetime_sweeps"]),
            _measured(b),
            f"{b['visits']} ({b['chains']})" + (", once" if b["once"] else ""),
            shortened(b["exemplars"][0]["text"], 120) if b["exemplars"] else "–",
        ]
        for c in r["cells"]
        for b in c["basins"]
    ]


def _measured(b: dict[str, Any]) -> str:
    q = b["measured_sweeps"]
    if q["value"] is not None:
        return quantity(q)
    return f"never left; over {number(q['interval'][0])}"


_HEAD = ["τ", "basin", "population", "lifetime (sweeps)", "measured (sweeps)", "stays (chains)", "nearest text"]
_HOW = (
    "Estimates with 95 % intervals over chains. Lifetimes: from the coarse transition matrix (G-PCCA, without imposing "
    "detailed balance unless the model is a joint law), and from the paths, with stays cut by the end of the run as "
    "such."
)


def basins(r: dict[str, Any]) -> dict[str, Any]:
    """The fields of a report section (``sections.Content``) for the ``results`` of a ``basins`` record."""
    return {"says": _says(r), "caption": "Basins", "head": _HEAD, "rows": _rows(r), "how": _HOW}
