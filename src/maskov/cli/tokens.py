"""``maskov tokens``: which tokens, once they fill a text, keep filling it?"""

from __future__ import annotations

import click

from maskov.cli.options import study_options, texts_option

EXAMPLE = """\b
Examples:
  maskov tokens en-tiny
  maskov tokens FOLDER --texts passages.txt --temperature 0.7 --sites 32 --json tokens.json
  maskov tokens 'law:curie-weiss?sites=12&beta=1.5'     all states looked at: a certificate
"""


@click.command("tokens", epilog=EXAMPLE, short_help="Tokens that, once they fill a text, keep filling it.")
@click.argument("model_name", metavar="MODEL")
@texts_option
@click.option("--temperature", type=float, default=1.0, show_default=True, metavar="T", help="Above 0.")
@click.option("--sites", type=click.IntRange(2), default=16, show_default=True, help="Free sites; a law has its own.")
@click.option("--top", type=click.IntRange(1), default=10, show_default=True, help="Tokens to list.")
@click.option("--profiles", type=click.IntRange(0), default=3, show_default=True, help="How many of them to follow.")
@click.option("--replicas", type=click.IntRange(1), default=64, show_default=True, help="Chains of each escape.")
@study_options
def command(
    model_name: str,
    texts: str | None,
    temperature: float,
    sites: int,
    top: int,
    profiles: int,
    replicas: int,
    seed: int,
    device: str,
    dtype: str,
    json_target: str | None,
    quiet: bool,
) -> None:
    """Scan the vocabulary of MODEL for tokens that hold a text full of themselves; drift, certificate and escape of the
    strongest.
    """
    from maskov.basins import token_basins
    from maskov.cli.inputs import load_model, texts_for
    from maskov.cli.output import finish, model_inputs
    from maskov.cli.progress import bar

    model = load_model(model_name, device, dtype)
    with bar("tokens", quiet, "token") as progress:
        found = token_basins(
            model,
            texts_for(model, texts),
            temperature=temperature,
            sites=sites,
            top=top,
            profiles=profiles,
            replicas=replicas,
            seed=seed,
            progress=progress,
        )
    inputs = model_inputs(
        model,
        texts=texts,
        temperature=temperature,
        sites=found.sites,
        top=top,
        profiles=profiles,
        replicas=replicas,
        seed=seed,
    )
    finish("tokens", inputs, found, json_target, quiet)
