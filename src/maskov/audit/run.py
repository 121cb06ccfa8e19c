"""``audit``: every study that a model allows, one after the other, each stored when it is done."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from maskov.audit.folder import AuditFolder
from maskov.audit.plan import Plan, make_plan
from maskov.audit.setting import Setting
from maskov.audit.studies import STUDIES, Study
from maskov.errors import InputError, Interrupted, RunError
from maskov.glauber.run import encode_starts
from maskov.place import only_writer
from maskov.results import jsonable

# done share of the whole, name of the study, what it is at
Progress = Callable[[float, str, str], None]


def audit(
    model: Any,
    texts: Sequence[Any] | None,
    out: str | os.PathLike[str],
    *,
    budget: str = "quick",
    seed: int = 0,
    clamp: str | None = None,
    resume: bool = False,
    command: str = "",
    provenance: dict[str, Any] | None = None,
    progress: Progress | None = None,
) -> AuditFolder:
    """Study a model on texts and fill ``out`` with results.json, tables and the trace.

    model: a ``TextModel``, a law, or a causal model (rectangles only); texts: passages or strings, None for a law's own
    states; budget: quick, standard or full (100, 900, 9,000 nominal seconds of model rows on two cores); clamp: free
    sites to hold; resume: skip what ``out`` holds; provenance: more for the record's inputs, which no resume checks.
    A study that the input doesn't allow becomes a warning. Raises ``InputError``, ``Interrupted`` and ``RunError``;
    studies done until then are stored.
    """
    states, _ = encode_starts(model, texts, clamp)
    plan = make_plan(model, states, budget)
    starts = _clamped(texts, clamp)
    identity = {"name": model.name, "fingerprint": model.fingerprint}
    inputs = {"model": identity, "seed": seed, "texts": _describe(texts), "clamp": clamp, "plan": jsonable(plan)}
    folder = AuditFolder(out, inputs, resume, provenance)
    setting = Setting(model, starts, plan, seed, folder.trace_path, folder.phase_path, resume, command)
    with only_writer(folder.path):
        _run_all(folder, setting, progress)
    return folder


def _run_all(folder: AuditFolder, setting: Setting, progress: Progress | None) -> None:
    todo = [study for study in STUDIES if _allowed(study, setting.model, setting.starts, setting.plan)]
    done, whole = 0.0, sum(study.share for study in todo)
    for study in todo:
        tell = _teller(progress, done / whole, study, whole)
        tell(0.0, "")
        if study.name not in folder.results:
            _run_one(study, replace(setting, progress=tell), folder)
        done += study.share
    if progress is not None:
        progress(1.0, "report", "")


def _allowed(study: Study, model: Any, starts: Any, plan: Plan) -> bool:
    runs = study.needs == "scores" or hasattr(model, "logits")
    return runs and bool(study.afforded(plan)) and study.suits(model, starts)


def _teller(progress: Progress | None, before: float, study: Study, whole: float) -> Callable[[float, str], None]:
    def tell(share: float, at: str) -> None:
        if progress is not None:
            progress(before + share * study.share / whole, study.title, at)

    return tell


def _run_one(study: Study, setting: Setting, folder: AuditFolder) -> None:
    try:
        outcome = study.run(setting)
    except (Interrupted, RunError):
        raise
    except InputError as error:  # for example one text only: no distance between different texts
        folder.warnings.append(f"{study.title} {error}")
        folder.save()
        return
    folder.add(study.name, outcome.results, outcome.tables)


def _clamped(texts: Sequence[Any] | None, clamp: str | None) -> Any:
    """Texts that carry the clamp themselves, so that every study holds the same sites."""
    if texts is None or clamp is None:
        return texts
    from maskov.texts import Passage

    whole = [t if isinstance(t, Passage) else Passage(str(t)) for t in texts]
    return [Passage(t.text, t.topic, t.name, t.clamp or clamp) for t in whole]


def _describe(texts: Sequence[Any] | None) -> dict[str, Any] | None:
    """How many texts, and their digest: enough to tell whether a resumed audit is the same."""
    if texts is None:
        return None
    digest = hashlib.blake2b("\0".join(str(t) for t in texts).encode(), digest_size=16).hexdigest()
    return {"count": len(texts), "digest": digest}
