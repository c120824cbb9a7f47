"""Webhooks: drift and divergence reach a receiver at least once, signed, whatever is killed."""

import asyncio
import base64
import hashlib
import hmac
import json
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Queue
from typing import Any

import httpx
import pytest
from llr_service import webhooks
from llr_service.app import App
from llr_service.metrics import Metrics
from llr_service.sessions import outbox
from llr_service.sessions.committer import Committer
from llr_service.sessions.outbox import Outbox
from llr_service.sessions.storage import Storage, VersionReader
from llr_service.settings import Settings
from llr_service.stores import ENGINES, open_store
from llr_service.stores.store import CreateSession, StoreUnavailable
from llr_service.webhooks import WebhookSender
from starlette.testclient import TestClient
from support.app import settle, until
from support.root import ROOT
from support.serving import started
from support.shared_memory import SharedMemory
from support.stores_contract import PLACES

KEY = bytes(range(32))
SECRET = "whsec_" + base64.b64encode(KEY).decode()
DEMO = "/v1/sessions/demo"
SAMPLES = f"{DEMO}/samples"
DRIFT = [{"y": 0.01 * (k % 3) + 100.0 * (k >= 600)} for k in range(700)]
Received = tuple[dict[str, str], bytes]


class Receiver:
    """A server on loopback that keeps what it gets and answers with the next status."""

    def __init__(self) -> None:
        self.got: Queue[Received] = Queue()
        self.statuses: list[int] = []
        self.answering = threading.Event()
        self.answering.set()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                receiver.got.put(({k.lower(): v for k, v in self.headers.items()}, body))
                receiver.answering.wait(20)
                self.send_response(receiver.statuses.pop(0) if receiver.statuses else 204)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/hook"

    def next(self) -> Received:
        return self.got.get(timeout=20)

    @contextmanager
    def serving(self) -> Iterator["Receiver"]:
        thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self.answering.set()
            self._server.shutdown()
            self._server.server_close()
            thread.join()


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    monkeypatch.setattr(webhooks, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(webhooks, "SHORTEST", 0.01)
    with Receiver().serving() as made:
        yield made


@contextmanager
def service(receiver: Receiver, store: str = "memory:") -> Iterator[TestClient]:
    given = {"store": store, "webhook_url": receiver.url, "webhook_secret": SECRET}
    with TestClient(App(Settings(**given))) as client:  # type: ignore[arg-type]
        yield client


def drift(client: Any) -> None:
    """A session whose loss rises once."""
    client.put(DEMO, json={"model": "gaussian", "algorithm": "sg"})
    for k in range(0, len(DRIFT), 100):
        assert client.post(SAMPLES, json=DRIFT[k : k + 100]).status_code == 200


def is_signed(headers: dict[str, str], body: bytes) -> bool:
    """Whether the signature is that of Standard Webhooks, computed apart from the code."""
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    expected = base64.b64encode(hmac.new(KEY, signed, hashlib.sha256).digest()).decode()
    return headers["webhook-signature"] == f"v1,{expected}"


def test_a_drift_is_reported_with_its_session_t_and_signature(receiver: Receiver) -> None:
    with service(receiver) as client:
        drift(client)
        headers, body = receiver.next()
        state = client.get(DEMO).json()
    event = json.loads(body)
    assert is_signed(headers, body)
    assert not is_signed(headers | {"webhook-timestamp": "1"}, body)
    assert (event["type"], event["session"]) == ("drift", "demo")
    assert event["t"] in state["drift"]["at"]
    assert event["id"] == headers["webhook-id"]
    assert event["time"].endswith("Z")


def test_the_documented_check_takes_what_is_sent_and_nothing_else(receiver: Receiver) -> None:
    page = (ROOT / "docs/webhooks.md").read_text()
    code = page.split("```python")[1].split("```")[0]
    found: dict[str, Any] = {}
    exec(code, found)  # noqa: S102
    with service(receiver) as client:
        drift(client)
        headers, body = receiver.next()
    assert found["is_genuine"](SECRET, headers, body)
    assert not found["is_genuine"](SECRET, headers, body + b" ")
    assert not found["is_genuine"](SECRET, headers | {"webhook-timestamp": "1"}, body)


def test_a_divergence_is_reported_once_until_the_session_learns_again(receiver: Receiver) -> None:
    with service(receiver) as client:
        client.put(DEMO, json={"model": "linear", "dim": 1, "algorithm": "sg", "eta0": 1e300})
        bad = {"x": [1e200], "y": 1e200}
        for _ in range(3):
            assert client.post(SAMPLES, json=bad).status_code == 409
        events = [json.loads(receiver.next()[1])]
        assert client.post(SAMPLES, json={"x": [0.0], "y": 0.0}).status_code == 200
        assert client.post(SAMPLES, json=bad).status_code == 409
        events.append(json.loads(receiver.next()[1]))
    assert [(event["type"], event["t"]) for event in events] == [("diverged", 0), ("diverged", 1)]
    assert receiver.got.empty()


def test_what_is_not_taken_is_tried_again_with_the_same_id_and_then_no_more(
    receiver: Receiver,
) -> None:
    receiver.statuses = [500, 302, 404]
    with service(receiver) as client:
        drift(client)
        tries = [receiver.next() for _ in range(4)]
        assert len({headers["webhook-id"] for headers, _ in tries}) == 1
        assert len({body for _, body in tries}) == 1
        client.put("/v1/sessions/other", json={"model": "gaussian"})
        assert receiver.got.empty()


def test_waiting_events_are_no_sessions_to_clients(receiver: Receiver) -> None:
    receiver.answering.clear()
    with service(receiver) as client:
        drift(client)
        headers, _ = receiver.next()
        rows = client.get("/v1/sessions").json()["sessions"]
        assert [row["name"] for row in rows] == ["demo"]
        name = f"{outbox.NAMES}{headers['webhook-id']}"
        assert client.get(f"/v1/sessions/{name}").status_code == 422
        receiver.answering.set()


def test_learning_does_not_wait_for_a_receiver_that_does_not_answer(receiver: Receiver) -> None:
    receiver.answering.clear()
    with service(receiver) as client:
        drift(client)
        receiver.next()
        assert client.post(SAMPLES, json={"y": 1.0}).status_code == 200
        receiver.answering.set()


@pytest.mark.slow
def test_a_kill_between_the_store_and_the_answer_loses_no_event(
    tmp_path: Path, receiver: Receiver
) -> None:
    receiver.answering.clear()
    given = {"webhook_url": receiver.url, "webhook_secret": SECRET, "allowed_hosts": "*"}
    with started(tmp_path, **given) as server:
        with httpx.Client(base_url=f"http://127.0.0.1:{server.port}") as client:
            drift(client)
        first, body = receiver.next()
        server.process.kill()
        server.process.wait()
    receiver.answering.set()
    with started(tmp_path, **given):
        second, again = receiver.next()
    assert first["webhook-id"] == second["webhook-id"]
    assert body == again


def test_an_event_goes_into_the_store_before_or_with_its_change(
    monkeypatch: pytest.MonkeyPatch, receiver: Receiver
) -> None:
    written: list[str] = []
    write = SharedMemory.write

    def spy(store: SharedMemory, group: Any) -> Any:
        written.extend(
            "event" if isinstance(c, CreateSession) and c.name.startswith("!") else type(c).__name__
            for c in group
        )
        return write(store, group)

    store = SharedMemory()
    monkeypatch.setattr(SharedMemory, "write", spy)
    monkeypatch.setattr("llr_service.app.open_store", lambda _: store)
    with service(receiver) as client:
        drift(client)
        receiver.next()
    place = written.index("event")
    assert written[place + 1] in ("AppendSamples", "WriteSnapshot")


@pytest.mark.anyio
async def test_one_replica_sends_and_another_takes_over_when_it_is_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store, seconds = SharedMemory(), [0.0]
    boxes = []
    for _ in range(3):
        committer = Committer(store, Metrics())
        storage = Storage(committer, VersionReader(store, Metrics()))
        boxes.append(Outbox(storage, lambda: seconds[0]))
    boxes[0].add("drift", 1, "demo", 7, 1_000)
    await settle()
    await until(lambda: boxes[0]._own)

    async def allowed() -> list[bool]:
        return [box.may_send(id_, version) for box in boxes for id_, version in await box.waiting()]

    assert await allowed() == [True, False, False]
    [(id_, version)] = await boxes[0].waiting()
    assert await boxes[0].claim(id_, version)
    seconds[0] += outbox.TAKEOVER - 1
    assert await allowed() == [True, False, False], "the try made another version"
    seconds[0] += outbox.TAKEOVER
    assert await allowed() == [True, True, True], "it may be gone"
    [(id_, version)] = await boxes[0].waiting()
    claims = [await box.claim(id_, version) for box in boxes[1:]]
    assert [claim is not None for claim in claims] == [True, False]
    assert await allowed() == [False, True, False]
    await boxes[1].sent(claims[0])  # type: ignore[arg-type]
    assert await boxes[0].waiting() == []


@pytest.mark.anyio
@pytest.mark.parametrize("engine", ENGINES)
async def test_every_engine_keeps_an_event_until_it_was_sent(engine: str, tmp_path: Path) -> None:
    store = open_store(PLACES[engine](tmp_path))
    committer = Committer(store, Metrics())
    box = Outbox(Storage(committer))
    for _ in range(2):
        box.add("drift", 1, "demo", 7, 1_000)
    await committer.commit(CreateSession("demo", b"{}")).wait()
    [(id_, version)] = await box.waiting()
    assert box.may_send(id_, version)
    event = await box.claim(id_, version)
    assert event is not None
    assert json.loads(event.body)["session"] == "demo"
    assert await box.claim(id_, version) is None, "there is a newer version"
    await box.sent(event)
    assert await box.waiting() == []
    assert [row.name for row in store.list("", 9)] == ["demo"]
    await committer.close()


@pytest.mark.anyio
async def test_a_store_that_is_away_ends_no_sender(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(webhooks, "LOOK_SECONDS", 0.0)
    looks = 0

    class Away(Outbox):
        async def waiting(self) -> Any:
            nonlocal looks
            looks += 1
            raise StoreUnavailable("away")

    sender = WebhookSender(Away(None), "http://127.0.0.1:9/", SECRET)  # type: ignore[arg-type]
    caplog.set_level(logging.WARNING)
    task = asyncio.create_task(sender.run())
    await until(lambda: looks > 2)
    task.cancel()
    await asyncio.wait([task])
    assert "the outbox cannot be read" in caplog.text


@pytest.mark.parametrize(
    "secret", ["", "secret", "whsec_", "whsec_AAAA", "whsec_!", "whsec_" + "A" * 100]
)
def test_a_secret_that_signs_nothing_is_refused_and_not_repeated(secret: str) -> None:
    with pytest.raises(ValueError, match="WEBHOOK_SECRET") as refused:
        Settings(store="memory:", webhook_url="http://127.0.0.1:9/", webhook_secret=secret)
    assert "AAAA" not in str(refused.value)


def test_neither_the_secret_nor_what_follows_the_host_is_shown() -> None:
    url = "https://hooks.example/token"
    shown = repr(Settings(store="memory:", webhook_url=url, webhook_secret=SECRET))
    assert "hooks.example" in shown
    assert "token" not in shown
    assert SECRET not in shown
