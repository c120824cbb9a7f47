"""Rows 12, 13 and 18: hostile numbers, bodies, names and headers. Refused, or harmless."""

import json
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from llr_service.app import App
from llr_service.settings import Settings
from starlette.testclient import TestClient
from stress.drawn import drawn
from stress.hostile import JSON, KINDS, NDJSON, Canary, bodies, strictly
from stress.hostile_numbers import (
    CONFIGS,
    NOT_NUMBERS,
    any_bits,
    check_bits,
    check_extreme,
    check_not_a_number,
    extremes,
    post,
    seen,
    served,
)

import llr


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    """An app with small limits and a session of every model."""
    with served() as started:
        yield started


@pytest.mark.parametrize("kind", [JSON, NDJSON])
@pytest.mark.parametrize("literal", NOT_NUMBERS)
def test_what_is_no_finite_number_is_422_by_its_place(
    client: TestClient, literal: str, kind: str
) -> None:
    check_not_a_number(client, literal, kind)


@pytest.mark.slow
def test_extreme_numbers_are_refused_or_leave_a_finite_state(client: TestClient) -> None:
    assert drawn(extremes, 12, 80, lambda case: check_extreme(client, case), lambda: None) == []


@pytest.mark.slow
def test_any_bits_in_an_npy_body_are_refused_or_leave_a_finite_state(client: TestClient) -> None:
    assert drawn(any_bits, 13, 40, lambda case: check_bits(client, case), lambda: None) == []


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


def test_the_canary_sings_when_it_is_unpickled(tmp_path: Path) -> None:
    canary = Canary(tmp_path / "sings")
    pickle.loads(pickle.dumps(canary))  # noqa: S301
    assert canary.file.exists()


@pytest.mark.parametrize("what", bodies(Canary(Path("/nowhere"))))
def test_a_hostile_body_is_4xx_whatever_it_says_it_is(
    client: TestClient, tmp_path: Path, what: str
) -> None:
    canary = Canary(tmp_path / "sings")
    body, before = bodies(canary)[what], seen(client, "linear")
    for kind in KINDS:
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
    monkeypatch.setattr("llr_service.sessions.config.EXACT_AT_MOST", 10)
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
