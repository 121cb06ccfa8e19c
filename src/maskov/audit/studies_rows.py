"""Studies of an audit that run the model."""

from __future__ import annotations

from typing import Any

import numpy as np

from maskov.audit.setting import Outcome, Setting, columns_of, scalars_of


def rectangle(s: Setting) -> Outcome:
    """Rectangle defects: is there a joint law?"""
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


def chains(s: Setting) -> Outcome:
    """The chains themselves, stored as the audit's trace."""
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


def couple(s: Setting) -> Outcome:
    """Meeting times of coupled chains."""
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
    return Outcome(record, {"couple": columns_of([scalars_of(cell) for cell in record["cells"]])})


def phase(s: Setting) -> Outcome:
    """Meeting and hitting times over temperatures and lengths; finished cells are kept by an interrupted audit."""
    from maskov.phase import phase_diagram

    found = phase_diagram(
        s.model,
        s.starts,
        temperatures=s.plan.phase_temperatures,
        sites=s.plan.phase_sites,
        pairs=s.plan.phase_pairs,
        seed=s.seed,
        folder=s.phase_path,
        resume=s.resume,
        progress=s.counted,
    )
    record = found.to_dict()
    return Outcome(record, {"phase": columns_of([scalars_of(cell) for cell in record["cells"]])})


def influence(s: Setting) -> Outcome:
    """Norms of the influence matrix."""
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
    return Outcome(record, {"influence": columns_of([scalars_of(point) for point in record["curve"]])})


def traps(s: Setting) -> Outcome:
    """Texts that zero-temperature descent ends in."""
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
        {"text": t["text"], "perfect": t["perfect"], **scalars_of(leave)}
        for t in record["traps"]
        for leave in t["leave"]
    ]
    return Outcome(record, {"traps": columns_of(flat)})


def tokens(s: Setting) -> Outcome:
    """Tokens that fill a text."""
    from maskov.basins import token_basins

    record = token_basins(
        s.model,
        s.starts,
        profiles=s.plan.token_profiles,
        seed=s.seed,
        progress=s.counted,
    ).to_dict()
    return Outcome(record, {"tokens": columns_of([scalars_of(row) for row in record["ranking"]])})
