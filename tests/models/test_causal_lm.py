"""Causal models: scores are joint log-probabilities, checked by enumeration and by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from builders import V, all_free, causal_network, causal_tokenizer, gap, save

from maskov.conformance import check_model
from maskov.errors import InputError
from maskov.laws import enumerate_states
from maskov.models import load
from maskov.models.causal_lm import CausalLM
from maskov.models.text import TokenizerCodec

BOTH = pytest.mark.parametrize("kind", ["gpt2", "llama"])


def model_of(kind: str, start: int | None = 2, **options) -> CausalLM:
    codec = TokenizerCodec(causal_tokenizer(), V, 40, start=start, bare=True)
    return CausalLM(causal_network(kind), codec, kind, **options)


def joint(model: CausalLM, tokens: list[int]) -> float:
    """log P by one forward per prefix, in double precision."""
    total = 0.0
    for t in range(1, len(tokens)):
        with torch.inference_mode():
            logits = model.model(torch.tensor([tokens[:t]])).logits[0, -1].double()
        total += float(logits[tokens[t]] - logits.logsumexp(0))
    return total


@BOTH
def test_scores_are_joint_log_probabilities(kind: str) -> None:
    model = model_of(kind)
    states = np.array([model.encode("the old river runs").tokens, model.encode("a red bird sings").tokens])
    sites, tokens = np.array([2, 4]), np.array([[7, 8, 9], [10, 11, 12]])
    scores = model.score_tokens(states, sites, tokens)
    assert scores.dtype == np.float64
    for row in range(2):
        for column in range(3):
            changed = states[row].tolist()
            changed[sites[row]] = int(tokens[row, column])
            assert scores[row, column] == pytest.approx(joint(model, changed), abs=1e-4)


@BOTH
def test_probabilities_of_all_texts_of_one_length_sum_to_one(kind: str) -> None:
    model = model_of(kind)
    texts = enumerate_states(V, 2)
    states = np.concatenate([np.full((len(texts), 1), 2), texts], axis=1)
    assert np.exp(model.log_prob(states)).sum() == pytest.approx(1, abs=1e-5)


@BOTH
def test_rectangles_close(kind: str) -> None:
    """Δ = 0 for conditionals of a joint law, at rounding level, through scores at both sites."""
    model = model_of(kind)
    x = model.encode("the old river runs under").tokens
    a, a2, b, b2 = int(x[1]), 14, int(x[4]), 17

    def difference(state, site, old, new):
        scores = model.score_tokens(state[None], np.array([site]), np.array([[old, new]]))[0]
        return scores[1] - scores[0]

    y, w = x.copy(), x.copy()
    y[1], w[4] = a2, b2
    path1 = difference(x, 1, a, a2) + difference(y, 4, b, b2)
    path2 = difference(x, 4, b, b2) + difference(w, 1, a, a2)
    assert abs(path1) > 1e-2 and abs(path1 - path2) < 1e-4


@BOTH
def test_the_law_of_scores_holds(kind: str) -> None:
    model = model_of(kind)
    checks = check_model(model, [model.encode("the old river runs")] * 3, tolerance=1e-3)
    assert checks["own_token"].checked > 0


@BOTH
def test_proposals_are_the_next_token_logits_of_the_left_context(kind: str) -> None:
    model = model_of(kind)
    states = np.array([model.encode("the old river runs").tokens] * 3)
    states[1, 3:] = 9
    rows, allowed = model.proposal_logits(states, np.array([3, 3, 1])), ~model.forbidden
    with torch.inference_mode():
        plain = model.model(torch.from_numpy(states[:1, :3])).logits[0, -1].numpy()
    assert rows.dtype == np.float32 and (rows[:, ~allowed] == -np.inf).all()
    assert gap(rows[0], plain, allowed) < 1e-5
    assert gap(rows[0], rows[1], allowed) < 1e-6 < gap(rows[0], rows[2], allowed)


def test_without_a_start_token_every_word_is_free_and_the_first_is_uniform() -> None:
    model = model_of("gpt2", start=None)
    state = model.encode("the old river")
    assert state.free.tolist() == [0, 1, 2]
    rows = model.proposal_logits(state.tokens[None], np.array([0]))
    assert set(rows[0, ~model.forbidden]) == {0.0}
    scores = model.score_tokens(state.tokens[None], np.array([0]), np.array([[7, 8]]))[0]
    for score, token in zip(scores, (7, 8), strict=True):
        assert score == pytest.approx(joint(model, [token, *state.tokens[1:].tolist()]), abs=1e-4)


@BOTH
def test_forbidden_tokens_score_minus_infinity(kind: str) -> None:
    model = model_of(kind)
    scores = model.score_tokens(np.array([[2, 7, 8]]), np.array([1]), np.array([[0, 9, V - 1]]))
    assert np.isneginf(scores).tolist() == [[True, False, True]]


@BOTH
def test_micro_batches_change_nothing(kind: str) -> None:
    whole, parts = model_of(kind), model_of(kind, batch_tokens=7)
    states, sites = np.array([[2, 7, 8, 9], [2, 10, 11, 12]]), np.array([1, 3])
    tokens = np.array([[7, 9, 10], [12, 6, 20]])
    assert np.allclose(parts.score_tokens(states, sites, tokens), whole.score_tokens(states, sites, tokens), atol=1e-5)
    assert np.allclose(parts.proposal_logits(states, sites), whole.proposal_logits(states, sites), atol=1e-5)


@BOTH
def test_the_double_copy_measures_the_rounding_of_float32(kind: str) -> None:
    model = model_of(kind)
    states, sites, tokens = np.array([[2, 7, 8, 9, 10]]), np.array([2]), np.array([[7, 9, 10]])
    twin = model.in_float64()
    exact = twin.score_tokens(states, sites, tokens)
    assert 0 < np.abs(exact - model.score_tokens(states, sites, tokens)).max() < 1e-4
    for rows in (2, 5):
        again = twin.score_tokens(np.repeat(states, rows, 0), np.repeat(sites, rows), np.repeat(tokens, rows, 0))
        assert np.abs(again - exact).max() < 1e-11


def test_the_norms_of_a_double_copy_do_not_round_to_float32() -> None:
    """Llama's norms compute in float32 whatever their input; the copy's must not, the model's own stay as they are."""
    hidden = torch.randn(3, 16, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    model = model_of("llama")
    norm = model.in_float64().model.model.norm
    exact = norm.weight * hidden * (hidden.pow(2).mean(-1, keepdim=True) + norm.variance_epsilon).rsqrt()
    assert (norm(hidden) - exact).abs().max() < 1e-14
    assert (model.model.model.norm(hidden) - exact).abs().max() > 1e-9


@BOTH
def test_a_saved_folder_loads_as_the_same_causal_model(kind: str, tmp_path: Path) -> None:
    network = causal_network(kind)
    model = load(str(save(tmp_path, network, causal_tokenizer())))
    assert isinstance(model, CausalLM) and not hasattr(model, "logits")
    state = model.encode("the old river runs")
    assert state.tokens[0] == 2 and state.free.tolist() == [1, 2, 3, 4]
    assert model.decode(state.tokens) == "the old river runs"
    assert model.log_prob(state.tokens[None])[0] == pytest.approx(joint(model, state.tokens.tolist()), abs=1e-4)
    assert model.fingerprint == load(str(tmp_path)).fingerprint


def test_a_causal_folder_without_a_start_token_loads(tmp_path: Path) -> None:
    model = load(str(save(tmp_path, causal_network("llama"), causal_tokenizer(start=False))))
    assert model.encode("the old river").free.tolist() == [0, 1, 2]


def test_numbers_that_are_not_finite_name_the_model() -> None:
    model = model_of("gpt2")
    with torch.no_grad():
        model.model.transformer.ln_f.bias[0] = np.nan
    with pytest.raises(InputError, match=r"model gpt2: expected finite logits.*site 1"):
        model.score_tokens(all_free([2, 7, 8]).tokens[None], np.array([1]), np.array([[7]]))
    with pytest.raises(InputError, match=r"finite logits"):
        model.proposal_logits(np.array([[2, 7, 8]]), np.array([1]))


def test_states_are_checked() -> None:
    model = model_of("gpt2")
    with pytest.raises(InputError, match=r"tokens 0 …"):
        model.log_prob(np.array([[2, V]]))
    with pytest.raises(InputError, match=r"columns"):
        model.proposal_logits(np.array([[2, 7]]), np.array([2]))
