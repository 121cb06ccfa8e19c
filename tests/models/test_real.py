"""The models that come in packages, where they are installed."""

from __future__ import annotations

import numpy as np
import pytest

from maskov.conformance import check_model
from maskov.models import catalogue, load
from maskov.protocols import TextModel

AVAILABLE = {entry.name: entry.available for entry in catalogue()}
TEXTS = {
    "en-tiny": "the river rises in the mountains and flows north.",
    "antibody": "EVQLLESGGGLVQPGGSLRLSCAASGFTFSSYAMSWVRQAPGKGLEWVSAISGSGGSTYYADSVKGRFTISRDNSKNTLYLQMNSLRAEDTAVYYCAK",
    "reactions": "CC(=O)Cl.NCc1ccccc1>>CC(=O)NCc1ccccc1",
}


def needs(name: str):
    return pytest.mark.skipif(not AVAILABLE[name], reason=f"{name} is not installed")


@pytest.mark.parametrize("name", [pytest.param(name, marks=needs(name)) for name in TEXTS])
def test_packaged_masked_models_read_their_texts_and_keep_the_laws(name: str) -> None:
    model = load(name)
    state = model.encode(TEXTS[name])
    assert isinstance(model, TextModel) and model.head is not None
    assert model.decode(state.tokens) == TEXTS[name]
    sites = state.free[::5]
    states = np.repeat(state.tokens[None], len(sites), axis=0)
    predicted = model.logits(states, sites).argmax(axis=1)
    assert (predicted == state.tokens[sites]).mean() >= 0.5
    check_model(model, states[:4], sites[:4], tolerance=1e-3)


@needs("antibody")
def test_antibodies_are_twenty_letters_in_any_case() -> None:
    model = load("antibody")
    assert (~model.forbidden).sum() == 20
    assert model.encode("evqlle").tokens.tolist() == model.encode("EVQLLE").tokens.tolist()


@pytest.mark.slow
@needs("smollm2")
def test_smollm2_prefers_english_to_its_shuffle() -> None:
    model = load("smollm2")
    words = ["The", "river", "rises", "in", "the", "mountains", "and", "flows", "north"]
    straight, shuffled = (model.encode(" ".join(order)) for order in (words, sorted(words, key=len)))
    assert model.decode(straight.tokens) == " ".join(words)
    assert model.log_prob(straight.tokens[None])[0] > model.log_prob(shuffled.tokens[None])[0] + 10
    assert model.token_text(int(model.codec.start)) == "<|endoftext|>"
