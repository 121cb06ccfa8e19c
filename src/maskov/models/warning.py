"""The warning of this room, so that callers can filter it by class."""

from __future__ import annotations


class MaskovWarning(UserWarning):
    """Something that works, slower or with less certainty than it could."""
