"""``maskov learn``: train masked predictors on an exact law, and read the mode weights they end with."""

from __future__ import annotations

import click

from maskov.cli.options import json_option, quiet_option, seed_option

EXAMPLE = """\b
Examples:
  maskov learn --law 'product?sites=64&gap=0.3&weight=0.3' --schedule hide:1 --schedule '0.95*bert+0.05*full'
  maskov learn --law 'product?sites=16&gap=0.3&weight=0.3' --schedule uniform --learner table --seeds 20
  maskov learn --law 'product?sites=16&gap=0.3&weight=0.3' --schedule full --learner transformer --out runs
  maskov learn --law 'product?sites=16&gap=0.3&weight=0.3' --schedule full --learner transformer --out runs --resume
"""


@click.command("learn", epilog=EXAMPLE, short_help="Train masked predictors on a law; read the weights they end with.")
@click.option("--law", "law_text", required=True, metavar="LAW", help="A law with modes, such as product?sites=64&….")
@click.option(
    "--schedule",
    "specs",
    required=True,
    multiple=True,
    metavar="SPEC",
    help="Mask schedule; repeatable, 5 give a slope.",
)
@click.option(
    "--learner",
    type=click.Choice(["witness", "table", "transformer"]),
    default="witness",
    show_default=True,
    help="witness: mode weights free, all else known; table: a row per configuration.",
)
@click.option("--seeds", type=click.IntRange(1), default=10, show_default=True, help="Runs, numbered from --seed.")
@click.option("--samples", type=click.IntRange(2), default=20_000, show_default=True, help="Texts, one mask each.")
@click.option("--epochs", type=click.IntRange(1), default=10, show_default=True, help="Passes over them.")
@click.option("--batch", type=click.IntRange(1), default=128, show_default=True, help="Texts a step.")
@click.option(
    "--loss", type=click.Choice(["token", "joint"]), default="token", show_default=True, help="joint: witness only."
)
@click.option("--optimizer", type=click.Choice(["sgd", "adam"]), help="[default: witness sgd, others adam]")
@click.option("--rate", type=float, metavar="R", help="First step size.  [default: the learner's own]")
@click.option("--chain-sweeps", type=click.IntRange(0), default=0, help="Also read chains of a network, this long.")
@click.option("--out", metavar="FOLDER", help="Keep one file a run there.")
@click.option("--resume", is_flag=True, help="Go on with the runs in --out.")
@click.option("--workers", default="1", show_default=True, metavar="N|ray:N", help="Processes, or Ray workers.")
@seed_option
@json_option
@quiet_option
def command(
    law_text: str,
    specs: tuple[str, ...],
    learner: str,
    seeds: int,
    samples: int,
    epochs: int,
    batch: int,
    loss: str,
    optimizer: str | None,
    rate: float | None,
    chain_sweeps: int,
    out: str | None,
    resume: bool,
    workers: str,
    seed: int,
    json_target: str | None,
    quiet: bool,
) -> None:
    """Train on samples of LAW under each mask schedule SPEC; compare the mode weights with the true ones.

    A run draws its texts and their masks once. The loss it could reach at best is exact, so "the loss is at its optimum
    and the weights are wrong" can be seen.
    """
    from maskov.cli.output import finish
    from maskov.cli.progress import bar
    from maskov.learning import learn

    _check_resume(out, resume)
    settings = {"samples": samples, "epochs": epochs, "batch": batch, "loss": loss, "optimizer": optimizer or ""}
    settings |= {"rate": rate, "chain_sweeps": chain_sweeps}
    places = {"out": out, "resume": resume, "workers": workers}
    with bar("learn", quiet, "run") as progress:
        found = learn(law_text, specs, learner, seeds, seed=seed, progress=progress, **places, **settings)  # type: ignore[arg-type]
    inputs = {"law": law_text, "schedules": list(specs), "learner": learner, "seeds": seeds, "seed": seed, **settings}
    finish("learn", inputs, found, json_target, quiet, text=found.table(), warnings=found.warnings)


def _check_resume(out: str | None, resume: bool) -> None:
    """``--resume`` without a folder to go on with is bad input."""
    if resume and out is None:
        from maskov.errors import InputError

        raise InputError("--resume", expected="the --out folder to go on with", came="none", remedy="add --out FOLDER")
