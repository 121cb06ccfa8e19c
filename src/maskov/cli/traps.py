"""``maskov traps``: texts that a cold chain can hardly leave."""

from __future__ import annotations

import click

from maskov.cli.options import clamp_option, study_options, texts_option

EXAMPLE = """\b
Examples:
  maskov traps en-tiny --limit 5
  maskov traps FOLDER --texts passages.txt --temperature 0.2 --temperature 0.5 --json traps.json
  maskov traps 'law:curie-weiss?sites=12&beta=1.5'      the two aligned states
"""


@click.command("traps", epilog=EXAMPLE, short_help="Texts that a cold chain can hardly leave.")
@click.argument("model_name", metavar="MODEL")
@texts_option
@click.option(
    "--temperature",
    "temperatures",
    type=float,
    multiple=True,
    metavar="T",
    help="Above 0; repeatable.  [default: 0.2, 0.5, 1]",
)
@click.option("--limit", type=click.IntRange(1), default=10, show_default=True, help="Most traps to list.")
@click.option("--starts", type=click.IntRange(1), default=32, show_default=True, help="Descents: texts, then shuffles.")
@click.option("--replicas", type=click.IntRange(1), default=64, show_default=True, help="Chains of each measurement.")
@click.option("--steps", type=click.IntRange(1), default=100_000, show_default=True, help="Longest watch of a chain.")
@clamp_option
@study_options
def command(
    model_name: str,
    texts: str | None,
    temperatures: tuple[float, ...],
    limit: int,
    starts: int,
    replicas: int,
    steps: int,
    clamp: str | None,
    seed: int,
    device: str,
    dtype: str,
    json_target: str | None,
    quiet: bool,
) -> None:
    """Zero-temperature descent on MODEL from many starts: margins of its ends, leave probabilities, dwell times."""
    from maskov.basins import find_traps
    from maskov.cli.inputs import load_model, texts_for
    from maskov.cli.output import finish, model_inputs
    from maskov.cli.progress import bar

    model = load_model(model_name, device, dtype)
    options = {"temperatures": list(temperatures) or [0.2, 0.5, 1.0], "limit": limit, "starts": starts}
    more = {"replicas": replicas, "steps": steps, "clamp": clamp, "seed": seed}
    with bar("traps", quiet, "start") as progress:
        found = find_traps(model, texts_for(model, texts), **options, **more, progress=progress)  # type: ignore[arg-type]
    warnings = [f"{found.unsettled} of {found.n_starts} descents did not settle"] if found.unsettled else []
    if not found.traps:
        warnings.append("no trap was found; try more --starts or a lower --temperature")
    inputs = model_inputs(model, texts=texts, **options, **more)
    finish("traps", inputs, found, json_target, quiet, warnings=warnings)
