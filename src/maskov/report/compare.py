"""Several audits side by side: one table of their numbers, and their curves over each other."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from maskov.errors import InputError
from maskov.files import write_whole
from maskov.report.record import read_record
from maskov.report.words import number, quantity, shortened

Results = dict[str, Any]


class Line(NamedTuple):
    """One row of the comparison. name: what it is; study: whose results it reads; tell: from them to a cell's text."""

    name: str
    study: str
    tell: Callable[[Results], str]


def _at_one(cells: Sequence[Results], key: str) -> str:
    cell = min(cells, key=lambda c: abs(c["temperature"] - 1))
    return f"{quantity(cell[key])} (τ = {cell['temperature']:g})"


def _sigma(r: Results) -> str:
    cell = min(r["cells"], key=lambda c: abs(c["temperature"] - 1))
    return _at_one(r["cells"], "production") + ("" if cell["stationary"] else ", still settling")


def _coldest_meeting(r: Results) -> str:
    met = [c for c in r["cells"] if c["met_fraction"] is not None and _value(c["met_fraction"]) >= 0.5]
    if not met:
        return "none of those tried"
    cell = min(met, key=lambda c: c["temperature"])
    return f"τ = {cell['temperature']:g}: {quantity(cell['median_sweeps'])} sweeps"


def _value(q: Any) -> float:
    return float(q["value"] if isinstance(q, dict) else q)


def _crossover(r: Results) -> str:
    return "; ".join(f"n = {c['sites']}: {quantity(c['temperature'])}" for c in r["crossover"]) or "–"


def _longest_stay(r: Results) -> str:
    if not r["segments"]:
        return "none"
    s = r["segments"][0]
    kind = "perfect trap" if s["perfect"] else "approximate"
    open_end = "" if s["ended"] else "≥ "
    return f"{open_end}{number(s['sweeps'])} sweeps at τ = {s['temperature']:g} ({kind}): “{shortened(s['text'], 60)}”"


def _basin_count(r: Results) -> str:
    return "; ".join(f"τ = {c['temperature']:g}: {len(c['basins'])}" for c in r["cells"])


def _topics(r: Results) -> str:
    return ", ".join(map(str, r["recurring"])) or "none against the null"


def _mixed(r: Results) -> str:
    return "; ".join(f"τ = {c['temperature']:g}: {c['verdict']}" for c in r["cells"])


LINES = (
    Line("mean |Δ| (nats)", "rectangle", lambda r: quantity(r["mean_abs"])),
    Line("relative defect", "rectangle", lambda r: quantity(r["relative_mean"])),
    Line("mean |Δ| / rounding noise", "rectangle", lambda r: number(r["noise_ratio"])),
    Line("entropy production σ (nats/step)", "entropy", _sigma),
    Line("change rate", "entropy", lambda r: _at_one(r["cells"], "change_rate")),
    Line("plateau of drift", "drift", lambda r: quantity(r["plateau"])),
    Line("τ* where influence crosses 1", "influence", lambda r: quantity(r["critical_temperature"])),
    Line("coldest τ at which half the pairs met", "couple", _coldest_meeting),
    Line("crossover τ_c(n)", "phase", _crossover),
    Line("perfect traps found", "traps", lambda r: f"{r['n_perfect']} from {r['n_starts']} starts"),
    Line("longest stay", "dwell", _longest_stay),
    Line("surest token", "tokens", lambda r: f"“{r['ranking'][0]['text']}” {quantity(r['ranking'][0]['probability'])}"),
    Line("basins", "basins", _basin_count),
    Line("recurring topics", "topics", _topics),
    Line("mixed?", "diagnose", _mixed),
)

# name, study, key of its cells, quantity, label of the y axis, log scale
CURVES = (
    ("compare-change", "entropy", "cells", "change_rate", "share of steps that change a token", False),
    ("compare-production", "entropy", "cells", "production", "entropy production (nats/step)", False),
    ("compare-meeting", "couple", "cells", "median_sweeps", "median meeting time (sweeps)", True),
    ("compare-forgetting", "drift", "curves", "hitting_median_sweeps", "median time to forget (sweeps)", True),
    ("compare-influence", "influence", "curve", "row", "largest row sum of the influence", True),
)


def table(audits: Sequence[tuple[str, Results]]) -> list[list[str]]:
    """Rows of the comparison: a name, then one cell per audit; a study that none has is left out."""
    return [
        [line.name, *(_cell(line, results) for _, results in audits)]
        for line in LINES
        if any(line.study in results for _, results in audits)
    ]


def _cell(line: Line, results: Results) -> str:
    return line.tell(results[line.study]) if line.study in results else "not studied"


def curves(audits: Sequence[tuple[str, Results]]) -> list[dict[str, Any]]:
    """Curves over temperature, one line an audit; a figure that fewer than two audits can fill is left out."""
    found = []
    for name, study, key, quantity_name, label, log in CURVES:
        series = [
            {"label": who, "points": [[c["temperature"], c[quantity_name]] for c in results[study][key]]}
            for who, results in audits
            if study in results
        ]
        series = [{**s, "points": [p for p in s["points"] if p[1] and p[1].get("value") is not None]} for s in series]
        drawn = [s for s in series if s["points"]]
        if len(drawn) > 1:
            found.append({"name": name, "series": drawn, "ylabel": label, "log": log})
    return found


def read_audits(folders: Sequence[str | os.PathLike[str]]) -> list[tuple[str, dict[str, Any]]]:
    """(label, record) of each audit's folder; labels differ: the model's name, and the folder's where two are alike."""
    records = [read_record(Path(folder) / "results.json") for folder in folders]
    names = []
    for folder, record in zip(folders, records, strict=True):
        if record["command"] != "audit":
            raise InputError(str(folder), expected="an audit's results", came=f"those of {record['command']}")
        names.append(str(record["inputs"]["model"]["name"]))
    labels = [
        f"{name} ({Path(folder).name})" if names.count(name) > 1 else name
        for name, folder in zip(names, folders, strict=True)
    ]
    return list(zip(labels, records, strict=True))


def write_comparison(folders: Sequence[str | os.PathLike[str]], target: str | os.PathLike[str]) -> Path:
    """One page that compares audits; returns its path. Raises ``InputError`` with fewer than two folders."""
    if len(folders) < 2:
        raise InputError("comparison", expected="two audits or more", came=str(len(folders)))
    path = Path(target)
    write_whole(path, comparison_page(read_audits(folders)).encode("utf-8"))
    return path


def comparison_page(audits: Sequence[tuple[str, dict[str, Any]]]) -> str:
    """The HTML of a comparison; every text is escaped."""
    from markupsafe import Markup

    from maskov.plots.registry import Figure
    from maskov.report.figures import figure_svg
    from maskov.report.pages import environment

    results = [(label, record["results"]) for label, record in audits]
    drawn = []
    for curve in curves(results):
        caption = f"{curve['ylabel']} against τ, one line an audit, with 95 % intervals; open triangles are bounds."
        figure = Figure(curve["name"], "compare:plot_overlay", caption[0].upper() + caption[1:])
        drawn.append({"caption": figure.caption, "svg": Markup(figure_svg(figure, curve))})
    setups = [
        [label, record["inputs"]["plan"]["budget"], _texts(record), record["inputs"]["seed"], _length(record)]
        for label, record in audits
    ]
    return (
        environment()
        .get_template("compare.html")
        .render(
            labels=[label for label, _ in audits],
            rows=table(results),
            setups=setups,
            figures=drawn,
            summary=comparison_sentences(results),
            version=audits[0][1]["maskov"],
        )
    )


def _texts(record: dict[str, Any]) -> str:
    texts = record["inputs"].get("texts")
    return "its own states" if texts is None else str(texts["count"])


def _length(record: dict[str, Any]) -> str:
    chains = record["results"].get("chains")
    return "–" if chains is None else f"{chains['chains']} × {chains['steps']:,} steps"


def _change_rate(r: Results) -> Results:
    cell: Results = min(r["cells"], key=lambda c: abs(c["temperature"] - 1))
    return dict(cell["change_rate"])


EXTREMES: tuple[tuple[str, Callable[[Results], Results], str], ...] = (
    ("rectangle", lambda r: dict(r["mean_abs"]), "disagrees most around rectangles"),
    ("entropy", _change_rate, "changes most tokens per step"),
)


def comparison_sentences(audits: Sequence[tuple[str, Results]]) -> list[str]:
    """What differs, in words: the largest and the smallest defect and change rate, with their errors in mind."""
    found = []
    for study, pick, what in EXTREMES:
        values = [(label, pick(results[study])) for label, results in audits if study in results]
        if len(values) > 1:
            found.append(_extremes(values, what))
    return found


def _extremes(values: list[tuple[str, dict[str, Any]]], what: str) -> str:
    ordered = sorted(values, key=lambda v: v[1]["value"])
    (low, q_low), (high, q_high) = ordered[0], ordered[-1]
    spread = (q_low.get("stderr") or 0) ** 2 + (q_high.get("stderr") or 0) ** 2
    told = f"{high} {what} ({quantity(q_high)}), {low} least ({quantity(q_low)})"
    if q_high["value"] - q_low["value"] < 2 * spread**0.5:
        return f"{told}; the difference is within its error."
    return f"{told}."
