"""Configuration, tokenizer and weights of a folder or hub id, each with errors that say what is wrong with it."""

from __future__ import annotations

import io
import os
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from pathlib import Path
from typing import Any

from maskov.errors import InputError
from maskov.models.deberta import has_own_head, own_head_class

_TOKENIZER_FILES: tuple[str, ...] = (
    "tokenizer.json",
    "vocab.txt",
    "vocab.json",
    "tokenizer.model",
    "spiece.model",
    "spm.model",
)
_TOKENIZER_FILES += ("sentencepiece.bpe.model", "sentencepiece.model", "bpe.codes", "vocab.bpe", "tekken.json")
# A numbered block of the backbone; buffers of old checkpoints (rotary tables, causal masks) have no such ending.
_BLOCK_WEIGHT = re.compile(r"\.(layers?|h|blocks?|albert_layer_groups)\.\d+\..*\.weight$")


@contextmanager
def quiet_transformers() -> Iterator[None]:
    """Loading reports go to us (missing tensors become errors), not to the terminal; nor do deprecations."""
    from huggingface_hub.utils import logging as hub_logging
    from transformers.utils import logging

    level, bars, hub_level = logging.get_verbosity(), logging.is_progress_bar_enabled(), hub_logging.get_verbosity()
    logging.set_verbosity_error()
    hub_logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    logging.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            # Their own deprecations, such as torch.jit.script in DeBERTa, are nothing that a caller can act on.
            for category in (DeprecationWarning, FutureWarning):
                warnings.simplefilter("ignore", category)
            yield
    finally:
        logging.set_verbosity(level)
        hub_logging.set_verbosity(hub_level)
        if bars:
            logging.enable_progress_bar()


def torch_dtype(dtype: str) -> Any:
    """The torch type of a name."""
    import torch

    return getattr(torch, dtype)


def read_config(source: str, trust: bool) -> Any:
    """The configuration of a folder or hub id."""
    from transformers import AutoConfig

    try:
        return AutoConfig.from_pretrained(source, trust_remote_code=trust)
    except Exception as error:  # damaged files, hub and network raise many kinds
        if "trust_remote_code" in str(error):
            came = f"{source}, which brings its own code"
            remedy = "mk.load(…, trust_remote_code=True) in Python, if you trust its author"
            raise InputError("model", expected="an architecture of transformers", came=came, remedy=remedy) from error
        raise unreadable(source, "config.json", error) from error


def read_tokenizer(source: str, trust: bool) -> Any:
    """The tokenizer of a folder or hub id."""
    from transformers import AutoTokenizer

    path = Path(source)
    # Without files some classes build a tokenizer of special tokens only, and say nothing.
    if os.path.isdir(path) and not any((path / name).is_file() for name in _TOKENIZER_FILES) and not trust:
        raise InputError(
            "model folder",
            expected="tokenizer files (tokenizer.json, vocab.txt or the like)",
            came=f"{source} without any",
            remedy="save the tokenizer there with save_pretrained(folder)",
        )
    try:
        return AutoTokenizer.from_pretrained(source, trust_remote_code=trust)
    except Exception as error:  # tokenizers raise plain Exception on damaged files
        raise unreadable(source, "tokenizer", error) from error


def is_causal(config: Any, source: str) -> bool:
    """Whether the configuration names a causal (True) or masked (False) language model; anything else is refused."""
    from transformers.models.auto import modeling_auto

    masked = modeling_auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES
    causal = modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
    architectures = list(config.architectures or [])
    for name in architectures:
        # Checkpoints of pretraining hold the masked head as well; a missing head is found when the weights are read.
        pretraining = name.endswith("ForPreTraining") and config.model_type in masked
        if name.endswith("ForMaskedLM") or name in _class_names(masked) or pretraining:
            return False
        if name.endswith("ForCausalLM") or name in _class_names(causal):
            return True
    if not architectures and (config.model_type in masked or config.model_type in causal):
        return config.model_type not in masked
    came = f"{source} with architecture {', '.join(architectures) or config.model_type}"
    raise InputError(
        "model",
        expected="a masked or a causal language model (…ForMaskedLM, …ForCausalLM)",
        came=came,
        remedy="choose a checkpoint with a language-model head",
    )


def _class_names(mapping: Any) -> set[str]:
    values = (value if isinstance(value, (tuple, list)) else (value,) for value in mapping.values())
    return {name for value in values for name in value}


def read_weights(loader: Any, source: str, dtype: str, **options: Any) -> Any:
    """The network in eval mode. loader: a class with ``from_pretrained``.

    safetensors first; ``.bin`` goes through torch's weights-only loader, which refuses anything but tensors. A tensor
    that the file lacks, or that the network has no place for, is an error: random weights would take its place.
    """
    try:
        # Converting GGUF draws a progress bar that no switch of transformers reaches.
        with redirect_stderr(io.StringIO()):
            network, report = _from_pretrained(loader, source, dtype, options)
    except Exception as error:  # the loaders of weights raise many kinds
        raise unreadable(source, "set of weights (model.safetensors)", error) from error
    _check_report(report)
    return network.requires_grad_(False).eval()


def _from_pretrained(loader: Any, source: str, dtype: str, options: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The network and its loading report; DeBERTa checkpoints choose between two layouts of the head."""
    options = {"dtype": torch_dtype(dtype), "output_loading_info": True, **options}
    config = options.get("config")
    if config is None or not has_own_head(config):
        network, report = loader.from_pretrained(source, **options)
        if not has_own_head(network.config, report["missing_keys"], report["unexpected_keys"]):
            return network, report
        config = network.config
        config.legacy = False
    kind = own_head_class(config)
    network, report = kind.from_pretrained(source, **(options | {"config": config}))
    network.__class__ = kind.__base__
    return network, report


def _check_report(report: dict[str, Any]) -> None:
    absent = sorted(map(str, report.get("missing_keys", ())))
    if absent:
        raise _incomplete("every tensor of the model, language-model head included", f"none for {_some(absent)}")
    shapes = sorted(str(key[0] if isinstance(key, tuple) else key) for key in report.get("mismatched_keys", ()))
    if shapes:
        raise _incomplete("tensors of the shapes that config.json says", f"others for {_some(shapes)}")
    surplus = [key for key in sorted(map(str, report.get("unexpected_keys", ()))) if _BLOCK_WEIGHT.search(key)]
    if surplus:
        raise _incomplete("only layers that config.json knows", f"also {_some(surplus)}")


def _some(keys: list[str]) -> str:
    return ", ".join(keys[:3]) + (f" and {len(keys) - 3} more" if len(keys) > 3 else "")


def _incomplete(expected: str, came: str) -> InputError:
    remedy = "random or wrong weights would take their place: use a checkpoint that was trained with this head"
    return InputError("model weights", expected=expected, came=came, remedy=remedy)


def unreadable(source: str, what: str, error: Exception) -> InputError:
    """What to say of a file that cannot be read, or an id that cannot be reached."""
    reason = next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)[:200]
    if os.path.exists(source):
        remedy = "save the model and its tokenizer again with save_pretrained(folder)"
        return InputError("model folder", expected=f"a readable {what}", came=f"{source}: {reason}", remedy=remedy)
    offline = os.environ.get("HF_HUB_OFFLINE", "").upper() in {"1", "ON", "YES", "TRUE"}
    remedy = "check the id and the network, or pass a local folder"
    return InputError(
        "model",
        expected="a catalogue name, a folder, law:…, or a Hugging Face id that can be reached",
        came=repr(source[:80]),
        remedy="HF_HUB_OFFLINE is set: pass a local folder, or unset it" if offline else remedy,
    )


def positions(config: Any, tokenizer: Any, network: Any) -> int:
    """Tokens that the model has positions for: a RoBERTa-like table loses the rows up to its padding row."""
    limit = int(getattr(config, "max_position_embeddings", 0) or getattr(config, "n_positions", 0) or 10**6)
    for name, module in network.named_modules():
        if name.endswith("position_embeddings") and hasattr(module, "num_embeddings"):
            padding = getattr(module, "padding_idx", None)
            limit = min(limit, module.num_embeddings - (0 if padding is None else padding + 1))
    return min(limit, int(min(tokenizer.model_max_length, 10**6)))
