"""The WebSocket of a session, spoken to over loopback as anybody would."""

import asyncio
import io
import json
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from socket import SHUT_RDWR, create_connection
from typing import Any

import httpx
import numpy as np
import pytest
from llr_service.app import App
from llr_service.http.auth import hash_key
from llr_service.problems import MEDIA_TYPE
from llr_service.routes.stream import AHEAD, MAX_CONSECUTIVE_ERRORS
from llr_service.settings import Settings
from starlette.types import Message
from support.app import Stub, away, running, settle, until
from support.serving import Server, started
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

RNG = np.random.default_rng(11)
X = RNG.normal(size=(60, 3))
Y = X @ [1.0, -2.0, 3.0]
ROWS = [{"x": x.tolist(), "y": y} for x, y in zip(X, Y.tolist(), strict=True)]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with started(tmp_path_factory.mktemp("stream"), max_message="64KiB") as running:
        yield running


@pytest.fixture
def http(server: Server) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=f"http://127.0.0.1:{server.port}/v1/sessions") as client:
        yield client


def opened(server: Server, target: str, **more: Any) -> ClientConnection:
    name, _, query = target.partition("?")
    address = f"ws://127.0.0.1:{server.port}/v1/sessions/{name}/stream?{query}"
    stream: ClientConnection = connect(address, proxy=None, **more)
    return stream


def told(stream: ClientConnection) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(stream.recv(timeout=20))
    return answer


def asked(stream: ClientConnection, message: Any) -> dict[str, Any]:
    stream.send(message if isinstance(message, bytes | str) else json.dumps(message))
    return told(stream)


def ending(stream: ClientConnection) -> int | None:
    """The code a stream is closed with, whatever is said before."""
    return rest(stream)[1]


def rest(stream: ClientConnection) -> tuple[list[dict[str, Any]], int | None]:
    """All answers until a stream is closed, and the code it is closed with."""
    answers = []
    try:
        while True:
            answers.append(told(stream))
    except ConnectionClosed as closed:
        return answers, closed.rcvd.code if closed.rcvd else None


def greeted(server: Server, target: str, **more: Any) -> Any:
    """The protocol and the last code of who is let in; the status of who is not."""
    try:
        with opened(server, target, **more) as stream:
            return stream.subprotocol, ending(stream)
    except InvalidStatus as refused:
        answer = refused.response
    problem = json.loads(answer.body or b"")
    assert answer.headers["content-type"] == MEDIA_TYPE
    assert answer.headers["x-request-id"]
    return problem["status"] if problem["status"] == answer.status_code else problem


def made(http: httpx.Client, name: str, model: str = "linear") -> str:
    assert http.put(f"/{name}", json={"model": model}).status_code == 201
    return name


def npy(rows: Any) -> bytes:
    stream = io.BytesIO()
    np.save(stream, rows)
    return stream.getvalue()


def learnt_at_once(http: httpx.Client, name: str, rows: list[dict[str, Any]]) -> Any:
    """The state of a session that got these samples by POST."""
    made(http, name)
    http.post(f"/{name}/samples", json=rows)
    return http.get(f"/{name}/snapshot").json()["state"]


def test_answers_and_state_are_those_of_requests(server: Server, http: httpx.Client) -> None:
    made(http, "streamed"), made(http, "posted")
    columns = {"x": X[7:9].tolist(), "y": Y[7:9].tolist()}
    bodies: list[Any] = [ROWS[0], ROWS[1:7], columns, npy(np.column_stack([X[9:], Y[9:]]))]
    query = "predictions=true&producer=p&seq=0"
    with opened(server, f"streamed?{query}") as stream:
        for body, first in zip(bodies, (0, 1, 7, 9), strict=True):
            binary = isinstance(body, bytes)
            posted = http.post(
                "/posted/samples",
                params={"predictions": "true", "producer": "p", "seq": first},
                headers={"content-type": f"application/{'x-npy' if binary else 'json'}"},
                content=body if binary else json.dumps(body),
            )
            assert asked(stream, body) == posted.json() | {"name": "streamed"}
    streamed, posted = (http.get(f"/{name}/snapshot").json() for name in ("streamed", "posted"))
    assert streamed | {"name": "posted", "times": posted["times"]} == posted


def test_features_may_have_names(server: Server, http: httpx.Client) -> None:
    rows = [{"x": {"a": i, f"b{i % 3}": "c"}, "y": i % 2} for i in range(20)]
    name = made(http, "names")
    with opened(server, f"{name}?producer=p&seq=0") as stream:
        answers = [asked(stream, row) for row in rows[:10]] + [asked(stream, rows[10:])]
        refused = asked(stream, {"seq": 20, "samples": [{"x": {"a": None}, "y": 1}]})
        mixed = asked(stream, {"x": [1.0], "y": 1})
        by_array = asked(stream, npy(np.ones((1, 3))))
    assert answers[-1]["theta"].keys() == {"a", "b0=c", "b1=c", "b2=c"}
    assert refused["error"]["errors"][0]["pointer"] == "/samples/0/x/a"
    assert {answer["error"]["status"] for answer in (mixed, by_array)} == {422}
    state = http.get(f"/{name}/snapshot").json()["state"]
    assert state == learnt_at_once(http, "names-at-once", rows)


def test_many_messages_ahead_are_answered_in_order(server: Server, http: httpx.Client) -> None:
    made(http, "ahead")
    with opened(server, "ahead?theta=false") as stream:
        for row in ROWS:
            stream.send(json.dumps(row))
        answers = [told(stream) for _ in ROWS]
    assert [answer["t"] for answer in answers] == list(range(1, 61))
    assert "theta" not in answers[0]
    assert http.get("/ahead/snapshot").json()["state"] == learnt_at_once(http, "at-once", ROWS)


def test_after_a_lost_connection_what_is_sent_again_is_learnt_once(
    server: Server, http: httpx.Client
) -> None:
    made(http, "lost")
    with opened(server, "lost?producer=p&seq=0") as stream:
        acked = asked(stream, ROWS[0])["t"]
        for row in ROWS[1:40]:
            stream.send(json.dumps(row))
        stream.socket.shutdown(SHUT_RDWR)  # without a word; whatever was learnt is not answered
    with opened(server, f"lost?producer=p&seq={acked}") as again:
        answers = [asked(again, row) for row in ROWS[acked:]]
    assert answers[-1]["t"] == 60
    assert all(answer["duplicate"] == (answer["accepted"] == 0) for answer in answers)
    assert http.get("/lost", params={"producer": "p"}).json()["next_seq"] == 60
    assert http.get("/lost/snapshot").json()["state"] == learnt_at_once(http, "once", ROWS)


def test_a_message_may_say_its_number(server: Server, http: httpx.Client) -> None:
    made(http, "numbered", "gaussian")
    with opened(server, "numbered?producer=p") as stream:
        assert asked(stream, {"y": 1})["error"]["errors"][0]["pointer"] == "/seq"
        assert asked(stream, {"seq": 0, "samples": [{"y": 1}, {"y": 2}]})["t"] == 2
        assert asked(stream, {"samples": {"y": [2, 3]}, "seq": 1})["accepted"] == 1
        assert asked(stream, {"y": 4})["t"] == 4  # 3, as it follows
        assert asked(stream, {"seq": 3, "samples": {"y": 4}})["duplicate"]
        gap = asked(stream, {"seq": 9, "samples": {"y": 4}})["error"]
        assert (gap["type"], gap["expected"]) == ("urn:llr:problem:sequence-gap", 4)
        for seq in (-1, 1.5, 2**53, "null", [0]):
            wrong = asked(stream, f'{{"seq": {seq}, "samples": {{"y": 4}}}}')
            assert wrong["error"]["status"] in (400, 422), seq
        place = asked(stream, {"seq": 4, "samples": [{"y": 5}, {"y": "6"}]})["error"]["errors"]
        assert place[0]["pointer"] == "/samples/1/y"
        assert asked(stream, npy(np.array([5.0])))["t"] == 5
    with opened(server, "numbered") as stream:
        assert "producer" in asked(stream, {"seq": 0, "samples": {"y": 4}})["error"]["detail"]


@pytest.mark.parametrize(
    ("message", "status", "pointer"),
    [
        ("no", 400, None),
        ("{}", 422, "/x"),
        ('{"x": [1, 2, 3], "y": true}', 422, "/y"),
        ('[{"x": [1, 2, 3], "y": 1}, {"x": [1, 2], "y": 1}]', 422, "/1/x"),
        ('{"x": [1, 2], "y": 1}', 422, "/x"),
        (b"npy?", 400, None),
        (b"", 400, None),
    ],
)
def test_a_refused_message_is_answered_and_the_next_is_learnt(
    server: Server, http: httpx.Client, message: Any, status: int, pointer: str | None
) -> None:
    name = made(http, f"refused-{abs(hash(message))}")
    with opened(server, f"{name}?producer=p&seq=0") as stream:
        asked(stream, ROWS[0])
        refusal = asked(stream, message)
        assert refusal | {"error": 0} == {
            "name": name,
            "t": 1,
            "accepted": 0,
            "duplicate": False,
            "error": 0,
        }
        assert refusal["error"]["status"] == status
        if pointer is not None:
            assert refusal["error"]["errors"][0]["pointer"] == pointer
        assert asked(stream, ROWS[1])["t"] == 2


def test_who_is_refused_again_and_again_is_left(server: Server, http: httpx.Client) -> None:
    made(http, "hopeless")
    with opened(server, "hopeless") as stream:
        for _ in range(MAX_CONSECUTIVE_ERRORS):
            assert asked(stream, "no")["error"]["status"] == 400
        assert told(stream)["error"]["detail"].startswith(str(MAX_CONSECUTIVE_ERRORS))
        assert ending(stream) == 1008


def test_a_stream_to_nowhere_says_so(server: Server, http: httpx.Client) -> None:
    with opened(server, "nowhere") as stream:
        assert told(stream)["error"]["type"] == "urn:llr:problem:session-not-found"
        assert ending(stream) == 4404
    made(http, "gone")
    with opened(server, "gone") as stream:
        assert asked(stream, ROWS[0])["t"] == 1
        http.delete("/gone")
        assert asked(stream, ROWS[1])["error"]["status"] == 404
        assert ending(stream) == 4404


@pytest.mark.parametrize("query", ["seq=1", "producer=%20", "producer=p&seq=x", "theta=maybe"])
def test_a_wrong_query_ends_the_stream(server: Server, http: httpx.Client, query: str) -> None:
    with opened(server, f"any?{query}") as stream:
        assert told(stream)["error"]["errors"][0]["parameter"] == query.partition("=")[0] or "seq"
        assert ending(stream) == 1008


def test_a_message_beyond_the_limit_ends_the_stream(server: Server, http: httpx.Client) -> None:
    made(http, "large", "gaussian")
    with opened(server, "large") as stream:
        assert asked(stream, npy(np.ones(8000)))["t"] == 8000
        stream.send(b"\0" * 65537)
        assert ending(stream) == 1009
    with opened(server, "large") as stream, suppress(ConnectionClosed):
        stream.send([b"\0" * 40_000] * 2)  # in two parts
        assert ending(stream) == 1009
    assert http.get("/large").json()["t"] == 8000


def test_a_head_that_opens_nothing_is_refused(server: Server) -> None:
    head = b"GET /v1/sessions/any/stream HTTP/1.1\r\nhost: here\r\n"
    head += b"connection: upgrade\r\nupgrade: websocket\r\n"
    assert server.say(head + b"\r\n")[0] == 400
    status, _, body = server.say(head + b"x: " + b"y" * 30_000 + b"\r\n\r\n")
    assert (status, json.loads(body)["type"]) == (400, "urn:llr:problem:malformed")
    assert server.ask("GET", b"/livez")[0] == 200


def test_a_stop_answers_what_was_sent_then_goes_away(tmp_path: Path) -> None:
    with started(tmp_path) as server, ExitStack() as streams:
        with httpx.Client(base_url=f"http://127.0.0.1:{server.port}/v1/sessions") as http:
            made(http, "stop", "gaussian")
        stream = streams.enter_context(opened(server, "stop?producer=p&seq=0"))
        idle = streams.enter_context(opened(server, "stop"))
        acked = asked(stream, {"y": 0})["t"]
        with suppress(ConnectionClosed):
            for y in range(1, 20_000):
                stream.send(json.dumps({"y": y}))
                if y == 200:
                    server.process.send_signal(signal.SIGTERM)
                if y % 8 == 0:
                    acked = told(stream)["t"]
        answers, code = rest(stream)
        acked = answers[-1]["t"] if answers else acked
        assert (code, ending(idle)) == (1001, 1001)
        assert server.process.wait(timeout=20) == 0
    with started(tmp_path) as server:
        after = server.ask("GET", b"/v1/sessions/stop?producer=p")
    state = json.loads(after[2])
    assert state["next_seq"] == state["t"] >= acked > 1


def test_keys_let_in_whom_they_should_and_are_in_no_log(tmp_path: Path) -> None:
    keys = {"read": "llr_reader", "write": "llr_writer"}
    given = ",".join(f"{role}:{role}:{hash_key(key)}" for role, key in keys.items())
    with started(tmp_path, api_keys=given, log_level="debug") as server:

        def status(headers: dict[str, str] | None = None, protocols: Any = None) -> Any:
            more = {"additional_headers": headers or {}, "subprotocols": protocols}
            return greeted(server, "nowhere", **more)

        assert status() == status({"x-api-key": "llr_wrong"}) == 401
        assert status({"authorization": "Bearer llr_reader"}) == 403
        assert status({"authorization": "Bearer llr_writer"}) == (None, 4404)
        assert status({"x-api-key": "llr_writer"}) == (None, 4404)
        assert status(protocols=["llr", "llr.key.llr_writer"]) == ("llr", 4404)
        assert status(protocols=["llr", "llr.key.llr_reader"]) == 403
        assert status(protocols=["llr"]) == 401
        assert status({"x-api-key": "llr_writer"}, ["llr.key.llr_reader"]) == 401
    assert not any(key in server.log.read_text() for key in [*keys.values(), "llr_wrong"])


def test_pages_of_elsewhere_are_not_let_in(server: Server, tmp_path: Path) -> None:
    def let_in(server: Server, origin: str) -> bool:
        greeting = greeted(server, "nowhere", origin=origin)
        assert greeting in (403, (None, 4404))
        return bool(greeting != 403)

    assert let_in(server, f"http://127.0.0.1:{server.port}")
    assert not any(let_in(server, o) for o in ("https://evil.example", "null", "http://127.0.0.1"))
    with started(tmp_path, cors_origins="https://a.example", max_streams="1") as other:
        assert let_in(other, "https://a.example")
        assert not let_in(other, "https://b.example")
        other.ask(
            "PUT",
            b"/v1/sessions/a",
            b"content-type: application/json",
            body=b'{"model":"gaussian"}',
        )
        with opened(other, "a") as first:
            assert asked(first, {"y": 1})["t"] == 1
            with opened(other, "a") as second:
                assert ending(second) == 1013
            assert "error" in asked(first, "no")
            counted = other.ask("GET", b"/metrics")[2].decode()
    assert 'llr_messages_total{status="2xx"} 1.0' in counted
    assert 'llr_messages_total{status="4xx"} 1.0' in counted
    assert "llr_streams_open 1.0" in counted


def test_a_message_in_many_parts_is_one_message(server: Server, http: httpx.Client) -> None:
    made(http, "parts", "gaussian")
    whole = npy(np.arange(5.0))
    with opened(server, "parts") as stream:
        stream.send([whole[:1], b"", b"", whole[1:70], b"", whole[70:]])
        assert told(stream)["accepted"] == 5
        stream.send(['{"y"', "", ": [1,", "2]}"])
        assert told(stream)["accepted"] == 2


def test_pings_whose_answers_nobody_reads_take_no_memory(
    server: Server, http: httpx.Client
) -> None:
    made(http, "flooded")
    head = b"GET /v1/sessions/flooded/stream HTTP/1.1\r\nhost: here\r\nconnection: upgrade\r\n"
    head += b"upgrade: websocket\r\nsec-websocket-version: 13\r\n"
    head += b"sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
    ping = b"\x89\xfd" + b"\0" * 129
    before = server.peak()
    with create_connection(("127.0.0.1", server.port), timeout=2) as flood:
        flood.sendall(head)
        assert flood.recv(1000).startswith(b"HTTP/1.1 101")
        with pytest.raises(TimeoutError):  # the service reads no more
            flood.sendall(ping * 500_000)
    assert server.peak() - before < 20_000_000


@pytest.mark.anyio
async def test_a_store_that_fails_ends_the_stream_and_nothing_is_lost(store: Stub) -> None:
    app = App(Settings(store="memory:"))
    async with running(app) as http:
        await http.put("/v1/sessions/demo", json={"model": "gaussian"})
        sender = Sender()
        sender.thawed.set()
        store.fails = away
        await served(app, sender, lambda: sender.code)
        assert (sender.code, sender.answers[-1]["error"]["status"]) == (1013, 503)
        store.fails = None
        session = await app.context.sessions.get("demo")
        assert session.t == 0
        assert not session.busy
        assert app.context.streams == app.context.bodies == 0
        again = Sender()
        again.thawed.set()
        await served(app, again, lambda: len(again.answers) == 199)
        assert again.answers[-1]["t"] == 199


class Sender:
    """A client that sends without end, and reads only when told to."""

    def __init__(self) -> None:
        self.sent = 0
        self.code: int | None = None
        self.answers: list[dict[str, Any]] = []
        self.thawed = asyncio.Event()

    async def receive(self) -> Message:
        self.sent += 1
        if self.sent == 1:
            return {"type": "websocket.connect"}
        if self.sent > 200:
            await asyncio.Event().wait()
        return {"type": "websocket.receive", "text": '{"y": 1}'}

    async def send(self, message: Message) -> None:
        if message["type"] == "websocket.send":
            await self.thawed.wait()
            self.answers.append(json.loads(message["text"]))
        self.code = message.get("code")


async def served(app: App, sender: Sender, check: Callable[[], Any]) -> None:
    """Run a stream in this process until a check holds."""
    path = "/v1/sessions/demo/stream"
    scope = {"type": "websocket", "path": path, "query_string": b"", "headers": []}
    task = asyncio.create_task(app(scope, sender.receive, sender.send))
    await until(check)
    await settle()
    task.cancel()
    await asyncio.wait([task])


@pytest.mark.anyio
async def test_who_does_not_read_is_not_read_from() -> None:
    app = App(Settings(store="memory:"))
    async with running(app) as http:
        await http.put("/v1/sessions/demo", json={"model": "gaussian"})
        sender = Sender()

        await served(app, sender, lambda: sender.sent > AHEAD)
        assert sender.sent == AHEAD + 1  # the first opened it
        session = await app.context.sessions.get("demo")
        await until(lambda: session.t == sender.sent - 1)
        assert not session.busy
        assert app.context.streams == app.context.bodies == 0
        reader = Sender()
        reader.thawed.set()
        before = session.t
        await served(app, reader, lambda: len(reader.answers) == 199)
        assert [answer["t"] - before for answer in reader.answers] == list(range(1, 200))
