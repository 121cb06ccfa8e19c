"""Back from a stored record to the result."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from maskov.corpora.decay import FAMILIES, Decay, Fit
from maskov.corpora.measured import measured_from
from maskov.corpora.on_curve import OnCurve, OpenWeights, WeightShift
from maskov.corpora.result import CollectionRow, CorpusUncertainty, CurvePoint
from maskov.errors import StoreError
from maskov.quantities import Bound, Estimate


def read_corpus(source: str | os.PathLike[str] | dict[str, Any]) -> CorpusUncertainty:
    """The result that ``maskov corpus … --json FILE`` stored: a path, or a record that is read already.

    ``read_corpus(path).to_dict()`` is the record's ``results``. Raises ``StoreError`` on anything else.
    """
    record = source if isinstance(source, dict) else _read(os.fspath(source))
    name = "record" if isinstance(source, dict) else os.fspath(source)
    if record.get("command") != "corpus":
        came = f"one of {record.get('command')!r}"
        raise StoreError(
            name, expected="a record of maskov corpus", came=came, remedy="run maskov corpus … --json FILE"
        )
    try:
        return _result(record["results"], tuple(record.get("warnings", ())))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        came = f"one without {error}" if isinstance(error, KeyError) else str(error)[:80]
        raise StoreError(name, expected="a whole record of maskov corpus", came=came, remedy="run it again") from error


def _read(path: str) -> dict[str, Any]:
    try:
        value = json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise StoreError(path, expected="a stored record", came="nothing there") from None
    except (OSError, ValueError, RecursionError) as error:
        raise StoreError(path, expected="a JSON record", came=str(error)[:80], remedy="run it again") from error
    if not isinstance(value, dict):
        raise StoreError(path, expected="a record", came=type(value).__name__)
    return value


def _result(r: dict[str, Any], warnings: tuple[str, ...]) -> CorpusUncertainty:
    decays = {"subset": _decay("subset", r)}
    if r.get("window") is not None:
        decays["window"] = _decay("window", r["window"])
    return CorpusUncertainty(
        collections=tuple(CollectionRow(**row) for row in r["collections"]),
        weights=tuple(r["weights"]),
        tokenizer=r["tokenizer"],
        length=r["length"],
        prior_mmse=r["prior_mmse"],
        prior_entropy=r["prior_entropy"],
        curve=tuple(_point(row) for row in r["curve"]),
        decays=decays,
        schedules=tuple(_on_curve(row) for row in r["schedules"]),
        warnings=warnings,
    )


def _point(row: dict[str, Any]) -> CurvePoint:
    bounds = {key: measured_from(row[key], "upper") for key in ("mmse", "entropy")}
    return CurvePoint(**{**row, **bounds})


def _estimate(q: dict[str, Any] | None) -> Estimate | None:
    if q is None:
        return None
    ends = q.get("interval")
    return Estimate(q["value"], q.get("stderr", float("inf")), q["n"], None if ends is None else (ends[0], ends[1]))


def _decay(sampling: str, r: dict[str, Any]) -> Decay:
    fits = {name: _fit(r["fits"][name]) for name in FAMILIES}
    margin = r["margin"]
    used, reason = tuple(margin["used"]), margin["reason"]
    return Decay(
        sampling,
        **fits,
        verdict=r["verdict"],
        delta_aic=margin["delta_aic"],
        share=margin["share"],
        used=used,
        reason=reason,
    )


def _fit(row: dict[str, Any]) -> Fit:
    return Fit(**{**row, **{key: _estimate(row[key]) for key in ("amplitude", "rate", "exponent")}})


def _on_curve(row: dict[str, Any]) -> OnCurve:
    bounds = {key: measured_from(row[key], "upper") for key in ("mmse", "mmse_full", "blindness_ratio")}
    shifts = tuple(
        WeightShift(**{**x, "upper": measured_from(x["upper"], "upper"), "plug_in": _estimate(x["plug_in"])})
        for x in row["excess_loss"]
    )
    levels = tuple(
        OpenWeights(x["epsilon"], measured_from(x["lower"], "lower"), Bound(x["upper"]["value"], "upper"))
        for x in row["modulus"]
    )
    plug = _estimate(row["blindness_plug_in"])
    fields = {"quantiles": tuple(row["quantiles"]), "blindness_plug_in": plug, "excess_loss": shifts, "modulus": levels}
    return OnCurve(**{**row, **bounds, **fields})
