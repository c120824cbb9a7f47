"""Keys of a file: read at the start, read again on SIGHUP, and gone from open connections too."""

import json
import logging
import signal
from pathlib import Path

import pytest
from llr_service.app import App
from llr_service.http.auth import ANYBODY, ApiKey, hash_key, parse_key_file, parse_keys
from llr_service.http.keys import KeyRing, read_key_file
from llr_service.routes.events import _flow
from llr_service.sessions.config import SessionConfig
from llr_service.sessions.session import SessionPin
from llr_service.settings import Settings
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect
from support.serving import started

ONE, TWO, THREE = (f"{name}:write:{hash_key(name)}" for name in ("one", "two", "three"))
DEMO = "/v1/sessions/demo"


def of(name: str) -> dict[str, str]:
    return {"authorization": f"Bearer {name}"}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "keys"
    path.write_text(f"# keys\n\n{ONE}  # of the first\n")
    return path


@pytest.fixture
def app(file: Path) -> App:
    return App(Settings(store="memory:", api_keys=parse_keys(TWO), api_keys_file=str(file)))


def names(ring: KeyRing) -> list[str]:
    return sorted(key.name for key in ring.by_digest.values())


def test_a_file_has_an_entry_a_line_and_comments() -> None:
    text = f"\n# all of them\n {ONE} # one\n\nacme:read:acme-:{hash_key('x')}\n"
    assert [(key.name, key.prefix) for key in parse_key_file(text)] == [
        ("one", ""),
        ("acme", "acme-"),
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"# c\n{ONE}\nnonsense", "line 3 is not"),
        (f"{ONE},{TWO}", "line 1 is not|line 1: "),
        (f"{ONE}\n{ONE}", "the same name"),
        (f"a:read:{hash_key('1')}\nb:read:{hash_key('1')}", "twice"),
        ("# none yet\n", "has no keys"),
    ],
)
def test_what_is_wrong_with_a_file_is_told_by_its_line(
    tmp_path: Path, text: str, reason: str
) -> None:
    path = tmp_path / "keys"
    path.write_text(text)
    with pytest.raises(ValueError, match=reason) as caught:
        read_key_file(str(path))
    assert hash_key("one") not in str(caught.value)


def test_a_wrong_file_is_an_error_of_the_settings(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for text in (None, "nonsense", ONE):
        file.unlink() if text is None else file.write_text(text)
        with pytest.raises(SystemExit):
            Settings.from_cli(["--api-keys-file", str(file), "--api-keys", ONE])
        assert "LLR_API_KEYS_FILE: " in capsys.readouterr().err


def test_a_file_of_keys_is_enough_to_listen_beyond_loopback(file: Path) -> None:
    assert Settings(host="192.0.2.1", store="memory:", api_keys_file=str(file)).has_keys


def test_reloading_takes_what_the_file_has_now(
    file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    ring = KeyRing(parse_keys(TWO), str(file))
    assert names(ring) == ["one", "two"]
    file.write_text(THREE)
    assert ring.reload()
    assert names(ring) == ["three", "two"]
    assert caplog.records[-1].removed == ["one"]  # type: ignore[attr-defined]


@pytest.mark.parametrize("text", ["nonsense", "", TWO, None])
def test_a_broken_file_keeps_the_old_keys_and_is_logged(
    file: Path, text: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    ring = KeyRing(parse_keys(TWO), str(file))
    file.unlink() if text is None else file.write_text(text)
    assert not ring.reload()
    assert names(ring) == ["one", "two"]
    assert caplog.records[-1].levelname == "ERROR"
    assert hash_key("two") not in caplog.text


def test_a_key_with_another_role_or_prefix_is_not_the_one_that_was_accepted(file: Path) -> None:
    ring = KeyRing((), str(file))
    [key] = ring.by_digest.values()
    ring.reload()
    assert ring.accepts(key), "it is the same still"
    file.write_text(ONE.replace("write", "read"))
    ring.reload()
    assert not ring.accepts(key)


def test_requests_streams_and_watchers_of_a_removed_key_end(app: App, file: Path) -> None:
    with TestClient(app) as client:
        client.put(DEMO, json={"model": "gaussian"}, headers=of("one"))
        with (
            client.websocket_connect(f"{DEMO}/stream", headers=of("one")) as gone,
            client.websocket_connect(f"{DEMO}/stream", headers=of("two")) as stays,
        ):
            for stream in (gone, stays):
                stream.send_text('{"y": 1}')
                assert json.loads(stream.receive_text())["accepted"] == 1
            file.write_text(THREE)
            assert app.context.keys.reload()
            for stream in (gone, stays):
                stream.send_text('{"y": 1}')
            assert json.loads(gone.receive_text())["error"]["status"] == 401
            with pytest.raises(WebSocketDisconnect) as closed:
                gone.receive_text()
            assert closed.value.code == 1008
            assert json.loads(stays.receive_text())["t"] == 3
        assert client.get(DEMO, headers=of("one")).status_code == 401
        assert client.get(DEMO, headers=of("three")).json()["t"] == 3


@pytest.mark.anyio
async def test_an_event_stream_of_a_removed_key_tells_nothing_more(app: App, file: Path) -> None:
    async with app.inner.router.lifespan_context(app.inner):
        sessions = app.context.sessions
        session, _ = await sessions.create("demo", SessionConfig(model="gaussian"))
        [key] = [key for key in app.context.keys.by_digest.values() if key.name == "one"]
        with SessionPin(session) as pin:
            flow = _flow(pin, app.context, key, None)
            assert [await anext(flow), (await anext(flow))[:3]] == [b"retry: 1000\n\n", b"id:"]
            file.write_text(THREE)
            app.context.keys.reload()
            session.diverged = True  # a new state, which it would be told
            assert [part async for part in flow] == []


def test_without_keys_everybody_is_accepted_still() -> None:
    assert KeyRing(()).accepts(ANYBODY)
    assert not KeyRing(()).accepts(ApiKey("a", ANYBODY.role, b"x"))


def test_sighup_makes_a_running_service_read_the_file_again(tmp_path: Path, file: Path) -> None:
    with started(tmp_path, api_keys_file=str(file), log_format="json") as server:

        def status(key: bytes) -> int:
            answer: tuple[int, object, object] = server.ask(
                "GET", b"/v1/sessions", b"x-api-key: " + key
            )
            return answer[0]

        assert (status(b"one"), status(b"three")) == (200, 401)
        for text, line in (("nonsense", "keys not reloaded"), (THREE, "keys reloaded")):
            file.write_text(text)
            server.process.send_signal(signal.SIGHUP)
            assert any(line in server.log.read_text() for _ in range(5000) if status(b"two"))
            assert status(b"one") == (401 if text == THREE else 200)
        assert status(b"three") == 200
