"""What the page says about whether chains have mixed."""

from __future__ import annotations

from typing import Any

from maskov.report.words import number, quantity


def diagnose(r: dict[str, Any]) -> dict[str, Any]:
    """The fields of the section's ``Content``."""
    rows = [
        [
            f"{c['temperature']:g}",
            c["verdict"],
            s["name"].replace("_", " "),
            "∞" if s["r_hat"]["value"] is None else f"{s['r_hat']['value']:.3f}",
            f"{s['r_hat_noise']:.3f}",
            number(s["ess_bulk"]["value"]),
            number(s["ess_tail"]["value"]),
            quantity(s["ess_per_sweep"]),
        ]
        for c in r["cells"]
        for s in c["scalars"]
    ]
    return {
        "says": [_sentence(c) for c in r["cells"]],
        "caption": "Scalar summaries, each in the group of chains where it is worst",
        "head": ["τ", "verdict", "scalar", "R-hat", "noise up to", "ESS bulk", "ESS tail", "ESS per sweep of a chain"],
        "rows": rows,
        "how": (
            "Estimates: rank-normalised split R-hat and effective sample size, within chains of one law only, the "
            f"first {r['cells'][0]['discarded']} steps left out. Targets: R-hat {r['target_r_hat']:g}, "
            f"ESS {r['target_ess']:g}."
        ),
    }


def _sentence(cell: dict[str, Any]) -> str:
    return f"τ = {cell['temperature']:g}: {cell['verdict']}. {'; '.join(cell['reasons'])}; {cell['advice']}."
