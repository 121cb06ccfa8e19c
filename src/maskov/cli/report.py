"""``maskov report``: rebuild a report from stored results, or compare several."""

from __future__ import annotations

import click

from maskov.cli.output import say

EXAMPLE = """\b
Examples:
  maskov report audit-en-tiny
  maskov report audit-en-tiny --figures pdf
  maskov report audit-en-tiny audit-antibody --out comparison.html
"""


@click.command("report", epilog=EXAMPLE, short_help="Rebuild the HTML or the figures of an audit; compare several.")
@click.argument("folders", metavar="DIR...", nargs=-1, required=True)
@click.option("--figures", type=click.Choice(["svg", "pdf", "png"]), help="Also write each figure into DIR/figures.")
@click.option("--out", metavar="FILE", help="Where a comparison goes.  [default: comparison.html]")
def command(folders: tuple[str, ...], figures: str | None, out: str | None) -> None:
    """Rebuild report.html from the results.json in DIR; with several DIRs, write one page that compares them.

    Nothing is computed again.
    """
    if len(folders) > 1:
        from maskov.report.compare import write_comparison

        say(f"comparison: {write_comparison(folders, out or 'comparison.html')}")
    else:
        _one(folders[0], out)
    for folder in folders if figures else ():
        _draw(folder, str(figures))


def _one(folder: str, out: str | None) -> None:
    from maskov.errors import InputError
    from maskov.report.pages import write_report

    if out is not None:
        remedy = "leave --out away; the report of one audit stands in its folder"
        raise InputError("--out", expected="two audits or more to compare", came="one", remedy=remedy)
    say(f"report: {write_report(folder)}")


def _draw(folder: str, kind: str) -> None:
    from pathlib import Path

    from maskov.report.figures import write_figures
    from maskov.report.record import read_record

    results = read_record(Path(folder) / "results.json")["results"]
    for path in write_figures(results, Path(folder) / "figures", kind):
        say(f"figure: {path}")
