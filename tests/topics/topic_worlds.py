"""Worlds in which the truth is known: texts are points around topic directions, chains hop between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from maskov.protocols import State
from maskov.texts import Passage

TOPICS = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta")
PER_TOPIC = 12
_NUMBERS = 10**6


@dataclass
class World:
    """Texts "t<topic> n<number>"; the embedding is the topic's direction plus noise keyed by the number.

    A state is one token, topic · 10⁶ + number, so ``decode`` is exact. ``spread``: noise against direction; scores have
    no ties, so thresholds hold their rate exactly.
    """

    seed: int
    topics: Sequence[str] = TOPICS
    spread: float = 0.5
    name: str = "world"

    def __post_init__(self) -> None:
        self.rng = np.random.Generator(np.random.Philox(key=[self.seed, 77]))

    def tokens(self, topics: np.ndarray) -> np.ndarray:
        return np.asarray(topics) * _NUMBERS + self.rng.integers(0, _NUMBERS, size=np.shape(topics))

    def decode(self, tokens: np.ndarray) -> str:
        return f"t{int(tokens[0]) // _NUMBERS} n{int(tokens[0]) % _NUMBERS}"

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        rows = np.zeros((len(texts), len(self.topics) + 4))
        for row, text in zip(rows, texts, strict=True):
            topic, number = (int(part[1:]) for part in text.split())
            row[topic] = 1.0
            row += self.spread * np.random.Generator(np.random.Philox(key=[topic, number])).standard_normal(len(row))
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    def text(self, topic: int) -> str:
        return self.decode(self.tokens(np.array([topic])))

    def anchors(self, each: int = 20) -> dict[str, list[str]]:
        return {name: [self.text(k) for _ in range(each)] for k, name in enumerate(self.topics)}

    def passages(self, each: int = PER_TOPIC) -> list[Passage]:
        return [Passage(self.text(k), topic=name) for k, name in enumerate(self.topics) for _ in range(each)]


class Reader:
    """A model that only decodes, so that held-out texts stay as they are."""

    def __init__(self, world: World) -> None:
        self.decode = world.decode


@dataclass
class HandTrace:
    """States by hand: path int64 [T + 1, B, n]; temperatures [B]; labels: start topic of each chain."""

    path: np.ndarray
    temperatures: np.ndarray
    labels: list[str] = field(default_factory=list)

    @property
    def steps(self) -> int:
        return len(self.path) - 1

    @property
    def n_chains(self) -> int:
        return self.path.shape[1]

    @property
    def starts(self) -> list[State]:
        return [State(x, np.arange(self.path.shape[2])) for x in self.path[0]]

    def states_at(self, step: int) -> list[np.ndarray]:
        return list(self.path[step])


def hop(world: World, kernel: np.ndarray, starts: np.ndarray, steps: int, stay: float) -> HandTrace:
    """Chains on topics: with chance ``stay`` nothing happens, else the next topic is drawn from its row of ``kernel``
    and a new text of it is written. starts: topics [B].
    """
    topics, path = np.array(starts), [world.tokens(np.asarray(starts))]
    for _ in range(steps):
        moves = world.rng.random(len(topics)) >= stay
        u = world.rng.random(len(topics))
        drawn = (u[:, None] >= kernel[topics].cumsum(axis=1)).sum(axis=1)
        topics = np.where(moves, np.minimum(drawn, len(kernel) - 1), topics)
        path.append(np.where(moves, world.tokens(topics), path[-1]))
    labels = [world.topics[k] for k in starts]
    return HandTrace(np.array(path)[:, :, None], np.ones(len(starts)), labels)


def drifting(topics: int, to: int, weight: float) -> np.ndarray:
    """Rows that go to topic ``to`` with chance ``weight``, else anywhere: the stationary share of ``to`` is
    weight + (1 − weight)/K, of every other topic (1 − weight)/K.
    """
    kernel = np.full((topics, topics), (1 - weight) / topics)
    kernel[:, to] += weight
    return kernel
