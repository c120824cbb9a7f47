"""The short way of samples: the same answers as the app's, nothing left behind, nothing lost."""

import asyncio
import gc
import hashlib
import io
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
import pytest
import uvicorn
from llr_service import answers
from llr_service.app import App
from llr_service.connection import Connection
from llr_service.replies import Whole
from llr_service.sessions.journal import Journal
from llr_service.settings import Settings
from llr_service.stores.store import Conflict, StoreUnavailable
from test_connection import Transport
from test_hub import Stub, anyio_backend, store
from uvicorn.server import ServerState

__all__ = ["anyio_backend", "store"]
pytestmark = pytest.mark.anyio


class Wire(Transport):
    """A connection to an app whose far end is the test.

    Attributes:
        short: whether each POST that came in one piece went the short way.
    """

    def __init__(self, app: App, by_app: bool = False) -> None:
        super().__init__()
        self.short: list[bool] = []
        self._app, self._by_app = app, by_app
        self._come = asyncio.Event()
        http = Connection.of(10.0, self._at_once)
        config = uvicorn.Config(app, log_config=None, http=http, lifespan="off")
        config.load()
        self.connection = http(config, ServerState(), {})
        self.connection.connection_made(self)

    def _at_once(self, scope: Any, whole: Whole) -> bool:
        self.short.append(not self._by_app and self._app.at_once(scope, whole))
        return self.short[-1]

    def write(self, data: Any) -> None:
        super().write(data)
        self._come.set()

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...

    async def answers(self, count: int = 1) -> list[bytes]:
        """The next so many answers."""
        while self.written.count(b"HTTP/1.1 ") < count or not _whole(self.written):
            self._come.clear()
            await asyncio.wait_for(self._come.wait(), 20)
        written, self.written = self.written, b""
        return [b"HTTP/1.1 " + part for part in written.split(b"HTTP/1.1 ")[1:]]

    async def ask(self, *parts: bytes) -> bytes:
        """The answer to a request that comes in these parts."""
        for part in parts:
            self.connection.data_received(part)
        [answer] = await self.answers()
        return answer


def _whole(written: bytes) -> bool:
    """Whether the last answer is complete."""
    head, _, body = written.rpartition(b"HTTP/1.1 ")[2].partition(b"\r\n\r\n")
    length = re.search(rb"content-length: (\d+)", head)
    return length is not None and len(body) == int(length[1])


@asynccontextmanager
async def running(**settings: Any) -> AsyncIterator[App]:
    app = App(Settings(store="memory:", **settings))
    async with app.inner.router.lifespan_context(app.inner):
        yield app


def post(body: bytes, query: str = "", name: str = "s", *headers: bytes) -> bytes:
    told = any(line.startswith(b"content-type") for line in headers)
    kind = () if told else (b"content-type: application/json",)
    return _request(b"POST", f"/v1/sessions/{name}/samples{query}", body, *kind, *headers)


def put(name: str, config: bytes) -> bytes:
    return _request(b"PUT", f"/v1/sessions/{name}", config, b"content-type: application/json")


def _request(method: bytes, target: str, body: bytes, *headers: bytes) -> bytes:
    lines = [method + b" " + target.encode() + b" HTTP/1.1", b"host: localhost", *headers]
    return b"\r\n".join([*lines, b"content-length: %d" % len(body), b"", body])


def npy(*rows: tuple[float, ...]) -> bytes:
    file = io.BytesIO()
    np.save(file, np.array(rows))
    return file.getvalue()


GOOD, KNOWN = b'{"x": [1, 2], "y": 3}', b"x-request-id: known"
CHUNKED = post(GOOD).replace(b"content-length: 21", b"transfer-encoding: chunked")
CHUNKED = CHUNKED.replace(GOOD, b"15\r\n" + GOOD + b"\r\n0\r\n\r\n")
CASES: dict[str, tuple[bytes, bool]] = {
    "a sample": (post(GOOD), True),
    "columns": (post(b'{"x": [[1, 2], [3, 4]], "y": [1, 2]}'), True),
    "npy": (post(npy((1.0, 2.0, 3.0)), "", "s", b"content-type: application/x-npy"), True),
    "numbered": (post(GOOD, "?producer=p&seq=0"), True),
    "partly known": (post(b'[{"x":[1,2],"y":3},{"x":[1,2],"y":4}]', "?producer=p&seq=0"), True),
    "known": (post(GOOD, "?producer=p&seq=0"), False),
    "a gap": (post(GOOD, "?producer=p&seq=9"), False),
    "without theta, with predictions": (post(GOOD, "?theta=false&predictions=true"), True),
    "if it is there": (post(GOOD, "", "s", b'if-match: "7"'), True),
    "if it is elsewhere": (post(GOOD, "", "s", b'if-match: "1"'), False),
    "an id of its own": (post(GOOD, "", "s", KNOWN), True),
    "another page's": (post(GOOD, "", "s", b"origin: http://elsewhere"), False),
    "not JSON": (post(b"{"), False),
    "too wide": (post(b'{"x": [1, 2, 3], "y": 3}'), False),
    "not finite": (post(b'{"x": [1e999, 2], "y": 3}'), False),
    "a label out of bounds": (post(b'{"x": [1, 2], "y": 3}', name="yes-or-no"), False),
    "too far": (post(b'{"x": [1e308, 1e308], "y": -1e308}', name="bold"), False),
    "no samples": (post(b"[]"), False),
    "no such session": (post(GOOD, name="nobody"), False),
    "no such parameter": (post(GOOD, "?theta=perhaps"), False),
    "no such type": (post(GOOD, "", "s", b"content-type: text/plain"), False),
    "another host": (post(GOOD).replace(b"localhost", b"example.org"), False),
    "long": (post(b'{"x": [1, 2], "y": 3}' + b" " * 60_000), False),
    "a label out of bounds, early in many": (
        post(b'{"y": [7%b]}' % (b", 0" * 999), name="coin"),
        False,
    ),
    "many": (post(b'{"y": [1%b]}' % (b", 0" * 999), name="coin"), True),
    "the first of a session without dim": (post(GOOD, name="any"), True),
    "named features": (post(b'{"x": {"a": 1, "b": "red"}, "y": 3}', name="named"), True),
    "names where numbers belong": (post(b'{"x": {"a": 1}, "y": 3}'), False),
    "with a shadow": (post(GOOD, name="led"), True),
    "retained": (post(GOOD, name="kept"), True),
    "a name in other letters": (post(GOOD, name="%73"), True),
    "no such name": (post(GOOD, name="%2e%2e"), False),
    "in chunks": (CHUNKED, True),
    "who waits to be told to go on": (post(GOOD, "", "s", b"expect: 100-continue"), True),
    "the last": (post(GOOD), True),
}


async def test_the_short_way_gives_the_same_answers_as_the_app() -> None:
    async with running() as one, running() as other:
        short, long = Wire(one), Wire(other, by_app=True)
        for name, config in SESSIONS.items():
            assert b"201" in await short.ask(put(name, config))
            assert b"201" in await long.ask(put(name, config))
        for what, (request, taken) in CASES.items():
            told, expected = await short.ask(request), await long.ask(request)
            assert _without_ids(told) == _without_ids(expected), what
            assert short.short[-1] is taken, what
        head, _, body = told.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200 OK")
        assert b'"t":15' in body
        counted = [app.context.metrics.render()[0] for app in (one, other)]
        assert _counts(counted[0]) == _counts(counted[1])
        assert one.context.bodies == 0


SESSIONS = {
    "s": b'{"model": "linear", "dim": 2}',
    "yes-or-no": b'{"model": "logistic", "dim": 2}',
    "bold": b'{"model": "linear", "dim": 2, "algorithm": "sg", "eta0": 1e9}',
    "coin": b'{"model": "bernoulli"}',
    "any": b'{"model": "linear"}',
    "named": b'{"model": "linear", "max_features": 10}',
    "led": b'{"model": "linear", "dim": 2, "shadows": {"other": {"algorithm": "sg/ag"}}}',
    "kept": b'{"model": "linear", "dim": 2, "retain": true}',
}


def _without_ids(answer: bytes) -> bytes:
    return re.sub(rb"x-request-id: [0-9a-f]{8}-[0-9a-f]+", b"x-request-id: new", answer)


def _counts(exposition: bytes) -> list[str]:
    """What was counted of requests, samples, duplicates and divergences."""
    names = (
        "llr_requests_total",
        "llr_samples_total",
        "llr_duplicates_total",
        "llr_divergences_total",
    )
    return [line for line in exposition.decode().splitlines() if line.startswith(names)]


async def test_a_key_is_asked_for_on_the_short_way_too() -> None:
    async with running(api_keys=f"reader:read:{_digest(b'r')},writer:write:{_digest(b'w')}") as app:
        wire = Wire(app)
        made = put("s", SESSIONS["s"]).replace(b"\r\n", b"\r\nauthorization: Bearer w\r\n", 1)
        assert b"201" in await wire.ask(made)
        for key, status in ((b"w", b"200"), (b"r", b"403"), (b"x", b"401")):
            answer = await wire.ask(post(GOOD, "", "s", b"authorization: Bearer " + key))
            assert answer.startswith(b"HTTP/1.1 " + status)
            assert wire.short[-1] is (status == b"200")


def _digest(key: bytes) -> str:
    return hashlib.sha256(key).hexdigest()


async def test_a_body_that_comes_in_two_parts_goes_by_the_app() -> None:
    async with running() as app:
        wire = Wire(app)
        await wire.ask(put("s", SESSIONS["s"]))
        request = post(GOOD)
        assert b'"t":1' in await wire.ask(request[:-5], request[-5:])
        assert b'"t":2' in await wire.ask(request)
        assert wire.short == [True]


async def test_requests_sent_ahead_are_answered_in_their_order() -> None:
    async with running() as app:
        wire = Wire(app)
        await wire.ask(put("s", SESSIONS["s"]))
        wire.connection.data_received(3 * post(GOOD) + post(b"{") + post(GOOD))
        told = await wire.answers(5)
        assert [_t(one) for one in told] == [1, 2, 3, None, 4]


def _t(answer: bytes) -> int | None:
    found = re.search(rb'etag: "(\d+)"', answer)
    return int(found[1]) if found else None


async def test_what_the_store_refuses_is_done_again_by_the_app(store: Stub) -> None:
    async with running() as app:
        wire = Wire(app)
        await wire.ask(put("s", SESSIONS["s"]))
        await wire.ask(post(GOOD))

        def once(group: Any) -> Any:
            store.fails = None
            return [Conflict("somebody was first") for _ in group]

        store.fails = once
        assert _t(await wire.ask(post(GOOD, "?producer=p&seq=0"))) == 2
        assert wire.short == [True, True]
        assert app.context.bodies == 0
        session = app.context.sessions.at_hand("s")
        assert session is not None
        assert not session.busy
        assert session.producers == {"p": 1}


async def test_what_is_done_again_is_counted_once(store: Stub) -> None:
    async with running() as app:
        wire = Wire(app)
        await wire.ask(put("s", SESSIONS["s"]))
        await wire.ask(post(GOOD, "?producer=p&seq=0"))

        def once(group: Any) -> Any:
            store.fails = None
            return [Conflict("somebody was first") for _ in group]

        store.fails = once
        assert _t(await wire.ask(CASES["partly known"][0])) == 2
        assert wire.short == [True, True]
        assert "llr_duplicates_total 1.0" in _counts(app.context.metrics.render()[0])


async def test_a_body_beyond_the_limit_is_413_on_the_short_way_too() -> None:
    async with running(max_body=2048) as app:
        wire = Wire(app)
        await wire.ask(put("s", SESSIONS["s"]))
        assert b" 200 OK" in await wire.ask(post(GOOD + b" " * (2048 - len(GOOD))))
        assert b" 413 " in await wire.ask(post(GOOD + b" " * (2049 - len(GOOD))))
        assert wire.short == [True, False]


async def test_who_is_not_alone_goes_by_the_app() -> None:
    async with running() as app:
        wire = Wire(app)
        await wire.ask(put("s", SESSIONS["s"]))
        session = app.context.sessions.at_hand("s")
        assert session is not None
        async with session.turns.line():
            wire.connection.data_received(post(GOOD))
        assert _t((await wire.answers())[0]) == 1
        assert wire.short == [False]


@pytest.mark.parametrize("last", [b"HTTP/1.0", b"HTTP/1.1\r\nconnection: close"])
async def test_who_wants_no_more_is_hung_up_on(last: bytes) -> None:
    async with running() as app:
        wire = Wire(app)
        await wire.ask(put("s", SESSIONS["s"]))
        assert b"\r\nconnection: close\r\n" in await wire.ask(post(GOOD).replace(b"HTTP/1.1", last))
        assert wire.closed
        assert wire.short == [True]


async def test_a_connection_that_was_closed_is_not_the_trouble_of_others(store: Stub) -> None:
    async with running() as app:
        gone, stays = Wire(app), Wire(app)
        await stays.ask(put("s", SESSIONS["s"]))
        store.opened.clear()
        gone.connection.data_received(2 * post(GOOD) + b"\x16\x03")
        assert gone.closed
        stays.connection.data_received(post(GOOD))
        store.opened.set()
        assert _t((await stays.answers())[0]) == 2
        session = app.context.sessions.at_hand("s")
        assert session is not None
        assert not session.busy


async def test_what_fails_before_the_store_is_a_500_with_an_id_that_is_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with running() as app:
        wire = Wire(app)
        await wire.ask(put("s", SESSIONS["s"]))
        with monkeypatch.context() as patch:
            patch.setattr(Journal, "learnt", lambda *_: 1 / 0)
            answer = await wire.ask(post(GOOD, "", "s", KNOWN))
        assert answer.startswith(b"HTTP/1.1 500")
        assert b"\r\nx-request-id: known\r\n" in answer
        assert b"see the log for request known" in answer
        [counted] = [line for line in _counts(app.context.metrics.render()[0]) if "5xx" in line]
        assert counted.endswith(" 1.0")


async def test_what_failed_before_the_store_is_learnt_when_it_is_sent_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with running() as app:
        wire = Wire(app)
        await wire.ask(put("s", SESSIONS["s"]))
        request = post(GOOD, "?producer=p&seq=0")
        with monkeypatch.context() as patch:
            patch.setattr(Journal, "learnt", lambda *_: 1 / 0)
            assert (await wire.ask(request)).startswith(b"HTTP/1.1 500")
        answer = await wire.ask(request)
        assert _t(answer) == 1
        assert b'"duplicate":false' in answer
        session = app.context.sessions.at_hand("s")
        assert session is not None
        assert not session.busy


async def test_a_store_that_fails_is_told_and_nothing_was_learnt(store: Stub) -> None:
    async with running() as app:
        wire = Wire(app)
        await wire.ask(put("s", SESSIONS["s"]))

        def once(_: Any) -> Any:
            store.fails = None
            raise StoreUnavailable("away")

        store.fails = once
        answer = await wire.ask(post(GOOD))
        assert answer.startswith(b"HTTP/1.1 503")
        assert b"retry-after: 1" in answer
        assert _t(await wire.ask(post(GOOD))) == 1


async def test_who_hangs_up_while_the_store_writes_was_learnt_from(store: Stub) -> None:
    async with running() as app:
        gone, stays = Wire(app), Wire(app)
        await stays.ask(put("s", SESSIONS["s"]))
        store.opened.clear()
        gone.connection.data_received(post(GOOD))
        gone.connection.connection_lost(None)
        store.opened.set()
        assert _t(await stays.ask(post(GOOD))) == 2
        assert gone.written == b""
        assert app.context.bodies == 0


async def test_an_answer_that_cannot_be_made_is_500_for_one_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with running() as app:
        first, second = Wire(app), Wire(app)
        await first.ask(put("s", SESSIONS["s"]))
        made = answers.of_learning
        left = [RuntimeError("a bug")]

        def broken(*arguments: Any) -> bytes:
            if left:
                raise left.pop()
            return made(*arguments)

        monkeypatch.setattr(answers, "of_learning", broken)
        first.connection.data_received(post(GOOD))
        second.connection.data_received(post(GOOD))
        assert (await first.answers())[0].startswith(b"HTTP/1.1 500")
        assert _t((await second.answers())[0]) == 2


async def test_requests_leave_nothing_for_the_collector_of_garbage() -> None:
    async with running() as app:
        wire = Wire(app)
        await wire.ask(put("s", SESSIONS["s"]))
        for request in (post(GOOD), post(GOOD, "?producer=p&seq=0")):
            await wire.ask(request)
        gc.collect()
        gc.disable()
        try:
            for _ in range(20):
                await wire.ask(post(GOOD))
                await wire.ask(post(GOOD, "?producer=p&seq=0"))  # known: by the app
            await asyncio.sleep(0)
            assert gc.collect() == 0
        finally:
            gc.enable()
