"""Rate limits: a token bucket for each key, in requests and in messages of WebSockets."""

import json

import pytest
from llr_service.app import App
from llr_service.http.auth import ApiKey, Role
from llr_service.http.rate_limit import RateLimiter
from llr_service.problems import MEDIA_TYPE, Problem
from llr_service.settings import Settings
from starlette.testclient import TestClient
from stress.doors import KEYS, handshake, key_of

A, B = ApiKey("a", Role.READ, b"a"), ApiKey("b", Role.READ, b"b")
DEMO = "/v1/sessions/demo"
SLOWLY = 1 / 3600
"""A rate at which no token comes back during a test."""


class Clock:
    """A clock that is set by hand."""

    seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


def taken(limiter: RateLimiter, key: ApiKey = A) -> int:
    """How many tokens a key gets until it is refused."""
    for count in range(1000):
        try:
            limiter.take(key)
        except Problem:
            return count
    raise AssertionError("never refused")


def test_a_key_may_do_a_burst_and_then_so_many_a_second() -> None:
    clock = Clock()
    limiter = RateLimiter(4.0, 10, clock)
    assert taken(limiter) == 10
    clock.seconds += 0.5
    assert taken(limiter) == 2
    clock.seconds += 3600
    assert taken(limiter) == 10, "tokens beyond the bucket are lost"


def test_each_key_has_a_bucket_of_its_own() -> None:
    limiter = RateLimiter(1.0, 3, Clock())
    assert [taken(limiter, key) for key in (A, B, A)] == [3, 3, 0]


@pytest.mark.parametrize(("rate", "seconds"), [(4.0, 1), (1.0, 1), (0.1, 10), (0.4, 3)])
def test_a_refusal_says_how_long_to_wait_and_that_is_enough(rate: float, seconds: int) -> None:
    clock = Clock()
    limiter = RateLimiter(rate, 1, clock)
    limiter.take(A)
    with pytest.raises(Problem) as refused:
        limiter.take(A)
    assert refused.value.headers == {"Retry-After": str(seconds)}
    assert refused.value.extra == {"retry_after": seconds}
    clock.seconds += seconds
    limiter.take(A)


def test_requests_beyond_the_limit_get_429_and_public_ones_do_not() -> None:
    settings = Settings(store="memory:", api_keys=KEYS, rate_limit=SLOWLY, rate_burst=2)
    with TestClient(App(settings)) as client:
        paths = ("/version", "/v1/sessions", "/version")
        answers = [client.get(path, headers=key_of("read")) for path in paths]
        assert [answer.status_code for answer in answers] == [200, 200, 429]
        assert answers[2].headers["content-type"] == MEDIA_TYPE
        assert 0 < int(answers[2].headers["retry-after"]) <= 3600
        assert answers[2].json()["type"] == "urn:llr:problem:rate-limited"
        assert client.get("/livez", headers=key_of("read")).status_code == 200
        assert client.get("/version", headers=key_of("write")).status_code == 200
        assert handshake(client, f"{DEMO}/stream", key_of("read")) == 429


def test_messages_of_a_websocket_count_and_those_beyond_are_not_learnt() -> None:
    settings = Settings(store="memory:", api_keys=KEYS, rate_limit=SLOWLY, rate_burst=3)
    with TestClient(App(settings)) as client:
        client.put(DEMO, json={"model": "gaussian"}, headers=key_of("admin"))
        with client.websocket_connect(f"{DEMO}/stream", headers=key_of("write")) as stream:
            answers = []
            for _ in range(4):
                stream.send_text('{"y": 1}')
                answers.append(json.loads(stream.receive_text()))
        assert [answer["accepted"] for answer in answers] == [1, 1, 0, 0]
        assert {answer["error"]["status"] for answer in answers[2:]} == {429}
        assert answers[2]["error"]["retry_after"] > 0
        assert client.get(DEMO, headers=key_of("read")).json()["t"] == 2


def test_without_keys_all_clients_share_one_bucket() -> None:
    settings = Settings(store="memory:", rate_limit=SLOWLY, rate_burst=2)
    with TestClient(App(settings)) as client:
        assert [client.get("/version").status_code for _ in range(3)] == [200, 200, 429]
