"""What a model string means, and the message of everything that it cannot mean."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from builders import TEXT, V, cases, gap, network_of, plain_rows, save, tokenizer_of

from maskov.errors import ConformanceError, InputError
from maskov.models import MaskovWarning, load


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A good folder, to be spoiled."""
    return save(tmp_path / "model", network_of("bert"), tokenizer_of("bert"))


def configure(folder: Path, **changes: object) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def test_importing_the_room_loads_no_network_library() -> None:
    code = "import sys, maskov.models; sys.exit(bool({'torch', 'transformers', 'tokenizers'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_table_of_contents_is_complete() -> None:
    import maskov.models as room

    assert all(hasattr(room, name) for name in room.__all__)


def test_a_path_loads_like_a_string(folder: Path) -> None:
    assert load(folder).fingerprint == load(str(folder)).fingerprint


def test_a_relative_folder_loads(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder.parent)
    assert load("model").encode(TEXT).free.size == 8 and load("./model").name == "./model"


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_the_type_is_that_asked_for(folder: Path, dtype: str) -> None:
    model = load(folder, dtype=dtype)
    assert next(model.model.parameters()).dtype == getattr(torch, dtype)
    assert not any(p.requires_grad for p in model.model.parameters()) and not model.model.training


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": ""}, "model: expected a name.*got ''"),
        ({"name": "  "}, "model: expected a name"),
        ({"name": None}, "got NoneType"),
        ({"name": b"x"}, "got bytes"),
        ({"name": "a\0b"}, "model: expected a name"),
        ({"name": "en-tiny", "dtype": "float64"}, "dtype: expected one of float32, bfloat16, float16, got 'float64'"),
        ({"name": "en-tiny", "dtype": "int8"}, "dtype"),
        ({"name": "en-tiny", "device": "gpu"}, "device: expected one of cpu, cuda, mps, auto, got 'gpu'"),
        ({"name": "law:curie-weiss?sites=3&beta=1", "device": "gpu"}, "device"),
        ({"name": "/no/such/folder"}, "a model folder, got /no/such/folder, which is not there"),
        ({"name": "./no-such-folder"}, "which is not there"),
        ({"name": "en_tiny"}, "catalogue name.*did you mean en-tiny?"),
        ({"name": "antibodies"}, "did you mean antibody?"),
        ({"name": "some-owner/some-model"}, "'some-owner/some-model'; HF_HUB_OFFLINE is set: pass a local folder"),
        ({"name": "x" * 300}, "Hugging Face id that can be reached"),
        ({"name": "not an id"}, "Hugging Face id that can be reached"),
    ],
)
def test_each_wrong_name_has_its_message(arguments: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load(**arguments)


def test_a_device_that_is_not_there_is_named(folder: Path) -> None:
    for device, present in (("cuda", torch.cuda.is_available()), ("mps", torch.backends.mps.is_available())):
        if not present:
            with pytest.raises(InputError, match=rf"this machine has, got {device}; use --device cpu"):
                load(folder, device=device)
    assert load(folder, device="auto").device.type in {"cpu", "cuda", "mps"}


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_cuda_gives_the_same_rows(folder: Path) -> None:
    model, there = load(folder), load(folder, device="cuda")
    states, sites = cases(model)
    allowed = ~model.forbidden
    assert gap(there.logits(states, sites), model.logits(states, sites), allowed) < 1e-3


def test_a_file_is_not_a_folder(folder: Path) -> None:
    with pytest.raises(InputError, match=r"which is a file; pass its folder"):
        load(folder / "config.json")


def test_a_folder_without_configuration(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"without config.json; save the model"):
        load(tmp_path)


@pytest.mark.parametrize("content", ["{", "[]", "", '{"model_type": "no-such-type"}'])
def test_a_damaged_configuration(folder: Path, content: str) -> None:
    (folder / "config.json").write_text(content)
    with pytest.raises(InputError, match=r"a readable config.json"):
        load(folder)


def test_a_folder_without_tokenizer_files(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()
    with pytest.raises(InputError, match=r"tokenizer files.*without any"):
        load(folder)


def test_a_damaged_tokenizer(folder: Path) -> None:
    (folder / "tokenizer.json").write_text("{]")
    with pytest.raises(InputError, match=r"a readable tokenizer"):
        load(folder)


def test_a_tokenizer_that_is_longer_than_the_model(folder: Path) -> None:
    network_of("bert", vocab_size=12).save_pretrained(folder)
    with pytest.raises(InputError, match=r"at most 12 tokens.*another model"):
        load(folder)


def test_a_tokenizer_without_a_mask_token(folder: Path) -> None:
    tokenizer = tokenizer_of("bert")
    tokenizer.mask_token = None
    tokenizer.save_pretrained(folder)
    with pytest.raises(InputError, match=r"mask token within the vocabulary"):
        load(folder)


def test_a_folder_without_weights(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    with pytest.raises(InputError, match=r"a readable set of weights"):
        load(folder)


def test_truncated_weights(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:500])
    with pytest.raises(InputError, match=r"a readable set of weights"):
        load(folder)


def test_missing_head_weights_are_an_error_and_no_random_ones(folder: Path) -> None:
    network_of("bert").bert.save_pretrained(folder)
    configure(folder, architectures=["BertForMaskedLM"])
    with pytest.raises(InputError, match=r"language-model head included, got none for cls\.predictions"):
        load(folder)


def test_weights_of_other_shapes(folder: Path) -> None:
    configure(folder, intermediate_size=20)
    with pytest.raises(InputError, match=r"weights"):
        load(folder)


def test_layers_that_the_configuration_does_not_know(folder: Path) -> None:
    configure(folder, num_hidden_layers=1)
    with pytest.raises(InputError, match=r"only layers that config.json knows, got also bert\.encoder\.layer\.1"):
        load(folder)


def test_a_pooler_or_sentence_head_that_is_not_needed_does_no_harm(folder: Path) -> None:
    config = transformers.BertConfig.from_pretrained(folder)
    pretraining = transformers.BertForPreTraining(config)
    pretraining.load_state_dict(network_of("bert").state_dict(), strict=False)
    pretraining.save_pretrained(folder)
    model = load(folder)
    states, sites = cases(model)
    allowed = ~model.forbidden
    assert model.architecture == "BertForMaskedLM"
    assert gap(model.logits(states, sites), plain_rows(model, states, sites), allowed) < 1e-5


@pytest.mark.parametrize("architecture", ["BertForSequenceClassification", "BertModel", "T5ForConditionalGeneration"])
def test_other_architectures_are_named(folder: Path, architecture: str) -> None:
    configure(folder, architectures=[architecture])
    with pytest.raises(InputError, match=rf"masked or a causal language model.*{architecture}.*language-model head"):
        load(folder)


def test_a_type_without_language_model_is_named(folder: Path) -> None:
    (folder / "config.json").write_text('{"model_type": "vit"}')
    with pytest.raises(InputError, match=r"with architecture vit"):
        load(folder)


def test_a_configuration_without_architectures_goes_by_its_type(folder: Path) -> None:
    configure(folder, architectures=None)
    assert load(folder).architecture == "BertForMaskedLM"


def test_code_that_comes_with_a_model_is_not_run(folder: Path) -> None:
    marker = folder / "ran"
    (folder / "brought.py").write_text(f"open({str(marker)!r}, 'w')\nclass Config: pass\n")
    configure(folder, model_type="brought", auto_map={"AutoConfig": "brought.Config"})
    with pytest.raises(InputError, match=r"brings its own code; .*trust_remote_code=True"):
        load(folder)
    assert not marker.exists()


class Bomb:
    """Writes a file when unpickled."""

    def __init__(self, target: str) -> None:
        self.target = target

    def __reduce__(self):
        return (open, (self.target, "w"))


def test_bin_weights_load_without_unpickling(folder: Path) -> None:
    """Tensors in ``.bin`` load; an object that would run code is refused and does not run."""
    before = load(folder)
    (folder / "model.safetensors").unlink()
    state = {name: tensor.clone() for name, tensor in network_of("bert").state_dict().items()}
    torch.save(state, folder / "pytorch_model.bin")
    model = load(folder)
    assert np.array_equal(model.logits(*cases(model)), before.logits(*cases(model)))
    marker = folder / "ran"
    torch.save(state | {"extra": Bomb(str(marker))}, folder / "pytorch_model.bin")
    with zipfile.ZipFile(folder / "pytorch_model.bin") as archive:
        assert any(name.endswith("data.pkl") for name in archive.namelist())
    with pytest.raises(InputError, match=r"a readable set of weights"):
        load(folder)
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Bomb(str(marker)), protocol=2))
    with pytest.raises(InputError, match=r"a readable set of weights"):
        load(folder)
    assert not marker.exists()


def test_safetensors_come_before_bin(folder: Path) -> None:
    (folder / "pytorch_model.bin").write_bytes(b"no weights")
    assert load(folder).architecture == "BertForMaskedLM"


def test_an_unknown_architecture_that_breaks_a_law_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from transformers.models.mpnet.modeling_mpnet import MPNetForMaskedLM

    save(folder, network_of("mpnet"), tokenizer_of("mpnet"))
    plain = MPNetForMaskedLM.forward

    def deaf(self, input_ids=None, attention_mask=None, **rest):
        return plain(self, input_ids=input_ids, **rest)

    monkeypatch.setattr(MPNetForMaskedLM, "forward", deaf)
    with pytest.warns(MaskovWarning), pytest.raises(ConformanceError, match=r"padding"):
        load(folder)


def test_vocabulary_is_that_of_the_embeddings(folder: Path) -> None:
    assert load(folder).vocabulary_size == V
