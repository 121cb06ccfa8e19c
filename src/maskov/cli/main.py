"""``maskov``: the group of commands, and how errors become messages and exit codes."""

from __future__ import annotations

import importlib
import io
import os
import sys
from typing import Any

import click

from maskov import __version__
from maskov.errors import MaskovError

# In the order of a first visit; each is a module of maskov.cli with a ``command``.
COMMANDS = (
    "audit",
    "sample",
    "show",
    "rectangle",
    "entropy",
    "influence",
    "couple",
    "phase",
    "traps",
    "tokens",
    "drift",
    "dwell",
    "diagnose",
    "basins",
    "topics",
    "schedule",
    "identify",
    "corpus",
    "advise",
    "learn",
    "models",
    "report",
    "rerun",
    "completion",
)

EPILOG = """\b
Examples:
  maskov audit                                  study the bundled English model, write a report
  maskov audit FOLDER --texts passages.txt      study your own model on your own texts
  maskov sample en-tiny --temperature 1 --sweeps 50 --out run.zarr
  maskov schedule bert mae uniform --length 512
\b
Exit codes: 0 done, 1 failed run, 2 bad input, 130 interrupted (what was complete is stored).
"""


class Commands(click.Group):
    """A group that imports a command's file when it is asked for, so that ``--help`` answers at once."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep the words as they were given: a record tells how it was made."""
        ctx.obj = list(args)
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order of a first visit."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name."""
        if cmd_name not in COMMANDS:
            return None
        return getattr(importlib.import_module(f"maskov.cli.{cmd_name}"), "command", None)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command of the first word; a near miss is named."""
        import difflib

        if args and self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            close = difflib.get_close_matches(args[0], COMMANDS, n=1)
            hint = f"; did you mean {close[0]}?" if close else "; see maskov --help"
            ctx.fail(f"no command {args[0][:60]!r}{hint}")
        return super().resolve_command(ctx, args)


@click.group(cls=Commands, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="maskov")
def cli() -> None:
    """What a masked predictor is as a random process: are its conditionals compatible, how fast does mask-and-resample
    forget, where does it get stuck, and what can a mask schedule identify?
    """


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and leave with its exit code; a known error is one message, never a traceback."""
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    try:
        value = cli.main(arguments, prog_name="maskov", standalone_mode=False)
        sys.stdout.flush()
        code = value if isinstance(value, int) else 0
    except click.exceptions.Exit as error:
        code = error.exit_code
    except click.ClickException as error:
        code = _show(error)
    except BrokenPipeError:  # the reader, such as head, has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except BaseException as error:
        code = _report(error)
    sys.exit(code)


def _show(error: click.ClickException) -> int:
    """Click's own message for wrong options, in which the words of the command line come back."""
    told = io.StringIO()
    error.show(file=told)
    click.echo(printable(told.getvalue()), err=True, nl=False)
    return error.exit_code


def _report(error: BaseException) -> int:
    """Print one message for an error; returns the exit code."""
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else 1
    if os.environ.get("MASKOV_TRACEBACK"):
        raise error
    code, text = _message(error)
    click.echo(text, err=True)
    return code


def _message(error: BaseException) -> tuple[int, str]:
    if isinstance(error, MaskovError):
        return error.exit_code, f"{'stopped' if error.exit_code == 130 else 'error'}: {printable(str(error))}"
    if isinstance(error, (KeyboardInterrupt, click.Abort)):
        return 130, "stopped: interrupted"
    if isinstance(error, MemoryError):
        return 1, "error: out of memory; use fewer chains, shorter texts or a smaller model"
    if isinstance(error, OSError):
        return 1, f"error: {printable(str(error.filename or 'file'))}: {printable(str(error.strerror or error))}"
    wish: Any = f"error: unexpected {type(error).__name__}: {printable(str(error))[:300]}"
    return 1, f"{wish}\nThis is a fault of maskov. Set MASKOV_TRACEBACK=1 to see where, and please report it."


def printable(text: str) -> str:
    """``text`` without control characters, which could steer a terminal.

    >>> printable("a\\x1b[31mb")
    'a\\\\x1b[31mb'
    """
    return "".join(c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in text)
