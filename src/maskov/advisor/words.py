"""The advice in plain words: every sentence is made from its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from maskov.advisor.result import Fix, Standing

WORDS = {
    "certified": "This is proved for every predictor.",
    "identifies": "Inside the family of predictors that get every mode right, that pins the weights; for other "
    "predictors it is not proved.",
    "partly": "The weights are pinned in part.",
    "blind": "The loss all but ignores the weights: training leaves them where they happened to start.",
}


def sentences(
    ground: Any, standing: Standing, fixes: Sequence[Fix], recommended: str, tolerance: float, epsilon: float
) -> tuple[str, ...]:
    """What the schedule sees, what it misses, the smallest fix, and its price."""
    return (
        _sees(ground, standing),
        _misses(standing, tolerance, epsilon),
        *_mends(standing, fixes, recommended),
    )


def _sees(ground: Any, s: Standing) -> str:
    always = (
        f"at least {s.v_min} of {ground.length} sites are always visible"
        if s.v_min > 0
        else f"everything is hidden in {_percent(s.full_mask_mass)} of sequences"
    )
    known = "exactly" if ground.kind == "law" else "as measured on held-out documents"
    rho = s.blindness_ratio.value
    return (
        f"With {s.schedule}, {always}. The blindness ratio is {_small(rho)} ({known}): of the information about "
        f"mode weights that a whole sequence holds, the loss sees that share."
    )


def _misses(s: Standing, tolerance: float, epsilon: float) -> str:
    about = "about " if hasattr(s.left_open, "stderr") else "at least "
    return (
        f"An excess loss of {epsilon:g} nats per sequence leaves mode weights {about}{_points(s.left_open.value)} "
        f"open; {_points(tolerance)} are asked for. {WORDS[s.verdict]}"
    )


def _mends(standing: Standing, fixes: Sequence[Fix], recommended: str) -> tuple[str, ...]:
    if standing.verdict in ("certified", "identifies"):
        return ("Nothing needs to change.",)
    found = [fix for fix in fixes if fix.schedule == recommended and fix.share]
    if not found:
        return (
            "No share of sequences with few visible sites reaches the tolerance at this excess loss: train to a "
            "smaller one, or ask for less.",
        )
    fix = found[0]
    return _smallest(fix, fixes), _price(fix), f"Train with {recommended}."


def _smallest(fix: Fix, fixes: Sequence[Fix]) -> str:
    what = "fully masked" if fix.added == "full" else f"masked down to {fix.added.removeprefix('visible:')} visible"
    others = [f for f in fixes if f.share and f.promise == "witness family" and f is not fix]
    cheap = min(others, key=lambda f: f.share or 1.0, default=None)
    rest = (
        f" Inside the family of right modes {_percent(cheap.share or 0)} with {cheap.added} are enough."
        if cheap is not None and fix.promise == "every predictor"
        else ""
    )
    return f"The smallest fix: {_percent(fix.share or 0)} of sequences {what} (holds for: {fix.promise}).{rest}"


def _price(fix: Fix) -> str:
    return (
        f"It costs {_percent(fix.lost or 0)} of the predictions at the old visible counts; the visible fraction "
        f"changes by {_signed(fix.mean_visible_change or 0)}, the predictions per sequence by "
        f"{_signed(fix.predictions_change or 0)}."
    )


def questions(table: Sequence[Standing]) -> tuple[dict[str, str], ...]:
    """What people ask of real trainers, answered from the table."""
    return (
        {"question": "Why is the mask ratio drawn from [0.7, 1] and not from [0, 1]?", "answer": _high_ratios(table)},
        {"question": "Which spread of ratios is best?", "answer": _spread(table)},
        {
            "question": "Does it matter that sampling visits ratios that training never saw?",
            "answer": _unseen(table),
        },
    )


def _row(table: Sequence[Standing], name: str) -> Standing | None:
    return next((row for row in table if row.schedule == name), None)


def _high_ratios(table: Sequence[Standing]) -> str:
    high, whole = _row(table, "mar"), _row(table, "uniform")
    if high is None or whole is None:
        return "The table has no such pair."
    more, less = high.blindness_ratio.value, whole.blindness_ratio.value
    side = "more" if more > less else "no more"
    return (
        f"High ratios put more mass where modes are not yet known: with mar (0.7 to 1) the loss sees {_small(more)} of "
        f"the information about weights, with uniform {_small(less)}, so it sees {side}. The price: it never trains to "
        f"fill in a text of which most is visible, and makes {high.predictions / max(whole.predictions, 1e-12):.2g} "
        "times the predictions per sequence."
    )


def _spread(table: Sequence[Standing]) -> str:
    best = max(table, key=lambda row: float(row.blindness_ratio.value) if row.schedule != "full" else -1.0)
    return (
        f"For the weights alone, of those in the table {best.schedule} sees most "
        f"({_small(best.blindness_ratio.value)}). Only the mass at visible counts that don't give the mode away "
        "matters to them; how the rest is spread decides what is learned within a mode, and this theory "
        "does not rank that."
    )


def _unseen(table: Sequence[Standing]) -> str:
    blind = [row.schedule for row in table if row.v_min > 0 and row.verdict == "blind"]
    named = ", ".join(blind) if blind else "none in the table"
    return (
        f"Yes, where sampling starts from nothing. A sampler's first tokens choose the mode, at visible counts 0 and a "
        f"few. Schedules that never train there and are blind on these data: {named}. What they do at those counts is "
        "extrapolation, and the weights of the modes come out of it."
    )


def snippet(spec: str) -> str:
    """Python that puts a schedule into a trainer."""
    return (
        "from maskov.advisor import MaskScheduleCollator\n"
        f'collator = MaskScheduleCollator("{spec}", tokenizer)\n'
        "Trainer(model, args, train_dataset=data, data_collator=collator)"
    )


def _percent(x: float) -> str:
    return f"{100 * x:.3g} %"


def _signed(x: float) -> str:
    return f"{100 * x:+.3g} %"


def _points(x: float) -> str:
    return f"{100 * x:.3g} points"


def _small(x: float) -> str:
    return f"{x:.3g}"
