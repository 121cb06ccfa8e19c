"""``maskov schedule``: laws of the visible count, side by side."""

from __future__ import annotations

import click

from maskov.cli.options import json_option, quiet_option

EXAMPLE = """\b
Example:
  maskov schedule bert mae uniform cosine 'uniform:0.3,0.8' '0.95*bert+0.05*full' --length 512
\b
Forms (rates are hidden fractions):
  fixed:0.15  bernoulli:0.15  visible:8  hide:1  full  uniform  uniform:0.3,0.8  cosine  poly:2  beta:2,5
  truncnorm:0.55,0.25,0.5,1  span:0.15,3  a*SPEC+b*SPEC  SPEC*1/t  SPEC*N/h  SPEC*elbo
  presets: bert bert-bernoulli roberta modernbert spanbert t5 mae mdlm llada clipped maskgit md4 mage mar
"""


@click.command("schedule", epilog=EXAMPLE, short_help="Law of the visible count of mask schedules, side by side.")
@click.argument("specs", metavar="SPEC...", nargs=-1, required=True)
@click.option("--length", type=int, required=True, metavar="N", help="Number of sites.")
@json_option
@quiet_option
def command(specs: tuple[str, ...], length: int, json_target: str | None, quiet: bool) -> None:
    """Law of the visible count of each SPEC at N sites: v_min, mean, full-mask and low-visibility mass."""
    from maskov.cli.output import finish
    from maskov.schedules import compare_schedules

    table = compare_schedules(specs, length)
    finish("schedule", {"schedules": list(specs), "length": length}, table, json_target, quiet, text=table.table())
