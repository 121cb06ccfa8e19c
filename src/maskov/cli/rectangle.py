"""``maskov rectangle``: is there any joint law with these conditionals?"""

from __future__ import annotations

import click

from maskov.cli.options import study_options, texts_option

EXAMPLE = """\b
Examples:
  maskov rectangle en-tiny
  maskov rectangle FOLDER --texts passages.txt --rectangles 1000 --json rectangle.json
  maskov rectangle 'law:ising-ring?sites=8&beta=0.7'      a joint law: the defect is rounding
"""


@click.command("rectangle", epilog=EXAMPLE, short_help="Are the conditionals compatible with any joint law?")
@click.argument("model_name", metavar="MODEL")
@texts_option
@click.option("--rectangles", type=click.IntRange(1), default=400, show_default=True, help="Per proposal.")
@click.option(
    "--proposal",
    "proposals",
    type=click.Choice(["conditional", "top_k", "uniform"]),
    multiple=True,
    help="How new tokens are proposed; repeatable, the first is the headline.  [default: conditional]",
)
@click.option("--per-site", type=click.IntRange(1), default=2, show_default=True, help="Substitutions at each site.")
@study_options
def command(
    model_name: str,
    texts: str | None,
    rectangles: int,
    proposals: tuple[str, ...],
    per_site: int,
    seed: int,
    device: str,
    dtype: str,
    json_target: str | None,
    quiet: bool,
) -> None:
    """The rectangle test (Kolmogorov's criterion) on MODEL: defects in nats beside the model's own rounding."""
    from maskov.cli.inputs import load_model, texts_for
    from maskov.cli.output import finish, model_inputs
    from maskov.cli.progress import bar
    from maskov.compatibility import rectangle_test

    model = load_model(model_name, device, dtype)
    kinds = proposals or ("conditional",)
    with bar("rectangles", quiet, "proposal") as progress:
        found = rectangle_test(
            model,
            texts_for(model, texts),
            rectangles=rectangles,
            proposals=kinds,
            per_site=per_site,
            seed=seed,
            progress=progress,
        )
    inputs = model_inputs(model, seed=seed, texts=texts, rectangles=rectangles, proposals=list(kinds))
    finish("rectangle", inputs, found, json_target, quiet)
