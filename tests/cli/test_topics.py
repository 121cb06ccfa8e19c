"""``maskov topics``: the answer, its record, figures and page section, messages for bad input."""

from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner

import maskov as mk
from maskov.cli.topics import command
from maskov.errors import InputError

ANCHORS = {f"mostly {a}": [a * 6, a * 5 + b, b + a * 5, a * 3 + b + a * 2] for a, b in ("01", "12", "20")}
STARTS = ["000000", "000001", "000010", "111111", "111112", "111121", "222222", "222220", "222202"]


def run(*arguments: str) -> Any:
    return CliRunner().invoke(command, list(arguments))


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("topics")
    model = mk.load("law:potts?sites=6&symbols=3&beta=0.3")
    texts = [mk.texts.Passage(t, topic=f"mostly {t[0]}") for t in STARTS]
    mk.glauber(model, texts, temperature=[0.5, 1.0], steps=300, seed=0, out=folder / "run.zarr")
    digits = [f"{a * 3}{b}{c}{d}" for a in "012" for b in "012" for c in "012" for d in "012"]
    held = [{"text": t, "topic": f"mostly {max('012', key=t.count)}"} for t in digits]
    (folder / "topics.json").write_text(json.dumps(ANCHORS), encoding="utf-8")
    (folder / "held.jsonl").write_text("\n".join(map(json.dumps, held)), encoding="utf-8")
    (folder / "prior.json").write_text(json.dumps(dict.fromkeys(ANCHORS, 0.2)), encoding="utf-8")
    (folder / "reference.txt").write_text("\n".join(digits[::5]), encoding="utf-8")
    return {path.name.split(".")[0]: str(path) for path in folder.iterdir()}


def study(places: dict[str, str], *more: str) -> Any:
    usual = ["--topics", places["topics"], "--heldout", places["held"], "--fpr", "0.1", "--shuffles", "19"]
    return run(places["run"], *usual, "--kept", "40", "--quiet", *more)


@pytest.fixture(scope="module")
def record(places: dict[str, str]) -> dict[str, Any]:
    result = study(places, "--json", "-")
    assert result.exit_code == 0, result.exception
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_record_has_the_keys_and_fits_the_schema(record: dict[str, Any]) -> None:
    from maskov.report.record import validate

    validate(record)
    results = record["results"]
    assert record["command"] == "topics" and record["inputs"]["fpr"] == 0.1
    assert [row["topic"] for row in results["topics"]] == list(ANCHORS)
    for row in results["topics"]:
        assert row["false_positive_rate"]["interval"][0] <= row["false_positive_rate"]["value"] <= 0.1
        assert row["n_heldout"] + row["n_outside"] == 81 and row["recall"]["n"] == row["n_heldout"]
    cells = results["cells"]
    assert {c["temperature"] for c in cells} == {0.5, 1.0} and len(cells) == 2 * 3 * 4
    assert [c["start_topic"] for c in cells[:4]] == ["elsewhere", *ANCHORS]
    assert cells[0]["passages"] == 6 and cells[1]["passages"] == 3
    for c in cells:
        assert c["p"] <= c["p_adjusted"] and c["end_fraction"]["value"] <= c["ever_fraction"]["value"]
        assert c["excess"]["value"] == pytest.approx(c["fraction"]["value"] - c["null_fraction"]["value"])
    assert len(results["verdicts"]) == 6 and len(results["memory"]) == 2
    assert all(len(c["sweeps"]) == len(c["elsewhere"]) == 24 for c in results["courses"])


def test_a_record_with_a_missing_key_does_not_fit(record: dict[str, Any]) -> None:
    import jsonschema

    from maskov.report.record import validate

    broken = json.loads(json.dumps(record))
    del broken["results"]["cells"][0]["null_fraction"]
    with pytest.raises(jsonschema.ValidationError, match="null_fraction"):
        validate(broken)


def test_figures_and_page_come_from_the_record_alone(record: dict[str, Any]) -> None:
    from maskov.plots import draw, figures
    from maskov.report.sections import CONTENTS, TITLES

    drawn = figures("topics", record["results"])
    assert [f.name for f in drawn] == ["topics", "topic-shares", "topic-courses"]
    for figure in drawn:
        axes = draw(figure, record["results"])
        axes.figure.canvas.draw()
        assert axes.get_xlabel() and axes.get_ylabel()
    content = CONTENTS["topics"](record["results"])
    assert len(content.rows) == 6 and all(len(row) == len(content.head) for row in content.rows)
    assert "topics" in TITLES and "passages" in content.how and content.says


def test_nulls_by_prior_and_by_reference(places: dict[str, str]) -> None:
    for option, name in (("prior", "prior"), ("reference", "reference")):
        result = study(places, f"--{option}", places[option], "--json", "-")
        assert result.exit_code == 0, result.exception
        results = json.loads(result.stdout)["results"]
        assert results["null"] == name
        assert {row["prior"] for row in results["topics"]} == ({0.2} if name == "prior" else {None})
    both = study(places, "--prior", places["prior"], "--reference", places["reference"])
    assert isinstance(both.exception, InputError) and "got both" in str(both.exception)


def test_text_output_and_left_out_anchors(places: dict[str, str]) -> None:
    result = run(places["run"], "--topics", places["topics"], "--fpr", "0.2", "--shuffles", "0", "--kept", "20")
    assert result.exit_code == 0, result.exception
    assert "τ = 0.5, mostly 0" in result.stdout and "random passages (held-out)" in result.stdout
    assert "warning: thresholds come from the anchors themselves" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--fpr", "0"], "fpr"),
        (["--fpr", "0.01"], "held-out texts outside of topic"),
        (["--fpr", "nan"], "fpr"),
        (["--level", "1"], "level"),
        (["--burn-in", "1"], "burn_in"),
        (["--burn-in", "0.9999"], "two kept states"),
        (["--heldout", "nowhere.jsonl"], "nowhere.jsonl"),
        (["--topics", "nowhere.json"], "nothing there"),
        (["--prior", "nowhere.json"], "nothing there"),
        (["--embedder", "/nowhere"], "embedder"),
    ],
)
def test_bad_input_is_named(places: dict[str, str], arguments: list[str], message: str) -> None:
    result = study(places, *arguments)
    assert isinstance(result.exception, InputError) and message in str(result.exception)


def test_held_out_texts_without_the_topics_are_refused(places: dict[str, str]) -> None:
    result = run(places["run"], "--topics", places["topics"], "--heldout", places["reference"])
    assert isinstance(result.exception, InputError) and "texts of the topics" in str(result.exception)


def test_help_shows_an_example() -> None:
    assert "maskov topics run.zarr" in run("--help").stdout
