"""What a phase diagram says on the page."""

from __future__ import annotations

from typing import Any

from maskov.report.words import number, quantity


def phase(r: dict[str, Any]) -> dict[str, Any]:
    """Sentences, table and origin of a ``phase`` record, by the names of ``Content``."""
    growth = {g["temperature"]: g["verdict"] for g in r["meeting"]["growth"]}
    rows = [
        [
            number(c["sites"]),
            f"{c['temperature']:g}",
            quantity(c["met_fraction"]),
            quantity(c["median_sweeps"]),
            quantity(c["hitting"]["median_sweeps"]) if c["hitting"] else "–",
            quantity(c["change_rate"]),
            growth[c["temperature"]],
        ]
        for c in r["cells"]
    ]
    says = [
        f"A pair is slow when it has not met after {r['multiple']:g} n log n steps. The crossover τ_c(n) is the "
        "temperature at which half of the pairs are slow: "
        + "; ".join(map(_crossover, r["meeting"]["crossovers"]))
        + ".",
        f"As n grows the crossover {_moves(r['meeting']['shift'])}. Growth of the median time above it: "
        f"{r['meeting']['above']['verdict']}; below it: {r['meeting']['below']['verdict']}.",
    ]
    head = ["n", "τ", "share that met", "sweeps to meet", "sweeps to drift", "change rate", "growth at this τ"]
    how = (
        f"Kaplan–Meier estimates over {r['cells'][0]['n_pairs']} pairs a cell ({r['coupling']} coupling); where fewer "
        "than half met, the longest run is a lower bound. Intervals by bootstrap over pairs; growth by AIC on all "
        "times, censored ones included."
    )
    return {"says": says, "caption": "Each cell of the diagram", "head": head, "rows": rows, "how": how}


def _crossover(c: dict[str, Any]) -> str:
    value = c["value"]
    if value is None:
        return f"not known at n = {c['sites']} (runs too short)"
    return f"{quantity(value)} at n = {c['sites']}"


def _moves(shift: dict[str, Any]) -> str:
    if shift["slope"] is None:
        return f"may move or not ({shift['verdict']})"
    told = {"moves up with n": "moves up", "moves down with n": "moves down"}.get(shift["verdict"], "may move or not")
    return f"{told} ({quantity(shift['slope'])} per unit of log n, p = {number(shift['p_value'])})"
