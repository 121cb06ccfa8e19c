"""``maskov report``: rebuild a report from stored results."""

from __future__ import annotations

import click

EXAMPLE = """\b
Examples:
  maskov report audit-en-tiny
  maskov report audit-en-tiny --figures pdf
"""


@click.command("report", epilog=EXAMPLE, short_help="Rebuild the HTML, or the figures, of an audit.")
@click.argument("folder", metavar="DIR")
@click.option("--figures", type=click.Choice(["svg", "pdf", "png"]), help="Also write each figure into DIR/figures.")
def command(folder: str, figures: str | None) -> None:
    """Rebuild report.html from the results.json in DIR; nothing is computed again."""
    from pathlib import Path

    from maskov.report.pages import write_report

    click.echo(f"report: {write_report(folder)}")
    if figures is not None:
        from maskov.report.figures import write_figures
        from maskov.report.record import read_record

        results = read_record(Path(folder) / "results.json")["results"]
        for path in write_figures(results, Path(folder) / "figures", figures):
            click.echo(f"figure: {path}")
