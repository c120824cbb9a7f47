"""Rows 12, 13 and 18: hostile numbers, bodies, names and headers. Refused, or harmless."""

import io
import json
import math
import os
import pickle
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

import llr
from service.app import App
from service.settings import Settings

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
