import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from maskov.randomness import Stream, choose_site, draws, generator, uniforms, words


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**63), chain=st.integers(0, 2**40), start=st.integers(0, 2**40), cut=st.integers(1, 9))
def test_a_stream_may_be_cut_anywhere(seed: int, chain: int, start: int, cut: int) -> None:
    """30-engine §1: a draw is a pure function of (seed, chain, step)."""
    whole = words(seed, chain, start, 10)
    assert (np.concatenate([words(seed, chain, start, cut), words(seed, chain, start + cut, 10 - cut)]) == whole).all()


def test_a_chain_does_not_depend_on_its_batch() -> None:
    together = draws(7, np.array([4, 9, 0]), 100, 50)
    alone = draws(7, np.array([9]), 120, 30)
    for a, b in zip(together, alone, strict=True):
        assert a.shape == (50, 3) and (a[20:, 1] == b[:, 0]).all()


def test_seeds_chains_steps_and_streams_differ() -> None:
    seen = [words(seed, chain, 0, 50, stream) for seed in (0, 1) for chain in (0, 1) for stream in Stream]
    values = np.concatenate([w.ravel() for w in seen])
    assert len(np.unique(values)) == len(values)


def test_known_words() -> None:
    """Philox-4x64 of counter and key (seed, chain): a change of library or layout would change every stored chain."""
    direct = np.random.Philox(
        key=np.array([3, 5], dtype=np.uint64), counter=np.array([11, 2, 0, 0], dtype=np.uint64)
    ).random_raw(4)
    assert (words(3, 5, 11, 1, Stream.GUMBEL)[0] == direct).all()


def test_uniforms_are_uniform_and_below_one() -> None:
    d = draws(1, np.arange(4), 0, 5000)
    for field in d:
        assert field.min() >= 0 and field.max() < 1
        assert stats.kstest(field.ravel(), "uniform").pvalue > 1e-4
    for a, b in ((d.site, d.token), (d.token[:-1], d.token[1:]), (d.token[:, 0], d.token[:, 1])):
        assert abs(np.corrcoef(a.ravel(), b.ravel())[0, 1]) < 4 / np.sqrt(a.size)


def test_the_largest_word_stays_below_one() -> None:
    top = uniforms(np.array([2**64 - 1, 0], dtype=np.uint64))
    assert top[0] == 1 - 2**-53 and top[1] == 0


def test_sites_are_chosen_uniformly_among_the_free_ones() -> None:
    free, n = np.array([[2, 5, 7], [1, 0, 0]]), np.array([3, 1])
    assert choose_site(np.array([1 - 2**-53, 1 - 2**-53]), free, n).tolist() == [7, 1]
    u = draws(0, np.array([0]), 0, 6000).site[:, 0]
    counts = np.bincount(choose_site(u, np.tile(free[:1], (6000, 1)), np.full(6000, 3)), minlength=8)[[2, 5, 7]]
    assert stats.chisquare(counts).pvalue > 1e-4


@pytest.mark.parametrize("stream", [Stream.STUDY, Stream.BOOTSTRAP])
def test_study_generators_repeat_and_do_not_touch_the_chains_draws(stream: Stream) -> None:
    assert (generator(3, 1, stream).random(5) == generator(3, 1, stream).random(5)).all()
    assert not np.isin(generator(3, 1, Stream.GLAUBER).random(200), uniforms(words(3, 1, 0, 200))).any()
