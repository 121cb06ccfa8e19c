"""Figures as SVG inside a page: text stays text, colours follow the page, no two share an id; or as files."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

from maskov.files import write_whole
from maskov.plots import Figure, draw, figures

# A colour that no plot uses stands for the page's own text colour, in light, dark and print.
_INK = "#010203"
_STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "maskov",
    "text.parse_math": False,  # a token such as "$" is text, not the start of a formula
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": False,
    **dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), _INK),
}


def figure_svg(figure: Figure, record: dict[str, Any]) -> str:
    """One figure of a record as an ``<svg>`` element that takes the page's font and text colour."""
    import matplotlib as mpl

    with mpl.rc_context(_STYLE):
        axes = draw(figure, record)
        buffer = io.StringIO()
        axes.figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return _inline(buffer.getvalue(), figure)


def _inline(svg: str, figure: Figure) -> str:
    svg = svg[svg.index("<svg") :].replace(_INK, "currentColor")
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'(id="|url\(#|xlink:href="#)', rf"\g<1>{figure.name}-", svg)
    width, height = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg).groups()  # type: ignore[union-attr]
    head = f'<svg role="img" aria-label="{figure.caption}" viewBox="0 0 {width} {height}" style="max-width:{width}pt" '
    head += 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">'
    return head + svg[svg.index(">") + 1 :]


def write_figures(results: dict[str, Any], folder: Path, kind: str) -> list[Path]:
    """Every figure of an audit's results as a file of its own (svg, pdf or png); returns the paths."""
    import matplotlib as mpl

    folder.mkdir(exist_ok=True)
    written = []
    style = {**_STYLE, **{key: "black" for key, value in _STYLE.items() if value == _INK}, "savefig.dpi": 200}
    with mpl.rc_context(style):
        for name in results:
            for figure in figures(name, results[name]):
                buffer = io.BytesIO()
                draw(figure, results[name]).figure.savefig(buffer, format=kind)
                write_whole(folder / f"{figure.name}.{kind}", buffer.getvalue())
                written.append(folder / f"{figure.name}.{kind}")
    return written
