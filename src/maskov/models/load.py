"""From a model string to a model: a catalogue name, a folder, a Hugging Face id, or ``law:…``."""

from __future__ import annotations

import difflib
import importlib.util
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from maskov.errors import InputError
from maskov.models.catalog import CATALOGUE, find

DTYPES = ("float32", "bfloat16", "float16")
DEVICES = ("cpu", "cuda", "mps", "auto")
_SMILES = (
    r"%\([0-9]{3}\)|\[[^\]]+\]|Br?|Cl?|N|O|S|P|F|I|b|c|n|o|s|p|\||\(|\)|\.|=|#|-|\+|\\|\/|:|~|@|\?|>>?|\*|\$"
    r"|%[0-9]{2}|[0-9]"
)


def load(name: str, device: str = "cpu", dtype: str = "float32", trust_remote_code: bool = False) -> Any:
    """The model that a string names, as a ``TextModel`` (a causal model: ``TokenScores`` with a codec).

    name: a catalogue name (``maskov models``), a local folder, a Hugging Face id, or ``law:`` and a law's text form;
    device: cpu, cuda, mps or auto; dtype: float32, bfloat16 or float16; trust_remote_code: run code that comes with a
    model (off unless asked for). Weights load from safetensors, or from ``.bin`` through torch's weights-only loader;
    nothing is unpickled. Raises ``InputError`` that says what was expected, what came, what to do.

    >>> load("law:ising-ring?sites=4&beta=0.5").n_sites
    4
    """
    name = _check_name(name)
    _check_choice("dtype", dtype, DTYPES)
    _check_choice("device", device, DEVICES)
    if name.startswith("law:"):
        from maskov.laws import law
        from maskov.models.views import LawModel

        return LawModel(law(name.removeprefix("law:")))
    return _load_network(name, device, dtype, trust_remote_code)


def _load_network(name: str, device: str, dtype: str, trust: bool) -> Any:
    entry = find(name)
    _check_libraries(name)
    source = str(entry[1]) if entry else _check_source(name)
    place = _check_device(device)
    from maskov.models.sources import quiet_transformers

    with quiet_transformers():
        loader = _SPECIAL.get(name, _load_source) if entry else _load_source
        model = loader(source, name, dtype, trust)
        if place != "cpu":
            model.model.to(place)
        _check_laws(model)
    return model


def _check_libraries(name: str) -> None:
    missing = [package for package in ("torch", "transformers") if importlib.util.find_spec(package) is None]
    if missing:
        remedy = "run: pip install 'maskov[models]'; laws (law:…) need neither"
        raise InputError(
            f"model {name[:80]}", expected="torch and transformers", came=f"no {missing[0]}", remedy=remedy
        )


def _check_name(name: Any) -> str:
    if not isinstance(name, (str, os.PathLike)):
        raise InputError("model", expected="a name, a folder, a Hugging Face id, or law:…", came=type(name).__name__)
    text = os.fspath(name)
    if not isinstance(text, str) or not text.strip() or "\0" in text:
        raise InputError("model", expected="a name, a folder, a Hugging Face id, or law:…", came=repr(text))
    return text


def _check_choice(what: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise InputError(what, expected="one of " + ", ".join(choices), came=repr(value))


def _check_device(device: str) -> str:
    """The device that a name means here; ``InputError`` where the machine lacks it."""
    import torch

    present = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if device == "auto":
        return next(place for place in ("cuda", "mps", "cpu") if present[place])
    if not present[device]:
        remedy = "use --device cpu or --device auto"
        raise InputError("device", expected="a device that this machine has", came=device, remedy=remedy)
    return device


def _check_source(name: str) -> str:
    """The path or hub id, if the name can be one."""
    path = Path(name).expanduser()
    if os.path.isdir(path):  # False for a name too long for a path, where Path.is_dir raises
        if not (path / "config.json").is_file():
            raise InputError(
                "model folder",
                expected="a folder with config.json, tokenizer files and safetensors weights",
                came=f"{path} without config.json",
                remedy="save the model with save_pretrained(folder)",
            )
        return str(path)
    if os.path.isfile(path):
        raise InputError("model", expected="a model folder", came=f"{name}, which is a file", remedy="pass its folder")
    if name.startswith((".", "/", "~")) or "\\" in name:
        raise InputError("model", expected="a model folder", came=f"{name}, which is not there")
    known = [entry.name for entry in CATALOGUE]
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.75) if "/" not in name else []
    if close:
        expected = f"a catalogue name ({', '.join(known)}), a folder, a Hugging Face id, or law:…"
        raise InputError("model", expected=expected, came=repr(name[:80]), remedy=f"did you mean {close[0]}?")
    return name


def _load_source(source: str, name: str, dtype: str, trust: bool) -> Any:
    """A folder or hub id: its configuration says whether the model is masked or causal."""
    from transformers import AutoModelForCausalLM, AutoModelForMaskedLM

    from maskov.models.causal_lm import CausalLM
    from maskov.models.masked_lm import MaskedLM
    from maskov.models.sources import is_causal, positions, read_config, read_tokenizer, read_weights
    from maskov.models.text import TokenizerCodec

    config = read_config(source, trust)
    causal, tokenizer = is_causal(config, source), read_tokenizer(source, trust)
    auto = AutoModelForCausalLM if causal else AutoModelForMaskedLM
    network = read_weights(auto, source, dtype, config=config, trust_remote_code=trust)
    vocabulary = network.get_input_embeddings().weight.shape[0]
    limit = positions(config, tokenizer, network)
    if not causal:
        return MaskedLM(network, TokenizerCodec(tokenizer, vocabulary, limit), name)
    start = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id
    return CausalLM(network, TokenizerCodec(tokenizer, vocabulary, limit, start=start, bare=True), name)


def _load_smollm2(source: str, name: str, dtype: str, trust: bool) -> Any:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from maskov.models.causal_lm import CausalLM
    from maskov.models.sources import read_weights
    from maskov.models.text import TokenizerCodec

    folder, file = os.path.split(source)
    tokenizer = AutoTokenizer.from_pretrained(folder, gguf_file=file)
    network = read_weights(AutoModelForCausalLM, folder, dtype, gguf_file=file)
    # Plain text follows the end of a document; after the chat marker, its bos, it is 23 nats less likely.
    start = int(tokenizer.get_vocab()["<|endoftext|>"])
    config = network.config
    codec = TokenizerCodec(tokenizer, config.vocab_size, config.max_position_embeddings, start=start)
    return CausalLM(network, codec, name)


def _load_antibody(source: str, name: str, dtype: str, trust: bool) -> Any:
    from transformers import BertForMaskedLM

    return _alphabet_model(BertForMaskedLM, source, Path(source).parent / "vocab.txt", "[A-Za-z]", name, dtype)


def _load_reactions(source: str, name: str, dtype: str, trust: bool) -> Any:
    from transformers import AlbertForMaskedLM

    return _alphabet_model(AlbertForMaskedLM, source, Path(source) / "vocab.txt", _SMILES, name, dtype)


_SPECIAL: dict[str, Callable[[str, str, str, bool], Any]] = {
    "smollm2": _load_smollm2,
    "antibody": _load_antibody,
    "reactions": _load_reactions,
}


def _alphabet_model(kind: Any, source: str, vocabulary: Path, pattern: str, name: str, dtype: str) -> Any:
    """A masked model whose vocabulary file lists symbols that a pattern cuts a text into."""
    from maskov.models.masked_lm import MaskedLM
    from maskov.models.sources import read_weights
    from maskov.models.text import TokenizerCodec, symbol_tokenizer

    network = read_weights(kind, source, dtype)
    tokenizer = symbol_tokenizer(vocabulary.read_text(encoding="utf-8").split(), pattern)
    config = network.config
    codec = TokenizerCodec(tokenizer, config.vocab_size, config.max_position_embeddings, strict=True)
    return MaskedLM(network, codec, name)


def _check_laws(model: Any) -> None:
    """An architecture that the registry of heads does not know must keep the laws of conditionals on random states.

    Raises ``ConformanceError`` that names the broken law.
    """
    if getattr(model, "head", True) is not None:
        return
    import numpy as np

    from maskov.conformance import check_batch_independent, check_ignores_own_token, check_padding_independent

    allowed = np.flatnonzero(~model.forbidden)
    states = np.random.default_rng(0).choice(allowed, size=(3, min(8, model.codec.limit - 3)))
    sites, half = np.arange(3) % states.shape[1], next(model.model.parameters()).element_size() < 4
    tolerance = 0.5 if half else 1e-3
    check_ignores_own_token(model, states, sites, tolerance, tokens=2)
    check_batch_independent(model, states, sites, tolerance)
    check_padding_independent(model, states, sites, tolerance)
