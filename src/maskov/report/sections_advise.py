"""What the advice on a mask schedule says on the page."""

from __future__ import annotations

from typing import Any

from maskov.report.words import number, quantity


def advice(r: dict[str, Any]) -> dict[str, Any]:
    """Sentences, table and origin of an ``advise`` record, by the names of ``Content``."""
    rows = [_row(s, "asked about" if k == 0 else "") for k, s in enumerate([r["standing"], *r["table"]])]
    rows += [
        _row(fix["standing"], f"recommended: {100 * fix['share']:.3g} % {fix['added']}, {fix['promise']}")
        for fix in r["fixes"]
        if fix["standing"] is not None and fix["schedule"] == r["recommended"]
    ]
    head = ["schedule", "v_min", "π₀", "ρ", "weights left open (TV)", "proved for all (TV ≤)", "verdict", ""]
    caption = f"Schedules on {r['name']} at {r['excess_loss']:g} nats of excess loss, {r['length']} sites a sequence"
    return {"says": list(r["sentences"]), "caption": caption, "head": head, "rows": rows, "how": _how(r)}


def _row(s: dict[str, Any], note: str) -> list[Any]:
    masses = [s["schedule"], s["v_min"], number(s["full_mask_mass"])]
    return [
        *masses,
        quantity(s["blindness_ratio"]),
        quantity(s["left_open"]),
        quantity(s["certified"]),
        s["verdict"],
        note,
    ]


def _how(r: dict[str, Any]) -> str:
    open_by = (
        "What is left open is exact inside the family of predictors that get every mode right, a lower bound over all."
        if r["ground"] == "law"
        else "What is left open is an estimate from the measured curve of the collections."
    )
    return f"{open_by} The bound for every predictor is √(ε / 2π₀), by Pinsker's inequality."
