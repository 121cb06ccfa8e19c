"""``maskov drift``: how fast a run forgets what its texts meant."""

from __future__ import annotations

import click

from maskov.cli.options import json_option, quiet_option, seed_option

EXAMPLE = """\b
Example:
  maskov drift run.zarr --embedder use
"""


@click.command("drift", epilog=EXAMPLE, short_help="Semantic drift and hitting times of a run.")
@click.argument("run", metavar="RUN")
@click.option(
    "--embedder", default="auto", show_default=True, help="use, pooled, onehot, or a sentence-transformers folder."
)
@click.option("--fraction", type=float, default=0.9, show_default=True, help="Of the plateau, that counts as a hit.")
@click.option(
    "--plateau", type=click.Choice(["starts", "late"]), default="starts", show_default=True, help="Its source."
)
@click.option("--model", "model_name", metavar="MODEL", help="Where the run's model lies now, if it moved.")
@seed_option
@json_option
@quiet_option
def command(
    run: str,
    embedder: str,
    fraction: float,
    plateau: str,
    model_name: str | None,
    seed: int,
    json_target: str | None,
    quiet: bool,
) -> None:
    """1 − cosine between the embeddings of x_t and x_0 along RUN, its plateau, and the time to reach it."""
    from maskov.cli.inputs import load_run
    from maskov.cli.output import finish, model_inputs
    from maskov.drift import drift_curves

    trace, model = load_run(run, model_name)
    found = drift_curves(trace, model, embedder, plateau_from=plateau, fraction=fraction, seed=seed)
    inputs = model_inputs(model, run=run, embedder=embedder, fraction=fraction, plateau_from=plateau, seed=seed)
    finish("drift", inputs, found, json_target, quiet)
