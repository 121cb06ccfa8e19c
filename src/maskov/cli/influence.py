"""``maskov influence``: how far one site can sway another."""

from __future__ import annotations

import click

from maskov.cli.options import study_options, temperatures_option, texts_option

EXAMPLE = """\b
Examples:
  maskov influence en-tiny --temperatures 0.5,1,2 --contexts 2
  maskov influence 'law:curie-weiss?sites=64&beta=0.5'      exact, with a certified mixing time
"""


@click.command("influence", epilog=EXAMPLE, short_help="How far can one site sway another? Does the chain contract?")
@click.argument("model_name", metavar="MODEL")
@texts_option
@temperatures_option("0.3,0.5,1,1.5,2,3,5,8,12,20,30")
@click.option("--contexts", type=click.IntRange(1), default=4, show_default=True, help="Texts to search in.")
@click.option("--worst", type=click.IntRange(0), default=1, show_default=True, help="Filled states to search in.")
@study_options
def command(
    model_name: str,
    texts: str | None,
    temperatures: tuple[float, ...],
    contexts: int,
    worst: int,
    seed: int,
    device: str,
    dtype: str,
    json_target: str | None,
    quiet: bool,
) -> None:
    """Influence α(τ) of MODEL in four norms: exact on laws, a lower bound on networks. Below 1 the chain contracts.

    A network is searched in texts and in states filled with one token, where sites sway each other most.
    """
    from maskov.cli.inputs import load_model, texts_for
    from maskov.cli.output import finish, model_inputs
    from maskov.cli.progress import bar
    from maskov.influence import influence

    model = load_model(model_name, device, dtype)
    with bar("influence", quiet, "context") as progress:
        found = influence(
            model,
            texts_for(model, texts),
            temperatures,
            contexts=contexts,
            worst=worst,
            seed=seed,
            progress=progress,
        )
    inputs = model_inputs(
        model, seed=seed, texts=texts, temperatures=list(temperatures), contexts=contexts, worst=worst
    )
    finish("influence", inputs, found, json_target, quiet)
