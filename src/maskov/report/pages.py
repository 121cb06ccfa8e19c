"""The report: one self-contained HTML file from an audit's stored results."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import Any

from maskov.errors import InputError
from maskov.files import write_whole
from maskov.plots import figures
from maskov.report.explorer import explorer_context, script, script_hash
from maskov.report.figures import figure_svg
from maskov.report.record import read_record
from maskov.report.sections import CONTENTS, TITLES, stories
from maskov.report.summary import sentences

REPORT = "report.html"


def write_report(folder: str | os.PathLike[str]) -> Path:
    """Build ``report.html`` from ``results.json`` of an audit's folder; returns its path."""
    path = Path(folder)
    if not path.is_dir():
        raise InputError(str(path), expected="the folder of an audit", came="nothing there", remedy="run maskov audit")
    target = path / REPORT
    write_whole(target, page(read_record(path / "results.json"), str(folder)).encode("utf-8"))
    return target


def environment() -> Any:
    """Templates of every page: autoescape on, and a name that is missing is an error."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("maskov.report"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )


def page(record: dict[str, Any], folder: str) -> str:
    """The HTML of an audit's record. Every text of a model or a user is escaped."""
    from markupsafe import Markup

    results = record["results"]
    explorer = explorer_context(results)
    code = script()
    sections = [_section(name, results[name], Markup) for name in TITLES if name in results and name in CONTENTS]
    return (
        environment()
        .get_template("report.html")
        .render(
            record=record,
            title=f"{record['inputs']['model']['name']} as a random process",
            summary=sentences(record),
            sections=sections,
            stories=stories(results["chains"]) if "chains" in results else [],
            explorer=explorer and {**explorer, "data": Markup(explorer["data"])},
            script=Markup(code),
            script_hash=script_hash(code),
            redraw=f"maskov report {shlex.quote(folder)} --figures svg",
        )
    )


def _section(name: str, results: dict[str, Any], markup: Any) -> dict[str, Any]:
    drawn = [
        {"name": figure.name, "caption": figure.caption, "svg": markup(figure_svg(figure, results))}
        for figure in figures(name, results)
    ]
    return {"name": name, "title": TITLES[name], "figures": drawn, **CONTENTS[name](results)._asdict()}
