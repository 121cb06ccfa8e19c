"""``maskov entropy``: how irreversible a chain is, from a run."""

from __future__ import annotations

import click

from maskov.cli.options import json_option, quiet_option

EXAMPLE = """\b
Example:
  maskov entropy run.zarr --discard 0.25
"""


@click.command("entropy", epilog=EXAMPLE, short_help="Entropy production, change rate and entropy of a run.")
@click.argument("run", metavar="RUN")
@click.option("--discard", type=float, default=0.25, show_default=True, help="Share of the steps to leave out first.")
@json_option
@quiet_option
def command(run: str, discard: float, json_target: str | None, quiet: bool) -> None:
    """Entropy production per step at each temperature of RUN: 0 exactly when the conditionals have a joint law."""
    from maskov.cli.output import finish
    from maskov.compatibility import entropy_production
    from maskov.glauber import open_trace

    trace = open_trace(run)
    found = entropy_production(trace, discard=discard)
    late = [
        f"τ = {c.temperature:g}: not stationary yet, σ still holds relaxation" for c in found.cells if not c.stationary
    ]
    inputs = {"run": run, "model": trace.manifest.model, "seed": trace.manifest.seed, "discard": discard}
    finish("entropy", inputs, found, json_target, quiet, warnings=late)
