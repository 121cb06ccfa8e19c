"""Quick forms of the long tests of storage and of intervals: a few stops, a few damages, a few hundred repetitions."""

from __future__ import annotations

import json
import random
import resource
from pathlib import Path

import numpy as np
import pytest
from reliability.calibrate import measure, verdict
from reliability.corrupt import KINDS, damage, outcome, throw
from reliability.coverage import Case, cases
from reliability.kill import every_operation, random_moments
from reliability.runs import numbers, run

from maskov.errors import StoreError
from maskov.glauber.store import Store
from maskov.quantities import Estimate


def test_runs_stopped_at_random_moments(tmp_path: Path) -> None:
    told = random_moments(tmp_path, 8, seed=5)
    assert told["failed"] == 0 and told["compared whole"] >= 1 and told["ended by SIGKILL"] >= 1


def test_runs_killed_before_a_file_operation(tmp_path: Path) -> None:
    told = every_operation(tmp_path, steps=40, stride=11)
    assert sum(told.values()) >= 8 and len(told) >= 2  # before the first chunk, and between two


def test_a_writer_that_trusts_a_half_written_chunk_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The manifest first, the data after it: a kill between the two must not pass."""

    def hasty(self: Store, chunk: object) -> None:
        whole, self._write_changes = self._write_changes, lambda *_: None  # type: ignore[method-assign]
        append(self, chunk)  # type: ignore[arg-type]
        self._write_changes = whole  # type: ignore[method-assign]
        whole(len(self.manifest.chunks) - 1, chunk.changes)  # type: ignore[attr-defined]

    append = Store.append
    monkeypatch.setattr(Store, "append", hasty)
    with pytest.raises(Exception, match=r"stored array|match the manifest|differs"):
        every_operation(tmp_path, steps=40, stride=3)


def test_damages_are_found_or_harmless(tmp_path: Path) -> None:
    told, wrong = throw(tmp_path, 60, seed=3, resume_every=6)
    assert wrong == [] and told["detected"] >= 40 and told["refused to go on"] >= 5


def test_a_reader_without_sums_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Store, "checked", lambda self, name, *values, expected: None)
    run(tmp_path / "a.zarr", 60)
    expected = numbers(tmp_path / "a.zarr")
    files = sorted(p for p in (tmp_path / "a.zarr").rglob("*") if p.is_file() and p.name != "zarr.json")
    chooser, found = random.Random(0), set()
    for file in files:
        before = file.read_bytes()
        damage(file, "remove", files, chooser)
        found.add(outcome(tmp_path / "a.zarr", expected))
        file.write_bytes(before)
    assert "WRONG" in found and "flip a bit" in KINDS


@pytest.mark.parametrize(("name", "shape"), [("state", [99_999_999, 6, 99_999]), ("changes/000001", [999_999_999, 5])])
def test_a_bomb_is_not_opened(tmp_path: Path, name: str, shape: list[int]) -> None:
    """Metadata that promise more than the manifest says are refused, not filled with values."""
    run(tmp_path / "a.zarr", 60)
    kind = tmp_path / "a.zarr" / name / "zarr.json"
    described = json.loads(kind.read_text())
    described["shape"] = shape
    kind.write_text(json.dumps(described))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(StoreError):
        numbers(tmp_path / "a.zarr")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300_000  # kB


# Those that take a second for 300 repetitions.
QUICK = [
    c for c in cases() if c.printed.split(",")[0] in ("couple", "influence", "traps", "topics", "identify", "drift")
]


@pytest.mark.parametrize("case", QUICK, ids=lambda c: f"{c.interval}: {c.law}")
def test_intervals_hold_the_truth(case: Case) -> None:
    """300 repetitions tell 95 % from 90 %: a standard error of 1.3 points, so two points of slack."""
    found = measure(case, 300)
    assert verdict(case, found, slack=0.02) == "ok", found


def test_an_interval_that_is_too_narrow_is_caught() -> None:
    def normal(r: np.random.Generator, seed: int) -> Estimate:
        x = r.normal(size=5)
        error = float(x.std(ddof=1)) / 5**0.5
        return Estimate(float(x.mean()), error, 5, (float(x.mean() - 1.96 * error), float(x.mean() + 1.96 * error)))

    case = Case("mean", "nowhere", "5 normal values, normal quantile", 0.0, normal)
    assert verdict(case, measure(case, 1000)) == "too narrow"
