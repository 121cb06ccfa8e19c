"""DeBERTa's own masked head: two layouts under one class name, one of which transformers cannot load by itself."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

_TYPES = {"deberta": "DebertaForMaskedLM", "deberta-v2": "DebertaV2ForMaskedLM"}


def has_own_head(config: Any, missing: Iterable[str] = (), unexpected: Iterable[str] = ()) -> bool:
    """Whether a checkpoint holds the head ``lm_predictions`` of the original code (``config.legacy`` false).

    Old checkpoints do not say so in the configuration: there the names of their tensors do.
    """
    if config.model_type not in _TYPES:
        return False
    named = any(key.startswith("lm_predictions.") for key in unexpected)
    return not config.legacy or (named and any(key.startswith("cls.predictions.") for key in missing))


def own_head_class(config: Any) -> Any:
    """A class that loads that head: transformers 5 declares a tie to a tensor that the head does not have."""
    import transformers

    base = getattr(transformers, _TYPES[config.model_type])
    # The decoder reads the input embeddings directly, so nothing is left to tie.
    return type(base.__name__, (base,), {"get_expanded_tied_weights_keys": lambda self, all_submodels=False: {}})
