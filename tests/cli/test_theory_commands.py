"""``maskov schedule`` and ``maskov identify`` as a user meets them: without torch, and with every kind of bad input."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from maskov.cli.main import main
from maskov.report import validate

BLOCKED = """
import sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("torch", "transformers", "safetensors"):
            raise ImportError(f"{name} is not installed here")

sys.meta_path.insert(0, Refuse())
from maskov.cli.main import main
main(sys.argv[1:])
"""
LAW = "product?sites=16&gap=0.3&weight=0.3"


def without_torch(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", BLOCKED, *arguments], capture_output=True, text=True, timeout=120, check=False
    )


def test_the_blockade_holds() -> None:
    code = BLOCKED.replace("main(sys.argv[1:])", "import torch")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1 and "not installed here" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["schedule", "bert", "mae", "uniform", "cosine", "uniform:0.3,0.8", "0.95*bert+0.05*full", "--length", "512"],
        ["identify", "--law", LAW, "--schedule", "hide:1", "--epsilon", "0.001"],
        ["identify", "--law", "curie-weiss?sites=12&beta=1.2", "--schedule", "uniform", "--against", "0.4"],
    ],
)
def test_records_without_torch(arguments: list[str]) -> None:
    done = without_torch(*arguments, "--json", "-")
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    validate(record)
    assert record["command"] == arguments[0]


def test_bad_input_without_torch_is_still_one_message() -> None:
    done = without_torch("schedule", "brt", "--length", "8")
    assert done.returncode == 2 and "did you mean bert" in done.stderr and "Traceback" not in done.stderr


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Law files in the working directory: masses that do not add up, a negative one, and more states than a kernel."""
    monkeypatch.chdir(tmp_path)
    np.savez("sum.npz", table=np.full((2, 2, 2), 0.2))
    np.savez("negative.npz", table=np.array([[1.5, -0.5], [0.0, 0.0]]))
    np.savez("large.npz", log_table=np.zeros((2,) * 12))
    np.savez("larger.npz", log_table=np.zeros((2,) * 21))


IDENTIFY = ["identify", "--schedule", "bert", "--law"]
BAD = [
    ([*IDENTIFY, "table?file=sum.npz"], "probabilities that sum to 1, got a sum of 1.6"),
    ([*IDENTIFY, "table?file=negative.npz"], "probabilities, got a negative one"),
    ([*IDENTIFY, "table?file=large.npz"], "at most 1100 states to enumerate"),
    ([*IDENTIFY, "table?file=larger.npz"], "at most 1048576 states to enumerate, got 2^21"),
    ([*IDENTIFY, "table?file=none.npz"], "no file none.npz"),
    ([*IDENTIFY, "produkt?sites=4&gap=0.3&weight=0.3"], "did you mean product"),
    ([*IDENTIFY, "product?sites=4&gap=0.3&weight=0"], "weight: expected a number above 0 and below 1"),
    ([*IDENTIFY, "product?sites=4&gap=0.3&weight=1.5"], "weight: expected a number above 0 and below 1"),
    ([*IDENTIFY, "product?sites=4&gap=nan&weight=0.3"], "gap: expected a finite number"),
    ([*IDENTIFY, "product?sites=4&gap=0.3"], "none for weight"),
    ([*IDENTIFY, "product?sites=4&gap=0.3&weight=0.3&weight=0.3"], "weight twice"),
    ([*IDENTIFY, "product?sites=4&gap=0.3&wieght=0.3"], "did you mean weight"),
    ([*IDENTIFY, "product?sites=4;gap=0.3"], "a whole number, got '4;gap=0.3'"),
    ([*IDENTIFY, "product"], "none for sites, gap, weight"),
    ([*IDENTIFY, "product?sites=100000000&gap=0.3&weight=0.3"], "from 1 to 1000000, got '100000000'"),
    ([*IDENTIFY, "product?sites=1e4&gap=0.3&weight=0.3"], "a whole number, got '1e4'"),
    ([*IDENTIFY, "random?sites=30&symbols=2"], "at most 1048576 states"),
    ([*IDENTIFY, LAW, "--epsilon", "-0.001"], "an excess loss of 0 or more"),
    ([*IDENTIFY, LAW, "--epsilon", "nan"], "an excess loss of 0 or more"),
    ([*IDENTIFY, LAW, "--epsilon", "tiny"], "'tiny' is not a valid float"),
    ([*IDENTIFY, LAW, "--against", "1"], "above 0 and below 1"),
    ([*IDENTIFY, LAW, "--against", "nan"], "above 0 and below 1"),
    ([*IDENTIFY, LAW, "--against", "0.2,0.3"], "weights that sum to 1"),
    ([*IDENTIFY, LAW, "--seed", "-1"], "is not in the range"),
    (["schedule", "0.9*bert+0.2*full", "--length", "8"], "sum to 1"),
    (["schedule", "1.5*bert+-0.5*full", "--length", "8"], "above 0 and below 1"),
    (["schedule", "unifrom", "--length", "8"], "did you mean uniform"),
    (["schedule", "fixed:nan", "--length", "8"], "a finite number"),
    (["schedule", "bert", "--length", "1000000000000"], "from 1 to 10000000, got 1000000000000"),
    (["schedule", "bert", "--length", "-1"], "a whole number of sites"),
    (["schedule", "hide:9", "--length", "8"], "at most 8 hidden sites"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD, ids=lambda value: None)
@pytest.mark.usefixtures("tables")
def test_bad_input_is_one_message_and_exit_2(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        main(arguments)
    told = capsys.readouterr()
    assert left.value.code == 2 and told.out == ""
    assert message in told.err and "Traceback" not in told.err
    assert len([line for line in told.err.splitlines() if "rror:" in line]) == 1
