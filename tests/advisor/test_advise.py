"""The advice keeps its promise: the share that it names is enough, and a smaller one is not."""

from __future__ import annotations

import math

import numpy as np
import pytest

from maskov.advisor import LawGround, advise
from maskov.advisor.advise import certified_share, mixed, round_up, smallest_share
from maskov.advisor.ground import directions, moved
from maskov.errors import InputError
from maskov.laws import law
from maskov.schedules import schedule

LAW = "product?sites=32&gap=0.3&weight=0.3"
GROUND, LONG = LawGround(law(LAW)), LawGround(law("product?sites=64&gap=0.3&weight=0.3"))


@pytest.mark.parametrize("old", ["bert", "hide:1", "uniform:0.1,0.4", "0.5*bert+0.5*hide:1", "uniform*1/t"])
@pytest.mark.parametrize("added", ["full", "visible:1", "visible:3"])
@pytest.mark.parametrize("tolerance", [0.02, 0.1])
def test_the_share_is_enough_and_a_smaller_one_is_not(old: str, added: str, tolerance: float) -> None:
    epsilon = 1e-4
    share = smallest_share(GROUND, schedule(old), schedule(added), tolerance, epsilon)
    assert share is not None
    if share == 0:
        assert GROUND.left_open(schedule(old), epsilon).value <= tolerance * (1 + 1e-9)
        return
    at, below = (GROUND.left_open(mixed(schedule(old), added, s), epsilon).value for s in (share, 0.97 * share))
    assert at == pytest.approx(tolerance, rel=1e-6)
    assert below > tolerance * 1.005


def test_a_broken_rule_is_seen() -> None:
    """The twin that treats the two directions as one (only the cheaper ray) promises too little."""
    epsilon, t = 1e-4, 0.25
    one = []
    for d in directions(LONG.weights):
        other = moved(LONG.weights, d, t)
        assert other is not None
        old, new = (LONG.price(schedule(name), other) for name in ("bert", "full"))
        one.append((epsilon - old) / (new - old))
    share = smallest_share(LONG, schedule("bert"), schedule("full"), t, epsilon)
    assert share == pytest.approx(max(one), rel=1e-3) and min(one) < 0.9 * max(one)
    assert LONG.left_open(mixed(schedule("bert"), "full", min(one)), epsilon).value > t * 1.01


def test_the_certificate_is_pinskers() -> None:
    share = certified_share(GROUND, schedule("bert"), 0.05, 1e-3)
    assert share == pytest.approx(1e-3 / (2 * 0.05**2))
    assert certified_share(GROUND, schedule("bert"), 0.02, 1e-3) is None  # more than all sequences
    assert certified_share(GROUND, schedule("0.7*bert+0.3*full"), 0.05, 1e-3) == 0.0
    found = advise(GROUND, "bert", tolerance=0.05, excess_loss=1e-3)
    assert found.fixes[0].standing is not None and found.fixes[0].standing.certified.value <= 0.05
    assert found.fixes[0].standing.verdict == "certified"


def test_what_is_unreachable_is_said() -> None:
    found = advise(GROUND, "bert", tolerance=0.001, excess_loss=0.01)
    assert all(fix.share is None for fix in found.fixes) and found.recommended == "bert"
    assert any("No share of sequences" in sentence for sentence in found.sentences)


def test_a_schedule_that_is_good_enough_stays() -> None:
    found = advise(GROUND, "0.5*bert+0.5*full", tolerance=0.1, excess_loss=1e-3)
    assert found.standing.verdict == "certified" and found.recommended == "0.5*bert+0.5*full"
    assert "Nothing needs to change." in found.sentences


def test_the_recommendation_is_a_schedule_and_reaches_the_tolerance() -> None:
    found = advise(LONG, "bert", tolerance=0.05, excess_loss=1e-4)
    mu = schedule(found.recommended)
    assert mu.text == found.recommended
    assert LONG.left_open(mu, 1e-4).value <= 0.05
    assert found.standing.verdict == "blind" and found.recommended in found.snippet
    low = [fix.share for fix in found.fixes if fix.promise == "witness family" and fix.share is not None]
    assert low == sorted(low)  # fewer visible sites need a smaller share


def test_costs_are_those_of_the_mixture() -> None:
    fix = next(f for f in advise(GROUND, "bert", excess_loss=1e-4).fixes if f.promise == "witness family")
    assert fix.schedule is not None and fix.share is not None and fix.lost == fix.share
    old, new = schedule("bert").mean_visible(32), schedule(fix.schedule).mean_visible(32)
    assert fix.mean_visible_change == pytest.approx(new / old - 1)
    assert fix.predictions_change == pytest.approx((32 - new) / (32 - old) - 1)


def test_three_modes() -> None:
    rng = np.random.default_rng(0)
    from maskov.laws import ProductMixture

    rows = rng.dirichlet(np.ones(3), size=(3, 1)).repeat(10, axis=1)
    ground = LawGround(ProductMixture(np.array([0.5, 0.3, 0.2]), rows))
    share = smallest_share(ground, schedule("hide:1"), schedule("full"), 0.05, 1e-3)
    assert share is not None and 0 < share < 1
    whole = mixed(schedule("hide:1"), "full", share)
    prices = [
        ground.price(whole, b) for d in directions(ground.weights) if (b := moved(ground.weights, d, 0.05)) is not None
    ]
    assert min(prices) == pytest.approx(1e-3, rel=1e-6)


def test_rounding_never_promises_too_little() -> None:
    for share in np.geomspace(1e-6, 1, 200):
        assert share * (1 - 1e-9) <= round_up(float(share)) <= min(1.0, share * 1.011)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tolerance": 0.0}, "tolerance"),
        ({"tolerance": 1.0}, "tolerance"),
        ({"tolerance": math.nan}, "tolerance"),
        ({"excess_loss": 0.0}, "excess loss"),
        ({"excess_loss": math.inf}, "excess loss"),
        ({"length": 7}, "the law's sites"),
    ],
)
def test_wrong_questions(options: dict[str, float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        advise(LAW, "bert", **options)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="a law with modes"):
        advise("ising-ring?sites=6&beta=0.5", "bert")
