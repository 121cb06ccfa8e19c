"""Starts: exactly n free sites, whole windows of texts, never padded; what is refused at the door."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from maskov.errors import InputError
from maskov.models import load
from maskov.phase import phase_diagram
from maskov.phase.starts import bodies, cell_seed, fitting_sites, law_with_sites, text_starts
from maskov.texts import bundled_texts

pytest.importorskip("transformers")


@pytest.fixture(scope="module")
def model() -> Any:
    return load("en-tiny")


@pytest.fixture(scope="module")
def found(model: Any) -> Any:
    return bodies(model, bundled_texts("en-tiny"))


def inside(window: np.ndarray, texts: list[np.ndarray]) -> bool:
    return any(
        np.array_equal(window, body[k : k + len(window)]) for body in texts for k in range(len(body) - len(window) + 1)
    )


@pytest.mark.parametrize("n", [8, 64])
def test_windows_lie_inside_one_text_and_have_n_sites(model: Any, found: Any, n: int) -> None:
    starts = text_starts(model, found, n, 6, "auto", cell_seed(0, n))
    assert starts.kind == "texts" and starts.joined == 0 and len(starts.pairs) == 6
    for pair in starts.pairs:
        for state in pair:
            assert len(state.free) == n and len(state.tokens) == n + len(found.before) + len(found.after)
            assert inside(state.tokens[state.free], found.tokens)
            assert not model.forbidden[state.tokens[state.free]].any()
        assert not np.array_equal(pair.first.tokens, pair.second.tokens)


def test_texts_that_are_too_short_run_on_into_the_next_and_say_so(model: Any, found: Any) -> None:
    starts = text_starts(model, found, 128, 4, "auto", cell_seed(0, 128))
    stream = np.concatenate([*found.tokens, *found.tokens[:3]])
    assert starts.joined == 4
    assert all(inside(state.tokens[state.free], [stream]) for pair in starts.pairs for state in pair)
    assert not any(inside(state.tokens[state.free], found.tokens) for pair in starts.pairs for state in pair)


def test_molecules_and_proteins_are_never_joined() -> None:
    antibody = load("antibody")
    chains = bodies(antibody, bundled_texts("antibody"))
    assert not chains.joins and fitting_sites(chains, [64, 500], None) == [64]
    with pytest.raises(InputError, match="two texts of 500 tokens"):
        text_starts(antibody, chains, 500, 2, "auto", 0)


def test_more_pairs_change_no_seed_and_another_seed_changes_starts(model: Any, found: Any) -> None:
    first, again, other = (text_starts(model, found, 16, 3, "auto", s) for s in (5, 5, 6))
    equal = [np.array_equal(a.first.tokens, b.first.tokens) for a, b in zip(first.pairs, again.pairs, strict=True)]
    assert all(equal)
    assert not all(
        np.array_equal(a.first.tokens, b.first.tokens) for a, b in zip(first.pairs, other.pairs, strict=True)
    )


@pytest.mark.parametrize("kind", ["permutation", "worst"])
def test_other_starts_keep_n(model: Any, found: Any, kind: str) -> None:
    starts = text_starts(model, found, 12, 3, kind, 1)
    assert starts.kind == kind and all(len(state.free) == 12 for pair in starts.pairs for state in pair)
    if kind == "permutation":
        assert all(sorted(p.first.tokens) == sorted(p.second.tokens) for p in starts.pairs)


def test_unknown_tokens_are_left_out(model: Any) -> None:
    texts = ["the cat \U000130b8 sat on the mat", "a dog ran over the long road"]
    unknown = model.codec.tokenizer.unk_token_id
    body = bodies(model, texts).tokens[0]
    assert unknown not in body and len(body) >= 6


def test_default_lengths_leave_out_what_no_text_has() -> None:
    model = load("reactions")
    found = phase_diagram(
        model, bundled_texts("reactions"), temperatures=[40.0], pairs=2, embedder="none", max_sweeps=25
    )
    assert found.sites == (8, 16, 32) and found.left_out == (64, 128) and found.hitting is None


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"sites": [600]}, "sites 600"),
        ({"sites": [1]}, "sites: expected whole numbers"),
        ({"pairs": 1}, "pairs"),
        ({"temperatures": [0.0]}, "temperature"),
        ({"multiple": -1}, "multiple"),
        ({"max_sweeps": 2}, "max sweeps"),
        ({"fraction": 2}, "fraction"),
        ({"coupling": "best"}, "coupling"),
        ({"starts": "nowhere"}, "starts"),
        ({"embedder": "./nothing"}, "embedder"),
    ],
)
def test_bad_input_is_refused_before_any_work(model: Any, options: dict[str, Any], named: str) -> None:
    with pytest.raises(InputError, match=named):
        phase_diagram(model, bundled_texts("en-tiny"), **{"sites": [8], "temperatures": [1.0], "pairs": 2} | options)


def test_laws_without_sites_in_their_form_and_models_without_texts_are_refused(model: Any) -> None:
    with pytest.raises(InputError, match="sites=N"):
        phase_diagram("law:ising-torus?rows=3&cols=3&beta=0.4", sites=[4], pairs=2)
    with pytest.raises(InputError, match="texts"):
        phase_diagram(model, None, sites=[8], pairs=2)
    assert law_with_sites("law:potts?symbols=3&sites=4&beta=1", 9) == "law:potts?symbols=3&sites=9&beta=1"
