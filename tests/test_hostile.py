"""Rows 12, 13 and 18: hostile numbers, bodies, names and headers. Refused, or harmless."""

import io
import json
import math
import os
import pickle
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterable, Iterator
from http.client import HTTPResponse
from pathlib import Path
from socket import create_connection
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

import llr
from service.app import App
from service.settings import MIB, Settings

JSON, NDJSON, NPY = "application/json", "application/x-ndjson", "application/x-npy"
NOT_NUMBERS = ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "1" + "0" * 400, '"1.5"', "true"]
NOT_NUMBERS += ["false", "null", "[1]", '{"0":1}', '""']
EXTREME = ["1e308", "-1e308", "1.7976931348623157e308", "5e-324", "-5e-324", "1e-400", "-0", "-0.0"]
EXTREME += ["0", "1", "9" * 300, "0.1e-307", "1e154", "-1e200"]
LARGEST = 2**64 - 1
CONFIGS: dict[str, dict[str, Any]] = {
    name: {"model": name} | ({"dim": 2} if model.features else {})
    for name, model in llr.MODELS.items()
}
for name, model in llr.MODELS.items():
    if model.parameter is not None and model.parameter.default is None:
        CONFIGS[name]["options"] = {model.parameter.name: 3}


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    """An app with small limits and a session of every model."""
    app = App(Settings(store="memory:", max_body=64 * 1024, max_line=1024, block_bytes=1024))
    with TestClient(app, raise_server_exceptions=False) as started:
        for name, config in CONFIGS.items():
            assert started.put(f"/v1/sessions/{name}", json=config).status_code == 201
        yield started


def strictly(text: str) -> Any:
    """JSON as the standard has it, in which every number is finite."""

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    def finite(digits: str) -> float:
        assert math.isfinite(float(digits)), digits
        return float(digits)

    return json.loads(text, parse_constant=refuse, parse_float=finite)


def seen(client: TestClient, name: str) -> int:
    """t, after a look at everything that shows numbers."""
    t = 0
    for what in ("/history", "/snapshot", ""):
        answer = client.get(f"/v1/sessions/{name}{what}")
        assert answer.status_code == 200
        t = strictly(answer.text)["t"]
    return t


def post(client: TestClient, name: str, kind: str, body: bytes) -> Any:
    headers = {"content-type": kind}
    return client.post(f"/v1/sessions/{name}/samples", content=body, headers=headers)


def sample(name: str, *numbers: str) -> bytes:
    if llr.MODELS[name].features:
        return f'{{"x":[{numbers[0]},{numbers[1]}],"y":{numbers[2]}}}'.encode()
    return f'{{"y":{numbers[2]}}}'.encode()


@pytest.mark.parametrize("kind", [JSON, NDJSON])
@pytest.mark.parametrize("literal", NOT_NUMBERS)
def test_what_is_no_finite_number_is_422_by_its_place(
    client: TestClient, literal: str, kind: str
) -> None:
    for name in ("linear", "gaussian"):
        before = seen(client, name)
        for place in {0, 1, 2} if name == "linear" else {2}:
            numbers = [literal if i == place else "1" for i in range(3)]
            refused = post(client, name, kind, sample(name, *numbers))
            if literal == "[1]" and place == 2 and kind == JSON:
                continue  # labels as a column: another shape, right or wrong
            assert refused.status_code == 422, refused.text
            assert refused.json()["errors"][0]["pointer"] == ("/y" if place == 2 else f"/x/{place}")
        assert seen(client, name) == before or literal == "[1]"


@seed(12)
@settings(max_examples=80, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(
    name=st.sampled_from(list(CONFIGS)),
    rows=st.lists(
        st.lists(st.sampled_from(EXTREME), min_size=3, max_size=3), min_size=1, max_size=3
    ),
    kind=st.sampled_from([JSON, NDJSON, NPY]),
)
def test_extreme_numbers_are_refused_or_leave_a_finite_state(
    client: TestClient, name: str, rows: list[tuple[str, ...]], kind: str
) -> None:
    before = seen(client, name)
    if kind == NPY:
        table = np.array([[float(number) for number in row] for row in rows])
        body = npy(table if llr.MODELS[name].features else table[:, 2:])
    else:
        texts = [sample(name, *row) for row in rows]
        body = b"[" + b",".join(texts) + b"]" if kind == JSON else b"\n".join(texts)
    answer = post(client, name, kind, body)
    assert answer.status_code in (200, 409, 422), answer.text
    strictly(answer.text)
    if answer.status_code == 409:
        assert answer.json()["type"] == "urn:llr:problem:diverged"
    assert seen(client, name) == before + answer.json().get("accepted", 0)


@seed(13)
@settings(max_examples=40, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(
    bits=st.lists(st.integers(0, 2**64 - 1), min_size=3, max_size=9), width=st.sampled_from("fd")
)
def test_any_bits_in_an_npy_body_are_refused_or_leave_a_finite_state(
    client: TestClient, bits: list[int], width: str
) -> None:
    numbers = np.array(bits[: len(bits) // 3 * 3], np.uint64).view(np.float64).reshape(-1, 3)
    with np.errstate(all="ignore"):
        table = numbers.astype(width)
    before = seen(client, "linear")
    answer = post(client, "linear", NPY, npy(table))
    assert answer.status_code in ((200, 409) if np.isfinite(table).all() else (422,))
    assert seen(client, "linear") == before + (len(table) if answer.status_code == 200 else 0)


@pytest.mark.parametrize("name", CONFIGS)
def test_predictions_of_extreme_rows_are_finite_or_null(client: TestClient, name: str) -> None:
    client.put("/v1/sessions/far", json=CONFIGS[name] | {"theta0": 10.0})
    for number in ("1.7976931348623157e308", "-1.7976931348623157e308", "5e-324", "-0"):
        body = f'{{"x": [{number}, {number}]}}' if llr.MODELS[name].features else "{}"
        headers = {"content-type": JSON}
        answer = client.post("/v1/sessions/far/predict", content=body, headers=headers)
        assert answer.status_code == 200, answer.text
        strictly(answer.text)
    client.delete("/v1/sessions/far")


@pytest.mark.parametrize("literal", [*NOT_NUMBERS, "0", "-1", "-0.0"])
@pytest.mark.parametrize("member", ["eta0", "dim"])
def test_a_config_with_hostile_numbers_is_422(
    client: TestClient, member: str, literal: str
) -> None:
    if (member, literal) == ("dim", "null"):
        return
    body = f'{{"model": "linear", "{member}": {literal}}}'
    refused = client.put("/v1/sessions/new", content=body, headers={"content-type": JSON})
    assert refused.status_code == 422, refused.text


class Canary:
    """Sings when it is unpickled."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> tuple[Any, ...]:
        return (os.mkdir, (str(self.file),))


def npy(array: Any, **options: Any) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, **options)
    return buffer.getvalue()


def bodies(canary: Canary) -> dict[str, bytes]:
    good, archive, packed = npy(np.ones((2, 3))), io.BytesIO(), io.BytesIO()
    np.savez(archive, samples=np.ones((2, 3)))
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as inside:
        inside.writestr("samples.json", b"1" * 1_000_000)
    return {
        "nothing": b"",
        "nested lists": b"[" * 30_000 + b"]" * 30_000,
        "nested objects": b'{"x":' * 10_000 + b"1" + b"}" * 10_000,
        "a nested x": b'{"x":' + b"[" * 500 + b"1" + b"]" * 500 + b',"y":1}',
        "no end": b'{"x":[1,2],"y":1',
        "two values": b'{"x":[1,2],"y":1}{"x":[1,2],"y":1}',
        "ragged rows": b'{"x":[[1,2],[3]],"y":[1,2]}',
        "fewer labels": b'{"x":[[1,2],[3,4]],"y":[1]}',
        "a digit too many": b'{"x":[1,2],"y":' + b"1" * 20_000 + b"}",
        "no text": b"\xff\xfe{\x00}\x00",
        "half a pair": b'{"x":[1,2],"y":1,"\\ud800":1}',
        "pickle": pickle.dumps(canary),
        "npy of objects": npy(np.array([[canary, 1, 2]], object), allow_pickle=True),
        "npy of text": npy(np.array([["1", "2", "3"]])),
        "npy of complex": npy(np.ones((2, 3), complex)),
        "npy of records": npy(np.zeros(2, [("x", "f8"), ("y", "f8")])),
        "npy of three axes": npy(np.ones((2, 3, 3))),
        "npy without rows": npy(np.ones((0, 3))),
        "npy of another width": npy(np.ones((2, 9))),
        "npy cut short": good[:-1],
        "npy too long": good + b"\0",
        "npy of a petabyte": good.replace(b"(2, 3), }           ", b"(9999999999999, 3), }"),
        "npy of less than nothing": good.replace(b"(2, 3)", b"(-2,3)"),
        "npy that calls": good.replace(b"(2, 3), }", b"exit(), }"),
        "npz": archive.getvalue(),
        "zip": packed.getvalue(),
    }


@pytest.mark.parametrize("what", bodies(Canary(Path("/nowhere"))))
def test_a_hostile_body_is_4xx_whatever_it_says_it_is(
    client: TestClient, tmp_path: Path, what: str
) -> None:
    canary = Canary(tmp_path / "sings")
    body, before = bodies(canary)[what], seen(client, "linear")
    for kind in (JSON, NDJSON, NPY, "application/octet-stream", "application/json+x", ""):
        answer = post(client, "linear", kind, body)
        if kind == NDJSON and what == "nothing":
            continue  # a stream of no samples is learnt, which changes nothing
        assert 400 <= answer.status_code < 500, (kind, answer.text)
        strictly(answer.text)
    assert seen(client, "linear") == before
    assert not canary.file.exists()


@pytest.fixture
def snapshot(client: TestClient) -> dict[str, Any]:
    body: dict[str, Any] = client.get("/v1/sessions/linear/snapshot").json()
    return body


@pytest.mark.parametrize("what", ["POST samples", "POST predict", "GET history"])
def test_a_theta0_that_no_sample_fits_is_no_failure(client: TestClient, what: str) -> None:
    method, path = what.split()
    client.put("/v1/sessions/start", json={"model": "linear", "theta0": [1, 2, 3]})
    sent = {"x": [1, 2]} | ({"y": 1} if path == "samples" else {})
    answer = client.request(method, f"/v1/sessions/start/{path}", json=sent)
    assert answer.status_code in ((200,) if method == "GET" else (422,))


def test_half_a_pair_in_the_name_of_an_option_is_422(client: TestClient) -> None:
    body = b'{"model": "linear", "options": {"\\ud800": 1}}'
    answer = client.put("/v1/sessions/new", content=body, headers={"content-type": JSON})
    assert answer.status_code == 422


@pytest.mark.parametrize("path", ["samples", "predict"])
@pytest.mark.parametrize(
    "config",
    [{"model": "softmax", "options": {"classes": 60}}, {"model": "linear", "regret": "exact"}],
)
def test_a_first_sample_makes_no_session_that_a_config_could_not(
    monkeypatch: pytest.MonkeyPatch, config: dict[str, Any], path: str
) -> None:
    """With the default limits, 300 kB of x would make 80 GB of statistics, or of theta."""
    monkeypatch.setattr("service.sessions.config.EXACT_AT_MOST", 10)
    with TestClient(App(Settings(store="memory:", max_dim=1000))) as client:
        assert client.put("/v1/sessions/a", json=config | {"dim": 20}).status_code == 422
        assert client.put("/v1/sessions/a", json=config).status_code == 201
        sent = {"x": [1.0] * 20} | ({"y": 1} if path == "samples" else {})
        assert client.post(f"/v1/sessions/a/{path}", json=sent).status_code == 422


@pytest.mark.parametrize("name", ["\ud800", "a\n", "x" * 129, ""])
def test_a_snapshot_with_a_hostile_producer_is_422(
    client: TestClient, snapshot: dict[str, Any], name: str
) -> None:
    body = json.dumps(snapshot | {"producers": {name: 1}}).encode()
    headers, path = {"content-type": JSON}, f"/v1/sessions/x{len(name)}/snapshot"
    assert client.put(path, content=body, headers=headers).status_code == 422


def test_a_snapshot_with_a_number_beyond_all_samples_is_422(
    client: TestClient, snapshot: dict[str, Any]
) -> None:
    body = snapshot | {"producers": {"a": 2**63}}
    assert client.put("/v1/sessions/large/snapshot", json=body).status_code == 422


@pytest.mark.parametrize(
    ("method", "path", "body", "pointer"),
    [
        ("POST", "logistic/samples", {"x": [1, 2], "y": 7}, "/y"),
        ("POST", "logistic/samples", {"x": [[1, 2], [1, 2]], "y": [1, 7]}, "/y/1"),
        ("PUT", "new", {"model": "linear", "theta0": ["1"]}, "/theta0/0"),
        ("PUT", "new", {"model": "quantile", "options": {"level": []}}, "/options/level"),
    ],
)
def test_a_pointer_leads_to_what_is_wrong(
    client: TestClient, method: str, path: str, body: Any, pointer: str
) -> None:
    answer = client.request(method, f"/v1/sessions/{path}", json=body).json()
    assert {error["pointer"] for error in answer["errors"]} == {pointer}


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"model": "linear", "a/b~": 1}, "/a~1b~0"),
        ({"model": "linear", "options": {"a.b": 1}}, "/options/a.b"),
    ],
)
def test_a_pointer_is_written_as_its_standard_says(
    client: TestClient, body: Any, pointer: str
) -> None:
    answer = client.put("/v1/sessions/new", json=body).json()
    assert [error["pointer"] for error in answer["errors"]] == [pointer]


class Server(NamedTuple):
    """A service in a process of its own, with its log."""

    process: "subprocess.Popen[str]"
    port: int
    log: Path

    def say(self, *parts: bytes) -> tuple[int, dict[str, str], Any]:
        """Say something on a connection of its own; status, headers and body of the answer."""
        with create_connection(("127.0.0.1", self.port), timeout=20) as connection:
            try:
                for part in parts:
                    connection.sendall(part)
            except (BrokenPipeError, ConnectionResetError):
                pass  # refused before all was said; the answer may still be there
            answer = HTTPResponse(connection)
            answer.begin()
            return answer.status, {k.lower(): v for k, v in answer.headers.items()}, answer.read()

    def ask(self, method: str, target: bytes, *headers: bytes, body: bytes = b"") -> Any:
        lines = [method.encode() + b" " + target + b" HTTP/1.1", b"host: here", *headers]
        lines += [b"connection: close", b"content-length: %d" % len(body), b"", body]
        return self.say(b"\r\n".join(lines))

    def peak(self) -> int:
        """The most memory it ever had, in bytes."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) * 1024  # type: ignore[index]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The service with small limits, logging all there is to log."""
    folder = tmp_path_factory.mktemp("hostile")
    limits = {"max_body": "1MiB", "max_line": "64KiB", "block_bytes": "64KiB", "body_timeout": "5"}
    given = {"store": f"sqlite:///{folder}/llr.db", "log_level": "debug", **limits}
    environment = os.environ | {f"LLR_{name.upper()}": value for name, value in given.items()}
    command = [sys.executable, "-m", "service", "--port", "0"]
    with (
        (folder / "log").open("w") as log,
        subprocess.Popen(  # noqa: S603
            command, env=environment, stdout=subprocess.PIPE, stderr=log, text=True
        ) as process,
    ):
        assert process.stdout is not None
        port = int(process.stdout.readline().rpartition(":")[2])
        started = Server(process, port, folder / "log")
        config = b'{"model": "linear", "dim": 2}'
        kind = b"content-type: application/json"
        assert started.ask("PUT", b"/v1/sessions/demo", kind, body=config)[0] == 201
        yield started
        process.terminate()
        process.wait(timeout=20)


def chunked(parts: Iterable[bytes]) -> Iterator[bytes]:
    for part in parts:
        yield b"%x\r\n%s\r\n" % (len(part), part)
    yield b"0\r\n\r\n"


def head(kind: str, *headers: bytes) -> bytes:
    lines = [b"POST /v1/sessions/demo/samples HTTP/1.1", b"host: here", b"connection: close"]
    return b"\r\n".join([*lines, b"content-type: " + kind.encode(), *headers, b"", b""])


@pytest.mark.parametrize("kind", [JSON, NDJSON, NPY])
def test_a_body_without_end_is_413_and_memory_stays_bounded(server: Server, kind: str) -> None:
    before = server.peak()
    parts = [b"[" + b"1" * 65_535] * 500
    said = [head(kind, b"transfer-encoding: chunked"), *chunked(parts)]
    status, _, body = server.say(*said)
    assert status == 413
    assert strictly(body)["type"] == "urn:llr:problem:too-large"
    assert server.peak() - before < 16 * MIB


@pytest.mark.parametrize("kind", [JSON, NPY])
def test_a_body_that_says_it_is_too_large_is_not_even_read(server: Server, kind: str) -> None:
    for length in (b"1048577", b"9" * 15, b"9" * 18):
        status, _, _ = server.say(head(kind, b"content-length: " + length))
        assert status == 413


def test_the_largest_body_of_the_worst_kind_costs_a_bounded_amount(server: Server) -> None:
    before = server.peak()
    most = 1024 * 1024
    for body in (b"[" * most, b"[]," * 300_000, b"1," * 500_000, b'{"a":' * 200_000):
        status, _, _ = server.say(head(JSON, b"content-length: %d" % len(body)), body)
        assert 400 <= status < 500
    blank = [head(NDJSON, b"transfer-encoding: chunked"), *chunked([b"\n" * 65_536] * 40)]
    assert server.say(*blank)[0] == 200
    assert server.peak() - before < 128 * MIB


@pytest.mark.parametrize(
    "headers",
    [
        [b"content-length: -1"],
        [b"content-length: x"],
        [b"content-length: 1e3"],
        [b"content-length: 18446744073709551617"],
        [b"content-length: 2", b"content-length: 3"],
        [b"content-length: 17", b"transfer-encoding: chunked"],
        [b"transfer-encoding: gzip, chunked"],
    ],
)
def test_a_length_that_is_none_is_4xx_and_nothing_is_learnt(
    server: Server, headers: list[bytes]
) -> None:
    status, _, _ = server.say(head(JSON, *headers), b'{"x":[1,2],"y":1}')
    assert 400 <= status < 500
    assert strictly(server.ask("GET", b"/v1/sessions/demo")[2])["t"] == 0


def test_a_body_shorter_than_it_says_is_not_learnt_from(server: Server) -> None:
    for kind, body in ((JSON, b'{"x":[1,2],"y":1}'), (NPY, npy(np.ones((2, 3))))):
        with create_connection(("127.0.0.1", server.port), timeout=20) as connection:
            connection.sendall(head(kind, b"content-length: 1000") + body)
    assert strictly(server.ask("GET", b"/v1/sessions/demo")[2])["t"] == 0


HOSTILE = [b"..", b"../x", b"%2e%2e%2fx", b"a%2fb", b"a%00", b"a%0d%0aset-cookie:%20x=1", b"%0a"]
HOSTILE += [b"x" * 10_000, b"x" * 129, "\N{PILE OF POO}".encode(), b"%f0%9f%92%a9", b"%1b[31mred"]
HOSTILE += [b"%ff", b"-a", b".a", b"%20", b"a%20b", b"a;b", b"%ED%A0%80", b"%C3%A9", b"{name}"]
RAW = [b"\x1b[31mred", b"\xff\xfe", b"x" * 10_000, b"\xc3\xa9", b"a\tb", b"<script>", b"%s%n${x}"]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_refused_or_harmless(server: Server, name: bytes) -> None:
    kind = b"content-type: application/json"
    for method, what, body in (
        ("PUT", b"", b'{"model":"gaussian"}'),
        ("GET", b"", b""),
        ("POST", b"/samples", b'{"y":1}'),
        ("DELETE", b"", b""),
    ):
        status, headers, text = server.ask(method, b"/v1/sessions/" + name + what, kind, body=body)
        assert 400 <= status < 500, (method, text)
        assert "set-cookie" not in headers
        assert b"\x1b" not in text
    query = b"/v1/sessions/demo/samples?seq=0&producer=" + name
    status, _, text = server.ask("POST", query, kind, body=b'{"x":[1],"y":1}')
    assert status in (400, 422), text
    assert b"\x1b" not in text


@pytest.mark.parametrize("value", RAW)
@pytest.mark.parametrize(
    "header", ["x-request-id", "if-match", "accept", "content-type", "authorization", "x-new"]
)
def test_a_hostile_header_is_refused_or_harmless(server: Server, header: str, value: bytes) -> None:
    line = header.encode() + b": " + value
    status, headers, text = server.ask("POST", b"/v1/sessions/demo/samples", line, body=b"{}")
    assert 400 <= status < 500
    assert re.fullmatch(r"[A-Za-z0-9._-]{1,64}", headers.get("x-request-id", "none"))
    assert b"\x1b" not in text
    assert server.ask("GET", b"/v1/sessions/demo/history", line)[0] in (200, 400)


def test_what_is_not_http_is_refused(server: Server) -> None:
    status, _, _ = server.say(b"GET /livez HTTP/1.1\r\nhost: x\r\nbad header\r\n\r\n")
    assert status == 400


def test_a_refused_stream_leaves_no_error_in_the_log(server: Server) -> None:
    said = head(NDJSON, b"transfer-encoding: chunked") + b'8\r\n{"y":x}\n\r\n'
    with create_connection(("127.0.0.1", server.port), timeout=20) as connection:
        connection.sendall(said)
        assert connection.recv(1000).startswith(b"HTTP/1.1 400")
    server.ask("GET", b"/livez")
    errors = [line for line in server.log.read_text().splitlines() if "never retrieved" in line]
    assert errors == []


def test_every_line_of_the_log_is_one_json_object(server: Server) -> None:
    server.ask("GET", b"/%0a%7b%22level%22:%22forged%22%7d%1b[2J", b"x-request-id: \x1b")
    lines = server.log.read_text().splitlines()
    assert len(lines) > 10
    for line in lines:
        record = strictly(line)
        assert {"ts", "level", "logger", "message"} <= set(record)
        assert record["level"] != "forged"
        assert line.isprintable()
