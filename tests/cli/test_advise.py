"""``maskov advise``: the answer, its record, its figure and section, messages for bad input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from maskov.cli.main import main
from maskov.plots import draw, figures
from maskov.report.record import read_record, validate
from maskov.report.sections import CONTENTS

ASKED = ["advise", "--law", "product?sites=32&gap=0.3&weight=0.3", "--schedule", "bert", "--excess-loss", "5e-4"]


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as left:
        main(list(arguments))
    return int(left.value.code or 0)


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    target = tmp_path_factory.mktemp("advice") / "r.json"
    assert run(*ASKED, "--json", str(target)) == 0
    return read_record(target)


def test_record(record: dict[str, Any]) -> None:
    validate(record)
    results = record["results"]
    assert results["recommended"] == "0.9*bert+0.1*full" and results["ground"] == "law"
    assert results["fixes"][0]["promise"] == "every predictor" and results["fixes"][0]["share"] == 0.1
    assert results["standing"]["certified"]["kind"] == "upper" and results["standing"]["left_open"]["kind"] == "lower"
    assert {row["schedule"] for row in results["table"]} >= {"mae", "uniform", "full"}


def test_the_schema_refuses_a_broken_advice(record: dict[str, Any]) -> None:
    broken = json.loads(json.dumps(record))
    broken["results"]["standing"]["verdict"] = "fine"
    with pytest.raises(Exception, match="fine"):
        validate(broken)


def test_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(*ASKED) == 0
    told = capsys.readouterr().out
    assert "Train with 0.9*bert+0.1*full." in told and "MaskScheduleCollator" in told
    assert told.count("Why is the mask ratio drawn") == 1


def test_figure_and_section_come_from_the_record_alone(record: dict[str, Any]) -> None:
    (figure,) = figures("advise", record["results"])
    ax = draw(figure, record["results"])
    labels = [tick.get_text() for tick in ax.get_yticklabels()]
    assert (
        labels[0] == "bert" and labels[-1] == "0.9*bert+0.1*full" and len(labels) == len(record["results"]["table"]) + 2
    )
    content = CONTENTS["advise"](record["results"])
    assert content.says == record["results"]["sentences"]
    assert "recommended: 10 % full, every predictor" in [row[-1] for row in content.rows]


def test_a_corpus_is_a_ground(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, word in (("a", "und"), ("b", "and")):
        lines = "".join(json.dumps({"text": f"{word} so {word} on {name}{k}"}) + "\n" for k in range(80))
        (tmp_path / f"{name}.jsonl").write_text(lines)
    pairs = [f"{name}={tmp_path}/{name}.jsonl" for name in "ab"]
    assert run("corpus", *pairs, "--quick", "--quiet", "--json", str(tmp_path / "c.json")) == 0
    assert run("advise", "--corpus", str(tmp_path / "c.json"), "--schedule", "bert", "--length", "64") == 0
    assert "as measured on held-out documents" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--schedule", "bert"], "--corpus or --law"),
        (["--law", "product?sites=8&gap=0.3&weight=0.3", "--corpus", "x", "--schedule", "bert"], "got both"),
        (["--corpus", "nowhere.json", "--schedule", "bert"], "nowhere.json"),
        (["--law", "ising-ring?sites=6&beta=0.5", "--schedule", "bert"], "a law with modes"),
        (["--law", "product?sites=8&gap=0.3&weight=0.3", "--schedule", "bort"], "bort"),
        (["--law", "product?sites=8&gap=0.3&weight=0.3", "--schedule", "bert", "--tolerance", "2"], "tolerance"),
    ],
)
def test_bad_input(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("advise", *arguments) == 2
    told = capsys.readouterr().err
    assert message in told and "Traceback" not in told
