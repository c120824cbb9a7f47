"""`llr connect redis`: every entry of a stream is learnt once, whoever is killed when."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from llr_client import Client
from support.brokers import RedisServer, redis_server
from support.commands import one_line, run
from support.connecting import COUNT, X, Y, connector, sample, stopped, until
from support.sample_files import assert_learnt
from typer.testing import Result


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    with redis_server(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture
def redis(server: RedisServer) -> Iterator[Any]:
    yield server.client
    server.client.flushall()


def fill(redis: Any, first: int = 0, last: int = COUNT, stream: str = "readings") -> None:
    with redis.pipeline() as pipe:
        for number in range(first, last):
            pipe.xadd(stream, {"sample": sample(number)})
        pipe.execute()


def command(server: RedisServer, *more: str) -> list[str]:
    told = ["redis", "readings", "--redis", server.url, "--session", "demo", "--model", "linear"]
    return [*told, *more]


def test_an_entry_is_learnt_once_however_often_the_connector_is_killed(
    client: Client, address: str, server: RedisServer, redis: Any, tmp_path: Path
) -> None:
    client.session("demo", model="linear")
    fill(redis)
    for mark in (30, 100, 180):
        with connector(*command(server, "--batch", "3"), url=address, home=tmp_path) as it:
            until(client, "demo", mark)
            it.kill()
        assert client.session("demo").state().t < COUNT
    with connector(*command(server), url=address, home=tmp_path) as it:
        until(client, "demo", COUNT)
        told, said = stopped(it)
    assert (it.returncode, said) == (0, "")
    assert told.startswith("demo: ")
    assert_learnt(client.session("demo").state(), X, Y)


def test_redis_may_be_killed_meanwhile(client: Client, address: str, tmp_path: Path) -> None:
    client.session("demo", model="linear")
    with redis_server(tmp_path) as server:
        fill(server.client, 0, 150)
        with connector(*command(server, "--batch", "3"), url=address, home=tmp_path) as it:
            until(client, "demo", 30)
            server.kill()
            assert it.stderr is not None
            assert f"127.0.0.1:{server.port}/0 does not answer" in it.stderr.readline()
            server.start()
            fill(server.client, 150, COUNT)
            until(client, "demo", COUNT)
            told, said = stopped(it)
    assert (it.returncode, said) == (0, "connected again\n")
    assert told.startswith(f"demo: {COUNT} samples learnt, ")
    assert_learnt(client.session("demo").state(), X, Y)


def connected(*arguments: str, address: str) -> Result:
    """A connector in this process, which ends by itself."""
    return run("connect", *arguments, url=address)


def test_what_was_trimmed_before_it_was_learnt_is_told_and_may_be_passed_over(
    client: Client, address: str, server: RedisServer, redis: Any
) -> None:
    fill(redis, 0, 10)
    assert connected(*command(server, "--count", "10"), address=address).exit_code == 0
    redis.xtrim("readings", maxlen=0, approximate=False)  # behind it: nobody minds
    fill(redis, 10, 20)
    redis.xtrim("readings", maxlen=6, approximate=False)
    result = connected(*command(server), address=address)
    assert (result.exit_code, "4 messages of redis:readings are missing" in one_line(result)) == (
        1,
        True,
    )
    result = connected(*command(server, "--missing", "skip", "--count", "6"), address=address)
    assert "6 samples learnt, 4 missing" in result.stdout
    left = [*range(10), *range(14, 20)]
    assert_learnt(client.session("demo").state(), X[left], Y[left])


def test_an_entry_that_cannot_be_learnt_is_put_aside_once_and_the_rest_is_learnt(
    client: Client, address: str, server: RedisServer, redis: Any
) -> None:
    fill(redis, 0, 5)
    bad = [{"sample": "{"}, {"other": "1"}, {"sample": '{"x": [1], "y": 2}'}]
    ids = [redis.xadd("readings", entry) for entry in bad]
    fill(redis, 5, 10)
    for _ in range(2):
        result = connected(*command(server), address=address)
        assert (result.exit_code, "cannot be learnt: not JSON" in one_line(result)) == (1, True)
        assert client.session("demo").state().t == 5
    result = connected(*command(server, "--bad", "skip", "--count", "5"), address=address)
    assert "5 samples learnt, 3 left out" in result.stdout
    fill(redis, 10, 12)
    result = connected(*command(server, "--count", "2"), address=address)
    assert (result.exit_code, result.stderr) == (0, "")
    assert_learnt(client.session("demo").state(), X[:12], Y[:12])
    aside = redis.xrange("llr:connect:demo:redis:readings:left-out")
    assert [id_ for id_, _ in aside] == ids
    assert [b"not JSON" in aside[0][1][b"why"], b"--field" in aside[1][1][b"why"]] == [True, True]
    assert aside[2][1][b"why"] == b"has 1 features, the learner has 3"


def test_fields_can_be_the_sample_and_every_stream_can_have_a_session(
    client: Client, address: str, server: RedisServer, redis: Any
) -> None:
    for stream in ("flats", "houses"):
        redis.xadd(stream, {"rooms": 3, "price": 210})
    told = ["redis", "flats", "houses", "--redis", server.url, "--session", "of-{topic}"]
    told += ["--model", "linear", "--label-column", "price", "--count", "2", "--json"]
    result = connected(*told, address=address)
    assert json.loads(result.stdout)["learnt"] == 2
    states = [client.session(name).state() for name in ("of-flats", "of-houses")]
    assert [(state.t, state.dim) for state in states] == [(1, 1), (1, 1)]


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda redis, client: redis.delete("readings"), "has fewer entries than it had"),
        (lambda redis, client: redis.delete("llr:connect:demo:redis:readings"), "knows nothing"),
        (lambda redis, client: client.session("demo").delete(), "the session was replaced"),
        (lambda redis, client: redis.set("readings", 1), "WRONGTYPE"),
    ],
)
def test_a_stream_that_is_not_the_one_it_was_is_told_and_nothing_is_learnt(
    client: Client, address: str, server: RedisServer, redis: Any, spoil: Any, why: str
) -> None:
    fill(redis, 0, 3)
    assert connected(*command(server, "--count", "3"), address=address).exit_code == 0
    spoil(redis, client)
    result = connected(*command(server, "--missing", "skip"), address=address)
    assert (result.exit_code, why in one_line(result)) == (1, True)


def test_a_redis_that_is_not_there_is_3_and_its_password_is_not_shown(
    client: Client, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("llr_connect.source.SHORT_PATIENCE", 0.0)
    told = ["redis", "a", "--session", "demo", "--redis", "redis://me:secret@127.0.0.1:1/0"]
    result = connected(*told, address=address)
    assert result.exit_code == 3
    assert "redis://127.0.0.1:1/0 does not answer" in one_line(result)
    assert "secret" not in result.output
