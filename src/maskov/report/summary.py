"""Five sentences that a newcomer understands, made from the numbers; weak numbers say that they are weak."""

from __future__ import annotations

from typing import Any

from maskov.report.words import number, quantity, shortened


def sentences(record: dict[str, Any]) -> list[str]:
    """What was studied, then one sentence per question that an audit's studies answer, five at most."""
    results = record["results"]
    makers = (
        ("rectangle", _compatibility),
        ("entropy", _moving),
        ("drift", _forgetting),
        ("couple", _meeting),
        ("dwell", _staying),
    )
    found = [make(results[name]) for name, make in makers if name in results]
    return [_studied(record), *found]


def _studied(record: dict[str, Any]) -> str:
    chains, inputs = record["results"].get("chains"), record["inputs"]
    name, texts = inputs["model"]["name"], inputs.get("texts")
    what = f"{texts['count']} texts" if texts else "its own states"
    head = f"{name} was studied on {what}"
    if chains is None:
        return f"{head}: rectangles only, since it scores tokens but gives no conditional rows to run chains with."
    length = f"{chains['steps']:,} steps ({number(chains['sweeps'], 2)} sweeps of {number(chains['sites'])} free sites)"
    short = "; that is a short run, so read the slow quantities as first impressions" if chains["sweeps"] < 5 else ""
    return f"{head}, with {chains['chains']} chains of {length}{short}."


def _compatibility(r: dict[str, Any]) -> str:
    if r["verdict"].startswith("incompatible"):
        return (
            f"Its conditionals belong to no joint law: around a rectangle of substitutions they disagree by "
            f"{quantity(r['mean_abs'])} nats on average, {number(r['noise_ratio'])} times the model's own rounding."
        )
    if r["verdict"].startswith("compatible"):
        return "Its conditionals are those of a joint law as far as rounding lets us see."
    return f"Whether its conditionals have a joint law is {r['verdict']}."


def _near_one(cells: list[dict[str, Any]]) -> dict[str, Any]:
    return min(cells, key=lambda cell: abs(cell["temperature"] - 1))


def _moving(r: dict[str, Any]) -> str:
    cell = _near_one(r["cells"])
    late = "" if cell["stationary"] else " (the chain was still settling, so this includes the way there)"
    sigma = cell["production"]
    zero = sigma["value"] < 3 * (sigma.get("stderr") or 0)
    told = "which is not told apart from 0" if zero else "so the chain runs in circles: it is not reversible"
    if not zero and late:
        told = "part of which may be irreversibility"
    return (
        f"At temperature {cell['temperature']:g} a step changes a token with probability "
        f"{quantity(cell['change_rate'])} and produces {quantity(sigma)} nats of entropy{late}, {told}."
    )


def _forgetting(r: dict[str, Any]) -> str:
    hit = [c for c in r["curves"] if c.get("hitting_median_sweeps")]
    share = f"{100 * r['fraction']:.0f} %"
    if not hit:
        return f"At no temperature did half of the texts move {share} of the way to unrelated ones within the run."
    coldest = min(hit, key=lambda c: float(c["temperature"]))
    told = (
        f"Texts have moved {share} of the way to unrelated ones after a median of "
        f"{quantity(coldest['hitting_median_sweeps'])} sweeps at temperature {coldest['temperature']:g}"
    )
    colder = [c["temperature"] for c in r["curves"] if c["temperature"] < coldest["temperature"]]
    below = f"; at {max(colder):g} and below, more than half had not when the run ended" if colder else ""
    return f"{told}{below}."


def _meeting(r: dict[str, Any]) -> str:
    met = [c for c in r["cells"] if c["met_fraction"] is not None and _value(c["met_fraction"]) >= 0.5]
    longest = max(_value(c["max_steps"]) / c["sites"] for c in r["cells"])
    if not met:
        return f"No temperature made half of the coupled pairs meet within {number(longest, 2)} sweeps."
    coldest = min(met, key=lambda c: c["temperature"])
    sweeps = _value(coldest["median_steps"]) / coldest["sites"]
    return (
        f"Two chains with shared randomness meet after a median of {number(sweeps)} sweeps at temperature "
        f"{coldest['temperature']:g}, the lowest at which half of the pairs met."
    )


def _value(q: Any) -> float:
    return float(q["value"] if isinstance(q, dict) else q)


def _staying(r: dict[str, Any]) -> str:
    if not r["segments"]:
        return "No stay near one text was found."
    first = r["segments"][0]
    kind = "a perfect trap: every token is its site's most likely one" if first["perfect"] else "not a perfect trap"
    open_end = "" if first["ended"] else " or more"
    return (
        f"The longest stay near one text lasted {number(first['sweeps'])}{open_end} sweeps at temperature "
        f"{first['temperature']:g}, at “{shortened(first['text'], 90)}” ({kind})."
    )
