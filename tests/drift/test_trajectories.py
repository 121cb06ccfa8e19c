"""Thinned trajectories: a walk equals single look-ups, texts are embedded once, components are principal."""

from __future__ import annotations

import numpy as np
import pytest

from maskov.drift.embed import unit_rows
from maskov.drift.trajectories import MOST_KEPT, kept_states, principal_components, trajectories
from maskov.errors import InputError
from maskov.glauber import glauber, states_over
from maskov.models import load

LAW = "law:potts?sites=5&symbols=3&beta=1"


@pytest.fixture(scope="module")
def run():
    model = load(LAW)
    return glauber(model, ["00000", "01201"], temperature=[1.0, 2.0], steps=300, chunk_steps=32, window=8), model


class Counting:
    """An embedder of 2,000 columns that counts the texts it is given."""

    name = "counting"

    def __init__(self) -> None:
        self.seen: list[str] = []

    def encode(self, texts):
        self.seen += texts
        rows = np.zeros((len(texts), 2000))
        for row, text in zip(rows, texts, strict=True):
            for site, symbol in enumerate(text):
                row[400 * site + 100 * int(symbol)] = 1.0
        return unit_rows(rows, self.name)


def test_walk_equals_look_ups(run) -> None:
    trace, _ = run
    for times in (range(0, 301, 7), [0, 0, 31, 32, 33, 300], [64], [299, 300]):
        walked = list(states_over(trace, times))
        assert [t for t, _ in walked] == list(times)
        for t, states in walked:
            assert all((a == b).all() for a, b in zip(states, trace.states_at(t), strict=True))


def test_walk_reads_a_chunk_once(run, monkeypatch) -> None:
    trace, _ = run
    read = []
    fetch = trace._read_changes
    monkeypatch.setattr(trace, "_read_changes", lambda k: read.append(k) or fetch(k))
    list(states_over(trace, range(301)))
    assert read == sorted(set(read)) and len(read) == len(trace.manifest.chunks)


@pytest.mark.parametrize("times", [[5, 4], [301], [-1]])
def test_walk_refuses_times_that_go_back_or_lie_outside(run, times) -> None:
    with pytest.raises(InputError, match="ascending steps"):
        list(states_over(run[0], times))


def test_each_text_is_embedded_once(run) -> None:
    trace, model = run
    embedder = Counting()
    kept = kept_states(trace, model, embedder, keep=150)
    assert len(embedder.seen) == len(set(embedder.seen)) == len(kept.texts)
    assert kept.which.shape == (151, 4) and kept.stride == 2 and kept.width == 2000
    told = [kept.texts[k] for k in kept.which[10]]
    assert told == [model.decode(x) for x in trace.states_at(20)]


def test_hashed_places_keep_distances(run) -> None:
    trace, model = run
    kept = kept_states(trace, model, Counting(), keep=300, components=15)
    k, b = [0, 50, 120, 300], [0, 1, 2, 3]
    rows = Counting().encode([kept.texts[kept.which[t, c]] for t, c in zip(k, b, strict=True)])
    exact = np.linalg.norm(rows[:, None] - rows[None], axis=2)
    seen = np.linalg.norm(kept.places[k, b][:, None] - kept.places[k, b][None], axis=2)
    assert abs(seen - exact).max() < 0.25  # of distances up to 1.4; of 15 columns in 1024 few collide
    assert kept.explained.sum() == pytest.approx(1)


def test_components_are_principal() -> None:
    rng = np.random.Generator(np.random.Philox(1))
    rows, weights = rng.standard_normal((40, 5)), rng.integers(1, 9, 40)
    places, shares = principal_components(rows, weights, 3)
    repeated = np.repeat(rows, weights, axis=0)
    _, values, axes = np.linalg.svd(repeated - repeated.mean(axis=0), full_matrices=False)
    expected = (rows - repeated.mean(axis=0)) @ axes[:3].T
    assert np.allclose(np.abs(places), np.abs(expected))
    assert np.allclose(shares, values[:3] ** 2 / (values**2).sum())


def test_default_keeps_memory_and_time_bounded(monkeypatch) -> None:
    model = load(LAW)
    monkeypatch.setitem(MOST_KEPT, "onehot", 900)
    trace = glauber(model, ["00000"], chains=3, steps=4000)
    kept = kept_states(trace, model)
    assert 600 < kept.which.size <= 900 + 3 and kept.times[-1] > 4000 - kept.stride


def test_result_names_starts_and_draws(run) -> None:
    trace, model = run
    found = trajectories(trace, model, keep=30)
    record = found.to_dict()
    assert [p["start"] for p in record["paths"]] == [0, 1, 0, 1]
    assert all(len(p["x"]) == len(record["times"]) for p in record["paths"])
    assert 0 < sum(e["value"] for e in record["explained"]) <= 1 + 1e-9
    assert found.plot().get_xlabel().startswith("first principal component")


def test_chains_that_never_move_have_no_components() -> None:
    model = load("law:curie-weiss?sites=4&beta=1")
    trace = glauber(model, ["0000"], temperature=0.001, steps=200)
    kept = kept_states(trace, model, keep=50)
    assert (kept.explained == 0).all() and (kept.places == 0).all()


def test_too_few_times_are_refused(run) -> None:
    with pytest.raises(InputError, match="at least 2 times"):
        kept_states(*run, keep=1)
