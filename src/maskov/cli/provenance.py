"""What a record needs so that it can be made again: the command's own words, and the versions that ran."""

from __future__ import annotations

import platform
import shlex
import sys
from typing import Any

import click

# Libraries whose version can change a number.
LIBRARIES = ("numpy", "scipy", "torch", "transformers", "tokenizers", "deeptime", "sklearn")


def given_words() -> list[str]:
    """The words of the command line that is being carried out, without ``maskov``; empty outside of one."""
    context = click.get_current_context(silent=True)
    words = context.find_root().obj if context is not None else None
    return list(words) if isinstance(words, list) else []


def provenance() -> dict[str, Any]:
    """``arguments`` and ``versions`` for a record's inputs; only libraries that were used have a version."""
    used = {name: sys.modules[name] for name in LIBRARIES if name in sys.modules}
    versions = {name: str(module.__version__) for name, module in used.items() if hasattr(module, "__version__")}
    return {"arguments": given_words(), "versions": {"python": platform.python_version(), **versions}}


def command_line(*more: str) -> str:
    """The command that is being carried out as a shell takes it, without ``--resume``; more: words to add."""
    return shlex.join(["maskov", *(word for word in given_words() if word != "--resume"), *more])
