"""What every command does at its end: write the record, print the result, tell the warnings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import click


def finish(
    command: str,
    inputs: dict[str, Any],
    result: Any,
    json_target: str | None,
    quiet: bool,
    *,
    text: str | None = None,
    warnings: Iterable[str] = (),
) -> None:
    """Write ``result`` as a record where asked, and print it unless the record itself goes to stdout.

    result: a ``Result``, or the record's ``results`` as a dict; text: what to print, default the result's own form.
    """
    told = list(warnings)
    if json_target is not None:
        from maskov.cli.provenance import provenance
        from maskov.report.record import make_record, write_record

        content = result if isinstance(result, dict) else result.to_dict()
        write_record(make_record(command, {**inputs, **provenance()}, content, told), json_target)
    if json_target != "-":
        say(str(result) if text is None else text)
    if not quiet:
        warn(told)


def say(text: str, err: bool = False) -> None:
    """Print, with control characters shown: a text or a name must not steer the terminal."""
    from maskov.cli.main import printable

    click.echo(printable(text), err=err)


def warn(warnings: Iterable[str]) -> None:
    """One line each on standard error."""
    for warning in warnings:
        say(f"warning: {warning}", err=True)


def model_inputs(model: Any, **others: Any) -> dict[str, Any]:
    """The ``inputs`` of a record on a model: its name and fingerprint, and whatever else was asked."""
    return {"model": {"name": model.name, "fingerprint": model.fingerprint}, **others}
