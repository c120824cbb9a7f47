"""A team: every learner in it is what it would be alone, and it obeys the laws of a learner."""

from typing import Any

import numpy as np
import pytest
from llr_service.problems import Problem
from llr_service.sessions.config import SessionConfig, ShadowConfig
from llr_service.sessions.learners import AnyLearner, theta_of
from llr_service.sessions.packing import from_plain, pack, to_plain, unpack
from llr_service.sessions.roster import added, config_now, new_team, promoted, removed
from llr_service.sessions.team import Team

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


def team_of(config: SessionConfig = CONFIG, n: int = 0) -> Team:
    team = new_team(config, 2)
    assert team.learn(X[:n], Y[:n])
    return team


def alone(algorithm: str, rows: slice, **config: Any) -> llr.Learner:
    learner = llr.Learner("linear", 2, algorithm, regret="exact", **config)
    assert learner.learn(X[rows], Y[rows])
    return learner


def same(one: AnyLearner, other: AnyLearner) -> bool:
    return one.pack() == other.pack()


def test_each_learns_as_if_it_were_alone() -> None:
    team = team_of(n=60)
    assert same(team.champion, alone("sg/ag", slice(60)))
    assert same(team.shadows["auto"].learner, alone("auto", slice(60)))
    assert same(team.shadows["sg"].learner, alone("sg", slice(60), eta0=0.1))


@pytest.mark.parametrize("cuts", [[], [1], [7, 8, 30], list(range(1, 60))])
def test_grouping_and_packing_make_no_difference(cuts: list[int]) -> None:
    whole, parts = team_of(n=60), team_of()
    for rows in np.split(np.arange(60), cuts):
        plain = to_plain(unpack(pack(parts), drift=False))
        parts = from_plain(plain["state"], plain["team"], drift=False)
        assert parts.learn(X[rows], Y[rows])
    assert pack(parts) == pack(whole)


def test_a_view_learns_while_the_team_stays_where_it_is() -> None:
    team = team_of(n=20)
    before, ahead = pack(team), team.view()
    assert ahead.learn(X[20:], Y[20:])
    assert pack(team) == before
    assert pack(ahead) == pack(team_of(n=60))
    twin = team.copy()
    assert team.learn(X[20:40], Y[20:40])
    assert pack(twin) == before


def test_a_champion_alone_is_packed_as_a_learner_is() -> None:
    config = SessionConfig(model="linear", dim=2, algorithm="sg/ag", drift=False)
    team = team_of(config, 30)
    assert pack(team) == team.champion.pack()
    assert to_plain(team) == {"state": team.champion.to_plain(), "team": None}
    again = unpack(team.champion.pack(), drift=True)
    assert again.drift is not None
    assert (again.t, again.drift.t, again.drift.alarms) == (30, 30, 0)


def test_a_shadow_that_comes_later_starts_there_at_the_champions_theta() -> None:
    team = team_of(n=20)
    theta = team.champion.theta
    team = added(team, "late", CONFIG, ShadowConfig(algorithm="svrg"))
    late = team.shadows["late"]
    assert (late.start, late.mark.since, late.lead(team.champion.loss, team.t)) == (20, 20, None)
    assert team.learn(X[20:], Y[20:])
    expected = alone("svrg", slice(20, 60), theta0=theta)
    assert same(late.learner, expected)
    since = team.champion.loss.total - alone("sg/ag", slice(20)).loss.total
    lead = late.lead(team.champion.loss, team.t)
    assert lead == pytest.approx((since - expected.loss.total) / 40)


def test_a_promotion_swaps_all_the_state() -> None:
    before = team_of(n=30)
    team = promoted(before, "auto")
    assert (team.t, team.name, team.former) == (30, "auto", "sg-ag")
    assert same(team.champion, alone("auto", slice(30)))
    assert same(team.shadows["sg-ag"].learner, alone("sg/ag", slice(30)))
    assert [*team.shadows] == ["sg", "sg-ag"]
    assert config_now(CONFIG, team).algorithm == "auto"
    back = promoted(team, "sg-ag")
    assert (back.name, back.former) == ("sg-ag", "auto")
    assert back.learn(X[30:], Y[30:])
    assert same(back.champion, alone("sg/ag", slice(60)))
    assert same(back.shadows["auto"].learner, alone("auto", slice(60)))


def test_a_late_shadow_can_lead_the_session_on() -> None:
    team = promoted(added(team_of(n=20), "late", CONFIG, ShadowConfig(algorithm="svrg")), "late")
    assert team.learn(X[20:], Y[20:])
    assert (team.t, team.champion.t) == (60, 40)
    assert team.history.t.tolist() == list(range(20, 61))
    assert unpack(pack(team), drift=True).t == 60


def test_who_comes_right_after_a_promotion_starts_at_the_new_champions_theta() -> None:
    before = team_of(n=20)
    late = ShadowConfig(algorithm="svrg")
    team = promoted(added(before, "late", CONFIG, late), "late")
    assert team.champion.t == 0
    newest = added(team, "newest", CONFIG, late).shadows["newest"]
    assert theta_of(newest.learner) == theta_of(before.champion)


def test_who_is_removed_is_not_called_the_former_champion() -> None:
    team = promoted(team_of(n=5), "auto")
    assert removed(team, "sg").former == "sg-ag"
    assert removed(team, "sg-ag").former is None


def test_the_former_champion_gets_a_name_that_is_free() -> None:
    team = team_of(CONFIG.model_copy(update={"algorithm": "sg"}), 5)
    assert promoted(team, "auto").former == "sg-2"


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
        promoted(whole, "wild")
    assert removed(whole, "wild").shadows == {}


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
        from_plain(plain["state"], plain["team"] | change, drift=True)


def test_damaged_bytes_are_refused() -> None:
    whole = pack(team_of(n=5))
    for end in (4, 6, 40, len(whole) - 1):
        with pytest.raises(llr.StateError):
            unpack(whole[:end], drift=True)
