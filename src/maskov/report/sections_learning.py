"""What the gradient-learning experiment says on the page."""

from __future__ import annotations

from typing import Any

from maskov.report.words import number, quantity


def learning(r: dict[str, Any]) -> dict[str, Any]:
    """Sentences, table and origin of a ``learn`` record, by the names of ``Content``."""
    rows = [
        [
            row["spec"],
            number(row["full_mask_mass"]),
            quantity(row["optimal_loss"]),
            quantity(row["excess_loss"]),
            quantity(row["weight_error"]),
            quantity(row["predicted_error"]),
            quantity(row["initial_slope"]),
        ]
        for row in r["schedules"]
    ]
    head = ["schedule", "π₀", "least loss (nats)", "loss above it", "error of the weights", "error that n texts allow"]
    how = (
        "The least loss is exact by counting or enumeration; the loss above it is exact for the witness and the table, "
        "an estimate on fresh texts for a network; the other columns are estimates over seeds with 95 % intervals."
    )
    caption = f"{r['learner']} learner on {r['law']}, {r['samples']} texts a run"
    return {"says": _says(r), "caption": caption, "head": [*head, "slope on the start"], "rows": rows, "how": how}


def _says(r: dict[str, Any]) -> list[str]:
    says = [
        "Masked predictors were trained on samples of a law with known mode weights. A slope of 1 on the start means "
        "that training left the weights where they were; 0 means that it found them."
    ]
    blind = [row for row in r["schedules"] if row["initial_slope"] and row["initial_slope"]["value"] > 0.5]
    if blind:
        names = ", ".join(row["spec"] for row in blind)
        says.append(f"Blind to the weights, with a loss at its optimum: {names}.")
    if r["slope"] is not None:
        says.append(f"The error falls with π₀ at a log–log slope of {quantity(r['slope'])}; −0.5 is 1/√(n π₀).")
    return says
