"""``maskov advise``: what a mask schedule misses, and the smallest fix."""

from __future__ import annotations

import click

from maskov.cli.options import json_option, quiet_option

EXAMPLE = """\b
Examples:
  maskov advise --law 'product?sites=64&gap=0.3&weight=0.3' --schedule bert
  maskov corpus de=german.jsonl en=english.jsonl --json corpus.json
  maskov advise --corpus corpus.json --schedule bert --length 512 --tolerance 0.05 --excess-loss 1e-3
"""


@click.command("advise", epilog=EXAMPLE, short_help="What a mask schedule misses, and the smallest fix.")
@click.option("--corpus", metavar="RESULT", help="A record of maskov corpus.")
@click.option("--law", metavar="LAW", help="A law with modes, in place of a corpus.")
@click.option("--schedule", "spec", metavar="SPEC", required=True, help="The schedule that you train with.")
@click.option("--length", type=click.IntRange(1), metavar="N", help="Sites of a training sequence.  [default: its own]")
@click.option("--tolerance", type=float, default=0.05, show_default=True, help="Distance (TV) of the mode weights.")
@click.option(
    "--excess-loss", type=float, default=1e-3, show_default=True, help="Nats per sequence that training reaches."
)
@json_option
@quiet_option
def command(
    corpus: str | None,
    law: str | None,
    spec: str,
    length: int | None,
    tolerance: float,
    excess_loss: float,
    json_target: str | None,
    quiet: bool,
) -> None:
    """What training with SPEC can and cannot see of the mode weights, in words; the smallest share of other masks that
    mends it; what that costs; and where common schedules stand.
    """
    from maskov.advisor import advise
    from maskov.cli.output import finish
    from maskov.errors import InputError

    if (corpus is None) == (law is None):
        came = "both" if corpus is not None else "neither"
        raise InputError("ground", expected="--corpus or --law", came=came, remedy="pass one of them")
    found = advise(
        _corpus(corpus) if corpus is not None else law,
        spec,
        tolerance=tolerance,
        excess_loss=excess_loss,
        length=length,
    )
    asked = {"corpus": corpus, "law": law, "schedule": spec, "length": length}
    inputs = {**asked, "tolerance": tolerance, "excess_loss": excess_loss}
    finish("advise", inputs, found, json_target, quiet)


def _corpus(path: str) -> object:
    from maskov.corpora.stored import read_corpus

    return read_corpus(path)
