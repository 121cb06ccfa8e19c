"""The measured curve against laws with an exact MMSE: never below it, close above it; twins that cheat are caught."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from planted import exact_mmse, power_exact, power_texts, product_exact, product_texts, spelled

from maskov.corpora import CorpusUncertainty, collect, corpus_uncertainty, measure
from maskov.corpora.calibrate import fit_calibrator
from maskov.corpora.measure import losses
from maskov.corpora.neural import have_network
from maskov.corpora.subsets import _subsets
from maskov.identifiability import MultinomialCounts
from maskov.laws import sticky_mixture

COUNTS = [1, 2, 4, 8, 16, 32, 64]
needs_sklearn = pytest.mark.skipif(not have_network(), reason="scikit-learn is an extra")


def many_words(gap: float, size: int = 200) -> np.ndarray[Any, Any]:
    """Two modes on many words: a rare word says little, and a classifier that saw its document knows too much."""
    half = np.repeat([1 + gap, 1 - gap], size // 2) / size
    return np.stack([half, half[::-1]])


def excess(found: CorpusUncertainty, exact: Any, sampling: str = "subset") -> Any:
    """(measured − exact)/standard error at every count."""
    points = found.points(sampling)
    return np.array([(p.mmse.value - e) / p.mmse.stderr for p, e in zip(points, exact, strict=True)])


def is_bound(z: Any) -> bool:
    """Not below the exact curve beyond chance."""
    return bool(z.min() > -3.5 and z.mean() > -1)


def test_product_modes_are_bounded_and_met() -> None:
    rows = np.array([[0.65, 0.35], [0.35, 0.65]])
    found = corpus_uncertainty(product_texts(rows, 400, 64, 0), classifiers=["unigram"], longest=64, seed=1)
    exact = product_exact(rows, COUNTS)
    for sampling in ("subset", "window"):
        assert is_bound(excess(found, exact, sampling))
        ratio = np.array([p.mmse.value for p in found.points(sampling)]) / exact
        assert (ratio[exact > 0.02] < 1.2).all()
    assert all(p.mmse.side == "upper" and not p.mmse.certifies_below(p.mmse.value) for p in found.curve)
    assert all(0 <= p.mmse.value <= p.entropy.value for p in found.curve)  # 1 − r ≤ −log r


def test_power_law_modes_are_bounded_and_met() -> None:
    found = corpus_uncertainty(power_texts(0.5, 400, 64, 3), classifiers=["unigram"], longest=64, samplings=["subset"])
    exact = power_exact(0.5, COUNTS, 64)
    assert exact[-1] / exact[-2] == pytest.approx(2**-0.5, rel=0.03)
    assert is_bound(excess(found, exact)) and found.points()[4].mmse.value / exact[4] < 1.2


@needs_sklearn
def test_the_network_and_runs_see_order() -> None:
    law = sticky_mixture(sites=32, symbols=3, stay=[0.75, 0.35], weight=[0.5])
    rng = np.random.default_rng(0)
    texts = {f"m{z}": [spelled(x) for x in law.sample_modes(rng, np.full(300, z))] for z in (0, 1)}
    x = law.sample(rng, 4000)
    visible = np.arange(32) < 8
    r = np.exp(law.log_posterior(x, np.broadcast_to(visible, x.shape)))
    exact = float((r[:, 0] * r[:, 1]).mean())
    options: dict[str, Any] = {"visible": [8], "longest": 32}
    blind = corpus_uncertainty(texts, classifiers=["unigram"], **options).points("window")[0]
    sees = corpus_uncertainty(texts, classifiers=["unigram", "ngram"], **options).points("window")[0]
    all_three = corpus_uncertainty(texts, samplings=["subset", "window"], **options).points("window")[0]
    assert blind.mmse.value > 0.24 and sees.classifier == "ngram"
    for point in (sees, all_three):
        assert exact - 3.5 * point.mmse.stderr < point.mmse.value < 1.12 * exact


def test_three_modes_use_half_the_trace() -> None:
    rows = np.array([[0.6, 0.2, 0.2], [0.2, 0.6, 0.2], [0.2, 0.2, 0.6]])
    found = corpus_uncertainty(product_texts(rows, 200, 16, 0), classifiers=["unigram"], longest=16)
    assert found.prior_mmse == pytest.approx(1 / 3) and found.prior_entropy == pytest.approx(np.log(3))
    exact = exact_mmse(MultinomialCounts(np.full(3, 1 / 3), np.log(rows), 16), [1, 2, 4, 8, 16])
    assert is_bound(excess(found, exact)) and (found.points()[2].mmse.value / exact[2]) < 1.15


def test_weights_are_the_prior() -> None:
    rows = np.array([[0.65, 0.35], [0.35, 0.65]])
    texts = product_texts(rows, 300, 16, 5)
    found = corpus_uncertainty(texts, weights=[0.2, 0.8], classifiers=["unigram"], longest=16)
    exact = exact_mmse(MultinomialCounts([0.2, 0.8], np.log(rows), 16), [1, 2, 4, 8, 16])
    assert found.prior_mmse == pytest.approx(0.16) and is_bound(excess(found, exact))
    by_documents = corpus_uncertainty(
        {"a": texts["mode0"][:100], "b": texts["mode1"]}, weights="documents", classifiers=["unigram"], visible=[1]
    )
    assert by_documents.weights == pytest.approx((0.25, 0.75), abs=0.005)  # a few short texts repeat


LARGE = many_words(0.25, 1000)


def large_texts() -> dict[str, list[str]]:
    return product_texts(LARGE, 150, 64, 7)


def test_a_classifier_that_saw_its_test_documents_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = product_exact(LARGE, COUNTS)
    options: dict[str, Any] = {"classifiers": ["unigram"], "longest": 64, "samplings": ["subset"]}
    assert is_bound(excess(corpus_uncertainty(large_texts(), **options), exact))
    leaky = tuple(measure.Fold(f, (f + 1) % 5, tuple(range(5))) for f in range(5))
    monkeypatch.setattr(measure, "FOLDS", leaky)
    assert not is_bound(excess(corpus_uncertainty(large_texts(), **options), exact))


def test_duplicates_that_are_kept_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = product_exact(LARGE, COUNTS)
    options: dict[str, Any] = {"classifiers": ["unigram"], "longest": 64, "samplings": ["subset"]}
    copies = {name: [" " * k + text for text in texts for k in range(1, 5)] for name, texts in large_texts().items()}
    honest = corpus_uncertainty(copies, **options)
    assert [row.duplicates for row in honest.collections] == [450, 450] and is_bound(excess(honest, exact))
    monkeypatch.setattr(collect, "text_digest", lambda text: repr(text).encode()[:20] + text.encode()[-44:])
    assert not is_bound(excess(corpus_uncertainty(copies, **options), exact))


def test_same_seed_same_numbers_and_order_of_names_does_not_matter() -> None:
    texts = large_texts()
    options: dict[str, Any] = {"classifiers": ["unigram"], "longest": 16, "seed": 4}
    first, again = (corpus_uncertainty(texts, **options) for _ in range(2))
    assert first.to_dict() == again.to_dict()
    assert first.to_dict() != corpus_uncertainty(texts, **{**options, "seed": 5}).to_dict()


def test_subsets_are_uniform() -> None:
    for v in (1, 2, 4):
        drawn = _subsets(5, v, 20_000, np.random.default_rng(0))
        sets, counts = np.unique(drawn, axis=0, return_counts=True)
        assert (np.diff(drawn, axis=1) > 0).all() and len(sets) == {1: 5, 2: 10, 4: 5}[v]
        assert abs(counts / counts.mean() - 1).max() < 0.08


def test_calibration_finds_the_true_slope() -> None:
    rng = np.random.default_rng(0)
    z, noise = rng.integers(0, 2, 20_000), rng.normal(size=20_000)
    log_odds = 2 * (2 * z - 1) + 2 * noise  # the true posterior log-odds of N(±1, 1) signals is 2 x
    scores = np.stack([np.zeros(20_000), 5 * log_odds / 2], axis=1)[:, None, :]
    model = fit_calibrator(scores, z, np.full(20_000, 1 / 20_000), np.log([0.5, 0.5]))
    assert model.slope[0] / model.scale[0] == pytest.approx(2 / 5, rel=0.05)
    brier, log_loss = losses(model.log_posterior(scores), z)
    wrong, _ = losses(np.log(np.full((20_000, 2), 0.5)), z)
    assert brier.mean() < wrong.mean() == 0.25 and log_loss.mean() < np.log(2)


def test_a_score_that_is_nearly_always_zero_is_not_blown_up() -> None:
    rng = np.random.default_rng(0)
    z = rng.integers(0, 2, 4000)
    sign = 2 * z - 1 + rng.normal(size=4000)
    scores = np.zeros((4000, 2, 2))
    scores[:, 0, 1], scores[0, 1, 1] = sign, 1e-9
    model = fit_calibrator(scores[:2000], z[:2000], np.full(2000, 1 / 2000), np.log([0.5, 0.5]))
    scores[2000:, 1, 1] = 3.0 * (rng.random(2000) < 0.01)
    _, log_loss = losses(model.log_posterior(scores[2000:]), z[2000:])
    assert log_loss.mean() < 0.6


def test_without_the_extra_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("maskov.corpora.uncertainty.have_network", lambda: False)
    found = corpus_uncertainty(large_texts(), longest=2)
    assert any("maskov[corpora]" in told for told in found.warnings)
    assert {p.classifier for p in found.curve} <= {"unigram", "ngram"}
