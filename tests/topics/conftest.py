"""A world of topics for the tests of this room."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from topic_worlds import World


@pytest.fixture
def world() -> World:
    return World(0)
