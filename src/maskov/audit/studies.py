"""The studies of an audit, in the order in which a reader meets them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from maskov.audit.plan import Plan
from maskov.report.sections import TITLES

Table = dict[str, Any]


@dataclass(frozen=True)
class Setting:
    """What every study gets. starts: texts or states; trace_path: where the chains lie; progress: takes a share in
    [0, 1] and what the study is at.
    """

    model: Any
    starts: Sequence[Any]
    plan: Plan
    seed: int
    trace_path: str
    resume: bool
    command: str
    progress: Callable[[float, str], None]

    def counted(self, done: int, total: int) -> None:
        """The progress of a study that counts."""
        self.progress(done / total, "")


class Outcome(NamedTuple):
    """results: a record's ``results``; tables: name → columns, each a table of its own."""

    results: dict[str, Any]
    tables: dict[str, Table]


class Study(NamedTuple):
    """name: key of the results; share: of the time, for the time left; needs: "scores" (causal models too), "rows"
    (chains and traps) or "trace" (reads the chains); afforded: 0 where the plan has nothing left for it.
    """

    name: str
    share: float
    needs: str
    run: Callable[[Setting], Outcome]
    afforded: Callable[[Plan], int] = lambda plan: 1

    @property
    def title(self) -> str:
        """Of its section in the report."""
        return TITLES[self.name]


def _rectangle(s: Setting) -> Outcome:
    from maskov.compatibility import rectangle_test

    kinds = ("conditional", "top_k", "uniform") if s.plan.rectangles >= 200 else ("conditional",)
    found = rectangle_test(
        s.model,
        s.starts,
        rectangles=s.plan.rectangles,
        proposals=kinds,
        seed=s.seed,
        progress=s.counted,
    )
    return Outcome(found.to_dict(), {"rectangles": found.table()})


def _chains(s: Setting) -> Outcome:
    from maskov.glauber.run import glauber

    trace = glauber(
        s.model,
        s.starts,
        temperature=list(s.plan.temperatures),
        steps=s.plan.steps,
        window=s.plan.window,
        chains=s.plan.chains,
        seed=s.seed,
        out=s.trace_path,
        resume=s.resume,
        command=s.command,
        progress=lambda p: s.progress(p.step / p.steps, f"step {p.step} of {p.steps}"),
    )
    sites = np.array([len(x.free) for x in trace.starts])
    rows = sampled_texts(trace, s.model)
    columns = {key: [row[key] for row in rows] for key in ("temperature", "chain", "step", "sweep", "text")}
    content = {"steps": trace.steps, "chains": trace.n_chains, "sites": float(sites.mean()), "texts": rows}
    return Outcome({**content, "sweeps": trace.steps / float(sites.mean())}, {"texts": columns})


def sampled_texts(trace: Any, model: Any, per_temperature: int = 3) -> list[dict[str, Any]]:
    """Texts of the first chains of each temperature at a few growing times, with the start's topic."""
    times = np.unique(np.concatenate([[0], np.rint(np.geomspace(1, trace.steps, 6)[1:])]).astype(int)).tolist()
    temperatures, rows = trace.temperatures, []
    for t in dict.fromkeys(temperatures.tolist()):
        for b in np.flatnonzero(temperatures == t)[:per_temperature].tolist():
            n = len(trace.starts[b].free)
            label = trace.manifest.texts[trace.chain_ids[b] % len(trace.manifest.texts)]
            for step in times:
                text = model.decode(trace.state(b, step))
                row = {"temperature": t, "chain": b, "step": step, "sweep": step / n, "text": text}
                rows.append({**row, "topic": label.get("topic"), "name": label.get("name")})
    return rows


def _trace(s: Setting) -> Any:
    from maskov.glauber import open_trace

    return open_trace(s.trace_path)


def _entropy(s: Setting) -> Outcome:
    from maskov.compatibility import entropy_production

    found = entropy_production(_trace(s))
    names = ("change_rate", "entropy", "stay", "production", "production_raw")
    columns: Table = {"temperature": [c.temperature for c in found.cells]}
    for name in names:
        columns[name] = [getattr(c, name).value for c in found.cells]
        columns[f"{name}_stderr"] = [getattr(c, name).stderr for c in found.cells]
    return Outcome(found.to_dict(), {"entropy": columns})


def _drift(s: Setting) -> Outcome:
    from maskov.drift import drift_curves

    found = drift_curves(_trace(s), s.model, seed=s.seed)
    flat = [
        {"temperature": c.temperature, "step": int(t), "sweep": float(w), "drift": q.value, "stderr": q.stderr}
        for c in found.curves
        for t, w, q in zip(c.times, c.sweeps, c.drift, strict=True)
    ]
    return Outcome(found.to_dict(), {"drift": _columns(flat)})


def _couple(s: Setting) -> Outcome:
    from maskov.coupling import meeting_times

    found = meeting_times(
        s.model,
        s.starts,
        temperatures=s.plan.couple_temperatures,
        n_pairs=s.plan.pairs,
        max_steps=s.plan.couple_steps,
        seed=s.seed,
        progress=s.counted,
    )
    record = found.to_dict()
    return Outcome(record, {"couple": _columns([_scalars(cell) for cell in record["cells"]])})


def _dwell(s: Setting) -> Outcome:
    from maskov.basins import dwell_segments

    record = dwell_segments(_trace(s), s.model, longest=s.plan.segments).to_dict()
    return Outcome(record, {"dwell": _columns([_scalars(row) for row in record["segments"]])})


def _scalars(row: dict[str, Any]) -> Table:
    """A record's row as one line of a table: quantities by their values, series left out."""
    plain = {key: v["value"] if isinstance(v, dict) and "kind" in v else v for key, v in row.items()}
    return {key: v for key, v in plain.items() if v is None or np.isscalar(v)}


def _influence(s: Setting) -> Outcome:
    from maskov.influence import influence

    texts = None if s.starts is None else list(s.starts)
    found = influence(
        s.model,
        texts,
        contexts=max(1, s.plan.contexts),
        seed=s.seed,
        progress=s.counted,
    )
    record = found.to_dict()
    return Outcome(record, {"influence": _columns([_scalars(point) for point in record["curve"]])})


def _traps(s: Setting) -> Outcome:
    from maskov.basins import find_traps

    found = find_traps(
        s.model,
        s.starts,
        starts=s.plan.trap_starts,
        seed=s.seed,
        progress=s.counted,
    )
    record = found.to_dict()
    flat = [
        {"text": t["text"], "perfect": t["perfect"], **_scalars(leave)} for t in record["traps"] for leave in t["leave"]
    ]
    return Outcome(record, {"traps": _columns(flat)})


def _tokens(s: Setting) -> Outcome:
    from maskov.basins import token_basins

    record = token_basins(
        s.model,
        s.starts,
        profiles=s.plan.token_profiles,
        seed=s.seed,
        progress=s.counted,
    ).to_dict()
    return Outcome(record, {"tokens": _columns([_scalars(row) for row in record["ranking"]])})


def _explorer(s: Setting) -> Outcome:
    from maskov.audit.explorer import explore

    return Outcome(explore(_trace(s), s.model), {})


def _columns(rows: Sequence[dict[str, Any]]) -> Table:
    """Rows as columns."""
    return {key: [row[key] for row in rows] for key in (rows[0] if rows else ())}


STUDIES = (
    Study("rectangle", 0.12, "scores", _rectangle),
    Study("chains", 0.45, "rows", _chains),
    Study("entropy", 0.02, "trace", _entropy),
    Study("drift", 0.12, "trace", _drift),
    Study("couple", 0.25, "rows", _couple),
    Study("influence", 0.06, "rows", _influence, lambda plan: plan.contexts),
    Study("dwell", 0.04, "trace", _dwell),
    Study("explorer", 0.03, "trace", _explorer),
    Study("traps", 0.08, "rows", _traps, lambda plan: plan.trap_starts),
    Study("tokens", 0.1, "rows", _tokens, lambda plan: plan.token_profiles),
)
