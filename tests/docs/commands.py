"""The commands that the documentation shows, and how a test makes them small."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
# Pages whose commands are records of experiments: read, but not run again.
RECORDS = {"log.md", "performance.md", "bounds.md"}
_FENCE = re.compile(r"^```[a-z]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
_INDENTED = re.compile(r"^(?:    .*\n)+", re.MULTILINE)
# Two or more blanks and then words: a comment beside the command.
_COMMENT = re.compile(r"\s{2,}\S.*$|\s+#\s.*$")

# Sizes that a reader chooses for real numbers, and what is enough to see that a command works.
_MOST = {
    "--sweeps": 8,
    "--steps": 60,
    "--pairs": 2,
    "--rectangles": 6,
    "--chains": 2,
    "--contexts": 1,
    "--profiles": 1,
    "--replicas": 4,
    "--lag": 20,
    "--samples": 2000,
    "--seeds": 2,
}


class Shown(NamedTuple):
    """page: file name; line: as it is shown; words: as the shell would split it."""

    page: str
    line: str
    words: list[str]


def pages() -> list[Path]:
    """The README and every page of the site."""
    found = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [page for page in found if page.parent.name != "reference"]


def shown(page: Path) -> list[Shown]:
    """The maskov commands of a page, in order."""
    text = page.read_text(encoding="utf-8")
    blocks = [match[1] for match in _FENCE.finditer(text)]
    blocks += [match[0] for match in _INDENTED.finditer(_FENCE.sub("", text))]
    lines = [line.strip() for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    found = []
    for line in lines:
        for part in _COMMENT.sub("", line).split("; "):
            if re.match(r"maskov [a-z-]+( |$)", part) and not part.startswith("maskov tells"):
                found.append(Shown(page.name, part, shlex.split(part)[1:]))
    return found


def made_small(words: list[str], takes_texts: bool = False) -> list[str]:
    """The same command with sizes and models that take seconds; a small model has no texts of its own."""
    small = list(words)
    for k, word in enumerate(small[:-1]):
        if word in _MOST:
            small[k + 1] = str(min(float(small[k + 1]), _MOST[word])).removesuffix(".0")
        if word == "--at":  # the run is small, too
            small[k + 1] = ",".join(str(min(int(step), 30)) for step in small[k + 1].split(","))
    bundled = [word for word in small[1:] if word in ("en-tiny", "FOLDER")]
    if words[0] != "models" and bundled:
        small = [small[0], *("path/to/model" if word in bundled else word for word in small[1:])]
        small += ["--texts", "passages.txt"] if takes_texts and "--texts" not in small else []
    return small
