"""``maskov identify``: what a mask schedule can identify of a law's mode weights."""

from __future__ import annotations

import click

from maskov.cli.options import json_option, quiet_option, seed_option

EXAMPLE = """\b
Examples:
  maskov identify --law 'product?sites=64&gap=0.3&weight=0.3' --schedule hide:1 --against 0.5
  maskov identify --law 'product?sites=10000&gap=0.1&weight=0.3' --schedule fixed:0.15 --json -
"""


@click.command("identify", epilog=EXAMPLE, short_help="What a mask schedule can identify of a law's mode weights.")
@click.option("--law", "law_text", required=True, metavar="LAW", help="A law with modes, such as product?sites=64&….")
@click.option(
    "--schedule", "spec", required=True, metavar="SPEC", help="A mask schedule; see `maskov schedule --help`."
)
@click.option("--epsilon", "epsilons", multiple=True, type=float, metavar="E", help="Excess loss in nats; repeatable.")
@click.option("--against", metavar="LAMBDA", help="P(Z = 1) under q, or all K weights with commas.  [weight + 0.05]")
@seed_option
@json_option
@quiet_option
def command(
    law_text: str,
    spec: str,
    epsilons: tuple[float, ...],
    against: str | None,
    seed: int,
    json_target: str | None,
    quiet: bool,
) -> None:
    """Decomposition, modulus, tensorisation and bridge of LAW under the mask schedule SPEC."""
    from maskov.cli.output import finish
    from maskov.identifiability.identify import EPSILONS, identify

    levels = epsilons or EPSILONS
    found = identify(law_text, spec, read_weights(against), levels, seed=seed)
    inputs = {"law": law_text, "schedule": spec, "against": found.against, "epsilons": list(levels), "seed": seed}
    finish("identify", inputs, found, json_target, quiet, text=found.table(), warnings=found.warnings)


def read_weights(text: str | None) -> float | list[float] | None:
    """``--against``: one number or K numbers with commas; ``InputError`` otherwise."""
    if text is None:
        return None
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        from maskov.errors import InputError

        remedy = "pass --against 0.5"
        raise InputError(
            "--against", expected="a number, or numbers with commas", came=repr(text[:60]), remedy=remedy
        ) from None
    return values[0] if len(values) == 1 else values
