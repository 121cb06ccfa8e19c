"""``maskov corpus``: the answer, its record, its figure, messages for bad input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from maskov.cli.corpus import command
from maskov.corpora import read_corpus
from maskov.errors import InputError
from maskov.plots import draw, figures
from maskov.report.record import read_record, validate


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two collections: 80 documents of 32 words each, and one a file each."""
    place, rng = tmp_path_factory.mktemp("texts"), np.random.default_rng(0)
    words = np.array(["sun", "rain", "wind", "snow"])
    for name, p in (("north", [0.1, 0.2, 0.3, 0.4]), ("south", [0.4, 0.3, 0.2, 0.1])):
        texts = [" ".join(rng.choice(words, 32, p=p)) + f" {name}{k}" for k in range(80)]
        (place / f"{name}.jsonl").write_text("".join(json.dumps({"text": t}) + "\n" for t in texts))
        (place / name).mkdir()
        for k, text in enumerate(texts):
            (place / name / f"{k}.txt").write_text(text)
    return place


def run(*arguments: Any) -> Any:
    return CliRunner().invoke(command, [str(a) for a in arguments])


@pytest.fixture(scope="module")
def record(folder: Path) -> dict[str, Any]:
    pairs = [f"north={folder}/north.jsonl", f"south={folder}/south/*.txt"]
    options = ["--schedule", "bert", "--schedule", "0.9*bert+0.1*full", "--length", 64, "--quick", "--json"]
    done = run(*pairs, *options, folder / "r.json")
    assert done.exit_code == 0, done.output
    assert max(map(len, done.stdout.splitlines())) <= 130 and "subset:" in done.stdout
    return read_record(folder / "r.json")


def test_record(record: dict[str, Any], folder: Path) -> None:
    validate(record)
    results = record["results"]
    assert [row["name"] for row in results["collections"]] == ["north", "south"]
    assert results["collections"][0]["documents"] == 80 and results["collections"][0]["tokens"] == 80 * 33
    assert {row["visible"] for row in results["curve"]} == {1, 2, 4, 8, 16, 32}
    assert {row["sampling"] for row in results["curve"]} == {"subset", "window"}
    assert set(results["fits"]) == {"exponential", "power", "stretched"}
    assert results["verdict"] in ("exponential", "power", "stretched", "cannot tell")
    assert all(row["mmse"]["kind"] == row["entropy"]["kind"] == "upper" for row in results["curve"])
    assert results["schedules"][0]["length"] == 64 and results["schedules"][0]["blindness_ratio"]["kind"] == "upper"
    assert read_corpus(folder / "r.json").to_dict() == results


def test_figure_from_the_record_alone(record: dict[str, Any]) -> None:
    (figure,) = figures("corpus", record["results"])
    ax = draw(figure, record["results"])
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert {"subset", "window", "nothing visible"} <= set(labels) and ax.get_xscale() == ax.get_yscale() == "log"
    assert {text.get_text() for text in ax.texts} == {"bert", "0.9*bert+0.1*full"}
    results = {**record["results"], "schedules": [], "window": None}
    results["curve"] = [row for row in results["curve"] if row["sampling"] == "subset"]
    results["margin"] = {**results["margin"], "used": []}
    assert not draw(figure, results).texts


def test_json_to_stdout_and_warnings(folder: Path) -> None:
    pairs = [f"north={folder}/north", f"south={folder}/south.jsonl"]
    done = run(*pairs, "--quick", "--visible", "1,3", "--weights", "0.3,0.7", "--seed", 3, "--json", "-")
    record = json.loads(done.stdout)
    assert record["inputs"]["seed"] == 3 and record["results"]["weights"] == [0.3, 0.7]
    assert {row["visible"] for row in record["results"]["curve"]} == {1, 3}


@pytest.mark.parametrize("tokenizer", ["bytes", "en-tiny"])
def test_tokenizers(folder: Path, tokenizer: str) -> None:
    if tokenizer == "en-tiny":
        pytest.importorskip("tokenizers")
    pairs = [f"north={folder}/north.jsonl", f"south={folder}/south.jsonl"]
    done = run(*pairs, "--tokenizer", tokenizer, "--longest", 8, "--quick", "--json", "-")
    results = json.loads(done.stdout)["results"]
    assert results["tokenizer"] == tokenizer and results["collections"][0]["tokens"] > 80 * 32
    assert max(row["visible"] for row in results["curve"]) == 8


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{}/north.jsonl", "s={}/south.jsonl"], "NAME=PATH"),
        (["={}/north.jsonl", "s={}/south.jsonl"], "NAME=PATH"),
        (["n=", "s={}/south.jsonl"], "NAME=PATH"),
        (["n={}/north.jsonl", "n={}/south.jsonl"], "n twice"),
        (["n={}/north.jsonl"], "at least two"),
        (["n={}/none", "s={}/south.jsonl"], "nothing at"),
        (["n={}/north.jsonl", "s={}/north"], "another collection has too"),
        (["n={}/north.jsonl", "s={}/south.jsonl", "--weights", "half"], "numbers with commas"),
        (["n={}/north.jsonl", "s={}/south.jsonl", "--weights", "0.5,0.6"], "sum to 1"),
        (["n={}/north.jsonl", "s={}/south.jsonl", "--visible", "1,x"], "whole numbers"),
        (["n={}/north.jsonl", "s={}/south.jsonl", "--visible", "0"], "counts of 1 or more"),
        (["n={}/north.jsonl", "s={}/south.jsonl", "--longest", "4000"], "take 32"),
        (["n={}/north.jsonl", "s={}/south.jsonl", "--tokenizer", "./none"], "nothing at"),
        (["n={}/north.jsonl", "s={}/south.jsonl", "--schedule", "fixd:0.1"], "fixed"),
        (["n={}/north.jsonl", "s={}/south.jsonl", "--field", "body"], "--field"),
    ],
)
def test_bad_input(folder: Path, arguments: list[str], message: str) -> None:
    error = run(*(a.format(folder) for a in arguments), "--quick").exception
    assert isinstance(error, InputError) and message in str(error) and error.exit_code == 2


def test_help_has_an_example() -> None:
    assert "maskov corpus de=" in run("--help").stdout
