"""Which law a curve follows: planted exponentials and powers, with errors, over seeds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from planted import power_exact, power_texts, product_exact, product_texts

from maskov.corpora import corpus_uncertainty, fit_decay
from maskov.corpora.uncertainty import used_counts

V = 2.0 ** np.arange(9)


def judged(curve: Any, relative: float, seed: int, used: Any = None) -> Any:
    """The decay of a curve measured with independent relative errors, and resamples with the same."""
    rng = np.random.default_rng(seed)
    values = curve * np.exp(relative * rng.normal(size=len(curve)))
    again = values * np.exp(relative * rng.normal(size=(200, len(curve))))
    return fit_decay("subset", V, values, again, np.ones(len(curve), bool) if used is None else used)


@pytest.mark.parametrize(
    ("curve", "verdict"),
    [
        (0.25 * np.exp(-0.02 * V), "exponential"),
        (0.2 * V**-0.5, "power"),
        (0.2 * V**-1.2, "power"),
        (0.25 * np.exp(-0.5 * V**0.45), "stretched"),
        (0.25 * np.exp(-0.02 * V) + 0.01, "exponential"),
        (0.2 * V**-1.2 + 0.004, "power"),
    ],
)
def test_planted_curves(curve: Any, verdict: str) -> None:
    found = [judged(curve, 0.03, seed).verdict for seed in range(20)]
    assert found.count(verdict) >= 18, found


def test_parameters_come_back_with_their_intervals() -> None:
    found = judged(0.2 * V**-0.5, 0.03, 1).power
    assert found.exponent.interval[0] < 0.5 < found.exponent.interval[1] and found.exponent.stderr < 0.05
    assert found.amplitude.value == pytest.approx(0.2, rel=0.1) and found.rate is None
    decay = judged(0.25 * np.exp(-0.02 * V), 0.02, 1).exponential
    assert decay.rate.value == pytest.approx(0.02, rel=0.05) and decay.exponent is None
    assert decay.at([1.0, 100.0])[1] == pytest.approx(0.25 * np.exp(-2), rel=0.1)


def test_a_short_or_noisy_curve_cannot_be_told() -> None:
    used = np.arange(9) < 3
    assert judged(0.2 * V**-0.5, 0.1, 0, used).verdict == "cannot tell"
    few = judged(0.2 * V**-0.5, 0.1, 0, np.arange(9) < 2)
    assert few.verdict == "cannot tell" and few.power.amplitude is None and "are needed" in few.reason
    assert np.isnan(few.power.at([4.0])).all()
    noisy = [judged(0.2 * V**-0.5, 0.8, seed).verdict for seed in range(20)]
    assert noisy.count("cannot tell") >= 10 and noisy.count("exponential") <= 1


def test_fits_start_at_the_onset_and_stop_at_the_floor() -> None:
    values = np.array([0.24, 0.22, 0.12, 0.06, 0.03, 0.015, 0.001, 0.002])
    floor = [False] * 6 + [True, False]
    assert used_counts(values, floor, 0.25).tolist() == [False, False, True, True, True, True, False, False]
    assert used_counts(values, [False] * 4 + [True] * 4, 0.25).tolist() == [False, False, True, True] + [False] * 4
    slow = np.array([0.24, 0.18, 0.12, 0.06])
    assert used_counts(slow, [False] * 4, 0.25).tolist() == [False, True, True, True]


def test_exact_curves_of_product_modes_are_exponential() -> None:
    for gap, top in ((0.1, 9), (0.2, 7)):
        counts = [1 << k for k in range(top)]
        exact = product_exact(np.array([[0.5 - gap, 0.5 + gap], [0.5 + gap, 0.5 - gap]]), counts)
        again = exact * np.exp(0.02 * np.random.default_rng(0).normal(size=(400, top)))
        found = fit_decay("subset", np.array(counts, float), exact, again, used_counts(exact, [False] * top, 0.25))
        assert found.verdict == "exponential"
    counts = [1 << k for k in range(9)]
    exact = power_exact(0.5, counts, 256)
    again = exact * np.exp(0.02 * np.random.default_rng(0).normal(size=(400, 9)))
    assert fit_decay("subset", V, exact, again, used_counts(exact, [False] * 9, 0.25)).verdict == "power"


def verdicts(planted: str, seeds: range, documents: int, size: int) -> list[str]:
    rows = np.array([[0.4, 0.6], [0.6, 0.4]])
    options: dict[str, Any] = {"classifiers": ["unigram"], "samplings": ["subset"], "longest": size}
    out = []
    for seed in seeds:
        made = product_texts(rows, documents, size, seed) if planted == "exponential" else None
        texts = made or power_texts(0.5, documents, size, seed)
        out.append(corpus_uncertainty(texts, seed=seed, **options).verdict)
    return out


@pytest.mark.parametrize("planted", ["exponential", "power"])
def test_verdict_from_texts(planted: str) -> None:
    assert verdicts(planted, range(2), 300, 256) == [planted] * 2


@pytest.mark.slow
@pytest.mark.parametrize("planted", ["exponential", "power"])
def test_verdict_from_texts_over_twenty_seeds(planted: str) -> None:
    found = verdicts(planted, range(20), 300, 256)
    assert found.count(planted) >= 18, found


PLANTED = {
    "exponential": (0.25 * np.exp(-0.02 * V), 0.22 * np.exp(-0.01 * V), 0.3 * np.exp(-0.1 * V[:6]) + 0.01),
    "power": (0.2 * V**-0.4, 0.2 * V**-0.8, 0.15 * V**-1.3 + 0.001),
}
SEEDS, MOST_WRONG = range(40), 0.01


def wrong_and_right(planted: str, visible: Any = V) -> tuple[float, float]:
    """Shares of 120 noisy curves (5 % errors) that get the other law's name, and their own."""
    found = []
    for curve in PLANTED[planted]:
        for seed in SEEDS:
            rng = np.random.default_rng(seed)
            values = curve * np.exp(0.05 * rng.normal(size=len(curve)))
            again = values * np.exp(0.05 * rng.normal(size=(200, len(curve))))
            used = np.ones(len(curve), bool)
            found.append(fit_decay("subset", visible[: len(curve)], values, again, used).verdict)
    other = "power" if planted == "exponential" else "exponential"
    return found.count(other) / len(found), found.count(planted) / len(found)


@pytest.mark.parametrize("planted", ["exponential", "power"])
def test_one_law_is_not_called_the_other(planted: str) -> None:
    """At most 1 % of 120 curves get the wrong name and at least 90 % the right one; a judge that reads the counts on a
    logarithmic scale, or exponentiated, calls one law by the other's name and fails the same check."""
    wrong, right = wrong_and_right(planted)
    assert wrong <= MOST_WRONG and right >= 0.9, (wrong, right)
    twisted = np.exp(V / 40) if planted == "exponential" else 1 + np.log(V)
    wrong, right = wrong_and_right(planted, twisted)
    assert wrong > MOST_WRONG and right < 0.9, (wrong, right)


def test_a_flat_curve_has_no_law() -> None:
    """Labels that say nothing: 20 flat curves at the prior, no verdict, whichever counts are used."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        values = 0.25 * np.exp(0.01 * rng.normal(size=9))
        again = values * np.exp(0.01 * rng.normal(size=(200, 9)))
        onset = used_counts(values, [False] * 9, 0.25)
        assert not onset.any()
        for used in (onset, np.ones(9, bool)):
            assert fit_decay("subset", V, values, again, used).verdict == "cannot tell"


def test_shuffled_labels_have_no_verdict() -> None:
    """Texts whose labelled curve is exponential, dealt to the collections at random: nothing to tell, no law."""
    texts = product_texts(np.array([[0.4, 0.6], [0.6, 0.4]]), 300, 128, 0)
    options: dict[str, Any] = {"classifiers": ["unigram"], "longest": 128, "samplings": ["subset"]}
    true = corpus_uncertainty(texts, **options)
    assert true.verdict == "exponential"
    for seed in range(3):
        every = np.random.default_rng(seed).permutation(np.concatenate(list(texts.values()))).tolist()
        found = corpus_uncertainty({"a": every[:300], "b": every[300:]}, **options)
        assert found.verdict == "cannot tell"
        assert min(point.mmse.value for point in found.curve) > 0.24 > 10 * true.curve[-1].mmse.value
