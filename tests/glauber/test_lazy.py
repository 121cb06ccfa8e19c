"""The lazy loop is the plain loop: same trajectory, same series, fewer forwards; and twins whose memory is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maskov.errors import InputError
from maskov.glauber import arrange, glauber, lazy, open_trace
from maskov.glauber.engine import Chunk, PlainEngine, run_chunk
from maskov.glauber.lazy import ENGINES, AutoEngine, LazyEngine
from maskov.glauber.memo import Memory
from maskov.laws import CurieWeiss, IsingRing, Potts, random_conditionals, random_tabular
from maskov.models import LawModel, Tempered, load
from maskov.protocols import Floats, State, Tokens


class Hashed:
    """Incompatible conditionals of states of any length: a masked input picks one of 997 random rows."""

    vocabulary_size = 5

    def __init__(self, sharp: float, seed: int = 0) -> None:
        self.table = np.random.default_rng(seed).normal(0, sharp, (997, 5))
        self.rows = 0

    def logits(self, states: Tokens, sites: Tokens) -> Floats:
        self.rows += len(states)
        masked = states.copy()
        masked[np.arange(len(states)), sites] = 7
        return self.table[(masked * (np.arange(states.shape[1]) ** 2 + 3)).sum(axis=1) % 997]


def _chunk(
    engine: Any, model: Any, starts: list[State], taus: list[float], steps: int, seed: int, window: int
) -> Chunk:
    chains = arrange(starts, taus)
    return run_chunk(model, chains, chains.tokens, seed, 0, steps, window, engine)


def _same(a: Chunk, b: Chunk) -> None:
    assert np.array_equal(a.changes, b.changes)
    assert np.array_equal(a.states, b.states)
    for name, values in a.series.items():
        assert np.array_equal(values, b.series[name]), name


LAWS: dict[str, Any] = {
    "tabular": lambda seed: random_tabular(3, 4, seed=seed, concentration=0.2),
    "incompatible": lambda seed: random_conditionals(3, 4, seed=seed),
    "curie-weiss": lambda seed: CurieWeiss(7, 0.5 + seed % 5),
    "potts": lambda seed: Potts(6, 4, 0.5 + seed % 5),
    "ring": lambda seed: IsingRing(5, 0.3 * (seed % 7)),
}


@settings(max_examples=40, deadline=None)
@given(
    name=st.sampled_from(sorted(LAWS)),
    seed=st.integers(0, 1000),
    taus=st.lists(st.sampled_from([0.1, 0.3, 0.7, 1.0, 2.0]), min_size=1, max_size=3, unique=True),
    steps=st.integers(1, 150),
    clamped=st.integers(0, 3),
    engine=st.sampled_from(["lazy", "auto"]),
    budget=st.sampled_from([1, 8_000, 1 << 20]),
)
def test_bit_for_bit_on_laws(
    name: str, seed: int, taus: list[float], steps: int, clamped: int, engine: str, budget: int
) -> None:
    law = LAWS[name](seed)
    rng, free = np.random.default_rng(seed), np.arange(law.n_sites)[clamped:]
    starts = [State(rng.integers(law.vocabulary_size, size=law.n_sites), free) for _ in range(3)]
    plain = _chunk(PlainEngine(law), law, starts, taus, steps, seed, 7)
    quick = _chunk(ENGINES[engine](law, budget), law, starts, taus, steps, seed, 7)
    _same(plain, quick)
    assert quick.forwards <= plain.forwards == steps * 3 * len(taus)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 1000),
    lengths=st.lists(st.integers(1, 9), min_size=1, max_size=5),
    sharp=st.floats(0.1, 6),
    tau=st.floats(0.05, 3),
)
def test_bit_for_bit_on_ragged_states(seed: int, lengths: list[int], sharp: float, tau: float) -> None:
    rng = np.random.default_rng(seed)
    starts = [State(rng.integers(5, size=L), np.flatnonzero(rng.random(L) < 0.7)) for L in lengths]
    starts = [s if len(s.free) else State(s.tokens, np.arange(1)) for s in starts]
    model = Hashed(sharp, seed)
    arguments = (model, starts, [tau, 1.0], 80, seed, 9)
    _same(_chunk(PlainEngine(model), *arguments), _chunk(LazyEngine(model), *arguments))


@pytest.mark.parametrize("span", [1, 40, 1000])
def test_spans_of_any_size_give_the_same(monkeypatch: pytest.MonkeyPatch, span: int) -> None:
    model, starts = Hashed(2.0), [State(np.zeros(6, np.int64), np.arange(6))] * 3
    whole = _chunk(PlainEngine(model), model, starts, [0.5, 1.0], 200, 0, 8)
    for kind in (PlainEngine, LazyEngine):
        monkeypatch.setattr(kind, "span_updates", span)
        _same(whole, _chunk(kind(model), model, starts, [0.5, 1.0], 200, 0, 8))


def _without_the_site(state: np.ndarray, site: int) -> bytes:
    return state.tobytes()


class _AnyTemperature(Memory):
    def note(self, key: bytes, temperature: float, token: int) -> Any:
        return super().note(key, 0.0, token)

    def keep_note(self, key: bytes, temperature: float, token: int, note: Any) -> None:
        super().keep_note(key, 0.0, token, note)


class _AnyToken(Memory):
    def note(self, key: bytes, temperature: float, token: int) -> Any:
        return super().note(key, temperature, 0)

    def keep_note(self, key: bytes, temperature: float, token: int, note: Any) -> None:
        super().keep_note(key, temperature, 0, note)


@pytest.mark.parametrize(
    ("name", "twin"), [("context", _without_the_site), ("Memory", _AnyTemperature), ("Memory", _AnyToken)]
)
def test_a_wrong_memory_is_rejected(monkeypatch: pytest.MonkeyPatch, name: str, twin: Any) -> None:
    law = random_tabular(3, 4, seed=1, concentration=0.2)
    starts = [State(np.zeros(4, np.int64), np.arange(4))] * 4
    arguments = (law, starts, [0.5, 1.0], 150, 0, 10)
    plain = _chunk(PlainEngine(law), *arguments)
    _same(plain, _chunk(LazyEngine(law), *arguments))
    monkeypatch.setattr(lazy, name, twin)
    with pytest.raises(AssertionError):
        _same(plain, _chunk(LazyEngine(law), *arguments))


def test_a_trap_needs_almost_no_forwards() -> None:
    """Hold time e^{2β(n − 1)/n} ≥ 100 n: under one row in a hundred steps, and the plain loop's trajectory."""
    law, told = CurieWeiss(20, 4.2), []
    options: dict[str, Any] = {"temperature": 1.0, "chains": 4, "steps": 60_000, "seed": 2}
    trace = glauber(law, [State(np.zeros(20, np.int64), np.arange(20))], engine="auto", progress=told.append, **options)
    updates, changes = told[-1].updates, len(trace.changes().step)
    assert updates == 240_000 and 2 * updates / changes > 100 * 20 and changes > 20
    assert told[-1].forwards < updates / 100
    plain = glauber(law, [State(np.zeros(20, np.int64), np.arange(20))], engine="plain", **options)
    assert all(np.array_equal(a, b) for a, b in zip(trace.changes(), plain.changes(), strict=True))


def test_auto_runs_laws_lazily_in_traps_only_and_networks_always() -> None:
    start = [State(np.zeros(20, np.int64), np.arange(20))] * 32
    hot, cold = CurieWeiss(20, 0.1), CurieWeiss(20, 4.2)
    assert _chunk(AutoEngine(hot), hot, start, [1.0], 1000, 0, 5).forwards == 32_000
    assert _chunk(AutoEngine(cold), cold, start, [1.0], 1000, 0, 5).forwards < 12_000
    network = Hashed(1.0)  # no number of sites: its rows count as dear
    assert _chunk(AutoEngine(network), network, start, [1.0], 50, 0, 5).forwards < 1600


def test_equal_requests_are_evaluated_once() -> None:
    model = Hashed(1.0)
    starts = [State(np.zeros(4, np.int64), np.array([2]))] * 6
    chunk = _chunk(LazyEngine(model), model, starts, [0.5, 1.0, 2.0], 30, 0, 5)
    assert chunk.forwards == model.rows == 1  # one free site has one context, for all chains and temperatures


def _networks() -> list[Any]:
    import torch
    from transformers import BertConfig, BertForMaskedLM

    from maskov.models.masked_lm import MaskedLM

    tiny = load("en-tiny")
    torch.manual_seed(0)
    config = BertConfig(vocab_size=30_522, hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
                        intermediate_size=32, initializer_range=0.6)  # fmt: skip
    return [tiny, MaskedLM(BertForMaskedLM(config), tiny.codec, "random")]


@pytest.mark.parametrize("which", [0, 1])
def test_the_same_trajectory_on_networks(which: int) -> None:
    model = _networks()[which]
    texts, told = ["the cat sat on the old mat.", "a river runs by the mill and under the bridge."], {}
    options: dict[str, Any] = {"temperature": [0.2, 0.5, 1.0, 2.0], "steps": 60, "seed": 3, "window": 8}
    runs = [
        glauber(model, texts, engine=e, progress=lambda p, e=e: told.update({e: p}), **options)
        for e in ("plain", "auto")
    ]
    for plain, ours in zip(*(run.changes() for run in runs), strict=True):
        assert np.array_equal(ours, plain)
    for name, values in runs[0].series.items():
        np.testing.assert_allclose(runs[1].series[name], values, rtol=1e-4, atol=1e-5)
    assert told["plain"].forwards == 480 > told["auto"].forwards / 0.95


def test_a_run_goes_on_with_another_engine(tmp_path: Path) -> None:
    model = LawModel(random_conditionals(3, 5, seed=2))
    options: dict[str, Any] = {"temperature": [0.2, 1.0], "chains": 2, "seed": 5, "chunk_steps": 20, "window": 2}
    whole = glauber(model, None, steps=120, engine="plain", **options)
    for steps, engine in ((30, "lazy"), (70, "plain"), (120, "lazy")):
        glauber(model, None, steps=steps, out=tmp_path / "a.zarr", resume=True, engine=engine, **options)
    parts = open_trace(tmp_path / "a.zarr")
    assert all(np.array_equal(a, b) for a, b in zip(whole.changes(), parts.changes(), strict=True))
    assert all(np.array_equal(values, parts.series[name]) for name, values in whole.series.items())


def test_an_unknown_engine() -> None:
    with pytest.raises(InputError, match="one of auto, lazy, plain"):
        glauber(LawModel(CurieWeiss(3, 1.0)), None, steps=5, engine="quick")


def test_ragged_texts_share_forwards_and_resume(tmp_path: Path) -> None:
    """Near lengths run padded in one batch; the trajectory is the one of each length on its own.

    Padding changes the last digit of a row. Cold rows have few tokens with mass, so no draw falls between two of them.
    """
    model, texts = load("en-tiny"), ["it rained all day.", "the old cat sat on the mat.", "a river runs by the mill."]
    options: dict[str, Any] = {"temperature": [0.1, 0.3], "seed": 4, "window": 5, "chunk_steps": 15}
    whole = glauber(model, texts, steps=45, **options)
    model.__dict__["forward_overhead"] = 0.0  # one batch per length
    alone = glauber(model, texts, steps=45, **options)
    model.__dict__["forward_overhead"] = 100.0
    glauber(model, texts, steps=20, out=tmp_path / "a.zarr", **options)
    parts = glauber(model, texts, steps=45, out=tmp_path / "a.zarr", resume=True, **options)
    assert len(whole.changes().step) > 10 and {len(s.tokens) for s in whole.starts} == {7, 9, 10}
    for other in (alone, parts):
        assert all(np.array_equal(a, b) for a, b in zip(whole.changes(), other.changes(), strict=True))
        for name, values in whole.series.items():
            np.testing.assert_allclose(other.series[name], values, rtol=1e-4, atol=1e-5)


def test_wrappers_keep_their_own_rows() -> None:
    """A tempered view hands on what it does not have, but rows by parts would be another temperature's."""
    model, texts = load("en-tiny"), ["it rained.", "the cat sat on the mat."]
    for starts in (texts, texts[:1]):
        cool = glauber(Tempered(model, 0.5), starts, temperature=1.0, steps=25, seed=1)
        same = glauber(model, starts, temperature=0.5, steps=25, seed=1)
        assert all(np.array_equal(a, b) for a, b in zip(cool.changes(), same.changes(), strict=True))
        np.testing.assert_allclose(cool.series["entropy"], same.series["entropy"], rtol=1e-4)


@pytest.mark.parametrize("tau", [0.3, 1.0])
def test_one_chain_alone(tau: float) -> None:
    """A single chain skips the padding of small products, in both loops alike."""
    model = load("en-tiny")
    runs = [glauber(model, ["the cat sat on the mat."], temperature=tau, steps=40, engine=e) for e in ("plain", "lazy")]
    assert all(np.array_equal(a, b) for a, b in zip(*(run.changes() for run in runs), strict=True))
    np.testing.assert_allclose(runs[0].series["entropy"], runs[1].series["entropy"], rtol=1e-4)
