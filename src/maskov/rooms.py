"""A room that is called like its main function: ``maskov.glauber`` is both a package and what it is for."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any


def callable_room(name: str, function: Callable[..., Any]) -> None:
    """Make the module ``name`` callable as ``function``.

    Python binds a submodule's name on its package when it is first imported, so ``maskov.glauber(…)`` can only work if
    the module itself answers the call.
    """

    class Room(ModuleType):
        @functools.wraps(function)
        def __call__(self, *arguments: Any, **options: Any) -> Any:
            return function(*arguments, **options)

    sys.modules[name].__class__ = Room
