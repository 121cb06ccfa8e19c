"""The studies of an audit, in the order in which a reader meets them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from maskov.audit import studies_rows as rows
from maskov.audit import studies_trace as trace
from maskov.audit.plan import Plan
from maskov.audit.setting import Outcome, Setting
from maskov.report.sections import TITLES


class Study(NamedTuple):
    """name: key of the results; share: of the time, for the time left; needs: "scores" (causal models too) or
    "rows"; afforded: 0 where the plan has nothing left for it; suits: whether it means something on these starts.
    """

    name: str
    share: float
    needs: str
    run: Callable[[Setting], Outcome]
    afforded: Callable[[Plan], int] = lambda plan: 1
    suits: Callable[[Any, Any], bool] = lambda model, starts: True

    @property
    def title(self) -> str:
        """Of its section in the report."""
        return TITLES[self.name]


def _has_topics(model: Any, starts: Any) -> bool:
    return trace.writes_words(model) or trace.own_topics(starts) is not None


STUDIES = (
    Study("rectangle", 0.12, "scores", rows.rectangle),
    Study("chains", 0.40, "rows", rows.chains),
    Study("entropy", 0.02, "rows", trace.entropy),
    Study("diagnose", 0.02, "rows", trace.diagnosis),
    Study("drift", 0.10, "rows", trace.drift),
    Study("couple", 0.15, "rows", rows.couple),
    Study("phase", 0.15, "rows", rows.phase, lambda plan: plan.phase_pairs),
    Study("influence", 0.06, "rows", rows.influence, lambda plan: plan.contexts),
    Study("topics", 0.06, "rows", trace.topics, suits=_has_topics),
    Study("dwell", 0.04, "rows", trace.dwell),
    Study("basins", 0.06, "rows", trace.basins, lambda plan: plan.basins),
    Study("explorer", 0.03, "rows", trace.explorer),
    Study("traps", 0.08, "rows", rows.traps, lambda plan: plan.trap_starts),
    Study("tokens", 0.1, "rows", rows.tokens, lambda plan: plan.token_profiles),
)
