"""The text form: round trips, and a message of its own for each kind of bad input."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maskov.errors import InputError
from maskov.schedules import PRESETS, compare_schedules, schedule

RATE = st.floats(0.0009765625, 0.9990234375)
SINGLE = st.one_of(
    RATE.map(lambda r: f"fixed:{r!r}"),
    RATE.map(lambda r: f"bernoulli:{r!r}"),
    st.integers(0, 9).map(lambda k: f"visible:{k}"),
    st.integers(1, 9).map(lambda k: f"hide:{k}"),
    st.sampled_from(["full", "uniform", "cosine", "poly:2", *PRESETS]),
    st.tuples(RATE, RATE).filter(lambda p: p[0] < p[1]).map(lambda p: f"uniform:{p[0]!r},{p[1]!r}"),
    st.tuples(st.floats(1e-7, 1e7), st.floats(0.5, 40)).map(lambda p: f"beta:{p[0]!r},{p[1]!r}"),
)


@given(SINGLE)
def test_round_trip_of_one_family(text: str) -> None:
    mu = schedule(text)
    assert schedule(mu.text) == mu
    assert schedule(mu.text).text == mu.text


@given(SINGLE, SINGLE, RATE)
def test_round_trip_of_mixtures(a: str, b: str, share: float) -> None:
    mu = schedule(f"{share!r}*{a}+{1 - share!r}*{b}")
    assert schedule(mu.text) == mu


def test_spaces_and_the_middle_dot() -> None:
    assert schedule(" 0.95·bert + 0.05·full ").text == "0.95*bert+0.05*full"
    assert schedule("0.5*cosine+0.5*uniform*1/t").text == "0.5*cosine+0.5*uniform*1/t"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0.9*bert+0.05*full", r"sum to 1, got 0\.9\+0\.05 = 0\.95"),
        ("1.5*bert+-0.5*full", "above 0 and below 1"),
        ("1*bert", "above 0 and below 1"),
        ("0.5*bert+full", "a share before every part"),
        ("unifrom", "did you mean uniform"),
        ("bertt", "did you mean bert"),
        ("zzz", "presets: bert"),
        ("", "one of fixed:r"),
        ("fixed:1.5", "a number from 0 to 1, got 1.5"),
        ("bernoulli:-0.1", "a number from 0 to 1"),
        ("bernoulli:0", "a schedule hides something"),
        ("uniform:0.8,0.3", "write 0.3,0.8"),
        ("uniform:0.5,0.5", "use bernoulli:p"),
        ("uniform:0.5", "the form uniform or uniform:low,high"),
        ("fixed:a", "a finite number"),
        ("fixed:nan", "a finite number"),
        ("hide:0", "at least 1"),
        ("hide:2.5", "a whole number"),
        ("visible:-1", "a whole number"),
        ("beta:0,1", "a number above 0"),
        ("truncnorm:0.5,0,0,1", "a number above 0"),
        ("truncnorm:99,0.1,0,1", "within 30 sd"),
        ("uniform*2/t", "one of 1/t, N/h, elbo"),
        ("span:0.3,0", "at least 1"),
    ],
)
def test_bad_text_has_its_own_message(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        schedule(text)


@pytest.mark.parametrize("length", [0, -3, 2.5, True])
def test_bad_length(length: object) -> None:
    with pytest.raises(InputError, match="a whole number of sites"):
        compare_schedules(["bert"], length)  # type: ignore[arg-type]


def test_counts_beyond_the_length() -> None:
    with pytest.raises(InputError, match="a schedule hides at least one site"):
        compare_schedules(["visible:8"], 8)
    with pytest.raises(InputError, match="at most 3 hidden sites"):
        compare_schedules(["hide:4"], 3)


def test_not_a_text() -> None:
    with pytest.raises(InputError, match="a text form"):
        schedule(3)  # type: ignore[arg-type]


def test_the_table_and_its_record() -> None:
    table = compare_schedules(["bert", "mae", "uniform", "cosine", "uniform:0.3,0.8", "0.95*bert+0.05*full"], 512)
    assert len(table.table().splitlines()) == 8
    record = table.to_dict()["schedules"]
    assert [row["spec"] for row in record] == [
        "bert",
        "mae",
        "uniform",
        "cosine",
        "uniform:0.3,0.8",
        "0.95*bert+0.05*full",
    ]
    assert record[0]["visible_law"] == [{"visible": 435, "mass": 1.0}]
    assert record[2]["full_mask_mass"] == pytest.approx(1 / 513)
    assert record[5]["v_min"] == 0 and record[5]["mean_visible"] == pytest.approx(0.95 * 435)


def test_no_schedules() -> None:
    with pytest.raises(InputError, match="at least one"):
        compare_schedules([], 8)
