"""What a study of topics returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskov.quantities import Estimate
from maskov.results import Result


@dataclass(frozen=True)
class TopicRow:
    """One topic and its threshold. anchors: how many (None for a classifier); threshold: in units of the score;
    false_positive_rate: share of held-out texts of other topics that pass; recall: of its own (None without any);
    n_heldout, n_outside: held-out texts of the topic and of others; confused_with: [{topic, passed, of}] whose held-out
    texts pass, worst first; prior: π, the share of random passages that are of the topic (None with reference texts);
    null_fraction: share of random passages that pass.
    """

    topic: str
    anchors: int | None
    threshold: float
    false_positive_rate: Estimate
    recall: Estimate | None
    n_heldout: int
    n_outside: int
    confused_with: tuple[dict[str, Any], ...]
    prior: float | None
    null_fraction: Estimate


@dataclass(frozen=True)
class TopicCell:
    """Chains of one temperature and start topic, and one topic.

    start_topic: where the chains began, "elsewhere" for all that began in other topics together; chains, passages: how
    many, the passages being the units of every error; fraction: of the time; visits: separate ones per chain, as seen
    on the grid; return_sweeps: median time from leaving to coming back (Kaplan–Meier; None where fewer than half came
    back); returned, not_returned: spells outside that ended, and that the run's end cut off; ever_fraction,
    end_fraction: share of chains that ever visit, and that are there at the end; null_fraction: of random passages;
    excess: fraction − null_fraction; p: of an excess this large under the null, one-sided; p_adjusted: Holm, p_bh:
    Benjamini–Hochberg, over the family: all cells from elsewhere, or all others.
    """

    temperature: float
    start_topic: str
    topic: str
    chains: int
    passages: int
    fraction: Estimate
    visits: Estimate
    return_sweeps: Estimate | None
    returned: int
    not_returned: int
    ever_fraction: Estimate
    end_fraction: Estimate
    null_fraction: Estimate
    excess: Estimate
    p: float | None
    p_adjusted: float | None
    p_bh: float | None


@dataclass(frozen=True)
class TopicVerdict:
    """Does a topic recur? recurring: whether p_adjusted ≤ level and p_shuffled ≤ level; None where there is no test;
    p_adjusted: Holm over topics and temperatures; p_bh: for the false discovery rate, which the verdict does not use;
    p_shuffled: of so large an excess for the best of as many topics with shuffled anchors, times the number of
    temperatures (None for a classifier); words: the same as a sentence.
    """

    temperature: float
    topic: str
    recurring: bool | None
    p_adjusted: float | None
    p_bh: float | None
    p_shuffled: float | None
    words: str


@dataclass(frozen=True)
class StartMemory:
    """Are chains still in the topics they began in? own_fraction: share of time in the topic of the start;
    shuffled_fraction: the same with start topics permuted among passages; p: of the difference, one-sided.
    """

    temperature: float
    passages: int
    own_fraction: Estimate
    shuffled_fraction: float
    p: float | None


@dataclass(frozen=True)
class TimeCourse:
    """Share of passages' chains in a topic along the run, burn-in included. sweeps: [P] mid of each stretch of time;
    elsewhere: [P] of chains that began in other topics; own: [P] of those that began in it, or None.
    """

    temperature: float
    topic: str
    sweeps: NDArray[np.float64]
    elsewhere: NDArray[np.float64] | None
    own: NDArray[np.float64] | None


@dataclass(frozen=True)
class TopicRecurrence(Result):
    """Topics of a trace.

    scorer: what rates the states; target_rate: α that thresholds were set for; level: of the verdicts; null: what
    random passages are ("held-out", "prior" or "reference"); held_out: where thresholds come from; steps: T; burn_in:
    first step that counts; kept: states of each chain that count; spacing_sweeps: time between them; shuffles: sets of
    shuffled topics; recurring: [{temperature, topic}] of the verdicts that say so; notes: what to mind.
    """

    command = "topics"

    scorer: str
    target_rate: float
    level: float
    null: str
    held_out: str
    steps: int
    burn_in: int
    kept: int
    spacing_sweeps: float
    shuffles: int
    topics: tuple[TopicRow, ...]
    cells: tuple[TopicCell, ...]
    verdicts: tuple[TopicVerdict, ...]
    recurring: tuple[dict[str, Any], ...]
    memory: tuple[StartMemory, ...]
    courses: tuple[TimeCourse, ...]
    notes: tuple[str, ...]

    def _lines(self) -> list[tuple[str, str]]:
        head = [
            ("score", self.scorer),
            ("thresholds", f"{self.held_out}, at most {self.target_rate:.0%} of texts outside of a topic pass"),
            (
                "time",
                f"{self.kept} states of each chain from step {self.burn_in}, {self.spacing_sweeps:.2g} sweeps apart",
            ),
            ("null", f"random passages ({self.null})"),
        ]
        rows = [(f"τ = {v.temperature:g}, {v.topic}", v.words) for v in self.verdicts]
        return head + rows + [(f"τ = {m.temperature:g}, starts", memory_words(m)) for m in self.memory]


def memory_words(m: StartMemory) -> str:
    """A sentence on ``StartMemory``."""
    if m.p is None:
        return "one start topic: nothing to compare"
    return (
        f"{m.own_fraction.value:.0%} of the time in the topic of the start, {m.shuffled_fraction:.0%} with the starts' "
        f"topics permuted (p = {m.p:.2g})"
    )
