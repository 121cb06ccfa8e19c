"""How often `maskov topics` errs in worlds with a known answer: alarms where nothing drifts, planted drifts found.

python reliability/topic_errors.py --studies 300
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "topics"))

from topic_worlds import HandTrace, Reader, World, drifting, hop

from maskov.topics import TopicRecurrence, topic_recurrence

CHAINS, STEPS, KEPT, PLANTED = 24, 300, 51, "beta"
# name, weight of the planted topic (None: chains stay in their topics), chance of a still step
WORLDS = (
    ("null, slow: 1 % of steps move", 0.0, 0.99),
    ("null, fast: 20 % of steps move", 0.0, 0.8),
    ("chains never leave their topics", None, 0.95),
    ("15 % drift to one topic", 0.15, 0.95),
    ("30 % drift to one topic", 0.3, 0.95),
    ("60 % drift to one topic", 0.6, 0.95),
)


def study(seed: int, weight: float | None, stay: float) -> TopicRecurrence:
    """One study with 72 held-out passages, of 24 chains."""
    world = World(seed)
    trace = chains(world, weight, stay)
    return topic_recurrence(
        trace,
        Reader(world),
        world.anchors(),
        world,
        heldout=world.passages(),
        start_topics=trace.labels,
        kept=KEPT,
        shuffles=39,
    )


def chains(world: World, weight: float | None, stay: float) -> HandTrace:
    """The chains of a world; at weight 0 they count as from elsewhere, so that they are the null itself."""
    kernel = np.eye(6) if weight is None else drifting(6, 1, weight)
    trace = hop(world, kernel, np.arange(CHAINS) % 6, STEPS, stay)
    if weight == 0:
        trace.labels = ["other"] * CHAINS
    return trace


def row(name: str, weight: float | None, stay: float, studies: int) -> str:
    """A line of the table: studies with any wrong topic told, with the planted one told."""
    told = [{found["topic"] for found in study(seed, weight, stay).recurring} for seed in range(studies)]
    planted = {PLANTED} if weight else set()
    wrong, found = np.mean([bool(t - planted) for t in told]), np.mean([PLANTED in t for t in told])
    return f"| {name} | {wrong:.1%} | {f'{found:.1%}' if planted else '—'} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=300)
    options = parser.parse_args()
    print("| chains | a wrong topic is told | the planted one is told |\n| --- | --- | --- |")
    for name, weight, stay in WORLDS:
        print(row(name, weight, stay, options.studies), flush=True)


if __name__ == "__main__":
    main()
