"""A team: every learner in it is what it would be alone, and it obeys the laws of a learner."""

from typing import Any

import numpy as np
import pytest
from llr_service.problems import Problem
from llr_service.sessions.config import SessionConfig, ShadowConfig
from llr_service.sessions.ensemble import (
    AnyLearner,
    Ensemble,
    add_shadow,
    current_config,
    new_ensemble,
    promote_shadow,
    remove_shadow,
    theta_of,
)
from llr_service.sessions.packing import from_plain, pack, to_plain, unpack

import llr

RNG = np.random.default_rng(8)
X = RNG.normal(size=(60, 2))
Y = X @ [1.0, -2.0] + 0.1 * RNG.normal(size=60)
CONFIG = SessionConfig(
    model="linear",
    dim=2,
    algorithm="sg/ag",
    shadows={"auto": ShadowConfig(algorithm="auto"), "sg": ShadowConfig(algorithm="sg", eta0=0.1)},
)


def team_of(config: SessionConfig = CONFIG, n: int = 0) -> Ensemble:
    ensemble = new_ensemble(config, 2)
    assert ensemble.learn(X[:n], Y[:n])
    return ensemble


def alone(algorithm: str, rows: slice, **config: Any) -> llr.Learner:
    learner = llr.Learner("linear", 2, algorithm, regret="exact", **config)
    assert learner.learn(X[rows], Y[rows])
    return learner


def same(one: AnyLearner, other: AnyLearner) -> bool:
    return one.pack() == other.pack()


def test_each_learns_as_if_it_were_alone() -> None:
    ensemble = team_of(n=60)
    assert same(ensemble.champion, alone("sg/ag", slice(60)))
    assert same(ensemble.shadows["auto"].learner, alone("auto", slice(60)))
    assert same(ensemble.shadows["sg"].learner, alone("sg", slice(60), eta0=0.1))


@pytest.mark.parametrize("cuts", [[], [1], [7, 8, 30], list(range(1, 60))])
def test_grouping_and_packing_make_no_difference(cuts: list[int]) -> None:
    whole, parts = team_of(n=60), team_of()
    for rows in np.split(np.arange(60), cuts):
        plain = to_plain(unpack(pack(parts), drift=False))
        parts = from_plain(plain["state"], plain["team"], plain["times"], drift=False)
        assert parts.learn(X[rows], Y[rows])
    assert pack(parts) == pack(whole)


def test_a_view_learns_while_the_team_stays_where_it_is() -> None:
    ensemble = team_of(n=20)
    before, ahead = pack(ensemble), ensemble.view()
    assert ahead.learn(X[20:], Y[20:])
    assert pack(ensemble) == before
    assert pack(ahead) == pack(team_of(n=60))
    twin = ensemble.copy()
    assert ensemble.learn(X[20:40], Y[20:40])
    assert pack(twin) == before


def test_a_champion_alone_is_packed_as_a_learner_is() -> None:
    config = SessionConfig(model="linear", dim=2, algorithm="sg/ag", drift=False)
    ensemble = team_of(config, 30)
    assert pack(ensemble) == ensemble.champion.pack()
    plain: dict[str, Any] = {"state": ensemble.champion.to_plain(), "team": None, "times": []}
    assert to_plain(ensemble) == plain
    again = unpack(ensemble.champion.pack(), drift=True)
    assert again.drift is not None
    assert (again.t, again.drift.t, again.drift.alarms) == (30, 30, 0)


def test_a_shadow_that_comes_later_starts_there_at_the_champions_theta() -> None:
    ensemble = team_of(n=20)
    theta = ensemble.champion.theta
    ensemble = add_shadow(ensemble, "late", CONFIG, ShadowConfig(algorithm="svrg"))
    late = ensemble.shadows["late"]
    assert (late.start, late.baseline.since, late.lead(ensemble.champion.loss, ensemble.t)) == (
        20,
        20,
        None,
    )
    assert ensemble.learn(X[20:], Y[20:])
    expected = alone("svrg", slice(20, 60), theta0=theta)
    assert same(late.learner, expected)
    since = ensemble.champion.loss.total - alone("sg/ag", slice(20)).loss.total
    lead = late.lead(ensemble.champion.loss, ensemble.t)
    assert lead == pytest.approx((since - expected.loss.total) / 40)


def test_a_promotion_swaps_all_the_state() -> None:
    before = team_of(n=30)
    ensemble = promote_shadow(before, "auto")
    assert (ensemble.t, ensemble.name, ensemble.previous_champion) == (30, "auto", "sg-ag")
    assert same(ensemble.champion, alone("auto", slice(30)))
    assert same(ensemble.shadows["sg-ag"].learner, alone("sg/ag", slice(30)))
    assert [*ensemble.shadows] == ["sg", "sg-ag"]
    assert current_config(CONFIG, ensemble).algorithm == "auto"
    back = promote_shadow(ensemble, "sg-ag")
    assert (back.name, back.previous_champion) == ("sg-ag", "auto")
    assert back.learn(X[30:], Y[30:])
    assert same(back.champion, alone("sg/ag", slice(60)))
    assert same(back.shadows["auto"].learner, alone("auto", slice(60)))


def test_a_late_shadow_can_lead_the_session_on() -> None:
    ensemble = promote_shadow(
        add_shadow(team_of(n=20), "late", CONFIG, ShadowConfig(algorithm="svrg")), "late"
    )
    assert ensemble.learn(X[20:], Y[20:])
    assert (ensemble.t, ensemble.champion.t) == (60, 40)
    assert ensemble.history.t.tolist() == list(range(20, 61))
    assert unpack(pack(ensemble), drift=True).t == 60


def test_who_comes_right_after_a_promotion_starts_at_the_new_champions_theta() -> None:
    before = team_of(n=20)
    late = ShadowConfig(algorithm="svrg")
    ensemble = promote_shadow(add_shadow(before, "late", CONFIG, late), "late")
    assert ensemble.champion.t == 0
    newest = add_shadow(ensemble, "newest", CONFIG, late).shadows["newest"]
    assert theta_of(newest.learner) == theta_of(before.champion)


def test_who_is_removed_is_not_called_the_former_champion() -> None:
    ensemble = promote_shadow(team_of(n=5), "auto")
    assert remove_shadow(ensemble, "sg").previous_champion == "sg-ag"
    assert remove_shadow(ensemble, "sg-ag").previous_champion is None


def test_the_former_champion_gets_a_name_that_is_free() -> None:
    ensemble = team_of(CONFIG.model_copy(update={"algorithm": "sg"}), 5)
    assert promote_shadow(ensemble, "auto").previous_champion == "sg-2"


def test_who_diverges_stops_where_it_was_whatever_the_grouping_and_hinders_nobody() -> None:
    config = CONFIG.model_copy(
        update={"shadows": {"wild": ShadowConfig(algorithm="sg", eta0=1e300)}}
    )
    whole, single = team_of(config, 60), team_of(config)
    for x, y in zip(X, Y, strict=True):
        assert single.learn([x], [y])
    assert pack(single) == pack(whole)
    wild = whole.shadows["wild"]
    assert wild.diverged is not None
    assert wild.learner.t == wild.diverged < whole.t == 60
    assert np.isfinite(theta_of(wild.learner)).all()
    assert wild.lead(whole.champion.loss, whole.t) is None
    assert unpack(pack(whole), drift=True).shadows["wild"].diverged == wild.diverged
    with pytest.raises(Problem, match="diverged"):
        promote_shadow(whole, "wild")
    assert remove_shadow(whole, "wild").shadows == {}


@pytest.mark.parametrize(
    "change",
    [
        {"start": -1},
        {"start": 1},
        {"version": 2},
        {"drift": [1.0]},
        {"drift": None, "shadows": {}},
        {"shadows": None},
        {"states": []},
        {"name": "sg"},
        {"name": "a name"},
        {"former": ""},
    ],
)
def test_what_is_no_team_is_refused(change: dict[str, Any]) -> None:
    plain = to_plain(team_of(n=5))
    with pytest.raises(llr.StateError):
        from_plain(plain["state"], plain["team"] | change, plain["times"], drift=True)


def test_damaged_bytes_are_refused() -> None:
    whole = pack(team_of(n=5))
    for end in (4, 6, 40, len(whole) - 1):
        with pytest.raises(llr.StateError):
            unpack(whole[:end], drift=True)
