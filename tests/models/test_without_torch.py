"""Without torch: laws load, networks are refused with the line that installs them."""

from __future__ import annotations

import importlib.util
from typing import Any

import pytest

from maskov.errors import InputError
from maskov.models import load


def test_networks_say_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = importlib.util.find_spec

    def without_torch(name: str, *rest: Any) -> Any:
        return None if name == "torch" else whole(name, *rest)

    monkeypatch.setattr(importlib.util, "find_spec", without_torch)
    with pytest.raises(InputError, match=r"pip install 'maskov\[models\]'"):
        load("en-tiny")
    assert load("law:ising-ring?sites=4&beta=0.5").n_sites == 4
