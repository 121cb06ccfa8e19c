"""Basin studies at their edges: short runs, one chain, chains that stand still, missing packages, the command."""

from __future__ import annotations

import importlib.util
import json
import os
import warnings

import numpy as np
import pytest

pytest.importorskip("deeptime")
pytest.importorskip("pygpcca")

from click.testing import CliRunner

import maskov
from maskov.basins import field_library, find_basins
from maskov.basins.coarse import coarse_matrix, find_basins_of, gaps, lifetimes
from maskov.basins.exemplars import words
from maskov.basins.microstates import Chain, chain_counts, estimate, strong_sets
from maskov.basins.residence import core_path, dwelling, stays
from maskov.basins.timescales import Spectrum, choose_lag, lag_grid
from maskov.cli.main import cli
from maskov.errors import InputError
from maskov.glauber import glauber
from maskov.models import load
from maskov.plots import figures
from maskov.plots.registry import draw
from maskov.report.record import make_record, validate
from maskov.report.sections import CONTENTS

WELLS = "law:curie-weiss?sites=10&beta=1.7"


@pytest.fixture(scope="module")
def run():
    model = load(WELLS)
    trace = glauber(model, ["0" * 10, "1" * 10], temperature=[1.0, 4.0], chains=4, steps=4000)
    return trace, model, find_basins(trace, model, keep=400, resamples=20)


def test_one_model_per_temperature(run) -> None:
    cold, warm = run[2].cells
    assert (len(cold.basins), len(warm.basins)) == (2, 1)
    assert {p.chain for p in cold.paths} == {0, 1, 2, 3} and {p.chain for p in warm.paths} == {4, 5, 6, 7}
    assert "forget" in warm.verdict or "parts no two regions" in warm.verdict


def test_counts_never_join_chains() -> None:
    labels = np.array([[0, 1], [0, 1], [0, 1]])
    counts = chain_counts(labels, 2, 1)
    assert counts.tolist() == [[[2, 0], [0, 0]], [[0, 0], [0, 2]]]


def test_shares_and_jumps_add_up(run) -> None:
    cold = run[2].cells[0]
    assert sum(b.population.value for b in cold.basins) == pytest.approx(1)
    assert sum(b.time_share.value for b in cold.basins) == pytest.approx(1)
    assert sum(b.exits for b in cold.basins) == sum(map(sum, cold.jumps))
    assert sum(b.visits for b in cold.basins) == sum(b.exits for b in cold.basins) + cold.chains
    assert [sum(q.value for q in row) for row in cold.transition] == pytest.approx([1, 1])
    for row in cold.by_start:
        assert sum(row.shares) + row.elsewhere == pytest.approx(1)


def test_asked_number_and_lag(run) -> None:
    trace, model, _ = run
    cell = find_basins(trace, model, keep=400, basins=1, lag=40, resamples=5).cells[0]
    assert len(cell.basins) == 1 and cell.lag_steps == 40
    two = find_basins(trace, model, keep=400, basins=2, resamples=5).cells
    assert all(len(cell.basins) == 2 and "as asked for" in cell.verdict for cell in two)
    ten = find_basins(trace, model, keep=400, basins=10, microstates=6, resamples=5).cells[0]
    assert len(ten.basins) == 1 and "can't be parted into 10" in ten.verdict


def test_same_seed_same_record(run) -> None:
    trace, model, found = run
    assert find_basins(trace, model, keep=400, resamples=20).to_dict() == found.to_dict()


def test_one_chain_has_no_intervals() -> None:
    model = load(WELLS)
    trace = glauber(model, ["0" * 10], steps=4000)
    cell = find_basins(trace, model, keep=400).cells[0]
    assert all(b.population.interval is None for b in cell.basins)
    assert any("one chain" in note for note in cell.notes)


def test_chains_that_stand_still() -> None:
    model = load("law:curie-weiss?sites=6&beta=1")
    same = glauber(model, ["000000"], temperature=0.001, chains=2, steps=400)
    cell = find_basins(same, model).cells[0]
    assert "every kept state is the same text" in cell.verdict
    two = glauber(model, ["000000", "111111"], temperature=0.001, steps=400)
    cell = find_basins(two, model).cells[0]
    assert [b.kind for b in cell.basins] == ["separate"] * 2 and "2 places" in cell.verdict
    assert all(b.once and b.population is None and b.measured_steps.n == 0 for b in cell.basins)
    assert sorted(e.text for b in cell.basins for e in b.exemplars) == ["000000", "111111"]
    record = find_basins(two, model).to_dict()
    assert [draw(figure, record).get_xlabel() != "" for figure in figures("basins", record)] == [True] * 2


def test_short_runs_and_wrong_numbers_are_refused(run) -> None:
    trace, model, _ = run
    short = glauber(model, ["0" * 10], steps=20)
    with pytest.raises(InputError, match="at least 40 kept states"):
        find_basins(short, model)
    for options in ({"basins": 0}, {"basins": 11}, {"lag": 2000}, {"microstates": 1}, {"components": 0}):
        with pytest.raises(InputError):
            find_basins(trace, model, **options)


def test_missing_packages_name_the_install_line(monkeypatch, run, tmp_path) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *a: None if name == "pygpcca" else find(name, *a))
    with pytest.raises(InputError, match=r"no pygpcca; run: pip install 'maskov\[basins\]'"):
        find_basins(run[0], run[1])


def test_the_library_changes_no_filter_of_the_process() -> None:
    field_library.library.cache_clear()
    before, variable = list(warnings.filters), os.environ.get("PYTHONWARNINGS")
    field_library.library("pygpcca")
    assert list(warnings.filters) == before and os.environ.get("PYTHONWARNINGS") == variable


def test_record_fits_the_schema_and_the_page(run) -> None:
    _, model, found = run
    record = make_record(
        "basins", {"model": {"name": model.name, "fingerprint": model.fingerprint}}, found.to_dict(), []
    )
    validate(record)
    section = CONTENTS["basins"](record["results"])
    assert len(section.rows) == 3 and len(section.says) == 3
    for figure in figures("basins", record["results"]):
        assert draw(figure, record["results"]).get_xlabel()


def test_command(tmp_path) -> None:
    target, run = str(tmp_path / "basins.json"), str(tmp_path / "run.zarr")
    model = load(WELLS)
    glauber(model, ["0" * 10, "1" * 10], chains=4, steps=2000, out=run)
    done = CliRunner().invoke(cli, ["basins", run, "--keep", "200", "--json", target, "--quiet"])
    assert done.exit_code == 0, done.output
    assert "population" in done.output
    record = json.loads((tmp_path / "basins.json").read_text())
    assert record["command"] == "basins" and len(record["results"]["cells"][0]["basins"]) == 2
    assert callable(maskov.find_basins)
    wrong = CliRunner().invoke(cli, ["basins", run, "--basins", "11"])
    assert wrong.exit_code == 2


# The pieces.


def chain_of(P, lag: int = 1) -> Chain:
    P = np.asarray(P)
    values, vectors = np.linalg.eig(P.T)
    pi = np.real(vectors[:, np.argmax(values.real)])
    return Chain(P, pi / pi.sum(), np.arange(len(P)), lag)


def diffusion(n: int) -> Chain:
    """Free motion on a line with reflecting ends, at a lag well below its slowest timescale."""
    step = np.diag(np.full(n - 1, 0.25), 1) + np.diag(np.full(n - 1, 0.25), -1)
    return chain_of(np.linalg.matrix_power(step + np.diag(1 - step.sum(axis=1)), 40))


def test_free_motion_has_no_basins() -> None:
    line = diffusion(40)
    assert gaps(line)[2] > 3  # a gap there is, cores there are not
    assert find_basins_of(line, None) is None


def test_coarse_matrix_is_the_librarys() -> None:
    P = np.kron(np.eye(2), np.array([[0.6, 0.4], [0.3, 0.7]])) * 0.98 + 0.02 * np.kron(
        [[0, 1], [1, 0]], np.full((2, 2), 0.5)
    )
    chain = chain_of(P)
    found = find_basins_of(chain, None)
    assert found is not None and found.number == 2
    solver = field_library.library("pygpcca").GPCCA(P, eta=chain.pi, z="LM", method="brandts").optimize(2)
    mine = coarse_matrix(P, chain.pi, found.chi)
    assert np.allclose(np.sort(mine.ravel()), np.sort(solver.coarse_grained_transition_matrix.ravel()))
    assert np.allclose(lifetimes(mine, 1.0), -2 / np.log(np.linalg.eigvals(mine).min()))  # k there, k back: λ = e^{−2k}


def test_lifetimes_of_a_lag_that_misses_returns() -> None:
    k, lag = 0.01, 80.0
    stay = 0.5 + 0.5 * np.exp(-2 * k * lag)
    P_c = np.array([[stay, 1 - stay], [1 - stay, stay]])
    assert lifetimes(P_c, lag) == pytest.approx([100, 100])
    assert lag / (1 - stay) > 150  # what the lag alone would have said


def test_strong_sets_by_transitions_inside() -> None:
    counts = np.zeros((5, 5))
    counts[0, 1] = counts[1, 0] = 3.0
    counts[2, 3] = counts[3, 2] = 50.0
    counts[0, 4] = 99.0  # left and never came back
    assert [s.tolist() for s in strong_sets(counts)][:2] == [[2, 3], [0, 1]]
    assert estimate(np.eye(3), 1, False) is None


def test_symmetrising_is_asked_for_never_done() -> None:
    counts = np.array([[90.0, 10, 0], [0, 90, 10], [10, 0, 90]])
    assert np.allclose(estimate(counts, 1, False).P, counts / 100)
    assert estimate(counts, 1, True).P[0, 2] == pytest.approx(0.05, abs=1e-3)


def spectrum_of(t2: list[float], noise: float = 0.0) -> Spectrum:
    lags = [1 << k for k in range(len(t2))]
    values = np.array(t2)[:, None]
    factor = np.exp(noise * np.linspace(-1, 1, 21))[:, None, None] ** np.arange(len(t2))[None, :, None]
    return Spectrum(lags, values, values[None] * factor)


def test_the_plateau_rule() -> None:
    assert choose_lag(spectrum_of([10, 30, 60, 98, 100, 101])).at == 3
    assert choose_lag(spectrum_of([10, 30, 60, 98, 100, 101])).plateau
    growing = choose_lag(spectrum_of([10, 20, 40, 80, 160]))
    assert not growing.plateau and growing.at == 4
    assert not choose_lag(spectrum_of([0.5, 0.9, 1.5, 2.0])).slow
    assert choose_lag(spectrum_of([80, 100, 120, 100], noise=0.5)).at == 0  # steps within their intervals are flat
    assert lag_grid(17) == [1, 2] and lag_grid(3) == [1]


def test_recrossings_are_no_visits() -> None:
    region = np.array([0, 0, 1, 0, 1, 1, 1, 0])
    core = np.array([1, 0, 0, 1, 0, 0, 1, 0], dtype=bool)
    assert core_path(region, core).tolist() == [0, 0, 0, 0, 0, 0, 1, 1]
    assert core_path(np.array([0, -1, 0]), np.zeros(3, dtype=bool)).tolist() == [0, -1, -1]


def test_cut_stays_are_censored() -> None:
    """Exponential stays of mean 50 seen for 60: all time over all exits is right, the mean of the ended is not."""
    rng = np.random.Generator(np.random.Philox(5))
    lengths = rng.exponential(50, size=4000)
    paths = (np.arange(60)[:, None] >= lengths).astype(np.int64)
    found = stays(paths)
    weights = rng.multinomial(4000, np.full(4000, 1 / 4000), size=50)
    seen = dwelling(found, 0, weights, 60)
    low, high = seen.mean.interval
    assert low - 0.5 <= 50 <= high + 0.5
    ended = found.length[(found.basin == 0) & found.ended].mean()
    assert ended < 30  # the broken twin
    assert seen.median.value == pytest.approx(50 * np.log(2), abs=2.5)
    none = dwelling(stays(np.zeros((60, 3), dtype=int)), 0, np.ones((0, 3), dtype=int), 60)
    assert none.mean.interval[0] == pytest.approx(180 / 2.9957, rel=1e-3) and none.exits == 0


def test_words_that_set_basins_apart() -> None:
    texts = ["the gene and the cell", "a gene in a cell", "the goal of the match", "a goal in a match", "12 34"]
    counts = np.array([[40, 40, 0, 0, 1], [0, 0, 40, 40, 1.0]])
    first, second = words(texts, counts)
    assert {"gene", "cell"} <= set(first) and {"goal", "match"} <= set(second)
    assert "the" not in first + second
    assert words(["01 10"], np.ones((2, 1))) == [(), ()]
