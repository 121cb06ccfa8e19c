"""Models as conditionals of texts. Importing this room loads no network library; ``load`` does."""

from maskov.models.catalog import CatalogueEntry, catalogue
from maskov.models.load import load
from maskov.models.sites import apply_clamp, forbidden_tokens, parse_clamp
from maskov.models.views import LawModel, Tempered
from maskov.models.warning import MaskovWarning

__all__ = [
    "CatalogueEntry",
    "LawModel",
    "MaskovWarning",
    "Tempered",
    "apply_clamp",
    "catalogue",
    "forbidden_tokens",
    "load",
    "parse_clamp",
]
