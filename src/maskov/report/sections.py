"""What each study says on the page: sentences, a table, how it was obtained."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from maskov.report.sections_advise import advice
from maskov.report.sections_basins import basins
from maskov.report.sections_diagnose import diagnose
from maskov.report.sections_learning import learning
from maskov.report.sections_phase import phase
from maskov.report.sections_topics import topics
from maskov.report.words import marked, number, quantity, shortened

Rows = list[list[Any]]

# In the order of the page.
TITLES = {
    "rectangle": "Is there a joint law?",
    "chains": "The chains",
    "entropy": "Change, entropy and irreversibility",
    "diagnose": "Have the chains mixed?",
    "drift": "How fast meaning is forgotten",
    "couple": "How fast two chains meet",
    "phase": "Over temperatures and lengths",
    "influence": "How far one site sways another",
    "topics": "Topics that chains come back to",
    "dwell": "Where chains stay",
    "basins": "Regions that chains rarely leave",
    "explorer": "Explore the chains",
    "traps": "Traps",
    "tokens": "Tokens that fill a text",
    "learn": "What training under a schedule teaches",
    "advise": "Which schedule to train with",
}


class Content(NamedTuple):
    """says: sentences; head and rows: a table; caption: of the table; how: method and origin of the numbers."""

    says: list[str]
    caption: str
    head: list[str]
    rows: Rows
    how: str


def _rectangle(r: dict[str, Any]) -> Content:
    rows: Rows = [
        ["mean |Δ| (nats)", quantity(r["mean_abs"])],
        ["median |Δ| (nats)", quantity(r["median_abs"])],
        ["root mean square Δ (nats)", quantity(r["rms"])],
        ["mean |Δ| / (|path 1| + |path 2|)", quantity(r["relative_mean"])],
        *([name, quantity(q)] for name, q in r["normalisations"].items()),
        ["rounding noise of Δ (nats)", quantity(r["noise_floor"])],
    ]
    rows += [[f"mean |Δ|, tokens proposed: {x['proposal']}", quantity(x["mean_abs"])] for x in r["by_proposal"]]
    says = [
        "Change token a to a′ at one site and b to b′ at another. With a joint law the two orders of doing so have the "
        "same log-probability ratio; Δ is their difference.",
        f"Verdict: {r['verdict']} ({r['n_rectangles']} rectangles in {r['n_texts']} texts).",
        *_example(r),
    ]
    how = (
        f"Estimates with 95 % bootstrap intervals, clustered by {r['clustered_by']}; Δ in float64 from the model's "
        "scores at temperature 1. The noise is Δ's change under another batch composition and in double precision."
    )
    return Content(says, "The defect under several normalisations", ["quantity", "value"], rows, how)


def _example(r: dict[str, Any]) -> list[str]:
    if not r["examples"] or abs(r["examples"][0]["delta"]) < 1e-6:
        return []
    e = r["examples"][0]
    return [
        f"The largest: “{e['a']}” → “{e['a_new']}” and “{e['b']}” → “{e['b_new']}” in “{shortened(e['text'], 120)}” "
        f"disagree by {number(abs(e['delta']))} nats."
    ]


def _entropy(r: dict[str, Any]) -> Content:
    rows: Rows = [
        [
            f"{c['temperature']:g}",
            quantity(c["change_rate"]),
            quantity(c["entropy"]),
            quantity(c["production"]),
            "yes" if c["stationary"] else "not yet",
        ]
        for c in r["cells"]
    ]
    says = [
        "Entropy production σ is the mean of log p(new) − log p(old) per step: 0 exactly when the chain is reversible, "
        "that is, when the conditionals have a joint law. While a chain still settles σ also holds the way there.",
    ]
    head = ["τ", "change rate", "entropy (nats)", "σ (nats/step)", "stationary"]
    how = (
        f"Estimates from the run without its first {r['cells'][0]['discarded']} steps; errors use the effective sample "
        "size. σ is Rao–Blackwellised: the mean over the whole conditional replaces the drawn token."
    )
    return Content(says, "Per temperature", head, rows, how)


def _drift(r: dict[str, Any]) -> Content:
    rows: Rows = [
        [
            f"{c['temperature']:g}",
            quantity(c["drift"][-1]),
            quantity(c["met_fraction"]),
            quantity(c["hitting_median_sweeps"]),
        ]
        for c in r["curves"]
    ]
    says = [
        f"Drift is 1 − cosine between the embeddings ({r['embedder']}) of a text now and at the start. Independent "
        f"passages are {quantity(r['plateau'])} apart; a chain counts as having forgotten at "
        f"{100 * r['fraction']:.0f} % of that."
    ]
    head = ["τ", "drift at the end", "share that forgot", "median time (sweeps)"]
    how = "Estimates; chains that did not get there are censored (Kaplan–Meier). A dash: fewer than half got there."
    return Content(says, "Per temperature", head, rows, how)


def _couple(r: dict[str, Any]) -> Content:
    rows: Rows = []
    for c in r["cells"]:
        median = c["median_steps"]
        rows.append(
            [f"{c['temperature']:g}", _any(c["n_pairs"]), _any(c["met_fraction"]), _any(median), _any(c["max_steps"])]
        )
    says = [
        "Two chains start from different texts and share the sites and the randomness of each draw; once they agree "
        "they never part. The time to meet bounds how long the chain remembers its start."
    ]
    head = ["τ", "pairs", "share that met", "median (steps)", "longest run (steps)"]
    how = f"{r.get('coupling', 'maximal')} coupling; Kaplan–Meier estimates: pairs that ran out of time are censored."
    return Content(says, "Per temperature", head, rows, how)


def _any(q: Any) -> str:
    return quantity(q) if isinstance(q, dict) or q is None else number(q)


def _dwell(r: dict[str, Any]) -> Content:
    rows: Rows = [
        [
            f"{s['temperature']:g}",
            ("" if s["ended"] else "≥ ") + number(s["sweeps"]),
            s["start"],
            "perfect" if s["perfect"] else "approximate",
            quantity(s["min_margin"]),
            quantity(s["leave"]),
            s["text"],
        ]
        for s in r["segments"]
    ]
    says = [
        f"A stay is the longest time within {100 * r['radius']:.0f} % of the sites of one text. It is a perfect trap "
        "when every token is the most likely one at its site (all margins above 0)."
        if r["radius"] < 1
        else f"A stay is the longest time within {r['radius']:g} sites of one text."
    ]
    head = ["τ", "length (sweeps)", "from step", "trap", "least margin (nats)", "leave probability", "text"]
    return Content(
        says, "The longest stays", head, rows, "Exact: read off the stored run; margins from the model's scores."
    )


def _influence(r: dict[str, Any]) -> Content:
    rows: Rows = [[f"{c['temperature']:g}", _any(c["row"]), _any(c["column"]), _any(c["spectral"])] for c in r["curve"]]
    critical = _any(r["critical_temperature"])
    says = [
        "α(τ) measures how much one site can sway another: where it is certified to be below 1 the chain forgets its "
        "start quickly. "
        + (f"Its radius crosses 1 at temperature {critical}." if critical != "–" else "No crossing was seen.")
    ]
    head = ["τ", "largest row sum", "largest column sum", "spectral norm"]
    how = (
        "On a network a searched maximum is a lower bound and certifies nothing; on an exact law the numbers are exact."
    )
    return Content(says, "Norms of the influence matrix", head, rows, how)


def _traps(r: dict[str, Any]) -> Content:
    temperatures = [leave["temperature"] for leave in r["traps"][0]["leave"]] if r["traps"] else []
    rows: Rows = [
        [
            "perfect" if trap["perfect"] else "approximate",
            _any(trap["min_margin"]),
            *(f"{_any(x['predicted_dwell'])} ({_any(x['measured_dwell'])})" for x in trap["leave"]),
            trap["text"],
        ]
        for trap in r["traps"]
    ]
    says = [
        f"Zero-temperature descent from {r['n_starts']} starts ends in texts that the chain leaves only rarely when it "
        f"is cold; {r['n_perfect']} distinct perfect traps were found. Dwell times are in steps: predicted (measured)."
    ]
    head = ["trap", "least margin (nats)", *(f"dwell at τ = {t:g}" for t in temperatures), "text"]
    how = "Predicted: 1/leave probability, exact. Measured: estimates from chains run from the trap; a dash: none left."
    return Content(says, "Traps", head, rows, how)


def _tokens(r: dict[str, Any]) -> Content:
    rows: Rows = [[x["text"], _any(x["probability"]), _any(x["logit_margin"]), _any(x["leave"])] for x in r["ranking"]]
    says = [
        f"Fill all {r['sites']} sites with one token and hide one: how likely is the same token there? Of "
        f"{r['scanned']} tokens these are the surest; chains can stay in such a text for long.",
        *(_certificate(profile) for profile in r["profiles"]),
    ]
    head = ["token", "probability", "margin (nats)", "leave probability"]
    how = (
        f"Exact at τ = {r['temperature']:g}, one row a token. Certificates are empirical: they rest on sampled states."
    )
    return Content(says, "The surest tokens", head, rows, how)


def _certificate(profile: dict[str, Any]) -> str:
    low, high = profile["window"]
    return (
        f"“{profile['text']}”, while {low} to {high} sites hold it: escape takes {_any(profile['certificate'])} steps "
        f"by the certificate, {_any(profile['measured_escape'])} measured."
    )


CONTENTS: dict[str, Callable[[dict[str, Any]], Content]] = {
    "rectangle": _rectangle,
    "entropy": _entropy,
    "diagnose": lambda r: Content(**diagnose(r)),
    "drift": _drift,
    "couple": _couple,
    "phase": lambda r: Content(**phase(r)),
    "dwell": _dwell,
    "basins": lambda r: Content(**basins(r)),
    "topics": lambda r: Content(**topics(r)),
    "influence": _influence,
    "traps": _traps,
    "tokens": _tokens,
    "learn": lambda r: Content(**learning(r)),
    "advise": lambda r: Content(**advice(r)),
}


def stories(chains: dict[str, Any]) -> list[dict[str, Any]]:
    """The sampled chains to read: temperature, topic, and texts with what is new since the line before."""
    found: dict[tuple[float, int], dict[str, Any]] = {}
    for row in chains["texts"]:
        story = found.setdefault(
            (row["temperature"], row["chain"]),
            {
                "temperature": row["temperature"],
                "chain": row["chain"],
                "topic": row["topic"] or row["name"],
                "lines": [],
            },
        )
        before = story["lines"][-1]["text"] if story["lines"] else None
        story["lines"].append({**row, "words": marked(before, row["text"])})
    return list(found.values())
