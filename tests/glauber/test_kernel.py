import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from maskov.errors import InputError
from maskov.glauber.kernel import (
    count_chain,
    entropy_production_rate,
    is_reversible,
    magnetisation_chain,
    magnetisation_mixing_time,
    mixing_time,
    site_matrix,
    spectral_gap,
    stationary_law,
    total_variation_decay,
    transition_matrix,
)
from maskov.laws import (
    CurieWeiss,
    Tabular,
    as_log_table,
    enumerate_states,
    law,
    perturbed,
    random_conditionals,
    random_tabular,
    reference_mixture,
)

V, N = 3, 3


def tempered(p, tau: float) -> np.ndarray:
    table = as_log_table(p).ravel() / tau
    weights = np.exp(table - table.max())
    return weights / weights.sum()


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10**6), concentration=st.floats(0.3, 3))
@pytest.mark.parametrize("scan", ["random", "systematic"])
def test_joint_laws_are_stationary(scan, seed: int, concentration: float) -> None:
    """πK = π by enumeration: the chain of p's conditionals keeps p, at either scan."""
    p = random_tabular(V, N, seed, concentration)
    P, pi = transition_matrix(p, N, scan=scan), np.exp(p.table.ravel())
    assert np.abs(pi @ P - pi).sum() < 1e-13
    found = stationary_law(P)
    assert np.abs(found @ P - found).sum() < 1e-14
    np.testing.assert_allclose(found, pi, rtol=1e-9)


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10**6), tau=st.floats(0.3, 3))
def test_entropy_production_is_zero_exactly_for_joint_laws(seed: int, tau: float) -> None:
    """10-dynamics §3: σ = 0 on joint laws to 1e-12, σ > 0 on incompatible conditionals (V = 3, n = 3)."""
    P = transition_matrix(random_tabular(V, N, seed), N, tau)
    pi = stationary_law(P)
    assert 0 <= entropy_production_rate(P, pi) < 1e-12 and is_reversible(P, pi)
    Q = transition_matrix(random_conditionals(V, N, seed), N, tau)
    mu = stationary_law(Q)
    assert np.abs(mu @ Q - mu).sum() < 1e-14
    assert entropy_production_rate(Q, mu) > 1e-3 and not is_reversible(Q, mu)


def test_entropy_production_by_its_definition_and_growth_with_the_defect() -> None:
    """σ = Σ π P log(P/Pᵀ) by a plain double loop; quadratic in a small defect."""
    P = transition_matrix(random_conditionals(V, N, 1), N)
    pi, A = stationary_law(P), P.toarray()
    direct = sum(
        pi[x] * A[x, y] * np.log(A[x, y] / A[y, x]) for x in range(27) for y in range(27) if x != y and A[x, y] > 0
    )
    assert abs(entropy_production_rate(P, pi) - direct) < 1e-13
    rates = []
    for strength in (1e-4, 1e-3, 1e-2):
        Q = transition_matrix(perturbed(random_tabular(V, N, 0), strength), N)
        rates.append(entropy_production_rate(Q, stationary_law(Q)))
    assert abs(rates[1] / rates[0] - 100) < 2 and abs(rates[2] / rates[1] - 100) < 10


def test_trajectory_mean_of_the_conditional_log_ratio_is_the_rate() -> None:
    """10-dynamics §3: the stationary mean of ℓ_i(new) − ℓ_i(old) is σ: here by enumeration over steps."""
    c = random_conditionals(V, N, seed=6)
    pi, states, total = stationary_law(transition_matrix(c, N)), enumerate_states(V, N), 0.0
    for i in range(N):
        rows = c.logits(states, np.full(27, i))
        old = rows[np.arange(27), states[:, i]]
        total += (pi * ((np.exp(rows) * rows).sum(axis=1) - old)).sum() / N
    P = transition_matrix(c, N)
    assert abs(total - entropy_production_rate(P, pi)) < 1e-13


def test_moves_without_a_way_back() -> None:
    P = np.array([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [0.5, 0.0, 0.5]])
    pi = stationary_law(P)
    np.testing.assert_allclose(pi, np.full(3, 1 / 3))
    assert entropy_production_rate(P, pi) == np.inf and not is_reversible(P, pi)


@pytest.mark.parametrize("tau", [0.1, 0.5, 1.0, 2.0])
def test_temperature_is_a_power_of_the_law(tau: float) -> None:
    """Every entry to 1e-9 relative, also where the cold chain is all but stuck: π spans thirty orders of magnitude."""
    p = random_tabular(V, N, seed=8)
    np.testing.assert_allclose(stationary_law(transition_matrix(p, N, tau)), tempered(p, tau), rtol=1e-9)


def test_the_matrix_entry_of_section_1() -> None:
    """10-dynamics §1: P(x, y) = (1/n) p_i(y_i | x_{-i}) for y that differs from x at i at most."""
    p, states = random_tabular(V, N, 3), enumerate_states(V, N)
    A = transition_matrix(p, N).toarray()
    probability = np.exp(p.table)

    def conditional(x: np.ndarray, y: np.ndarray, i: int) -> float:
        context = tuple(slice(None) if k == i else x[k] for k in range(N))
        return float(probability[tuple(y)] / probability[context].sum())

    for x in range(0, 27, 5):
        for y in range(27):
            differ = np.flatnonzero(states[x] != states[y])
            moves = range(N) if len(differ) == 0 else differ if len(differ) == 1 else []
            assert abs(A[x, y] - sum(conditional(states[x], states[y], i) for i in moves) / N) < 1e-14


def test_systematic_sweeps_are_products_of_site_updates() -> None:
    c = random_conditionals(V, N, seed=0)
    product = np.linalg.multi_dot([site_matrix(c, N, i).toarray() for i in range(N)])
    np.testing.assert_allclose(transition_matrix(c, N, scan="systematic").toarray(), product, atol=1e-15)


@pytest.mark.parametrize(("sites", "steps"), [(32, 114), (64, 273), (128, 635), (256, 1450)])
def test_curie_weiss_mixing_times_of_section_6(sites: int, steps: int) -> None:
    """10-dynamics §6: t_mix(1/4) at β = 0.5; 1.02–1.03 × n log n / (2(1 − β)) on three of the four sizes."""
    assert magnetisation_mixing_time(sites, 0.5) == steps
    assert 1.01 < steps / (sites * np.log(sites) / (2 * 0.5)) < 1.04


@pytest.mark.parametrize("beta", [0.3, 0.8, 1.3])
def test_the_count_of_pluses_is_the_whole_chain(beta: float) -> None:
    """Lumping is exact: the chain of 2^6 states mixes when the chain of counts does, all plus the worst start."""
    p = CurieWeiss(6, beta)
    P, pi = transition_matrix(p, 6), np.exp(as_log_table(p).ravel())
    counts, law_of_counts = magnetisation_chain(6, beta), np.exp(p.log_count_law())
    np.testing.assert_allclose(stationary_law(counts), law_of_counts, rtol=1e-10)
    assert magnetisation_mixing_time(6, beta) == mixing_time(P, pi, starts=[63]) == mixing_time(P, pi)
    assert abs(spectral_gap(P, pi) - spectral_gap(counts, law_of_counts)) < 1e-12


@pytest.mark.parametrize(("n", "gap"), [(8, 0.02054035), (16, 0.002221945), (32, 4.788198e-5), (64, 2.864378e-8)])
def test_gaps_of_the_reference_law_of_section_7(n: int, gap: float) -> None:
    """20-identifiability §7: single-site Glauber on the product mixture, g = 0.3, w = 0.3, by the chain of counts."""
    p = reference_mixture(n, 0.3, 0.3)
    x = np.tril(np.ones((n, n), dtype=np.int64), -1)  # k ones first, k = 0 … n − 1; the last site is never one of them
    rows = p.logits(x, np.full(n, n - 1))
    chain = count_chain(expit(rows[:, 1] - rows[:, 0]))
    assert abs(spectral_gap(chain, stationary_law(chain)) / gap - 1) < 3e-7


def test_gap_of_known_chains() -> None:
    independent = law("curie-weiss?sites=4&beta=0")
    P = transition_matrix(independent, 4)
    assert abs(spectral_gap(P, stationary_law(P)) - 1 / 4) < 1e-12  # product law: 1/n
    turn = np.array([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [0.5, 0.0, 0.5]])
    assert abs(spectral_gap(turn, np.full(3, 1 / 3)) - 0.5) < 1e-12  # |½ + ½e^{2πi/3}| = ½
    assert spectral_gap(np.ones((1, 1)), np.ones(1)) == 1.0


@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 10**6), epsilon=st.sampled_from([0.4, 0.25, 0.01]))
def test_mixing_time_is_the_first_step_below_epsilon(seed: int, epsilon: float) -> None:
    P = transition_matrix(random_conditionals(2, 4, seed, strength=2.0), 4)
    pi = stationary_law(P)
    decay = np.stack([total_variation_decay(P, pi, x, 400) for x in range(16)]).max(axis=0)
    assert (np.diff(decay) <= 1e-15).all() and decay[-1] < epsilon
    assert mixing_time(P, pi, epsilon) == int(np.argmax(decay <= epsilon))
    assert mixing_time(P, pi, 0.999999) <= mixing_time(P, pi, epsilon)


def test_relaxation_and_mixing_agree() -> None:
    """(t_rel − 1) log(1/2ε) ≤ t_mix(ε) ≤ t_rel log(1/(ε π_min)) [Levin & Peres, theorems 12.4 and 12.5]."""
    p = law("ising-ring?sites=6&beta=0.8")
    P, pi = transition_matrix(p, 6), np.exp(as_log_table(p).ravel())
    relaxation, t = 1 / spectral_gap(P, pi), mixing_time(P, pi)
    assert (relaxation - 1) * np.log(2) <= t <= relaxation * np.log(4 / pi.min())


def test_slow_chains_are_found_by_doubling() -> None:
    slow = np.array([[1 - 1e-9, 1e-9], [1e-9, 1 - 1e-9]])
    t = mixing_time(slow, np.array([0.5, 0.5]))
    assert abs(t / (np.log(2) / 2e-9) - 1) < 1e-4
    with pytest.raises(InputError, match="a slower chain"):
        mixing_time(slow, np.array([0.5, 0.5]), most=10**6)


def test_large_chains_use_the_sparse_solve() -> None:
    p = random_tabular(2, 11, seed=0)
    P = transition_matrix(p, 11)
    np.testing.assert_allclose(stationary_law(P), np.exp(p.table.ravel()), atol=1e-14)


def test_bad_input() -> None:
    p = random_tabular(2, 2)
    for tau in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(InputError, match="temperature"):
            transition_matrix(p, 2, tau)
    with pytest.raises(InputError, match="scan"):
        transition_matrix(p, 2, scan="zigzag")  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"none at site 0 of state \[0, 1\]"):
        transition_matrix(Tabular(np.array([[0.0, -np.inf], [0.0, -np.inf]])), 2)
    for epsilon in (0.0, 1.0, np.nan):
        with pytest.raises(InputError, match="epsilon"):
            mixing_time(np.eye(2), np.ones(2) / 2, epsilon)
    with pytest.raises(InputError, match="reaches every state"):
        stationary_law(np.eye(3))
    with pytest.raises(InputError, match="reaches every state"):
        stationary_law(np.array([[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.0, 0.5, 0.5]]))
    with pytest.raises(InputError, match="4096 states"):
        spectral_gap(transition_matrix(random_tabular(2, 13), 13), np.ones(2**13))
    with pytest.raises(InputError, match="states to enumerate"):
        transition_matrix(law("curie-weiss?sites=30&beta=1"), 30)


def test_laws_with_impossible_states_run_where_contexts_exist() -> None:
    """A law on a path of states: rows exist, the chain leaves impossible states and never returns."""
    p = Tabular(np.log(np.array([[0.4, 0.3], [0.3, 1e-300]])) + np.array([[0, 0], [0, -np.inf]]))
    P = transition_matrix(p, 2)
    pi = np.array([0.4, 0.3, 0.3, 0.0])
    assert np.abs(pi @ P - pi).sum() < 1e-15 and P[0, 3] == 0
