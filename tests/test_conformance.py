"""Every check accepts what keeps its law and rejects a broken twin."""

import numpy as np
import pytest
from scipy.special import log_softmax, softmax

from maskov.conformance import (
    check_batch_independent,
    check_chain_frequencies,
    check_frequencies,
    check_ignores_hidden,
    check_ignores_own_token,
    check_joint_law,
    check_law_samples,
    check_model,
    check_no_forbidden_mass,
    check_normalised,
    check_padding_independent,
    check_predict_matches_logits,
    check_rows,
    check_sampler,
    check_schedule,
    check_scores_ignore_own_token,
    check_scores_match_logits,
    tail_row,
)
from maskov.errors import ConformanceError, InputError
from maskov.glauber.draw import draw_tokens
from maskov.glauber.kernel import stationary_law, transition_matrix
from maskov.laws import IsingRing, Tabular, enumerate_states, law, random_conditionals, random_tabular, state_index
from maskov.protocols import State

V, N = 3, 3
LAW = random_tabular(V, N, seed=0)
STATES = enumerate_states(V, N)
SITES = np.arange(len(STATES)) % N


class Wrapped:
    """A law behind the protocols, to be broken one method at a time."""

    vocabulary_size, n_sites = V, N

    def logits(self, states, sites):
        return LAW.logits(states, sites)

    def score_tokens(self, states, sites, tokens):
        return LAW.score_tokens(states, sites, tokens)

    def predict(self, states, hidden, sites):
        return LAW.predict(states, hidden, sites)


class Peeking(Wrapped):
    """Adds a little to the current token: the adapter that forgot to mask."""

    def __init__(self, size: float) -> None:
        self.size = size

    def logits(self, states, sites):
        rows = log_softmax(super().logits(states, sites), axis=1)
        rows[np.arange(len(states)), states[np.arange(len(states)), sites]] += self.size
        return rows


class TailPeeking(Wrapped):
    """Peeks at a token of probability 1e-12 only: invisible in total variation."""

    def logits(self, states, sites):
        rows = np.tile([0.0, -1.0, np.log(1e-12)], (len(states), 1))
        rows[states[np.arange(len(states)), sites] == 2, 2] += 0.1
        return rows


class BatchDependent(Wrapped):
    def logits(self, states, sites):
        return super().logits(states, sites) * (1 + 1e-3 * len(states))


class ShiftedScores(Wrapped):
    def score_tokens(self, states, sites, tokens):
        return super().score_tokens(states, sites, tokens) + 1e-3 * tokens


class PeekingScores(Wrapped):
    def score_tokens(self, states, sites, tokens):
        return super().score_tokens(states, sites, tokens) + 0.01 * (
            tokens == states[np.arange(len(states)), sites][:, None]
        )


class SeesHidden(Wrapped):
    def predict(self, states, hidden, sites):
        return LAW.logits(states, sites)


class OtherPrediction(Wrapped):
    def predict(self, states, hidden, sites):
        return LAW.predict(states, hidden, sites) * 1.01


class WithMass(Wrapped):
    forbidden = np.array([False, False, True])


def test_a_correct_adapter_passes_everything() -> None:
    checks = check_model(Wrapped(), STATES, SITES)
    assert set(checks) == {"rows", "own_token", "batch", "padding", "scores", "predict", "hidden"}
    assert all(check.deviation <= check.tolerance for check in checks.values())
    assert checks["padding"].checked == 0 and checks["own_token"].to_dict()["law"].startswith(
        "the conditional at a site"
    )


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (Peeking(0.5), "ignores the token there"),
        (Peeking(1e-7), "ignores the token there"),
        (TailPeeking(), "ignores the token there"),
        (BatchDependent(), "does not depend on its batch"),
        (ShiftedScores(), "score_tokens agrees with logits"),
        (PeekingScores(), "score_tokens agrees with logits"),
        (SeesHidden(), "ignores hidden tokens"),
        (OtherPrediction(), "predict with the site alone hidden"),
        (WithMass(), "special tokens have no mass"),
    ],
)
def test_every_broken_twin_is_refused_by_name(model, message: str) -> None:
    with pytest.raises(ConformanceError, match=message) as error:
        check_model(model, STATES, SITES)
    assert error.value.remedy and error.value.expected and error.value.came and error.value.exit_code == 2


def test_single_checks_and_their_twins() -> None:
    for check, twin in (
        (check_ignores_own_token, Peeking(0.5)),
        (check_batch_independent, BatchDependent()),
        (check_scores_match_logits, ShiftedScores()),
        (check_predict_matches_logits, OtherPrediction()),
        (check_scores_ignore_own_token, PeekingScores()),
    ):
        assert check(Wrapped(), STATES, SITES).deviation < 1e-11
        with pytest.raises(ConformanceError):
            check(twin, STATES, SITES)
    hidden = np.ones(STATES.shape, dtype=bool)
    assert check_ignores_hidden(Wrapped(), STATES, hidden, SITES).checked == 27
    with pytest.raises(ConformanceError, match="hidden"):
        check_ignores_hidden(SeesHidden(), STATES, hidden, SITES)


def test_float32_rounding_passes_with_its_tolerance_only() -> None:
    class Rounded(Wrapped):
        def logits(self, states, sites):
            noise = np.random.default_rng(len(states)).normal(scale=1e-5, size=(len(states), V))
            return (super().logits(states, sites) + noise).astype(np.float32)

        predict = None

    model = Rounded()
    check_batch_independent(model, STATES, SITES, tolerance=1e-3)
    with pytest.raises(ConformanceError, match="batch"):
        check_batch_independent(model, STATES, SITES)


def test_models_that_only_score_are_held_to_that_law() -> None:
    class Scores:
        vocabulary_size = V

        def score_tokens(self, states, sites, tokens):
            return LAW.score_tokens(states, sites, tokens)

    assert set(check_model(Scores(), STATES, SITES)) == {"own_token"}


class Padded(Wrapped):
    """Reads only what is no padding (token 2 here); its twin counts it."""

    pad_token_id = 2
    counts_padding = False

    def logits(self, states, sites):
        kept = states.copy()
        kept[np.arange(len(states)), sites] = 0
        if not self.counts_padding:
            kept = np.where(kept == 2, 0, kept)
        return np.stack([kept.sum(axis=1) * s for s in (0.1, 0.2, 0.3)], axis=1)


def test_padding() -> None:
    x, sites = STATES[(STATES < 2).all(axis=1)], np.zeros(8, dtype=int)
    twin = Padded()
    assert check_padding_independent(twin, x, sites).checked == 8
    twin.counts_padding = True
    with pytest.raises(ConformanceError, match="padding"):
        check_padding_independent(twin, x, sites)
    assert check_padding_independent(Wrapped(), x, sites).checked == 0


def test_states_of_a_codec() -> None:
    states = [State(np.array([0, 1, 2]), np.array([1, 2])), State(np.array([2, 0, 0]), np.array([0]))]
    assert check_model(Wrapped(), states)["rows"].checked == 2
    with pytest.raises(InputError, match="one length"):
        check_model(Wrapped(), [states[0], State(np.array([0]), np.array([0]))])
    with pytest.raises(InputError, match="at least one"):
        check_model(Wrapped(), [])


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[0.0, np.nan]], "NaN in row 0"),
        ([[0.0, 0.0], [0.0, np.inf]], r"\+inf in row 1"),
        ([[-np.inf, -np.inf]], "−inf only"),
        ([0.0, 1.0], "shape"),
        ([[0.0, 1.0, 2.0]], "shape"),
    ],
)
def test_unusable_rows(rows, message: str) -> None:
    with pytest.raises(ConformanceError, match=message):
        check_rows(np.array(rows), vocabulary_size=2)


def test_rows_that_do_not_sum_to_one() -> None:
    rows = np.log(np.array([[0.2, 0.8], [0.3, 0.6]]))
    check_rows(rows)
    with pytest.raises(ConformanceError, match="sum to 1"):
        check_normalised(rows)

    class Claims(Wrapped):
        def log_conditionals(self, states, sites):
            return LAW.logits(states, sites)

    with pytest.raises(ConformanceError, match="log-probabilities sum to 1"):
        check_model(Claims(), STATES, SITES)


def test_forbidden_flags_must_fit() -> None:
    with pytest.raises(ConformanceError, match="named"):
        check_no_forbidden_mass(Wrapped(), np.array([2]), STATES, SITES)


class WrongMass(IsingRing):
    def log_prob(self, states):
        return super().log_prob(states) + 1e-6


class WrongMarginal(IsingRing):
    def log_marginal(self, states, visible):
        return super().log_marginal(states, visible) + 1e-6 * (visible.sum(axis=1) == 2)


class WrongConditional(IsingRing):
    def logits(self, states, sites):
        return super().logits(states, sites) * (1 + 1e-6)


class WrongPrediction(IsingRing):
    def predict(self, states, hidden, sites):
        return super().predict(states, hidden, sites) * (1 + 1e-6)


@pytest.mark.parametrize(
    ("twin", "message"),
    [
        (WrongMass, "probabilities sum to 1"),
        (WrongMarginal, "marginals are sums"),
        (WrongConditional, "conditionals are ratios"),
        (WrongPrediction, "predictions are ratios"),
    ],
)
@pytest.mark.parametrize("sites", [4, 7])
def test_joint_laws_and_their_twins(twin, message: str, sites: int) -> None:
    check_joint_law(IsingRing(sites, 0.7))
    with pytest.raises(ConformanceError, match=message):
        check_joint_law(twin(sites, 0.7))


def test_joint_laws_beyond_enumeration_are_refused() -> None:
    with pytest.raises(InputError, match="to enumerate"):
        check_joint_law(law("ising-ring?sites=40&beta=0.5"))


class Schedule:
    """Hides each site with probability 0.4; twins get the law, the mass or the sites wrong."""

    def __init__(self, rate: float = 0.4, scale: float = 1.0, tilt: float = 0.0) -> None:
        self.rate, self.scale, self.tilt = rate, scale, tilt

    def visible_law(self, length):
        from scipy.stats import binom

        return self.scale * binom.pmf(np.arange(length + 1), length, 0.6)

    def sample_visible(self, length, size, rng):
        return rng.random((size, length)) >= self.rate + self.tilt * np.where(np.arange(length) % 2, 1, -1)


def test_schedules_and_their_twins() -> None:
    assert check_schedule(Schedule(), 12, uniform=True).p_value > 1e-4
    for twin, message in (
        (Schedule(rate=0.43), "draws follow"),
        (Schedule(scale=0.999), "sums to 1"),
        (Schedule(scale=-1), "is a law"),
    ):
        with pytest.raises(ConformanceError, match=message):
            check_schedule(twin, 12)
    check_schedule(Schedule(tilt=0.05), 12)
    with pytest.raises(ConformanceError, match="draws follow"):
        check_schedule(Schedule(tilt=0.05), 12, uniform=True)


def inverse_cdf(logits, rng):
    """The engine's own draw: float64, current token first (here the leader)."""
    B = len(logits)
    return draw_tokens(logits, np.ones(B), np.zeros(B, dtype=np.int64), rng.random(B)).tokens


def shared_inverse_cdf(logits, rng):
    """Float64 inverse CDF when all rows are the same: one cumulative sum for the batch."""
    cdf = np.cumsum(softmax(logits[0].astype(np.float64)))
    return np.minimum(np.searchsorted(cdf, rng.random(len(logits)) * cdf[-1], side="right"), len(cdf) - 1)


def float32_gumbel(logits, rng):
    """What peers do: float32 uniforms and clamps at 1e-10. Token 0 leads.

    −log(−log u) is below 16.7 for float32 u, so a leader above that cannot lose: the rest is not drawn there.
    """
    tiny = np.float32(1e-10)
    noise = lambda shape: -np.log(-np.log(rng.random(shape, dtype=np.float32) + tiny) + tiny)  # noqa: E731
    leader = logits[:, 0] + noise(len(logits))
    tokens = np.zeros(len(logits), dtype=np.int64)
    for b in np.flatnonzero(leader < 16.7):
        tail = logits[b, 1:] + noise(logits.shape[1] - 1)
        tokens[b] = tail.argmax() + 1 if tail.max() > leader[b] else 0
    return tokens


def test_tails_of_samplers() -> None:
    """30-engine §2: gap 18, 40,000 draws, 18.6 expected hits: float64 inverse CDF passes, float32 Gumbel does not."""
    expected = 40_000 * (1 - softmax(tail_row().astype(np.float64))[0])
    assert abs(expected - 18.6) < 0.05
    assert check_sampler(shared_inverse_cdf).draws == 40_000
    with pytest.raises(ConformanceError, match=r"draws in the tail, 18\.6 expected"):
        check_sampler(float32_gumbel)


def test_the_engines_draw_keeps_the_tail() -> None:
    """The same 18.6 expected hits at a gap of 12 in 300 tokens."""
    draws = int(18.6 * np.exp(12) / 299)
    assert check_sampler(inverse_cdf, tail_row(12.0, 300), draws=draws).p_value > 1e-4


@pytest.mark.slow
def test_the_engines_draw_keeps_the_tail_at_full_size() -> None:
    assert check_sampler(inverse_cdf).draws == 40_000


def test_samplers_wrong_in_the_body_or_shape() -> None:
    row = np.array([1.0, 0.5, 0.0, -1.0], dtype=np.float32)
    check_sampler(inverse_cdf, row, draws=20_000)
    with pytest.raises(ConformanceError, match="groups compared"):
        check_sampler(lambda logits, rng: inverse_cdf(0.9 * logits, rng), row, draws=20_000)
    with pytest.raises(ConformanceError, match="returns tokens"):
        check_sampler(lambda logits, rng: np.zeros(3), row)
    with pytest.raises(ConformanceError, match="probability 0"):
        check_sampler(lambda logits, rng: np.full(len(logits), 1), np.array([0.0, -np.inf, 0.0]), draws=100)


def test_frequency_test_is_calibrated() -> None:
    """p-values of correct draws: none too small, and small ones about as often as they should be."""
    rng, p = np.random.default_rng(0), np.random.default_rng(1).dirichlet(np.full(50, 0.2))
    values = np.array([check_frequencies(rng.multinomial(2000, p), p, level=0.0).p_value for _ in range(300)])
    assert values.min() > 1e-4 and (values < 0.1).mean() < 0.16
    with pytest.raises(InputError, match="counts"):
        check_frequencies([1, 2, 3], [0.5, 0.5])
    with pytest.raises(InputError, match="sums to 1"):
        check_frequencies([1, 2], [0.5, 0.6])


def simulate(conditionals, steps: int, chains: int, seed: int) -> np.ndarray:
    """State numbers [T, B] of the random-scan chain, drawn by the engine's draw."""
    rng, x = np.random.default_rng(seed), np.zeros((chains, N), dtype=np.int64)
    out, rows = np.empty((steps, chains), dtype=np.int64), np.arange(chains)
    for t in range(steps):
        i = rng.integers(N, size=chains)
        x[rows, i] = draw_tokens(conditionals.logits(x, i), np.ones(chains), x[rows, i], rng.random(chains)).tokens
        out[t] = state_index(x, V)
    return out


@pytest.mark.parametrize("known", [True, False])
def test_chain_frequencies_of_a_correct_chain_and_of_one_that_peeks(known: bool) -> None:
    P = transition_matrix(LAW, N)
    pi = stationary_law(P)
    check_chain_frequencies(simulate(LAW, 1500, 40, seed=1)[100:], pi, P if known else None)
    peeking = simulate(Peeking(0.5), 1500, 40, seed=1)[100:]
    with pytest.raises(ConformanceError, match="stationary law"):
        check_chain_frequencies(peeking, pi, P if known else None)


def test_chain_frequencies_without_a_joint_law_and_bad_visits() -> None:
    conditionals = random_conditionals(V, N, seed=3)
    pi = stationary_law(transition_matrix(conditionals, N))
    visits = simulate(conditionals, 1500, 40, seed=2)[100:]
    assert check_chain_frequencies(visits, pi).p_value > 1e-4
    for bad in (visits[:10], visits + 27):
        with pytest.raises(InputError, match="visits"):
            check_chain_frequencies(bad, pi)


def test_naive_counts_of_a_chain_would_mislead() -> None:
    """The reason for the correction: a sticky chain fails the independent test and passes the corrected one."""
    p = Tabular(np.log(np.array([0.5, 0.5])))
    rng, T = np.random.default_rng(0), 40_000
    stays = rng.random(T) < 0.95
    visits = np.cumsum(~stays) % 2
    P = np.array([[0.95, 0.05], [0.05, 0.95]])
    results = [
        check_frequencies(
            np.bincount(np.cumsum(~(np.random.default_rng(s).random(4000) < 0.95)) % 2, minlength=2),
            [0.5, 0.5],
            level=0.0,
        ).p_value
        for s in range(40)
    ]
    assert min(results) < 1e-4
    assert check_chain_frequencies(visits, np.exp(p.table), P).p_value > 1e-4
    corrected = [
        check_chain_frequencies(
            np.cumsum(~(np.random.default_rng(s).random(4000) < 0.95)) % 2, [0.5, 0.5], P, level=0.0
        ).p_value
        for s in range(40)
    ]
    assert min(corrected) > 1e-3 and 0.3 < np.median(corrected) < 0.7


def test_law_samples_of_another_shape() -> None:
    class Short(IsingRing):
        def sample(self, rng, size):
            return super().sample(rng, size)[:, :-1]

    with pytest.raises(ConformanceError, match="samples are states"):
        check_law_samples(Short(4, 0.5))
