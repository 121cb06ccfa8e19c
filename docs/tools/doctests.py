"""For the reference pages: doctest blocks become fenced code; Markdown would take them for quotations."""

from __future__ import annotations

import re
from typing import Any

import griffe

_BLOCK = re.compile(r"(?:^[ \t]*>>> .*\n?(?:^[ \t]*\S.*\n?)*)(?:\n(?=[ \t]*>>> )(?:^[ \t]*\S.*\n?)+)*", re.MULTILINE)

# A line of prose that begins with "> 0" is not a quotation either.
_QUOTE = re.compile(r"^([ \t]*)>(?!>>)", re.MULTILINE)


def fenced(text: str) -> str:
    """``text`` with every doctest block between fences.

    >>> fenced("One.\\n\\n>>> 1 + 1\\n2")
    'One.\\n\\n```pycon\\n>>> 1 + 1\\n2\\n```'
    """
    code = _BLOCK.sub(lambda match: f"```pycon\n{match[0].rstrip()}\n```", text)
    return _QUOTE.sub(r"\1\>", code)


class Doctests(griffe.Extension):
    """Applied to every docstring as it is read."""

    def on_instance(self, *, obj: griffe.Object, **others: Any) -> None:
        """Fence the docstring of ``obj``."""
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)
