"""The audit end to end on exact laws and on the bundled model: folder, records, report, resume."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from maskov.audit import STUDIES, audit, make_plan
from maskov.audit import plan as plan_module
from maskov.errors import InputError, Interrupted, StoreError
from maskov.models import load
from maskov.report import validate
from maskov.report.pages import write_report
from maskov.report.record import read_record
from maskov.texts import Passage, openings, passages

NASTY = "the </script><script>alert(1)</script> <img src=x onerror=alert(2)> cat $x_1$ sat."


@pytest.fixture(scope="module")
def model() -> Any:
    return load("en-tiny")


@pytest.fixture(scope="module")
def done(model: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A very small audit of the bundled model, with hostile text among its passages."""
    folder = tmp_path_factory.mktemp("audits") / "a"
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(plan_module.BUDGETS, "quick", 3.0)
        texts = [Passage(NASTY, "<b>bold</b>"), *openings(passages())[:5]]
        audit(model, texts, folder, seed=1)
    write_report(folder)
    return folder


def test_every_study_is_there_and_valid(done: Path) -> None:
    record = read_record(done / "results.json")
    validate(record)
    names = [study.name for study in STUDIES if study.name in record["results"]]
    assert list(record["results"]) == names and len(names) >= 6
    assert record["warnings"] == []
    assert record["inputs"]["plan"]["budget"] == "quick" and record["inputs"]["texts"]["count"] == 6


def test_tables_are_parquet(done: Path) -> None:
    names = {p.stem for p in (done / "tables").glob("*.parquet")}
    assert {"rectangles", "texts", "entropy", "drift", "couple", "dwell"} <= names
    texts = pq.read_table(done / "tables" / "texts.parquet").to_pandas()
    assert {"temperature", "chain", "step", "text"} <= set(texts.columns) and len(texts) > 10


def test_hostile_text_stays_text(done: Path) -> None:
    page = (done / "report.html").read_text(encoding="utf-8")
    elements = re.findall(r"<script[^>]*>", page)  # the explorer's data and code, and nothing of the texts
    assert len(elements) == 2 and sum("json" in element for element in elements) == 1
    assert "alert(1)</script>" not in page and "<img" not in page and "<b>bold" not in page
    assert "&lt;" in page and "onerror" in page
    assert "default-src 'none'" in page


def test_the_page_is_whole_and_small(done: Path) -> None:
    page = (done / "report.html").read_text(encoding="utf-8")
    assert page.rstrip().endswith("</html>") and len(page.encode()) < 8e6
    assert page.count("<svg") >= 6 and page.count("aria-label") >= page.count("<svg")
    ids = [part.split('"')[0] for part in page.split(' id="')[1:]]
    assert len(ids) == len(set(ids))
    assert "http://" not in page.replace("http://www.w3.org", "")


def test_the_report_is_rebuilt_from_the_record_alone(done: Path, tmp_path: Path) -> None:
    shutil.copy(done / "results.json", tmp_path / "results.json")
    write_report(tmp_path)
    first, second = ((p / "report.html").read_text().replace(str(p), "DIR") for p in (done, tmp_path))
    assert first == second


def test_resume_recomputes_nothing(done: Path, model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(plan_module.BUDGETS, "quick", 3.0)
    before = read_record(done / "results.json")
    monkeypatch.setattr("maskov.compatibility.rectangle_test", None)
    texts = [Passage(NASTY, "<b>bold</b>"), *openings(passages())[:5]]
    audit(model, texts, done, seed=1, resume=True)
    assert read_record(done / "results.json") == before


def test_other_inputs_do_not_resume(done: Path, model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(plan_module.BUDGETS, "quick", 3.0)
    texts = [Passage(NASTY, "<b>bold</b>"), *openings(passages())[:5]]
    with pytest.raises(StoreError, match="seed"):
        audit(model, texts, done, seed=2, resume=True)
    with pytest.raises(StoreError, match="texts"):
        audit(model, texts[1:], done, seed=1, resume=True)
    with pytest.raises(InputError, match="--resume"):
        audit(model, texts, done, seed=1)


def test_an_interrupted_audit_keeps_what_is_done(model: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(plan_module.BUDGETS, "quick", 1.0)
    texts = openings(passages())[:4]

    def stop(*_: Any, **__: Any) -> None:
        raise Interrupted(0)

    with monkeypatch.context() as patch:
        patch.setattr("maskov.drift.drift_curves", stop)
        with pytest.raises(Interrupted):
            audit(model, texts, tmp_path / "a")
    assert list(json.loads((tmp_path / "a" / "results.json").read_text())["results"]) == [
        "rectangle",
        "chains",
        "entropy",
        "diagnose",
    ]
    audit(model, texts, tmp_path / "a", resume=True)
    audit(model, texts, tmp_path / "b")
    first, second = (read_record(tmp_path / name / "results.json")["results"] for name in "ab")
    assert first == second


def test_one_text_gives_a_warning_not_a_failure(model: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(plan_module.BUDGETS, "quick", 2.0)
    found = audit(model, ["a small cat sat on the warm stone by the door."], tmp_path / "a")
    assert "drift" not in found.results and any("two different starts" in w for w in found.warnings)
    assert "Not everything could be studied" in write_report(tmp_path / "a").read_text()


def test_an_exact_law(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(plan_module.BUDGETS, "quick", 0.1)
    found = audit(load("law:curie-weiss?sites=8&beta=0.5"), None, tmp_path / "a")
    assert found.results["rectangle"]["verdict"] == "compatible within rounding"
    cells = found.results["entropy"]["cells"]
    assert all(abs(c["production"]["value"]) <= 4 * c["production"]["stderr"] + 1e-12 for c in cells)
    validate(found.record())
    write_report(tmp_path / "a")


def test_studies_that_a_budget_cannot_afford_are_left_out(model: Any) -> None:
    states = [model.encode(p.text) for p in openings(passages())[:12]]
    plan = make_plan(model, states)
    assert plan.contexts >= 1 and plan.trap_starts >= 4
    long = [model.encode(" ".join(p.text for p in passages()[k : k + 5])) for k in range(3)]
    tight = make_plan(model, long)
    assert tight.contexts <= plan.contexts and tight.trap_starts < plan.trap_starts


def test_a_plan_is_a_function_of_its_inputs(model: Any) -> None:
    states = [model.encode(p.text) for p in openings(passages())[:12]]
    assert make_plan(model, states) == make_plan(model, states)
    quick, standard = make_plan(model, states), make_plan(model, states, "standard")
    rows = [p.steps * p.chains * len(p.temperatures) for p in (quick, standard)]
    assert rows[1] > 5 * rows[0] and quick.steps / 34 >= 5
    with pytest.raises(InputError, match="budget"):
        make_plan(model, states, "huge")
