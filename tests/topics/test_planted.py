"""Planted drift is found, its size is right, and where nothing drifts nothing is said; twins that err are caught."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from topic_worlds import HandTrace, Reader, World, drifting, hop

import maskov as mk
from maskov.drift import OneHot
from maskov.laws import law
from maskov.texts import Passage
from maskov.topics import AnchorMargin, TopicRecurrence, holm, p_above, passage_share, thresholds, topic_recurrence

SEEDS, CHAINS, STEPS, KEPT = 20, 24, 300, 51
PLANTED = "beta"


def study(world: World, trace: HandTrace, **options: Any) -> TopicRecurrence:
    anchors = world.anchors()
    usual = {"heldout": world.passages(), "start_topics": trace.labels, "kept": KEPT, "shuffles": 39}
    return topic_recurrence(trace, Reader(world), anchors, world, **{**usual, **options})


@functools.cache
def studies(weight: float, stay: float) -> list[tuple[World, HandTrace, TopicRecurrence]]:
    out = []
    for seed in range(SEEDS):
        world = World(seed)
        kernel = drifting(6, 1, weight) if weight >= 0 else np.eye(6)
        trace = hop(world, kernel, np.arange(CHAINS) % 6, STEPS, stay)
        if weight == 0:  # chains that began "elsewhere" and are anywhere from the start: the null itself, not below it
            trace.labels = ["other"] * CHAINS
        out.append((world, trace, study(world, trace)))
    return out


def pooled(found: TopicRecurrence, topic: str) -> Any:
    return next(c for c in found.cells if c.start_topic == "elsewhere" and c.topic == topic)


def test_planted_drift_is_found_and_nothing_else() -> None:
    told = [[row["topic"] for row in found.recurring] for _, _, found in studies(0.6, 0.95)]
    assert sum(topics == [PLANTED] for topics in told) >= 0.9 * SEEDS
    assert all("recurs" in v.words for _, _, f in studies(0.6, 0.95) for v in f.verdicts if v.recurring)


def test_shares_of_planted_drift_are_those_of_the_kernel() -> None:
    """At time t a share 1 − 0.95^t has moved, to topic k with π_k; recall and false positives by 300 texts a topic."""
    covered, ever, of = 0, 0, 0
    for world, _, found in studies(0.6, 0.95):
        times = np.linspace(0, STEPS, KEPT)
        moved = float(np.mean(1 - 0.95 ** times[times >= found.burn_in]))
        passed = rates(world, found)
        for k, topic in enumerate(world.topics):
            pi = np.full(6, 0.4 / 6) + 0.6 * (np.arange(6) == 1)
            away = np.arange(6) != k  # chains that did not move are in their start topic, evenly the others
            exact = moved * passed[k] @ pi + (1 - moved) * passed[k][away].mean()
            cell = pooled(found, topic)
            covered += cell.fraction.interval[0] <= exact <= cell.fraction.interval[1]
            of += 1
            ever += cell.ever_fraction.value >= cell.end_fraction.value
            assert cell.excess.value == pytest.approx(cell.fraction.value - cell.null_fraction.value)
    assert covered >= 0.92 * of and ever == of


def rates(world: World, found: TopicRecurrence) -> np.ndarray:
    """Chance of a new text of each topic (columns) to pass for each topic (rows)."""
    # The world's own stream is past the anchors of the study: make the same ones again.
    scorer = AnchorMargin(remade(world), world)
    limits = np.array([row.threshold for row in found.topics])
    texts = [[world.text(k) for _ in range(300)] for k in range(6)]
    return np.array([(scorer.scores(part) >= limits).mean(axis=0) for part in texts]).T


def remade(world: World) -> dict[str, list[str]]:
    twin = World(world.seed)
    hop(twin, drifting(6, 1, 0.6), np.arange(CHAINS) % 6, STEPS, 0.95)
    return twin.anchors()


@pytest.mark.parametrize(("weight", "stay"), [(0.0, 0.99), (-1.0, 0.95)])
def test_without_drift_false_alarms_are_rare(weight: float, stay: float) -> None:
    """Chains that hop among random passages slowly (the null itself), or stay in their topics."""
    alarms = sum(bool(found.recurring) for _, _, found in studies(weight, stay))
    assert alarms <= 0.1 * SEEDS


@functools.cache
def sharp(seed: int, stay: float) -> tuple[World, HandTrace]:
    """The null with next to no doubt about the null's own share: 48 chains, judged on 60 held-out texts a topic."""
    world = World(seed)
    trace = hop(world, drifting(6, 1, 0.0), np.arange(2 * CHAINS) % 6, STEPS, stay)
    trace.labels = ["other"] * trace.n_chains
    return world, trace


def test_the_correction_for_many_topics_is_needed() -> None:
    """Broken twin 1: six topics at 5 % each, uncorrected, raises too many alarms where the study does not."""
    alarms = twin = 0
    for seed in range(SEEDS):
        world, trace = sharp(seed, 0.8)
        found = study(world, trace, heldout=world.passages(60), shuffles=0)
        alarms += bool(found.recurring)
        twin += any(c.p <= 0.05 for c in found.cells if c.start_topic == "elsewhere")
    assert alarms <= 0.1 * SEEDS < twin


def test_times_are_not_independent_units() -> None:
    """Broken twin 2: every kept state of slow chains as a unit of its own, corrected for six topics all the same."""
    alarms = twin = 0
    for seed in range(SEEDS):
        world, trace = sharp(seed, 0.99)
        alarms += alarm(world, trace, passages_as_units=True)
        twin += alarm(world, trace, passages_as_units=False)
    assert alarms <= 0.1 * SEEDS and twin >= 0.4 * SEEDS


def alarm(world: World, trace: HandTrace, passages_as_units: bool) -> bool:
    """The test of a study by hand: p of each topic, Holm, 5 %."""
    late, held = trace.path[30::6], world.passages(60)
    scorer = AnchorMargin(world.anchors(), world)
    fitted = thresholds(world.topics, scorer.scores([p.text for p in held]), [p.topic for p in held], 0.05)
    texts = [world.decode(x) for x in late.reshape(-1, 1)]
    inside = (scorer.scores(texts) >= np.array([t.value for t in fitted])).reshape(*late.shape[:2], 6)
    units = inside.mean(axis=0) if passages_as_units else inside.reshape(-1, 6).astype(float)
    return any(p <= 0.05 for p in holm([p_above(units[:, k], passage_share(t, 1 / 6)) for k, t in enumerate(fitted)]))


def test_shares_of_a_glauber_run_are_those_of_its_law() -> None:
    """Potts in a run of the engine itself: P(x in topic) by enumeration of all 81 states."""
    text = "potts?sites=4&symbols=3&beta=0.6"
    model, exact = mk.load(f"law:{text}"), law(text)
    anchors = {f"mostly {a}": [a * 4, a * 3 + b, b + a * 3] for a, b in ("01", "12", "20")}
    states = np.array(np.unravel_index(np.arange(81), (3,) * 4)).T
    texts = ["".join(map(str, x)) for x in states]
    held = [Passage(t, topic=f"mostly {max('012', key=t.count)}") for t in texts]
    starts = [t for t in texts if max(map(t.count, "012")) >= 3][:18]
    covered = 0
    for seed in range(4):
        trace = mk.glauber(model, starts, temperature=1.0, steps=1500, seed=seed)
        labels = [f"mostly {max('012', key=t.count)}" for t in starts]
        embedder = OneHot(model, composition=1.0, name="counts")
        options = {"heldout": held, "start_topics": labels, "fpr": 0.1, "kept": 100, "shuffles": 0}
        found = topic_recurrence(trace, model, anchors, embedder, **options)
        scores = AnchorMargin({k: tuple(v) for k, v in anchors.items()}, embedder).scores(texts)
        for k, row in enumerate(found.topics):
            share = float(np.exp(exact.log_prob(states)) @ (scores[:, k] >= row.threshold))
            low, high = pooled(found, row.topic).fraction.interval
            covered += low <= share <= high
    assert covered >= 10
