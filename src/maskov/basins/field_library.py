"""The molecular-dynamics field's libraries, imported where used: deeptime (Markov state models), pyGPCCA (G-PCCA)."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from maskov.errors import InputError

INSTALL = "pip install 'maskov[basins]'"


def require() -> None:
    """``InputError`` with the install line where deeptime or pygpcca is missing; nothing is imported."""
    missing = [name for name in ("deeptime", "pygpcca") if importlib.util.find_spec(name) is None]
    if missing:
        raise InputError(
            "basins",
            expected="the packages deeptime and pygpcca",
            came=f"no {' and no '.join(missing)}",
            remedy=f"run: {INSTALL}",
        )


@functools.lru_cache
def library(name: str) -> Any:
    """A module of deeptime or pygpcca.

    pygpcca sets a warning filter for the whole process, and PYTHONWARNINGS for its children, when it is first imported:
    both are put back.
    """
    require()
    before = os.environ.get("PYTHONWARNINGS")
    with warnings.catch_warnings():
        found = importlib.import_module(name)
    if before is None:
        os.environ.pop("PYTHONWARNINGS", None)
    else:
        os.environ["PYTHONWARNINGS"] = before
    return found


@contextmanager
def told_elsewhere() -> Iterator[None]:
    """What the libraries warn of and the result says itself: complex eigenvalues, fewer crisp sets than asked for, a
    clustering that stopped at its last iteration.
    """
    with warnings.catch_warnings():
        for start in ("Using eigenvalues with non-zero imaginary part", "Multiple eigenvalues with magnitude one"):
            warnings.filterwarnings("ignore", message=start)
        for start in ("Clustering into", "`[0-9]+` macrostates requested", "Algorithm did not reach convergence"):
            warnings.filterwarnings("ignore", message=start, category=UserWarning)
        warnings.filterwarnings("ignore", message="The given matrix", category=UserWarning)
        yield
