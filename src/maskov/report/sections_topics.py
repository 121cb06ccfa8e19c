"""What the topic study says on the page."""

from __future__ import annotations

from typing import Any

from maskov.report.words import number, quantity


def topics(r: dict[str, Any]) -> dict[str, Any]:
    """Sentences, table and origin of a ``topics`` record, by the names of ``Content``."""
    pooled = [c for c in r["cells"] if c["start_topic"] == "elsewhere"]
    by = {(v["temperature"], v["topic"]): v for v in r["verdicts"]}
    rows = [_row(c, by[c["temperature"], c["topic"]]) for c in sorted(pooled, key=lambda c: -c["excess"]["value"])]
    says = [_answer(r, by), *_starts(r), *_errors(r)]
    head = [
        "τ",
        "topic",
        "share of time",
        "random passages",
        "visits",
        "back after (sweeps)",
        "ever",
        "at the end",
        "p",
    ]
    how = (
        "Estimates over passages: chains of one start text are one unit. Chains that began in the topic itself are "
        f"left out. p: Holm over topics and temperatures, against random passages ({r['null']}); a topic recurs when "
        f"shuffled topics don't do as well either. Thresholds: {r['held_out']}. Visits are those that states "
        f"{number(r['spacing_sweeps'], 2)} sweeps apart show; return times are Kaplan–Meier medians."
    )
    caption = "Topics of chains that began elsewhere, largest excess first"
    return {"says": says, "caption": caption, "head": head, "rows": rows, "how": how}


def _row(c: dict[str, Any], v: dict[str, Any]) -> list[Any]:
    p = "–" if c["p_adjusted"] is None else number(c["p_adjusted"], 2)
    return [
        f"{c['temperature']:g}",
        c["topic"] + (" (recurs)" if v["recurring"] else ""),
        quantity(c["fraction"]),
        quantity(c["null_fraction"]),
        quantity(c["visits"]),
        quantity(c["return_sweeps"]),
        quantity(c["ever_fraction"]),
        quantity(c["end_fraction"]),
        p,
    ]


def _answer(r: dict[str, Any], by: dict[tuple[float, str], dict[str, Any]]) -> str:
    if not r["recurring"]:
        return "No topic was shown to recur: none holds chains from other topics longer than random passages would."
    found = [f"{x['topic']} (τ = {x['temperature']:g})" for x in r["recurring"]]
    first = r["recurring"][0]
    words = by[first["temperature"], first["topic"]]["words"]
    return f"Chains that began elsewhere keep coming to {', '.join(found)}. The first: {words}."


def _starts(r: dict[str, Any]) -> list[str]:
    return [
        f"At τ = {m['temperature']:g} chains are {_percent(m['own_fraction']['value'])} of the time in the topic of "
        f"their start, against {_percent(m['shuffled_fraction'])} with the starts' topics permuted "
        f"(p = {number(m['p'], 2)})."
        for m in r["memory"]
        if m["p"] is not None
    ]


def _errors(r: dict[str, Any]) -> list[str]:
    rates = [t["false_positive_rate"]["value"] for t in r["topics"]]
    recalls = [t["recall"]["value"] for t in r["topics"] if t["recall"] is not None]
    known = f"; of its own, {_percent(min(recalls))} to {_percent(max(recalls))}" if recalls else ""
    return [
        f"Of held-out texts outside of a topic, {_percent(min(rates))} to {_percent(max(rates))} pass for it{known}."
    ]


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.0f} %"
