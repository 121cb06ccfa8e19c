"""Block heat-bath chains: the exact kernel, one step against it, visits against π, streams, and stored runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from maskov.conformance import check_chain_frequencies, check_frequencies
from maskov.errors import ConformanceError, InputError, StoreError
from maskov.glauber import block_glauber, glauber, open_trace, states_over
from maskov.glauber.block_draws import block_draws
from maskov.glauber.block_kernel import block_matrix
from maskov.glauber.kernel import is_reversible, spectral_gap, stationary_law, transition_matrix
from maskov.identifiability import identify
from maskov.identifiability.bridge import dense_kernel, log_gap
from maskov.laws import CurieWeiss, Tabular, as_log_table, enumerate_states, law, random_tabular, state_index
from maskov.models import LawModel, load
from maskov.protocols import State
from maskov.schedules import schedule

SPECS = ["hide:1", "hide:2", "uniform", "0.9*bert+0.1*full", "span:0.5,2", "bernoulli:0.4", "0.5*span:0.5+0.5*hide:1"]
TABLE = random_tabular(3, 3, seed=2, concentration=0.6)
MIXTURE = law("product?sites=8&gap=0.3&weight=0.3")


class Stale(LawModel):
    """The twin: hidden sites that are not drawn yet still show their old values."""

    def predict(self, states: Any, hidden: Any, sites: Any) -> Any:
        return self.logits(states, sites)


def start(n: int, values: Any = 0) -> State:
    return State(np.zeros(n, dtype=np.int64) + values, np.arange(n))


def pi_of(joint: Any, tau: float = 1.0) -> Any:
    p = np.exp(as_log_table(joint).ravel() / tau)
    return p / p.sum()


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("joint", [TABLE, CurieWeiss(5, 0.8)])
def test_the_block_kernel_keeps_the_law(joint: Any, spec: str) -> None:
    """Reversible with π = p; site by site is joint, by the chain rule; the gap is the bridge's."""
    P, pi = block_matrix(joint, joint.n_sites, spec), pi_of(joint)
    np.testing.assert_allclose(P.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_allclose(pi @ P, pi, atol=1e-14)
    assert is_reversible(P, pi)
    np.testing.assert_allclose(block_matrix(joint, joint.n_sites, spec, refill="sequential"), P, atol=1e-13)
    assert spectral_gap(P, pi) == pytest.approx(np.exp(log_gap(*dense_kernel(joint, schedule(spec)))), rel=1e-9)
    tempered = block_matrix(joint, joint.n_sites, spec, temperature=0.6)
    np.testing.assert_allclose(pi_of(joint, 0.6) @ tempered, pi_of(joint, 0.6), atol=1e-14)
    assert is_reversible(tempered, pi_of(joint, 0.6))


def test_hide_one_is_the_single_site_chain_and_the_table_of_the_specification() -> None:
    P = block_matrix(MIXTURE, 8, "hide:1")
    np.testing.assert_allclose(P, transition_matrix(MIXTURE, 8).toarray(), atol=1e-14)
    gap, rho = spectral_gap(P, pi_of(MIXTURE)), identify(MIXTURE, schedule("hide:1")).blindness_ratio.value
    assert gap == pytest.approx(0.02054035, abs=1e-8) and rho == pytest.approx(0.03069849, abs=1e-8)
    assert rho / gap == pytest.approx(1.4945, abs=1e-4)


@pytest.mark.parametrize("spec", ["hide:3", "uniform", "0.9*hide:1+0.1*full", "span:0.4,2"])
def test_the_gap_is_at_most_the_blindness_ratio(spec: str) -> None:
    gap = spectral_gap(block_matrix(MIXTURE, 8, spec), pi_of(MIXTURE))
    if spec.startswith("span"):
        assert gap == pytest.approx(np.exp(log_gap(*dense_kernel(MIXTURE, schedule(spec)))), rel=1e-9)
    else:
        assert 0 < gap <= identify(MIXTURE, schedule(spec)).blindness_ratio.value


def test_tempering_site_by_site_is_another_chain() -> None:
    """Below τ = 1 a sequential refill is no heat bath of p^{1/τ}: said in docs/block.md, so it must be so."""
    P = block_matrix(TABLE, 3, "hide:2", temperature=0.5, refill="sequential")
    pi = stationary_law(P)
    assert abs(pi - pi_of(TABLE, 0.5)).max() > 1e-3 and not is_reversible(P, pi)


def _one_step(model: Any, x: Any, spec: str, tau: float = 1.0, size: int = 4000, **options: Any) -> Any:
    trace = block_glauber(model, [start(3, x)], schedule=spec, temperature=tau, steps=1, chains=size, **options)
    return np.bincount(state_index(np.stack(trace.states_at(1)), 3), minlength=27)


@pytest.mark.parametrize("refill", ["joint", "sequential"])
@pytest.mark.parametrize(("spec", "tau"), [("hide:2", 1.0), ("uniform", 0.6), ("span:0.5,2", 1.0), ("full", 1.5)])
def test_one_step_has_the_law_of_the_exact_kernel(refill: str, spec: str, tau: float) -> None:
    x = np.array([2, 0, 1])
    P = block_matrix(TABLE, 3, spec, tau, refill)[state_index(x[None], 3)[0]]
    check_frequencies(_one_step(LawModel(TABLE), x, spec, tau, refill=refill), P)


def test_twins_of_one_step_are_rejected() -> None:
    """Stale values in place of masks; a schedule that is ignored; a sequential refill taken for a joint one."""
    x = np.array([2, 0, 1])
    k = state_index(x[None], 3)[0]
    P = block_matrix(TABLE, 3, "hide:2")[k]
    with pytest.raises(ConformanceError):
        check_frequencies(_one_step(Stale(TABLE), x, "hide:2", refill="sequential"), P)
    with pytest.raises(ConformanceError):
        check_frequencies(_one_step(LawModel(TABLE), x, "hide:1"), P)
    cold = block_matrix(TABLE, 3, "full", 0.5, "joint")[k]
    with pytest.raises(ConformanceError):
        check_frequencies(_one_step(LawModel(TABLE), x, "full", 0.5, refill="sequential"), cold)


def _visits(model: Any, spec: str, steps: int, n: int = 3, **options: Any) -> Any:
    trace = block_glauber(model, [start(n)], schedule=spec, steps=steps, chains=4, seed=3, **options)
    V = model.vocabulary_size
    return np.stack([state_index(np.stack(x), V) for _, x in states_over(trace, range(50, steps))])


@pytest.mark.parametrize("refill", ["joint", "sequential"])
def test_visits_fit_the_stationary_law(refill: str) -> None:
    """Counts are correlated: the covariance is the exact kernel's. A refill from stale values visits otherwise."""
    P, pi = block_matrix(TABLE, 3, "hide:2"), pi_of(TABLE)
    check_chain_frequencies(_visits(LawModel(TABLE), "hide:2", 2000, refill=refill), pi, P)
    if refill == "sequential":
        coupled = Tabular(np.log(np.where(np.eye(3)[:, :, None] == np.eye(3)[:, None], 0.3, 0.02)))
        P, pi = block_matrix(coupled, 3, "hide:2"), pi_of(coupled)
        check_chain_frequencies(_visits(LawModel(coupled), "hide:2", 1500, refill=refill), pi, P)


def test_mode_switches_come_at_the_exact_rate() -> None:
    """Reference mixture, the mode read off the majority: Σ π(x) P(x, y) 1[modes differ], for three schedules."""
    mixture = law("product?sites=7&gap=0.4&weight=0.3")
    pi, side = pi_of(mixture), enumerate_states(2, 7).sum(axis=1) > 3
    rates = {}
    for spec in ("hide:1", "hide:4", "0.8*hide:1+0.2*full"):
        P = block_matrix(mixture, 7, spec)
        exact = float((pi[:, None] * P)[side[:, None] != side].sum())
        trace = block_glauber(mixture, [start(7), start(7, 1)], schedule=spec, steps=3000, chains=8, seed=1)
        modes = np.stack([np.stack(x).sum(axis=1) > 3 for _, x in states_over(trace, range(200, 3001))])
        switched = (modes[1:] != modes[:-1]).mean(axis=0)
        rates[spec] = exact
        assert abs(switched.mean() - exact) < 4 * switched.std(ddof=1) / np.sqrt(8), spec
    assert rates["hide:1"] < rates["hide:4"] < rates["0.8*hide:1+0.2*full"]
    # The twin that ignores its schedule is far outside of those errors.
    assert rates["hide:4"] > 1.5 * rates["hide:1"]


def _same(a: Any, b: Any) -> bool:
    states = all(
        (x == y).all() for t in range(a.steps + 1) for x, y in zip(a.states_at(t), b.states_at(t), strict=True)
    )
    series = all(np.array_equal(a.series[k], b.series[k], equal_nan=True) for k in a.series)
    changes = all((x == y).all() for x, y in zip(a.changes(), b.changes(), strict=True))
    return states and series and changes


@pytest.mark.parametrize("spec", ["uniform", "span:0.5,2"])
@pytest.mark.parametrize("refill", ["joint", "sequential"])
def test_a_resumed_run_is_the_whole_run(tmp_path: Path, spec: str, refill: str) -> None:
    options: dict[str, Any] = {"schedule": spec, "temperature": [0.7, 1.0], "chains": 2, "refill": refill, "window": 2}
    whole = block_glauber(TABLE, None, steps=40, **options)
    block_glauber(TABLE, None, steps=16, out=tmp_path / "a", **options)
    block_glauber(TABLE, None, steps=40, out=tmp_path / "a", resume=True, **options)
    assert _same(whole, open_trace(tmp_path / "a"))


def test_a_run_with_another_scan_is_refused(tmp_path: Path) -> None:
    block_glauber(TABLE, None, schedule="hide:2", steps=4, out=tmp_path / "a")
    for scan in ("single", "systematic", "hide:1"):
        with pytest.raises(StoreError, match=r"scan \(hide:2 \(joint\)\)"):
            glauber(TABLE, None, steps=8, out=tmp_path / "a", resume=True, scan=scan)
    with pytest.raises(StoreError, match="scan"):
        block_glauber(TABLE, None, schedule="hide:2", refill="sequential", steps=8, out=tmp_path / "a", resume=True)


def test_runs_stored_before_scans_are_single_site(tmp_path: Path) -> None:
    glauber(TABLE, None, steps=4, out=tmp_path / "a")
    manifest = json.loads((tmp_path / "a" / "manifest.json").read_text())
    assert manifest.pop("scan") == "single" and manifest.pop("sum")
    (tmp_path / "a" / "manifest.json").write_text(json.dumps(manifest))
    assert open_trace(tmp_path / "a").manifest.scan == "single"
    assert glauber(TABLE, None, steps=8, out=tmp_path / "a", resume=True).steps == 8


def test_a_chain_does_not_depend_on_its_batch() -> None:
    options: dict[str, Any] = {"schedule": "0.5*span:0.5,2+0.5*uniform", "steps": 30, "refill": "sequential"}
    many = block_glauber(TABLE, None, temperature=[0.5, 1.0], chains=5, **options)
    few = block_glauber(TABLE, None, temperature=1.0, chains=2, **options)
    for t in range(31):
        assert (np.stack(many.states_at(t))[5:7] == np.stack(few.states_at(t))).all()


@pytest.mark.parametrize("spec", SPECS)
def test_drawn_sets_follow_the_schedule_and_orders_are_uniform(spec: str) -> None:
    n, T = 5, 3000
    drawn = block_draws(schedule(spec), n, 7, 1, 0, T)
    sets = schedule(spec).set_law(n)
    hidden = np.zeros((T, n), dtype=bool)
    for t in range(T):
        hidden[t, drawn.order[t, : drawn.hidden[t]]] = True
    where = {s.tobytes(): k for k, s in enumerate(~sets.visible)}
    counts = np.bincount([where[h.tobytes()] for h in hidden], minlength=len(where))
    check_frequencies(counts, np.exp(sets.log_mass))
    several = drawn.hidden >= 2
    if several.sum() > 100:
        ascending = int((drawn.order[several, 0] < drawn.order[several, 1]).sum())
        check_frequencies([ascending, several.sum() - ascending], [0.5, 0.5])


def test_systematic_scan_takes_the_sites_in_order() -> None:
    trace = glauber(TABLE, None, scan="systematic", steps=30, chains=3, temperature=2.0)
    changes = trace.changes()
    assert len(changes.step) > 10 and (changes.site == (changes.step - 1) % 3).all()
    sweep = transition_matrix(TABLE, 3, scan="systematic").toarray()
    np.testing.assert_allclose(pi_of(TABLE) @ sweep, pi_of(TABLE), atol=1e-14)
    one = glauber(TABLE, [start(3, 1)], scan="systematic", steps=3, chains=4000)
    counts = np.bincount(state_index(np.stack(one.states_at(3)), 3), minlength=27)
    check_frequencies(counts, sweep[state_index(np.ones((1, 3), dtype=np.int64), 3)[0]])


def test_systematic_engines_agree_and_resume(tmp_path: Path) -> None:
    options: dict[str, Any] = {"scan": "systematic", "temperature": 0.3, "chains": 2}
    whole = glauber(TABLE, None, steps=60, engine="plain", **options)
    assert _same(whole, glauber(TABLE, None, steps=60, engine="lazy", **options))
    glauber(TABLE, None, steps=20, out=tmp_path / "a", **options)
    resumed = glauber(TABLE, None, steps=60, out=tmp_path / "a", resume=True, **options)
    assert all((x == y).all() for x, y in zip(whole.changes(), resumed.changes(), strict=True))


def test_series_of_a_joint_refill_are_exact_and_of_a_sequential_one_unknown() -> None:
    joint = block_glauber(TABLE, None, schedule="hide:2", steps=400, chains=8)
    names = ("stay", "production", "production_raw")
    assert all(np.isfinite(v).all() for v in joint.series.values())
    pi, P = pi_of(TABLE), block_matrix(TABLE, 3, "hide:2")
    assert joint.series["stay"].mean() == pytest.approx(float(pi @ np.diag(P)), abs=0.03)
    assert abs(joint.series["production"].mean()) < 0.05  # reversible: no entropy is produced
    other = block_glauber(TABLE, None, schedule="hide:2", steps=400, chains=8, refill="sequential")
    assert all(np.isnan(other.series[name]).all() for name in names)
    for name in ("changed", "entropy"):
        assert other.series[name].mean() == pytest.approx(joint.series[name].mean(), rel=0.1)


def test_a_network_refills_its_blocks_and_keeps_clamps() -> None:
    texts = ["the cat sat on the old mat.", "a river runs under the stone bridge near the town."]
    model = load("en-tiny")
    trace = block_glauber(model, texts, schedule="fixed:0.5", steps=4, temperature=[0.5, 1.0], clamp="1-2", seed=2)
    assert trace.manifest.scan == "fixed:0.5 (sequential)"
    for b, state in enumerate(trace.starts):
        end = trace.state(b, 4)
        held = np.setdiff1d(np.arange(len(state.tokens)), state.free)
        assert (end[held] == state.tokens[held]).all() and (end != state.tokens).any()
        assert not model.forbidden[end[state.free]].any()
    alone = block_glauber(model, texts[:1], schedule="fixed:0.5", steps=4, temperature=0.5, clamp="1-2", seed=2)
    assert (alone.state(0, 4) == trace.state(0, 4)).all()


def test_sweeps_count_drawn_sites() -> None:
    assert block_glauber(TABLE, None, schedule="full", sweeps=5).steps == 5
    assert block_glauber(MIXTURE, None, schedule="hide:2", sweeps=3).steps == 12


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"schedule": "hide:4"}, "hide:4"),
        ({"schedule": "hide:2", "refill": "both"}, "refill"),
        ({"schedule": "nothing"}, "schedule"),
        ({"schedule": "hide:2", "temperature": 0.0}, "temperature"),
    ],
)
def test_bad_input_is_named(options: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        block_glauber(TABLE, None, steps=3, **options)


def test_models_that_cannot_are_told() -> None:
    from maskov.laws import random_conditionals

    with pytest.raises(InputError, match="more"):
        block_glauber(LawModel(random_conditionals(3, 3)), None, schedule="hide:2", steps=3)
    with pytest.raises(InputError, match="joint law"):
        block_glauber(load("en-tiny"), ["the cat sat."], schedule="hide:2", refill="joint", steps=1)
    with pytest.raises(InputError, match="engine"):
        glauber(TABLE, None, scan="hide:2", engine="lazy", steps=3)
    with pytest.raises(InputError, match="at most 1024 states"):
        block_matrix(law("product?sites=12&gap=0.3&weight=0.3"), 12, "hide:1")
