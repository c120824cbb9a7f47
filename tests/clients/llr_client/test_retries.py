"""Trying again: when, for how long, and that whatever is lost is learnt once."""

from collections.abc import Iterator
from typing import Any

import httpx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from llr_client import Client, LLRError, SessionNotFound, Unreachable, errors
from llr_client.retries import MAX_PAUSE
from starlette.testclient import TestClient
from support.flaky import (
    BUSY,
    LATE,
    LOSE,
    PASS,
    REFUSE,
    URL,
    Flaky,
    InProcess,
    Scripted,
    Time,
    lines,
)

import llr


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def sdk(flaky: Flaky, time: Time) -> Iterator[Client]:
    with Client(URL, transport=flaky, clock=time.clock) as client:
        yield client
        flaky.fates.clear()
        for row in client.sessions():
            client.session(row.name).delete()


def impatient(flaky: Flaky) -> Client:
    return Client(URL, transport=flaky, patience=0, clock=Time().clock)


@pytest.mark.parametrize("fate", [REFUSE, LOSE, LATE, BUSY])
def test_a_sample_is_learnt_once_whatever_befalls_it(sdk: Client, flaky: Flaky, fate: str) -> None:
    session = sdk.session("s", model="gaussian")
    flaky.fates = [fate, fate]
    assert session.learn(1.0).t == 1
    assert session.learn(2.0).t == 2


@pytest.mark.parametrize("fate", [REFUSE, LOSE, LATE, BUSY])
def test_a_late_label_is_learnt_once_whatever_befalls_it(
    sdk: Client, flaky: Flaky, fate: str
) -> None:
    session = sdk.session("s", model="gaussian")
    flaky.fates = [fate, fate]
    session.predict(id="a")
    flaky.fates = [fate, fate]
    assert session.label("a", 1.0).t == 1


def test_pauses_double_up_to_a_bound_and_chance_shortens_them(flaky: Flaky) -> None:
    flaky.fates = [REFUSE] * 10
    for chance in (1.0, 0.25):
        time = Time(chance)
        with Client(URL, transport=flaky, patience=60, clock=time.clock) as client:
            flaky.fates = [REFUSE] * 9
            client.version()
        bounds = [min(0.1 * 2**n, MAX_PAUSE) for n in range(9)]
        assert time.slept == pytest.approx([chance * bound for bound in bounds])


def test_what_the_service_asks_for_comes_on_top(sdk: Client, flaky: Flaky, time: Time) -> None:
    flaky.fates = [BUSY, BUSY]
    sdk.version()
    assert time.slept == pytest.approx([2.1, 2.2])


@pytest.mark.parametrize("status", [408, 429, 502, 503, 504, 507])
def test_what_may_pass_is_tried_again(status: int, time: Time) -> None:
    transport = Scripted(httpx.Response(status), httpx.Response(200, json={"store": "memory"}))
    with Client(URL, transport=transport, clock=time.clock) as client:
        assert client.version() == {"store": "memory"}


def test_an_answer_that_arrived_broken_is_asked_for_again(time: Time) -> None:
    broken = httpx.Response(200, headers={"content-encoding": "gzip"}, content=lines(b"no gzip"))
    transport = Scripted(broken, httpx.Response(200, json={"store": "memory"}))
    with Client(URL, transport=transport, clock=time.clock) as client:
        assert client.version() == {"store": "memory"}


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 412, 413, 415, 422, 500, 501])
def test_what_will_not_pass_is_raised_at_once(status: int, time: Time) -> None:
    transport = Scripted(httpx.Response(status))
    client = Client(URL, transport=transport, clock=time.clock)
    with client, pytest.raises(errors.Problem) as refused:
        client.version()
    assert (refused.value.status, len(transport.requests), time.slept) == (status, 1, [])


def test_patience_ends_and_the_last_error_is_raised(flaky: Flaky, time: Time) -> None:
    told: list[tuple[LLRError, float]] = []
    flaky.fates = [REFUSE] * 1000
    client = Client(
        URL,
        patience=30,
        transport=flaky,
        clock=time.clock,
        on_retry=lambda error, pause: told.append((error, pause)),
    )
    with client, pytest.raises(Unreachable, match="nothing answers") as raised:
        client.version()
    assert isinstance(raised.value.__cause__, httpx.ConnectError)
    assert 20 < time.now <= 30
    assert [pause for _, pause in told] == time.slept
    assert all(isinstance(error, Unreachable) for error, _ in told)


def test_without_patience_there_is_one_try(flaky: Flaky) -> None:
    flaky.fates = [REFUSE]
    with impatient(flaky) as client, pytest.raises(Unreachable):
        client.version()
    assert len(flaky.requests) == 1


@pytest.mark.parametrize("fate", [REFUSE, LOSE])
@pytest.mark.parametrize("following", [2.0, 3.0])
def test_after_doubt_the_same_sample_is_the_same_and_another_is_another(
    sdk: Client, flaky: Flaky, fate: str, following: float
) -> None:
    sdk.session("s", model="gaussian")
    with impatient(flaky) as client:
        session = client.session("s")
        session.learn(1.0)
        flaky.fates = [fate]
        with pytest.raises(Unreachable):
            session.learn(2.0)
        answer = session.learn(following)
        both = fate == LOSE and following == 3.0
        assert answer.t == (3 if both else 2)
        assert session.learn(4.0).t == answer.t + 1


def test_a_refused_sample_leaves_its_number_to_the_next(sdk: Client, flaky: Flaky) -> None:
    session = sdk.session("s", model="linear", dim=2)
    session.learn([1, 2], 3)
    for _ in range(2):
        with pytest.raises(errors.Invalid):
            session.learn([1, 2, 3], 3)
    assert session.learn([1, 2], 3).t == 2
    assert "producer" not in "".join(str(r.url) for r in flaky.requests if r.method == "GET")


def test_many_go_on_after_the_chunks_that_were_learnt(sdk: Client, flaky: Flaky) -> None:
    y = np.arange(100.0)
    sdk.session("s", model="gaussian")
    with impatient(flaky) as client:
        session = client.session("s")
        flaky.fates = [PASS, PASS, LOSE]
        with pytest.raises(Unreachable, match="40 samples before these") as lost:
            session.learn_many(y, chunk_bytes=160)
        assert lost.value.learnt == 40
        answer = session.learn_many(y[lost.value.learnt :], chunk_bytes=160)
    learner = llr.Learner("gaussian", regret="exact")
    learner.learn(y)
    assert (answer.t, answer.theta) == (100, learner.theta.tolist())


def test_a_stream_says_how_much_of_it_was_learnt(sdk: Client) -> None:
    answers = sdk.session("s", model="gaussian").stream([*range(25), "x"], block=10)
    assert [next(answers).t, next(answers).t] == [10, 20]
    with pytest.raises(errors.Invalid) as refused:
        next(answers)
    assert (refused.value.learnt, refused.value.errors[0]["pointer"]) == (20, "/5/y")
    assert sdk.session("s").state().t == 20


def test_a_given_producer_goes_on_where_it_stopped(sdk: Client) -> None:
    first = sdk.session("s", model="gaussian", producer="sensor-7")
    first.learn_many([1.0, 2.0, 3.0])
    second = sdk.session("s", producer="sensor-7")
    assert (second.producer, second.acked()) == ("sensor-7", 3)
    assert second.learn(4.0).t == 4
    assert sdk.session("s", producer="sensor-8").acked() == 0


def test_two_senders_of_one_name_are_told_instead_of_losing_samples(sdk: Client) -> None:
    one = sdk.session("s", model="gaussian", producer="sensor-7")
    other = sdk.session("s", producer="sensor-7")
    assert (one.acked(), other.acked()) == (0, 0)
    one.learn(1.0)
    with pytest.raises(errors.ProducerShared, match="'sensor-7'"):
        other.learn(2.0)
    assert other.learn(2.0).t == 2


def test_a_session_that_was_replaced_by_an_older_one_is_noticed(sdk: Client) -> None:
    session = sdk.session("s", model="gaussian")
    session.learn_many([1.0, 2.0])
    session.delete()
    sdk.session("s", model="gaussian")
    with pytest.raises(errors.StateRegressed, match=r"has 0 samples.* acknowledged 2"):
        session.learn(3.0)
    assert session.learn(3.0).t == 1


def test_a_deletion_whose_answer_is_lost_is_a_deletion(sdk: Client, flaky: Flaky) -> None:
    session = sdk.session("s", model="gaussian")
    flaky.fates = [LOSE]
    session.delete()
    with pytest.raises(SessionNotFound):
        session.state()


def test_a_restoration_whose_answer_is_lost_is_a_restoration(sdk: Client, flaky: Flaky) -> None:
    session = sdk.session("s", model="gaussian")
    session.learn_many([1.0, 2.0])
    snapshot = session.snapshot()
    flaky.fates = [LOSE]
    assert sdk.restore("twin", snapshot).state().t == 2
    session.learn(3.0)
    flaky.fates = [REFUSE]
    with pytest.raises(errors.SessionExists):
        sdk.restore("twin", session.snapshot())


FATES = st.lists(st.sampled_from([PASS, REFUSE, LOSE, LATE, BUSY]), max_size=30)
GROUPS = st.lists(
    st.tuples(st.sampled_from(["one", "many", "stream"]), st.integers(1, 12)), max_size=12
)


@pytest.mark.slow
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(fates=FATES, groups=GROUPS, patience=st.sampled_from([0.0, 60.0]))
def test_any_grouping_through_any_failures_is_learnt_once(
    app: TestClient, fates: list[str], groups: list[tuple[str, int]], patience: float
) -> None:
    rng = np.random.default_rng(11)
    flaky, learner = Flaky(InProcess(app)), llr.Learner("linear", 3, regret="exact")
    with Client(URL, patience=patience, transport=flaky, clock=Time().clock) as client:
        session = client.session("random", model="linear", dim=3, producer=None)
        flaky.fates = list(fates)
        for way, n in groups:
            X, y = rng.normal(size=(n, 3)), rng.normal(size=n)
            learner.learn(X, y)
            send(session, way, X, y)
        flaky.fates = []
        state = session.state()
        session.delete()
    assert (state.t, state.theta) == (learner.t, learner.theta.tolist())
    assert (state.eta, state.loss.total) == (learner.eta, learner.loss.total)
    assert state.regret.ml == learner.regret.ml


def send(session: Any, way: str, X: Any, y: Any) -> None:
    """Send samples, however often it takes, from where the last try came to."""
    while len(y):
        try:
            if way == "one":
                session.learn(X[0], y[0])
                X, y = X[1:], y[1:]
                continue
            if way == "many":
                session.learn_many(X, y, chunk_bytes=4 * 8 * 5)
            else:
                list(session.stream(zip(X, y, strict=True), block=5))
            return
        except LLRError as error:
            X, y = X[error.learnt :], y[error.learnt :]


def test_without_a_service_it_fails_after_3_s_and_says_how_to_start_one(
    flaky: Flaky, time: Time
) -> None:
    flaky.fates = [REFUSE] * 1000
    with Client(URL, transport=flaky, clock=time.clock) as client:
        with pytest.raises(Unreachable) as raised:
            client.version()
        assert 1 < time.now <= 3
        assert str(raised.value) == (
            f"nothing answers at {URL}: start it with `llr serve`, or set LLR_URL"
        )
        flaky.fates.clear()
        client.version()
        flaky.fates = [REFUSE] * 1000
        before = time.now
        with pytest.raises(Unreachable, match="does not answer: connection refused"):
            client.version()
        assert 30 < time.now - before <= 60


def test_url_and_key_come_from_the_environment_unless_a_url_is_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LLR_URL", "http://elsewhere:9000")
    monkeypatch.setenv("LLR_KEY", "llr_secret")
    transport = Scripted(httpx.Response(200, json={"store": "memory"}))
    for url in (None, URL):
        with Client(url, transport=transport) as client:
            client.version()
    here, there = transport.requests
    assert (str(here.url), here.headers["authorization"]) == (
        "http://elsewhere:9000/version",
        "Bearer llr_secret",
    )
    assert "authorization" not in there.headers
