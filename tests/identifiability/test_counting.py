"""Counting in log space: against enumeration, for large alphabets, and far below the smallest float."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from maskov.errors import InputError
from maskov.identifiability import (
    BinaryCounts,
    MultinomialCounts,
    blindness_ratio,
    count_experiment,
    count_modes,
    dense_log_gap,
    identify,
    log_joint_discrepancy,
    log_token_discrepancy,
    set_experiment,
    single_site_log_gap,
)
from maskov.identifiability.bridge import log_count_law
from maskov.identifiability.counting import compositions
from maskov.laws import CurieWeiss, ProductMixture, enumerate_states, reference_mixture
from maskov.schedules import schedule


@pytest.mark.parametrize(("K", "V", "N"), [(2, 2, 6), (3, 2, 6), (2, 3, 4), (4, 3, 4), (2, 5, 3)])
@pytest.mark.parametrize("text", ["hide:1", "uniform", "uniform*1/t", "0.95*hide:1+0.05*full"])
def test_counting_agrees_with_enumeration(K: int, V: int, N: int, text: str) -> None:
    rng = np.random.default_rng(K * 100 + V)
    law = ProductMixture(rng.dirichlet(np.full(K, 3.0)), rng.dirichlet(np.ones(V), size=K), N)
    model, mu = count_modes(law), schedule(text)
    assert model is not None
    counted, listed = count_experiment(model, mu), set_experiment(law, mu)
    other = rng.dirichlet(np.full(K, 3.0))
    for function in (log_joint_discrepancy, log_token_discrepancy):
        assert function(counted, law.weights, other) == pytest.approx(function(listed, law.weights, other), abs=1e-10)
    assert blindness_ratio(counted).log_ratio == pytest.approx(blindness_ratio(listed).log_ratio, abs=1e-8)


def test_symbols_with_equal_ratios_are_merged() -> None:
    """Fifty symbols, two likelihood ratios: the same numbers as two symbols."""
    share = np.random.default_rng(0).dirichlet(np.ones(25))
    modes = np.stack([np.concatenate([0.8 * share, 0.2 * share]), np.concatenate([0.2 * share, 0.8 * share])])
    wide = MultinomialCounts([0.7, 0.3], np.log(modes), 200)
    narrow = MultinomialCounts([0.7, 0.3], np.log([[0.8, 0.2], [0.2, 0.8]]), 200)
    assert wide.log_symbols.shape == (2, 2)
    for text in ("fixed:0.15", "uniform"):
        a, b = (blindness_ratio(count_experiment(m, schedule(text))).log_ratio for m in (wide, narrow))
        assert a == pytest.approx(b, abs=1e-10)


def test_compositions_are_all_there() -> None:
    rows = compositions(5, 3)
    assert len(rows) == 21 and (rows.sum(axis=1) == 5).all() and len(np.unique(rows, axis=0)) == 21


def test_impossible_symbols() -> None:
    """A mode that never shows a symbol: seeing it once settles the mode."""
    law = ProductMixture([0.6, 0.4], [[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]], 5)
    model = count_modes(law)
    assert model is not None
    counted, listed = (f(x, schedule("uniform")) for f, x in ((count_experiment, model), (set_experiment, law)))  # type: ignore[operator]
    other = np.array([0.3, 0.7])
    assert log_joint_discrepancy(counted, law.weights, other) == pytest.approx(
        log_joint_discrepancy(listed, law.weights, other), abs=1e-12
    )


def test_nothing_underflows_at_ten_thousand_sites() -> None:
    found = identify(reference_mixture(10_000, 0.45, 0.3), "fixed:0.15", against=0.5)
    record = found.to_dict()
    chernoff = -0.5 * np.log(1 - 4 * 0.45**2)
    for key in ("discrepancy", "discrepancy_tokens", "blindness_ratio", "spectral_gap"):
        assert record[key]["value"] is None
        assert record[key]["log_value"] == pytest.approx(-8500 * chernoff, rel=0.01)
    assert record["tensorization"]["log_value"] == pytest.approx(8500 * chernoff, rel=0.01)
    assert record["mmse"][-1]["value"] is None and record["mmse"][-1]["log_value"] < -8000
    assert record["kl_joint"]["value"] == pytest.approx(record["kl_weights"]["value"], rel=1e-12)


def test_pruned_counts_change_nothing() -> None:
    """N = 2000 under uniform rates: the pruned sum is the sum over every count and every row."""
    model = count_modes(reference_mixture(2000, 0.2, 0.3))
    assert model is not None
    mu, w, other = schedule("uniform"), model.weights, np.array([0.5, 0.5])
    from maskov.identifiability.residual import log_residual

    start = np.zeros(1, dtype=np.int64)
    R = np.array([log_residual(model.log_table(v), start, w, other)[0] for v in range(0, 2001)])
    whole = np.log(np.exp(R[:-1] - R[0]).sum()) + R[0] - np.log(2001)
    assert log_joint_discrepancy(count_experiment(model, mu), w, other) == pytest.approx(whole, abs=1e-12)


def test_pruning_keeps_what_the_faster_pairs_leave_open() -> None:
    """Two modes close together and one far off: the far pairs' residual is far below the near one's, and exact."""
    law = ProductMixture([0.25, 0.5, 0.25], [[0.8, 0.2], [0.9, 0.1], [0.3, 0.7]], 4000)
    model, mu = count_modes(law), schedule("fixed:0.15")
    assert model is not None
    pruned, w, other = count_experiment(model, mu), law.weights, np.array([0.1875, 0.375, 0.4375])
    counts = np.array([3400, 3401, 4000])
    tables = [model.log_table(int(v)) for v in counts]
    whole = replace(
        pruned, log_table=np.concatenate(tables), starts=np.cumsum([0, *(len(t) for t in tables[:-1])], dtype=np.int64)
    )
    assert len(pruned.log_table) < len(whole.log_table)
    for function in (log_joint_discrepancy, log_token_discrepancy):
        assert function(pruned, w, other) == pytest.approx(function(whole, w, other), abs=1e-9)
        assert function(pruned, w, other) < -200  # the first two weights keep their ratio: only far pairs count
    assert blindness_ratio(pruned).log_ratio == pytest.approx(blindness_ratio(whole).log_ratio, abs=1e-9)


def test_thinned_rows_change_nothing() -> None:
    """Small gap: long tables are thinned, and the residual stays what every row gives."""
    from maskov.identifiability.experiment import MARGIN, _prune
    from maskov.identifiability.residual import log_residual

    model = count_modes(reference_mixture(9000, 0.004, 0.3))
    assert model is not None
    table, start = model.log_table(9000), np.zeros(1, dtype=np.int64)
    thin = _prune(table, model, MARGIN)
    assert len(thin) < len(table) / 20
    for other in ([0.5, 0.5], [0.999999, 1e-6]):
        a, b = (log_residual(t, start, model.weights, np.array(other))[0] for t in (table, thin))
        assert a == pytest.approx(b, abs=1e-11)


def test_counts_of_a_spin_system() -> None:
    """Curie–Weiss with the sign of the majority as mode: counting against the sum over all states."""
    law, N = CurieWeiss(7, 1.3), 7
    model = count_modes(law)
    assert isinstance(model, BinaryCounts)
    x = enumerate_states(2, N)
    p, up = np.exp(law.log_prob(x)), x.sum(axis=1) > N / 2
    for v in (1, 3, 6):
        table = np.exp(model.log_table(v))
        ones = x[:, :v].sum(axis=1)
        for z, members in enumerate((~up, up)):
            np.testing.assert_allclose(
                table[:, z], np.bincount(ones[members], weights=2 * p[members], minlength=v + 1), atol=1e-13
            )
    found = identify(law, "hide:1")
    assert found.spectral_gap is not None and found.blindness_ratio is not None
    assert found.spectral_gap.log_value == pytest.approx(dense_log_gap(law, schedule("hide:1")), abs=1e-9)
    assert found.spectral_gap.log_value <= found.blindness_ratio.log_value


def test_single_site_gap_far_below_float64() -> None:
    model = count_modes(reference_mixture(5000, 0.45, 0.3))
    assert model is not None
    log_gap = single_site_log_gap(log_count_law(model))
    rho = blindness_ratio(count_experiment(model, schedule("hide:1"))).log_ratio
    assert log_gap < -4000
    assert 0 < rho - log_gap < 2


def test_too_many_compositions_are_refused() -> None:
    model = MultinomialCounts([0.5, 0.5], np.log([[0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.1, 0.2]]), 1000)
    with pytest.raises(InputError, match="count outcomes"):
        model.log_table(1000)
