"""What one conditional row costs: a function of the model and the length alone, so that plans made from it repeat."""

from __future__ import annotations

from typing import Any

# Two cores: network arithmetic, the float64 draw over the vocabulary, and the calls around a row of any network, which
# is all that a tiny one costs.
_FLOPS, _PER_TOKEN, _PER_ROW, _LAW_ROW = 6e10, 1.5e-8, 7e-5, 2e-6


def row_seconds(model: Any, length: int) -> float:
    """Nominal seconds of one row on a text of ``length`` tokens; the clock is not read.

    >>> from maskov.models import load
    >>> row_seconds(load("law:ising-ring?sites=4&beta=0.5"), 4)
    2e-06
    """
    config = getattr(getattr(model, "model", None), "config", None)
    if config is None:
        return _LAW_ROW
    hidden, layers = getattr(config, "hidden_size", 768), getattr(config, "num_hidden_layers", 12)
    inner = getattr(config, "intermediate_size", None) or 4 * hidden
    per_token = 2 * layers * (4 * hidden**2 + 2 * hidden * inner)
    return float(per_token * length / _FLOPS + model.vocabulary_size * _PER_TOKEN + _PER_ROW)
