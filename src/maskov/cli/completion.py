"""``maskov completion``: the script that completes commands and options in a shell."""

from __future__ import annotations

import click

EXAMPLE = """\b
Example:
  maskov completion bash >> ~/.bashrc
"""


@click.command("completion", epilog=EXAMPLE, short_help="Print a shell's completion script.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """The completion script of SHELL on standard output."""
    from click.shell_completion import get_completion_class

    from maskov.cli.main import cli

    found = get_completion_class(shell)
    assert found is not None
    script = found(cli, {}, "maskov", "_MASKOV_COMPLETE")
    click.echo(script.source_template % script.source_vars())
