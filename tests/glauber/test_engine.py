"""The chain: its law on exact laws, its independence of batch, chunks and resuming, and twins that must fail."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from maskov.conformance import check_chain_frequencies
from maskov.errors import ConformanceError, InputError
from maskov.glauber import Chains, arrange, draw_tokens, glauber, open_trace, run_chunk
from maskov.glauber.kernel import stationary_law, transition_matrix
from maskov.laws import CurieWeiss, IsingRing, Potts, perturbed, random_conditionals, random_tabular, state_index
from maskov.models import LawModel, load
from maskov.protocols import Floats, State, Tokens
from maskov.randomness import choose_site, draws

LAWS = {
    "tabular": random_tabular(3, 3, seed=1, concentration=0.3),
    "incompatible": random_conditionals(3, 3, seed=2),
    "perturbed": perturbed(random_tabular(2, 4, seed=3), 0.5, seed=4),
    "curie-weiss": CurieWeiss(6, 1.1),
    "ring": IsingRing(5, 0.8),
    "potts": Potts(4, 3, 1.0),
}


def _visits(
    model: Any, law: Any, steps: int, tau: float, seed: int = 0, free: list[int] | None = None
) -> NDArray[np.int64]:
    start = State(np.zeros(law.n_sites, np.int64), np.arange(law.n_sites) if free is None else np.array(free))
    trace = glauber(model, [start], temperature=tau, steps=steps, chains=8, seed=seed)
    first = steps // 20
    numbers = np.empty((steps, 8), dtype=np.int64)
    states = np.stack(trace.states_at(0))
    changes = trace.changes()
    bounds = np.searchsorted(changes.step, np.arange(1, steps + 2))
    for t in range(steps):
        rows = slice(bounds[t], bounds[t + 1])
        states[changes.chain[rows], changes.site[rows]] = changes.new[rows]
        numbers[t] = state_index(states, law.vocabulary_size)
    return numbers[first:]


@pytest.mark.parametrize("name", LAWS)
def test_visits_follow_the_stationary_law(name: str) -> None:
    law = LAWS[name]
    kernel = transition_matrix(law, law.n_sites, 1.3)
    check_chain_frequencies(_visits(LawModel(law), law, 4000, 1.3), stationary_law(kernel), kernel)


class _Peeking:
    """Conditionals that look at the current token: they lean towards it."""

    def __init__(self, law: Any) -> None:
        self.law, self.vocabulary_size, self.n_sites = law, law.vocabulary_size, law.n_sites

    def logits(self, states: Tokens, sites: Tokens) -> Floats:
        rows = np.array(self.law.logits(states, sites))
        current = states[np.arange(len(states)), sites]
        rows[np.arange(len(states)), current] += np.where(current == 0, 1.0, 0.0)
        return rows


def test_a_model_that_peeks_is_rejected() -> None:
    law = LAWS["tabular"]
    kernel = transition_matrix(law, law.n_sites, 1.0)
    with pytest.raises(ConformanceError):
        check_chain_frequencies(_visits(_Peeking(law), law, 4000, 1.0), stationary_law(kernel), kernel)


@pytest.mark.parametrize("wrong", [0.8, 1.25])
def test_a_wrong_temperature_is_rejected(wrong: float) -> None:
    law = LAWS["tabular"]
    kernel = transition_matrix(law, law.n_sites, 1.0)
    with pytest.raises(ConformanceError):
        check_chain_frequencies(_visits(LawModel(law), law, 4000, wrong), stationary_law(kernel), kernel)


def test_a_frozen_site_that_should_move_is_rejected() -> None:
    law = LAWS["tabular"]
    kernel = transition_matrix(law, law.n_sites, 1.0)
    held = _visits(LawModel(law), law, 4000, 1.0, free=[0, 1])
    with pytest.raises(ConformanceError):
        check_chain_frequencies(held, stationary_law(kernel), kernel)


def _replay(model: Any, start: State, tau: float, steps: int, seed: int, chain: int) -> NDArray[np.int64]:
    """The chain written out by its definition, one row at a time."""
    x = start.tokens.copy()
    path = [x.copy()]
    d = draws(seed, np.array([chain]), 0, steps)
    for t in range(steps):
        site = choose_site(d.site[t], start.free[None], np.array([len(start.free)]))
        x[site] = draw_tokens(model.logits(x[None], site), np.array([tau]), x[site], d.token[t]).tokens
        path.append(x.copy())
    return np.array(path)


@pytest.mark.parametrize("name", LAWS)
def test_random_access_equals_a_replay_by_definition(name: str) -> None:
    law = LAWS[name]
    model = LawModel(law)
    start = State(np.zeros(law.n_sites, np.int64), np.arange(law.n_sites))
    trace = glauber(model, [start], temperature=[0.6, 1.4], steps=90, chains=3, seed=9, chunk_steps=14, window=7)
    for b in range(6):
        path = _replay(model, start, [0.6, 1.4][b // 3], 90, 9, b % 3)
        for t in (0, 1, 13, 14, 15, 42, 89, 90):
            assert (trace.state(b, t) == path[t]).all()


def _equal(a: Any, b: Any, chains: Any = slice(None), rounding: float = 0.0) -> None:
    """Two traces hold the same states and changes; series bit for bit, or to a network's rounding between batches."""
    for t in (0, 1, a.steps // 3, a.steps):
        for x, y in zip(a.states_at(t)[chains], b.states_at(t), strict=True):
            assert (x == y).all()
    for name, values in a.series.items():
        np.testing.assert_allclose(values[:, chains], b.series[name], rtol=0, atol=rounding, err_msg=name)


def test_a_batch_of_eight_is_two_of_four() -> None:
    law = LAWS["incompatible"]
    model = LawModel(law)
    starts = [State(np.random.default_rng(k).integers(3, size=3), np.arange(3)) for k in range(8)]
    eight = glauber(model, starts, temperature=0.9, steps=200, seed=4)
    _equal(eight, glauber(model, starts[:4], temperature=0.9, steps=200, seed=4), slice(0, 4))
    # Streams belong to chain numbers, so the second half is run with the numbers that it has in the batch of eight.
    whole = arrange(starts, [0.9])
    second = Chains(*(part[4:] for part in whole))
    a, b = (run_chunk(model, c, c.tokens, 4, 0, 200, 5) for c in (whole, second))
    assert (a.states[4:] == b.states).all()
    late = a.changes[a.changes[:, 0] >= 4] - np.array([4, 0, 0, 0, 0])
    assert len(late) > 100 and (late == b.changes).all()
    for name, values in b.series.items():
        assert (a.series[name][:, 4:] == values).all(), name
    again = glauber(model, starts, temperature=[0.9, 2.0], steps=200, seed=4)
    for t in (1, 77, 200):
        assert all((x == y).all() for x, y in zip(eight.states_at(t), again.states_at(t)[:8], strict=True))


@pytest.mark.parametrize("chunk_steps", [4, 8, 52, 400])
def test_chunks_do_not_matter(chunk_steps: int) -> None:
    model = LawModel(LAWS["potts"])
    base = glauber(model, None, temperature=[0.5, 1.0], steps=203, chains=3, seed=1, window=4, chunk_steps=100)
    other = glauber(model, None, temperature=[0.5, 1.0], steps=203, chains=3, seed=1, window=4, chunk_steps=chunk_steps)
    _equal(base, other)
    assert all((a == b).all() for a, b in zip(base.changes(), other.changes(), strict=True))


@pytest.mark.parametrize("first", [1, 37, 50, 99])
def test_resume_on_a_law_bit_for_bit(tmp_path: Path, first: int) -> None:
    model, options = LawModel(LAWS["incompatible"]), {"temperature": [0.5, 1.0], "chains": 3, "seed": 5}
    whole = glauber(model, None, steps=100, out=tmp_path / "a.zarr", chunk_steps=20, window=2, **options)
    glauber(model, None, steps=first, out=tmp_path / "b.zarr", chunk_steps=20, window=2, **options)
    parts = glauber(model, None, steps=100, out=tmp_path / "b.zarr", resume=True, **options)
    _equal(whole, parts)
    _equal(whole, open_trace(tmp_path / "b.zarr"))


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A small random BERT, from disk."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import BertConfig, BertForMaskedLM, PreTrainedTokenizerFast

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefghij"]
    core = Tokenizer(models.WordLevel({w: k for k, w in enumerate(words)}, "[UNK]"))
    core.pre_tokenizer = pre_tokenizers.Whitespace()
    core.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    names = {
        "pad_token": "[PAD]",
        "unk_token": "[UNK]",
        "cls_token": "[CLS]",
        "sep_token": "[SEP]",
        "mask_token": "[MASK]",
    }
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, **names)
    torch.manual_seed(0)
    config = BertConfig(vocab_size=15, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
                        max_position_embeddings=32, initializer_range=0.6)  # fmt: skip
    folder = tmp_path_factory.mktemp("bert")
    BertForMaskedLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return load(str(folder))


def test_resume_on_networks(bert: Any, tmp_path: Path) -> None:
    cases = [(bert, ["a b c d e f", "j i h"]), (load("en-tiny"), ["the cat sat on the old mat.", "it rained."])]
    for k, (model, texts) in enumerate(cases):
        # The plain engine evaluates the same batches on both ways, so that rounding is the same too.
        options: dict[str, Any] = {
            "temperature": [0.5, 1.5],
            "seed": 3,
            "window": 5,
            "chunk_steps": 25,
            "engine": "plain",
        }
        whole = glauber(model, texts, steps=100, **options)
        glauber(model, texts, steps=50, out=tmp_path / f"{k}.zarr", **options)
        parts = glauber(model, texts, steps=100, out=tmp_path / f"{k}.zarr", resume=True, **options)
        _equal(whole, open_trace(tmp_path / f"{k}.zarr"), rounding=1e-9)
        assert parts.steps == 100 and len(whole.changes().step) > 20


def test_special_tokens_stay_and_are_never_written(bert: Any) -> None:
    trace = glauber(bert, ["a b c d e f"], temperature=[1.0, 5.0], steps=600, chains=4, seed=2)
    changes = trace.changes()
    assert changes.new.min() >= 5 and set(changes.site.tolist()) == set(range(1, 7))
    for x in trace.states_at(600):
        assert x[0] == 2 and x[-1] == 3


def test_clamps_hold(bert: Any) -> None:
    trace = glauber(bert, ["a b c d e f"], temperature=3.0, steps=300, chains=3, clamp="2-3,6")
    assert set(trace.changes().site.tolist()) == {1, 4, 5}
    with pytest.raises(InputError, match="clamp"):
        glauber(bert, ["a b c"], steps=5, clamp="1-3")


def test_sites_are_uniform_over_the_free_ones() -> None:
    """Every free site is visited equally often; a sampler over all columns would waste steps on frozen ones."""
    free = np.array([[1, 4, 6]])
    u = draws(0, np.array([0]), 0, 30_000).site[:, 0]
    sites = choose_site(u, np.repeat(free, 30_000, 0), np.full(30_000, 3))
    counts = np.bincount(sites, minlength=8)
    assert counts[[0, 2, 3, 5, 7]].sum() == 0
    assert np.abs(counts[[1, 4, 6]] / 30_000 - 1 / 3).max() < 0.01


def test_series_are_window_means() -> None:
    law = LAWS["tabular"]
    model = LawModel(law)
    start = State(np.zeros(3, np.int64), np.arange(3))
    trace = glauber(model, [start], temperature=0.8, steps=23, chains=2, seed=6, window=5, chunk_steps=10)
    for b in range(2):
        path = _replay(model, start, 0.8, 23, 6, b)
        d = draws(6, np.array([b]), 0, 23)
        rows: list[dict[str, float]] = []
        for t in range(23):
            site = choose_site(d.site[t], start.free[None], np.array([3]))
            drawn = draw_tokens(model.logits(path[t][None], site), np.array([0.8]), path[t][site], d.token[t])
            rows.append(
                {
                    "changed": float((path[t] != path[t + 1]).any()),
                    "stay": float(drawn.stay[0]),
                    "entropy": float(drawn.entropy[0]),
                    "production": float(-drawn.entropy[0] - drawn.log_old[0]),
                    "production_raw": float(drawn.log_new[0] - drawn.log_old[0]),
                }
            )
        for name, values in trace.series.items():
            for w, first in enumerate(range(0, 23, 5)):
                assert values[w, b] == pytest.approx(np.mean([r[name] for r in rows[first : first + 5]]), abs=1e-13)


def test_ragged_texts_run_beside_each_other() -> None:
    model = load("en-tiny")
    texts = ["the cat sat.", "a river runs under the old bridge by the mill.", "it rained."]
    together = glauber(model, texts, temperature=1.0, steps=60, seed=8)
    alone = glauber(model, texts[:1], temperature=1.0, steps=60, seed=8)
    assert [len(x) for x in together.states_at(60)] == [len(s.tokens) for s in together.starts]
    assert (together.state(0, 60) == alone.state(0, 60)).all()


def test_xarray_and_arviz_read_a_trace(tmp_path: Path) -> None:
    trace = glauber(LawModel(LAWS["ring"]), None, steps=400, chains=4, out=tmp_path / "a.zarr")
    data = trace.to_xarray()
    assert data["entropy"].dims == ("window", "chain") and data.sizes["chain"] == 4
    assert int(data["step"][-1]) == 400
    from arviz_stats.base import array_stats

    values = data["entropy"].to_numpy().T
    assert 0.9 < float(array_stats.rhat(values, chain_axis=0, draw_axis=1)) < 1.5


@pytest.mark.parametrize("temperature", [0.0, -1.0, float("nan"), float("inf"), []])
def test_temperatures(temperature: Any) -> None:
    with pytest.raises(InputError, match="temperature"):
        glauber(LawModel(LAWS["ring"]), None, temperature=temperature, steps=5)


def test_steps_and_seeds() -> None:
    model = LawModel(LAWS["ring"])
    for options in ({}, {"steps": 1, "sweeps": 1}, {"steps": 0}, {"sweeps": float("nan")}, {"sweeps": 1e300}):
        with pytest.raises(InputError, match="length of the run"):
            glauber(model, None, **options)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="seed"):
        glauber(model, None, steps=5, seed=-1)
    with pytest.raises(InputError, match="chunk_steps"):
        glauber(model, None, steps=5, window=3, chunk_steps=4)
    trace = glauber(model, None, steps=50, seed=2**64 - 1)
    with pytest.raises(InputError, match=r"0 … 50"):
        trace.state(0, 51)
    with pytest.raises(InputError, match=r"0 … 0"):
        trace.state(1, 0)
