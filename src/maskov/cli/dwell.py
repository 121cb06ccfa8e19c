"""``maskov dwell``: where the chains of a run stay long."""

from __future__ import annotations

import click

from maskov.cli.options import json_option, quiet_option

EXAMPLE = """\b
Example:
  maskov dwell run.zarr --radius 0.1 --longest 10
"""


@click.command("dwell", epilog=EXAMPLE, short_help="The longest stays of a run near one text.")
@click.argument("run", metavar="RUN")
@click.option(
    "--radius", type=float, default=0.1, show_default=True, help="Sites, or a share of the free sites below 1."
)
@click.option("--longest", type=click.IntRange(1), default=10, show_default=True, help="How many to list.")
@click.option("--model", "model_name", metavar="MODEL", help="Where the run's model lies now, if it moved.")
@json_option
@quiet_option
def command(
    run: str, radius: float, longest: int, model_name: str | None, json_target: str | None, quiet: bool
) -> None:
    """Maximal time intervals of RUN within a Hamming radius of one text, with its margins and leave probability."""
    from maskov.basins import dwell_segments
    from maskov.cli.inputs import load_run
    from maskov.cli.output import finish, model_inputs

    trace, model = load_run(run, model_name)
    found = dwell_segments(trace, model, radius, longest)
    finish("dwell", model_inputs(model, run=run, radius=radius, longest=longest), found, json_target, quiet)
