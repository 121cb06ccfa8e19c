"""``maskov show``: the texts of a trace."""

from __future__ import annotations

import click

from maskov.cli.options import device_options
from maskov.cli.output import say

EXAMPLE = """\b
Example:
  maskov show run.zarr --chain 0 --at 0,10,100
"""


@click.command("show", epilog=EXAMPLE, short_help="Print the texts of a trace at given steps.")
@click.argument("run", metavar="RUN")
@click.option(
    "--chain", type=click.IntRange(0), default=0, show_default=True, help="From 0, temperature by temperature."
)
@click.option("--at", "at", metavar="STEPS", default=None, help="Comma list of steps.  [default: first and last]")
@click.option("--model", "model_name", metavar="MODEL", help="Where the run's model lies now, if it moved.")
@device_options
def command(run: str, chain: int, at: str | None, model_name: str | None, device: str, dtype: str) -> None:
    """One line per step asked for: the step, a tab, the text of chain CHAIN of RUN."""
    from maskov.cli.inputs import load_run

    trace, model = load_run(run, model_name, device, dtype)
    for step in _steps(at, trace.steps):
        say(f"{step}\t{one_line(model.decode(trace.state(chain, step)))}")


def _steps(at: str | None, last: int) -> list[int]:
    from maskov.errors import InputError

    if at is None:
        return [0, last]
    try:
        return [int(part) for part in at.split(",")]
    except ValueError:
        raise InputError("--at", expected="whole numbers with commas", came=repr(at[:60]), remedy="--at 0,10") from None


def one_line(text: str) -> str:
    """``text`` on one line, control characters shown instead of obeyed.

    >>> one_line("a\\tb\\nc")
    'a b c'
    """
    from maskov.cli.main import printable

    return printable(" ".join(text.split()))
