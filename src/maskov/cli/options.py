"""Options that are spelled the same on every command."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

SEED = click.IntRange(0, 2**64 - 1)

seed_option = click.option("--seed", type=SEED, default=0, show_default=True, help="Seed; same seed, same numbers.")
json_option = click.option(
    "--json", "json_target", metavar="FILE|-", help="Write one record to FILE, or stdout with -."
)
quiet_option = click.option("--quiet", is_flag=True, help="No progress and no warnings on stderr.")
texts_option = click.option(
    "--texts", metavar="FILE", help="Texts: one a line, JSONL, FASTA, hf:DATASET, or - for standard input."
)
clamp_option = click.option("--clamp", metavar="SITES", help="Free sites to hold, from 1, such as 3-10,15.")
out_option = click.option("--out", metavar="PATH", required=True, help="Where to write; must not exist yet.")
temperature_option = click.option(
    "--temperature", "temperatures", type=float, multiple=True, metavar="T", help="Above 0; repeatable.  [default: 1]"
)


def temperatures_option(default: str) -> Callable[[F], F]:
    """``--temperatures``, a comma list; the command gets a tuple of floats."""
    return click.option(
        "--temperatures", default=default, show_default=True, metavar="LIST", callback=_numbers, help="Comma list."
    )


def _numbers(context: click.Context, option: click.Parameter, text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise click.BadParameter(f"expected numbers with commas, got {text[:60]!r}") from None


def device_options(command: F) -> F:
    """``--device`` and ``--dtype``."""
    device = click.option(
        "--device", type=click.Choice(["cpu", "cuda", "mps", "auto"]), default="cpu", show_default=True, help="Where."
    )
    dtype = click.option(
        "--dtype",
        type=click.Choice(["float32", "bfloat16", "float16"]),
        default="float32",
        show_default=True,
        help="Of the network; sums are float64 always.",
    )
    return device(dtype(command))


def study_options(command: F) -> F:
    """What every study of a model takes last: ``--seed --device --dtype --json --quiet``."""
    return seed_option(device_options(json_option(quiet_option(command))))
