"""``maskov basins``: regions of texts that the chains of a run leave only rarely."""

from __future__ import annotations

import click

from maskov.cli.options import json_option, quiet_option, seed_option

EXAMPLE = """\b
Examples:
  maskov basins run.zarr
  maskov basins run.zarr --keep 1000 --basins 3 --json basins.json
"""


@click.command("basins", epilog=EXAMPLE, short_help="Basins of a long run: populations, lifetimes, texts.")
@click.argument("run", metavar="RUN")
@click.option(
    "--embedder", default="auto", show_default=True, help="use, pooled, onehot, or a sentence-transformers folder."
)
@click.option("--basins", type=click.IntRange(1, 10), metavar="N", help="Their number.  [default: by the spectral gap]")
@click.option("--lag", type=click.IntRange(1), metavar="STEPS", help="Of the model.  [default: where timescales level]")
@click.option("--keep", type=click.IntRange(2), metavar="K", help="States per chain.  [default: by embedder]")
@click.option("--microstates", type=click.IntRange(2, 1000), metavar="M", help="Clusters, at most.  [default: 80]")
@click.option(
    "--reversible/--no-reversible", default=None, help="Impose detailed balance.  [default: for joint laws alone]"
)
@click.option("--model", "model_name", metavar="MODEL", help="Where the run's model lies now, if it moved.")
@seed_option
@json_option
@quiet_option
def command(
    run: str,
    embedder: str,
    basins: int | None,
    lag: int | None,
    keep: int | None,
    microstates: int | None,
    reversible: bool | None,
    model_name: str | None,
    seed: int,
    json_target: str | None,
    quiet: bool,
) -> None:
    """Markov state model of the embedded states of RUN: basins, how much time a long chain spends in each, how long a
    stay lasts, where chains go next, and the texts nearest to each centre. Needs maskov[basins].
    """
    from maskov.basins import find_basins
    from maskov.cli.inputs import load_run
    from maskov.cli.output import finish, model_inputs
    from maskov.cli.progress import bar

    trace, model = load_run(run, model_name)
    with bar("embedding", quiet, "state") as progress:
        found = find_basins(
            trace,
            model,
            embedder,
            basins=basins,
            lag=lag,
            keep=keep,
            microstates=microstates,
            reversible=reversible,
            seed=seed,
            progress=progress,
        )
    inputs = model_inputs(
        model, run=run, embedder=embedder, basins=basins, lag=lag, keep=keep, microstates=microstates, seed=seed
    )
    finish("basins", inputs, found, json_target, quiet, warnings=found.warnings)
