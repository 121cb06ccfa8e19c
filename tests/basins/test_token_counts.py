"""Token-count basins: exact envelopes, certificates against exact escape times, the scan against its definition."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.special import softmax

from maskov.basins import count_moves, log_odds, token_basins
from maskov.basins.token_counts_profile import Effort, profile
from maskov.basins.token_counts_scan import filled, frame_of, rank_tokens
from maskov.errors import InputError
from maskov.glauber.kernel import magnetisation_chain, transition_matrix
from maskov.laws import enumerate_states, random_conditionals
from maskov.models import load
from maskov.models.views import LawModel
from maskov.protocols import State
from maskov.quantities import Bound, Estimate


def exact_escape(n: int, beta: float, k0: int) -> float:
    killed = magnetisation_chain(n, beta)[k0:, k0:]
    return float(np.linalg.solve(np.eye(len(killed)) - killed, np.ones(len(killed)))[-1])


def test_moves_are_the_kernels() -> None:
    p, states = random_conditionals(3, 4, seed=5), enumerate_states(3, 4)
    P = transition_matrix(p, 4, 0.7).toarray()
    count = (states == 2).sum(axis=1)
    up, down = count_moves(p, states, np.arange(4), 2, 0.7)
    assert up == pytest.approx((P * (count[None] == count[:, None] + 1)).sum(axis=1), abs=1e-12)
    assert down == pytest.approx((P * (count[None] == count[:, None] - 1)).sum(axis=1), abs=1e-12)


def test_log_odds_keep_their_digits() -> None:
    rows = np.array([[0.0, 80.0, -np.inf], [0.0, 1.0, 2.0]])
    odds = log_odds(rows, np.array([1, 0]), 1.0)
    assert odds == pytest.approx([80.0, -np.log(np.exp(1) + np.exp(2))])
    assert log_odds(rows, np.array([2, 2]), 1.0)[0] == -np.inf


@pytest.mark.parametrize(("n", "beta"), [(8, 1.5), (10, 1.3), (12, 2.0)])
def test_certificate_of_curie_weiss_is_its_exact_mean_escape(n: int, beta: float) -> None:
    found = token_basins(load(f"law:curie-weiss?sites={n}&beta={beta}"), profiles=1, replicas=2)
    p = found.profiles[0]
    assert isinstance(p.certificate, Bound) and p.certificate.side == "lower" and "certificate" in p.assumptions
    assert p.certificate.value == pytest.approx(exact_escape(n, beta, p.window[0]), rel=1e-9)
    assert p.rising is not None and p.rising[0] == p.window[0] == n // 2 + 1  # the saddle of a symmetric law
    assert p.certified  # states of one count are alike
    assert sum(p.states) == 2**n


def test_certificate_is_never_above_the_exact_escape_where_states_of_one_count_differ() -> None:
    for seed in range(8):
        p, n = random_conditionals(2, 6, seed=seed), 6
        found = token_basins(LawModel(p, name=f"random {seed}"), profiles=2, replicas=2).profiles
        P, states = transition_matrix(p, n).toarray(), enumerate_states(2, n)
        for basin in found:
            inside = (states == basin.token).sum(axis=1) >= basin.window[0]
            start = int(np.flatnonzero((states[inside] == basin.token).all(axis=1))[0])
            times = np.linalg.solve(np.eye(inside.sum()) - P[np.ix_(inside, inside)], np.ones(inside.sum()))
            assert basin.certificate.value <= times[start] * (1 + 1e-9)
            if basin.rising is not None:
                stretch = slice(basin.rising[0], basin.rising[1] + 1)
                gaps = np.array(basin.up_min)[stretch] - np.array(basin.down_max)[stretch]
                assert basin.certified == (gaps > 0).all()


def test_a_twin_with_envelopes_the_wrong_way_round_breaks_the_certificate() -> None:
    from maskov.basins import leaving_times

    broken = 0
    for seed in range(8):
        p, n, k0 = random_conditionals(2, 6, seed=seed), 6, 3
        states = enumerate_states(2, n)
        up, down = count_moves(p, states, np.arange(n), 1, 1.0)
        count = states.sum(axis=1)
        best = [(up[count == k].max() if k < n else 0.0, down[count == k].min()) for k in range(k0, n + 1)]
        P, inside = transition_matrix(p, n).toarray(), count >= k0
        times = np.linalg.solve(np.eye(inside.sum()) - P[np.ix_(inside, inside)], np.ones(inside.sum()))
        broken += bool(leaving_times(*np.array(best).T)[-1] > times[-1])
    assert broken >= 6


def test_chains_escape_no_sooner_than_certified() -> None:
    for name in ("law:curie-weiss?sites=10&beta=1.4", "law:potts?sites=8&symbols=3&beta=2"):
        p = token_basins(load(name), profiles=1, replicas=200, seed=3).profiles[0]
        assert p.escaped >= 100
        assert p.measured_escape.value > p.certificate.value - 3 * p.measured_escape.stderr


def test_sampled_envelopes_are_an_estimate_and_say_so() -> None:
    n, beta = 24, 1.4
    p = token_basins(load(f"law:curie-weiss?sites={n}&beta={beta}"), profiles=1, replicas=2).profiles[0]
    assert isinstance(p.certificate, Estimate) and "Empirical" in p.assumptions
    # Exchangeable: every state of a count has the same moves, so that sampling loses nothing here.
    assert p.certificate.value == pytest.approx(exact_escape(n, beta, p.window[0]), rel=1e-9)
    assert p.k == tuple(range(n + 1)) and min(p.states) >= 1 and p.window[0] > n // 2
    drift = [q.value for q in p.drift]
    assert drift == pytest.approx([u.value - d.value for u, d in zip(p.up, p.down, strict=True)])


def test_without_coupling_the_token_has_no_basin_at_the_top() -> None:
    found = token_basins(LawModel(Flat(), name="flat"), profiles=1, replicas=8)
    basin = found.profiles[0]
    assert [r.probability.value for r in found.ranking] == pytest.approx([1 / 3] * 3)
    assert [q.value for q in basin.up] == pytest.approx([(4 - k) / 12 for k in range(5)])
    assert [q.value for q in basin.down] == pytest.approx([k / 6 for k in range(5)])
    assert basin.rising == (1, 1)  # one of four is below the mean of 4/3, so the count hovers and keeps no window above


class Flat:
    """Three symbols, all the same to it."""

    vocabulary_size, n_sites = 3, 4

    def logits(self, states, sites):
        return np.zeros((len(states), 3))

    def score_tokens(self, states, sites, tokens):
        return np.zeros(tokens.shape)


def test_scan_is_its_definition_on_a_network() -> None:
    model = load("en-tiny")
    frame = frame_of(model.encode("some text here"), 6)
    some = model.forbidden.copy()
    kept = np.flatnonzero(~model.forbidden)[::1500]
    some[:] = True
    some[kept] = False

    class Few:
        """The network with a vocabulary of twenty."""

        def __getattr__(self, name):
            return getattr(model, name)

        forbidden = some

        def logits(self, states, sites):
            rows = model.logits(states, sites).copy()
            rows[:, some] = -np.inf
            return rows

    found = rank_tokens(Few(), frame, 0.8, 5)
    states = filled(frame, kept)
    assert (states[:, [0, -1]] == frame.tokens[[0, -1]]).all() and states.shape == (len(kept), 8)
    rows = Few().logits(states, np.full(len(kept), frame.free[3])).astype(np.float64) / 0.8
    p = softmax(rows, axis=1)[np.arange(len(kept)), kept]
    order = np.argsort(-p)[:5]
    assert [r.token for r in found] == kept[order].tolist()
    assert [r.probability.value for r in found] == pytest.approx(p[order].tolist(), rel=1e-4)
    assert found[0].text == model.token_text(found[0].token)


def test_profile_on_a_network_counts_what_it_plants() -> None:
    model = load("en-tiny")
    frame = frame_of(model.encode("some text here"), 4)
    ranked = rank_tokens(_Small(model), frame, 1.0, 1)[0]
    rest = np.stack([model.encode(t).tokens[1:5] for t in ("the cat sat on the mat", "he was an american writer")])
    p = profile(model, frame, ranked, rest, 1.0, 0, Effort(planted=2, visited=2, replicas=3, sweeps=5))
    assert len(p.k) == 5 and all(count >= 1 for count in p.states)
    assert p.up[4].value == 0 and p.down[0].value == 0
    assert isinstance(p.certificate, Estimate) and p.certificate.value >= 1
    assert p.replicas == 3 and p.horizon == 20


class _Small:
    def __init__(self, model):
        self.model = model
        self.forbidden = model.forbidden.copy()
        self.forbidden[3000:] = True

    def __getattr__(self, name):
        return getattr(self.model, name)


def test_same_seed_same_record() -> None:
    model = load("law:potts?sites=6&symbols=3&beta=1.5")
    first, second = (json.dumps(token_basins(model, seed=4).to_dict(), allow_nan=False) for _ in range(2))
    assert first == second


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"temperature": -1.0}, "temperature"),
        ({"top": 0}, "top"),
        ({"profiles": -1}, "profiles"),
        ({"replicas": 0}, "replicas"),
    ],
)
def test_bad_input_is_named(options, message: str) -> None:
    with pytest.raises(InputError, match=message):
        token_basins(load("law:curie-weiss?sites=4&beta=1"), **options)


def test_frames_have_two_sites_at_least() -> None:
    with pytest.raises(InputError, match="sites"):
        frame_of(State(np.array([1, 2, 3]), np.array([1])), 1)
