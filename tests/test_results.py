import json
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import pytest

from maskov.errors import InputError
from maskov.quantities import Bound, Estimate, Exact
from maskov.results import Result, jsonable


class Point(NamedTuple):
    temperature: float
    row: Bound


@dataclass(frozen=True)
class Study(Result):
    command: ClassVar[str] = "study"
    sigma: Estimate
    curve: list[Point]
    counts: np.ndarray
    note: str = "<b>&"


STUDY = Study(Estimate(0.1, 0.01, 50), [Point(1.0, Bound(0.5, "lower"))], np.array([1, 2]))


def test_a_result_becomes_a_record() -> None:
    record = STUDY.to_dict()
    assert record["curve"] == [{"temperature": 1.0, "row": {"value": 0.5, "kind": "lower"}}]
    assert record["counts"] == [1, 2] and record["sigma"]["kind"] == "estimate" and "command" not in record
    json.dumps(record, allow_nan=False)


def test_nan_and_infinity_never_reach_a_record() -> None:
    bad = {"a": float("nan"), 2: [np.inf, np.float32("nan")], "c": np.array([[1.0, -np.inf]]), "d": (Exact(np.nan),)}
    assert jsonable(bad) == {"a": None, "2": [None, None], "c": [[1.0, None]], "d": [{"value": None, "kind": "exact"}]}


@pytest.mark.parametrize(
    ("value", "kind"), [(np.int64(3), int), (np.bool_(True), bool), (np.float64(0.5), float), (True, bool), ("x", str)]
)
def test_scalars_become_plain(value, kind) -> None:
    assert type(jsonable(value)) is kind


def test_a_result_shows_itself_and_escapes_what_it_shows() -> None:
    assert str(STUDY).startswith("Study\n") and "0.1 ± 0.01" in str(STUDY) and "array(2,)" in str(STUDY)
    html = STUDY._repr_html_()
    assert "&lt;b&gt;&amp;" in html and "<b>" not in html
    with pytest.raises(AttributeError):
        STUDY.note = "other"  # type: ignore[misc]


def test_a_table_as_a_dataframe() -> None:
    frame = STUDY.to_dataframe()
    assert frame.columns.tolist() == ["temperature", "row", "row_kind"]
    assert frame["row"].tolist() == [0.5] and frame["row_kind"].tolist() == ["lower"]
    with pytest.raises(InputError, match="one of curve"):
        STUDY.to_dataframe("counts")


def test_a_result_without_rows_is_one_row() -> None:
    frame = Study(Estimate(0.1, 0.01, 50), [], np.array([1])).to_dataframe()
    assert frame["sigma"].tolist() == [0.1] and frame["sigma_stderr"].tolist() == [0.01]


def test_a_notebook_shows_a_plot_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    from matplotlib import pyplot

    from maskov.schedules import compare_schedules

    found = compare_schedules(["full"], 4)
    before = pyplot.get_fignums()
    found.plot()
    assert pyplot.get_fignums() == before  # outside of a notebook nothing is kept open
    monkeypatch.setattr("maskov.plots.style.in_notebook", lambda: True)
    assert found.plot().figure is pyplot.gcf()
    pyplot.close("all")


def test_a_text_in_columns_stays_in_columns() -> None:
    """A result with a text of its own shows that text, escaped, and not the raw values of its fields."""

    @dataclass(frozen=True)
    class Columns(Result):
        command: ClassVar[str] = "columns"
        rows: tuple[Estimate, ...]

        def __str__(self) -> str:
            return "τ  <σ>\n1  0.1"

    assert Columns((Estimate(0.1, 0.01, 5),))._repr_html_() == "<pre>τ  &lt;σ&gt;\n1  0.1</pre>"
