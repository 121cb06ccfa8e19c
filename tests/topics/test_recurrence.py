"""The whole study: classifiers, labels, nulls that move, edges, and the same numbers however the walk is cut."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from topic_worlds import HandTrace, Reader, World, drifting, hop

from maskov.errors import InputError
from maskov.topics import TopicScorer, topic_recurrence
from maskov.topics import walk as walking


class FirstSign:
    """A classifier without anchors: score 1 + a fraction by number for the topic that the text names."""

    name, topics = "first sign", ("alpha", "beta", "gamma", "delta", "epsilon", "zeta")

    def scores(self, texts: Sequence[str]) -> np.ndarray:
        topic, number = np.array([[int(part[1:]) for part in t.split()] for t in texts]).T
        return (topic[:, None] == np.arange(6)) + number[:, None] / 2e6


def trace_of(world: World, steps: int = 60, chains: int = 12) -> HandTrace:
    return hop(world, drifting(6, 1, 0.5), np.arange(chains) % 6, steps, 0.8)


def run(world: World, trace: HandTrace, topics: Any = None, **options: Any) -> Any:
    usual = {"heldout": world.passages(), "start_topics": trace.labels, "kept": 31, "shuffles": 9}
    return topic_recurrence(trace, Reader(world), topics or world.anchors(), world, **{**usual, **options})


def test_a_classifier_serves_as_topics_and_is_exact_here(world: World) -> None:
    assert isinstance(FirstSign(), TopicScorer)
    trace = trace_of(world)
    found = run(world, trace, FirstSign(), burn_in=0, kept=61)
    truth = trace.path[:, :, 0] // 10**6 == 1
    away = np.array(trace.labels) != "beta"
    cell = next(c for c in found.cells if c.topic == "beta")
    limit = next(row.threshold for row in found.topics if row.topic == "beta")
    stray = (trace.path[:, :, 0] % 10**6 / 2e6 >= limit) & ~truth
    assert cell.fraction.value == pytest.approx((truth | stray)[:, away].mean(), abs=1e-12)
    assert found.shuffles == 0 and all(v.p_shuffled is None for v in found.verdicts)
    assert all(row.anchors is None for row in found.topics)
    with pytest.raises(InputError, match="labelled texts"):
        run(world, trace, FirstSign(), heldout="anchors")


def test_the_walk_may_be_cut_anywhere(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    trace, anchors, held = trace_of(world), world.anchors(), world.passages()
    whole = run(world, trace, anchors, heldout=held)
    monkeypatch.setattr(walking, "_TEXTS", 1)
    assert run(world, trace, anchors, heldout=held).to_dict() == whole.to_dict()


def test_passages_are_the_units_not_chains(world: World) -> None:
    """Four copies of each chain change no estimate, no error and no p-value."""
    trace, anchors, held = trace_of(world), world.anchors(), world.passages()
    once = run(world, trace, anchors, heldout=held, shuffles=0)
    copies = HandTrace(np.repeat(trace.path, 4, axis=1), np.ones(48), list(np.repeat(trace.labels, 4)))
    many = run(world, copies, anchors, heldout=held, shuffles=0)
    for a, b in zip(once.cells, many.cells, strict=True):
        assert b.chains == 4 * a.chains and b.passages == a.passages and b.p == pytest.approx(a.p)
        np.testing.assert_allclose(b.fraction.interval, a.fraction.interval, atol=1e-12)
        np.testing.assert_allclose(b.visits.interval, a.visits.interval, atol=1e-9)


def test_prior_and_reference_move_the_null(world: World) -> None:
    trace, anchors, held = trace_of(world), world.anchors(), world.passages()
    low, high = (
        run(world, trace, anchors, heldout=held, prior={**dict.fromkeys(world.topics, 0.0), "beta": share})
        for share in (0.0, 0.9)
    )
    null = [next(row for row in f.topics if row.topic == "beta").null_fraction.value for f in (low, high)]
    assert null[0] == pytest.approx(3 / 61, abs=1e-9) and null[1] > 0.6  # k/(m + 1) of 60 texts outside
    p = [next(c for c in f.cells if c.topic == "beta").p for f in (low, high)]
    assert p[0] < 0.01 < 0.5 < p[1] and low.null == high.null == "prior"
    own = [world.text(1) for _ in range(50)]
    found = run(world, trace, anchors, heldout=held, reference=own)
    assert found.null == "reference" and found.topics[1].null_fraction.value > 0.5 > found.topics[0].null_fraction.value
    with pytest.raises(InputError, match="reference: expected at least one text"):
        run(world, trace, anchors, heldout=held, reference=[])


def test_runs_from_one_topic_or_without_labels_say_so(world: World) -> None:
    path = trace_of(world).path
    alone = HandTrace(path, np.ones(12), ["beta"] * 12)
    found = run(world, alone)
    assert not [c for c in found.cells if c.topic == "beta" and c.start_topic == "elsewhere"]
    assert found.memory[0].p is None and len(found.verdicts) == 5
    unlabelled = HandTrace(path, np.ones(12), [])
    found = topic_recurrence(
        unlabelled, Reader(world), world.anchors(), world, heldout=world.passages(), kept=31, shuffles=0
    )
    assert {c.start_topic for c in found.cells} == {"elsewhere"} and found.memory[0].passages == 0
    assert any("no topics" in note for note in found.notes)
    assert found.to_dict()["memory"][0]["shuffled_fraction"] is None


def test_one_passage_is_not_tested(world: World) -> None:
    trace = trace_of(world, chains=1)
    found = run(world, trace)
    assert {v.recurring for v in found.verdicts} == {None} and "not tested" in found.verdicts[0].words
    assert any("no power" in note for note in found.notes)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"start_topics": ["beta"]}, "1 for 12 chains"),
        ({"start_topics": [3] * 12}, "strings or None"),
        ({"heldout": []}, "Passage"),
        ({"heldout": ["text"]}, "Passage"),
        ({"kept": 1}, "at least 2"),
        ({"shuffles": -1}, "0 or more"),
        ({"level": 0.0}, "level"),
        ({"fpr": 0.5}, "fpr"),
        ({"prior": {}, "reference": ["x"]}, "both"),
    ],
)
def test_bad_arguments_are_named(world: World, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        run(world, trace_of(world), **options)
    assert message in str(caught.value)


def test_models_and_embedders_are_checked(world: World) -> None:
    with pytest.raises(InputError, match="decodes"):
        topic_recurrence(trace_of(world), object(), world.anchors(), world)
    with pytest.raises(InputError, match="embedder"):
        topic_recurrence(trace_of(world), Reader(world), world.anchors(), 7)  # type: ignore[arg-type]


def test_chains_that_stay_remember_their_topic(world: World) -> None:
    trace = hop(world, np.eye(6), np.arange(24) % 6, 40, 0.5)
    found = run(world, trace, shuffles=9)
    assert found.memory[0].p == pytest.approx(0.001) and found.memory[0].own_fraction.value > 0.5
    assert found.recurring == ()
