"""The wire contract, as a data producer sees it."""

import io
import json
from typing import Any

import httpx
import numpy as np
import pytest
from llr_service.app import App
from llr_service.settings import Settings
from starlette.testclient import TestClient

import llr
from llr.streams import STREAMS

JSON = {"content-type": "application/json"}
NDJSON = {"content-type": "application/x-ndjson"}
NPY = {"content-type": "application/x-npy"}
SAMPLES = "/v1/sessions/demo/samples"


def create(client: TestClient, name: str = "demo", **config: Any) -> httpx.Response:
    body = {"model": "linear", "dim": 2} | config
    answer: httpx.Response = client.put(f"/v1/sessions/{name}", json=body)
    return answer


def npy(array: Any) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def problem(response: httpx.Response, status: int, kind: str) -> dict[str, Any]:
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    body: dict[str, Any] = response.json()
    assert body["type"] == f"urn:llr:problem:{kind}"
    assert body["status"] == status
    assert body["title"]
    assert body["detail"]
    return body


def test_creating_is_201_then_200_then_409_for_another_config(client: TestClient) -> None:
    first = create(client)
    assert first.status_code == 201
    assert first.headers["etag"] == '"0"'
    assert first.json()["theta"] == [0.0, 0.0]
    assert create(client).status_code == 200
    body = problem(create(client, eta0=0.5), 409, "session-exists")
    assert body["config"]["eta0"] == 0.001


def test_only_the_model_is_required_and_the_first_sample_fixes_dim(client: TestClient) -> None:
    assert client.put("/v1/sessions/demo", json={"model": "linear"}).status_code == 201
    before = client.get("/v1/sessions/demo").json()
    assert (before["dim"], before["theta"], before["t"]) == (None, [], 0)
    assert client.post(SAMPLES, json={"x": [1.0, 2.0, 3.0], "y": 1.0}).json()["t"] == 1
    assert client.get("/v1/sessions/demo").json()["dim"] == 3
    problem(client.post(SAMPLES, json={"x": [1.0], "y": 1.0}), 422, "invalid")


def test_learning_answers_with_everything(client: TestClient) -> None:
    create(client)
    answer = client.post(SAMPLES, json={"x": [1.0, -1.0], "y": 2.0})
    assert answer.status_code == 200
    assert answer.headers["etag"] == '"1"'
    learner = llr.Learner("linear", dim=2, regret="exact")
    assert learner.learn([1.0, -1.0], 2.0)
    assert answer.json() == {
        "name": "demo",
        "t": 1,
        "accepted": 1,
        "duplicate": False,
        "eta": learner.eta,
        "log_eta": learner.log_eta,
        "theta": learner.theta.tolist(),
        "intercept": learner.intercept,
        "loss": learner.loss._asdict(),
        "regret": {"ml": learner.regret.ml, "best_fixed": learner.regret.best_fixed},
    }


def test_what_takes_long_is_told_by_get_alone(client: TestClient) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(100, 20))
    y = X[:, 1].copy()
    X[:, 1] *= 1e-6
    create(client, dim=20, algorithm="sg", eta0=1e-6)
    learnt = client.post(SAMPLES, json={"x": X.tolist(), "y": y.tolist()}).json()
    learner = llr.Learner("linear", dim=20, algorithm="sg", eta0=1e-6, regret="exact")
    assert learner.learn(X, y)
    told = {"ml": learner.regret.ml, "best_fixed": learner.regret.best_fixed}
    assert learnt["regret"] == told | {"best_fixed": None}
    assert client.get("/v1/sessions").json()["sessions"][0]["regret"] == learnt["regret"]
    assert client.get("/v1/sessions/demo").json()["regret"] == told


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gaussian", "bernoulli", "regression"])
def test_http_equals_the_library_bit_for_bit_on_the_papers_streams(
    client: TestClient, name: str
) -> None:
    stream = STREAMS[name](3)
    samples = stream.take(600)
    learner = llr.Learner(stream.model, stream.dim, "sg/ag", 1e-3, regret="exact")
    assert learner.learn(*samples)
    rows = np.column_stack(samples)
    lines = [
        json.dumps({"y": row[-1]} | ({"x": row[:-1].tolist()} if len(row) > 1 else {}))
        for row in rows
    ]
    columns = {"y": samples[-1].tolist()}
    if len(samples) == 2:
        columns["x"] = samples[0].tolist()
    encodings: dict[str, tuple[bytes, dict[str, str]]] = {
        "list": (f"[{','.join(lines)}]".encode(), JSON),
        "columns": (json.dumps(columns).encode(), JSON),
        "ndjson": ("\n".join(lines).encode(), NDJSON),
        "npy": (npy(rows), NPY),
    }
    config = {"model": stream.model, "algorithm": "sg/ag", "eta0": 1e-3}
    for encoding, (body, headers) in encodings.items():
        client.put(f"/v1/sessions/{encoding}", json=config)
        client.post(f"/v1/sessions/{encoding}/samples", content=body, headers=headers)
    client.put("/v1/sessions/one", json=config)
    for line in lines:
        sent = client.post("/v1/sessions/one/samples", content=line.encode(), headers=JSON)
        assert sent.status_code == 200
    for session in (*encodings, "one"):
        snapshot = client.get(f"/v1/sessions/{session}/snapshot").json()
        assert llr.Learner.from_plain(snapshot["state"]).pack() == learner.pack(), session


def test_theta_can_be_left_out_and_predictions_asked_for(client: TestClient) -> None:
    create(client)
    answer = client.post(
        SAMPLES + "?theta=false&predictions=true", json={"x": [[1.0, 0.0], [0.0, 1.0]], "y": [1, 1]}
    ).json()
    assert "theta" not in answer
    assert "intercept" not in answer
    assert answer["predictions"][0] == 0.0
    assert len(answer["predictions"]) == 2


def test_a_batch_is_taken_whole_or_not_at_all(client: TestClient) -> None:
    create(client, model="logistic")
    body = problem(
        client.post(SAMPLES, json=[{"x": [1, 2], "y": 1}, {"x": [1, 2], "y": 7}]), 422, "invalid"
    )
    assert body["errors"][0]["pointer"] == "/1/y"
    assert client.get("/v1/sessions/demo").json()["t"] == 0


def test_a_retry_is_applied_once_however_late_it_comes(client: TestClient) -> None:
    create(client)

    def send(seq: int, n: int) -> dict[str, Any]:
        rows = [{"x": [1.0, float(seq + i)], "y": 1.0} for i in range(n)]
        answer = client.post(f"{SAMPLES}?producer=a&seq={seq}", json=rows)
        members: dict[str, Any] = answer.json()
        return {"status": answer.status_code} | members

    assert send(0, 3)["accepted"] == 3
    assert send(3, 2)["accepted"] == 2
    late = send(0, 3)
    assert (late["accepted"], late["duplicate"], late["t"]) == (0, True, 5)
    overlapping = send(4, 3)
    assert (overlapping["accepted"], overlapping["duplicate"], overlapping["t"]) == (2, False, 7)
    gap = send(9, 1)
    assert (gap["status"], gap["expected"]) == (409, 7)
    other = client.post(f"{SAMPLES}?producer=b&seq=0", json={"x": [1, 1], "y": 1}).json()
    assert other["t"] == 8


@pytest.mark.parametrize(
    "query",
    ["producer=a", "seq=1", "producer=&seq=0", "producer=a&seq=-1", "producer=a&seq=1e3",
     "theta=maybe", "predictions=1", "producer=a%0a&seq=0"],
)  # fmt: skip
def test_a_wrong_query_is_refused_by_its_parameter(client: TestClient, query: str) -> None:
    create(client)
    body = problem(client.post(f"{SAMPLES}?{query}", json={"x": [1, 1], "y": 1}), 422, "invalid")
    assert body["errors"][0]["parameter"]
    assert client.get("/v1/sessions/demo").json()["t"] == 0


def test_if_match_learns_only_from_that_t(client: TestClient) -> None:
    create(client)
    sample = {"x": [1.0, 1.0], "y": 1.0}
    assert client.post(SAMPLES, json=sample, headers={"if-match": '"0"'}).status_code == 200
    body = problem(
        client.post(SAMPLES, json=sample, headers={"if-match": '"0"'}), 412, "state-changed"
    )
    assert body["t"] == 1
    assert client.post(SAMPLES, json=sample, headers={"if-match": '"1"'}).status_code == 200


@pytest.mark.slow
def test_ndjson_is_acknowledged_block_by_block(client: TestClient) -> None:
    create(client)
    lines = b"".join(b'{"x":[1,%d],"y":1}\n' % (i % 7) for i in range(100_000))
    answer = client.post(
        SAMPLES, content=lines, headers=NDJSON | {"accept": NDJSON["content-type"]}
    )
    acks = [json.loads(line) for line in answer.text.splitlines()]
    assert len(acks) > 1
    assert sum(ack["accepted"] for ack in acks) == 100_000
    assert acks[-1]["t"] == 100_000
    whole = client.post(SAMPLES, content=lines, headers=NDJSON).json()
    assert (whole["accepted"], whole["t"]) == (100_000, 200_000)


def test_a_bad_line_keeps_the_blocks_before_it_and_says_how_far(client: TestClient) -> None:
    create(client)
    good = b"".join(b'{"x":[1,%d],"y":1}\n' % (i % 7) for i in range(60_000))
    body = problem(
        client.post(SAMPLES, content=good + b'{"x":[1],"y":1}\n', headers=NDJSON), 422, "invalid"
    )
    assert body["errors"][0]["line"] == 60_001
    t = client.get("/v1/sessions/demo").json()["t"]
    assert 0 < body["accepted"] == body["t"] == t < 60_000


@pytest.mark.slow
def test_ndjson_with_a_ticket_can_be_sent_again_whole(client: TestClient) -> None:
    create(client)
    lines = b"".join(b'{"x":[1,%d],"y":1}\n' % (i % 7) for i in range(80_000))
    for accepted, duplicate in ((80_000, False), (0, True)):
        answer = client.post(f"{SAMPLES}?producer=p&seq=0", content=lines, headers=NDJSON).json()
        assert (answer["accepted"], answer["duplicate"]) == (accepted, duplicate)
    assert client.get("/v1/sessions/demo").json()["t"] == 80_000


def test_divergence_keeps_the_state_and_says_what_to_do(client: TestClient) -> None:
    create(client, algorithm="sg", eta0=1e6)
    assert client.post(SAMPLES, json={"x": [1e100, 1.0], "y": 1.0}).status_code == 200
    before = client.get("/v1/sessions/demo").json()
    rows = [{"x": [1e100, 1.0], "y": 1.0}] * 5
    body = problem(client.post(SAMPLES, json=rows), 409, "diverged")
    assert "smaller eta0" in body["detail"]
    after = client.get("/v1/sessions/demo").json()
    assert after["status"] == "diverged"
    assert after["theta"] == before["theta"]
    assert client.post(SAMPLES, json={"x": [0.0, 0.0], "y": 0.0}).status_code == 200


def test_predictions_are_on_the_natural_scale(client: TestClient) -> None:
    create(client, model="softmax", options={"classes": 3})
    one = client.post("/v1/sessions/demo/predict", json={"x": [1.0, 2.0]}).json()
    assert one["predictions"] == pytest.approx([1 / 3] * 3)
    many = client.post("/v1/sessions/demo/predict", json={"x": [[1.0, 2.0], [0.0, 0.0]]}).json()
    assert np.shape(many["predictions"]) == (2, 3)
    client.put("/v1/sessions/coin", json={"model": "bernoulli"})
    assert client.post("/v1/sessions/coin/predict").json()["predictions"] == 0.5
    problem(client.post("/v1/sessions/demo/predict", json={"x": [1.0]}), 422, "invalid")


def test_the_list_comes_in_pages(client: TestClient) -> None:
    for i in range(5):
        create(client, f"s{i}")
    first = client.get("/v1/sessions?limit=3").json()
    assert [row["name"] for row in first["sessions"]] == ["s0", "s1", "s2"]
    second = client.get(f"/v1/sessions?limit=3&cursor={first['next']}").json()
    assert [row["name"] for row in second["sessions"]] == ["s3", "s4"]
    assert second["next"] is None


def test_a_deleted_session_is_gone_and_its_name_is_free(client: TestClient) -> None:
    create(client)
    client.post(SAMPLES, json={"x": [1, 1], "y": 1})
    assert client.delete("/v1/sessions/demo").status_code == 204
    problem(client.get("/v1/sessions/demo"), 404, "session-not-found")
    problem(client.delete("/v1/sessions/demo"), 404, "session-not-found")
    assert create(client).json()["t"] == 0


def test_the_past_is_thinned_and_its_coordinates_can_be_chosen(client: TestClient) -> None:
    create(client, dim=3)
    client.post(SAMPLES, json={"x": [[1, 2, 3]] * 1000, "y": [1.0] * 1000})
    past = client.get("/v1/sessions/demo/history?points=50&theta=2,0").json()
    assert len(past["t"]) == 50
    assert past["t"][0] == 0
    assert past["t"][-1] == 1000
    assert past["coordinates"] == [2, 0]
    now = client.get("/v1/sessions/demo").json()
    assert past["theta"][-1] == [now["theta"][2], now["theta"][0]]
    assert past["regret"][-1] == now["regret"]["ml"]
    whole = client.get("/v1/sessions/demo/history?points=1000&theta=2").json()
    assert min(past["log_eta_low"]) == min(whole["log_eta_low"])
    assert max(past["loss_high"]) == max(whole["loss_high"])
    assert max(high for high, _ in past["theta_high"]) == max(
        high for (high,) in whole["theta_high"]
    )
    assert {len(past[name]) for name in past if name.endswith(("_low", "_high"))} == {50}
    problem(client.get("/v1/sessions/demo/history?theta=3"), 422, "invalid")
    problem(client.get("/v1/sessions/demo/history?points=0"), 422, "invalid")


def test_a_snapshot_goes_on_elsewhere_with_the_same_numbers(client: TestClient) -> None:
    create(client)
    client.post(f"{SAMPLES}?producer=p&seq=0", json={"x": [[1, 2]] * 9, "y": [1.0] * 9})
    snapshot = client.get("/v1/sessions/demo/snapshot").json()
    assert client.put("/v1/sessions/twin/snapshot", json=snapshot).status_code == 201
    problem(client.put("/v1/sessions/twin/snapshot", json=snapshot), 409, "session-exists")
    for name in ("demo", "twin"):
        client.post(f"/v1/sessions/{name}/samples?producer=p&seq=9", json={"x": [3, 1], "y": 2})
    one, two = (client.get(f"/v1/sessions/{name}").json() for name in ("demo", "twin"))
    apart = {"name": "", "created_at": "", "last_sample_at": ""}
    assert one | apart == two | apart
    late = client.post("/v1/sessions/twin/samples?producer=p&seq=0", json={"x": [1, 2], "y": 1})
    assert late.json()["duplicate"]


def test_a_forged_snapshot_is_refused(client: TestClient) -> None:
    create(client)
    client.post(SAMPLES, json={"x": [1, 2], "y": 1})
    snapshot = client.get("/v1/sessions/demo/snapshot").json()
    changes: tuple[dict[str, Any], ...] = (
        {"format": 2},
        {"state": {}},
        {"config": {"model": "logistic", "dim": 2}},
        {"producers": {"a": -1}},
        {"surplus": 1},
    )
    for change in changes:
        problem(client.put("/v1/sessions/x/snapshot", json=snapshot | change), 422, "invalid")
    problem(client.get("/v1/sessions/x"), 404, "session-not-found")


def test_the_catalog_lists_what_is_registered(client: TestClient) -> None:
    catalog = client.get("/v1/catalog").json()
    assert [model["name"] for model in catalog["models"]] == list(llr.MODELS)
    assert [algorithm["name"] for algorithm in catalog["algorithms"]] == list(llr.ALGORITHMS)
    assert {name: catalog[name] for name in ("models", "algorithms")} == llr.config.catalog()


def test_errors_have_one_shape_from_every_origin(client: TestClient) -> None:
    create(client)
    problem(client.get("/nowhere"), 404, "not-found")
    problem(client.patch("/v1/sessions/demo", json={}), 405, "method-not-allowed")
    problem(client.get("/v1/sessions/missing"), 404, "session-not-found")
    problem(client.put("/v1/sessions/x", content=b"{", headers=JSON), 400, "malformed")
    problem(client.put("/v1/sessions/x", json={"model": "linear", "nonsense": 1}), 422, "invalid")
    problem(client.put("/v1/sessions/x", json={"model": "adam"}), 422, "invalid")
    problem(client.put("/v1/sessions/x", content=b"a=b"), 415, "unsupported-type")
    problem(client.post(SAMPLES, content=b"1,2,3"), 415, "unsupported-type")
    problem(client.post(SAMPLES, content=b"{", headers=JSON), 400, "malformed")
    problem(client.post(SAMPLES, content=b"not npy", headers=NPY), 400, "malformed")
    problem(client.post(SAMPLES, json={"x": [1, True], "y": 1}), 422, "invalid")
    problem(client.post(SAMPLES, json={"x": [1, "1.5"], "y": 1}), 422, "invalid")
    problem(client.post("/v1/sessions/missing/samples", json={"y": 1}), 404, "session-not-found")
    problem(client.put("/v1/sessions/..%2f", json={"model": "linear"}), 404, "not-found")


@pytest.mark.parametrize(
    ("config", "pointer"),
    [
        ({"algorithm": "adam"}, "/algorithm"),
        ({"eta0": -1}, "/eta0"),
        ({"eta0": True}, "/eta0"),
        ({"dim": 0}, "/dim"),
        ({"dim": 10**9}, "/dim"),
        ({"dim": 5000, "regret": "exact"}, "/regret"),
        ({"options": {"nonsense": 1}}, "/options/nonsense"),
        ({"theta0": [1, 2, 3]}, "/theta0"),
        ({"regret": "maybe"}, "/regret"),
    ],
)
def test_a_wrong_config_is_refused_by_pointer(
    client: TestClient, config: dict[str, Any], pointer: str
) -> None:
    body = problem(create(client, **config), 422, "invalid")
    assert body["errors"][0]["pointer"] == pointer


def test_health_version_and_metrics(client: TestClient) -> None:
    create(client)
    client.post(SAMPLES, json={"x": [1, 2], "y": 1})
    assert client.get("/livez").json() == {"status": "ok"}
    assert client.get("/readyz").json() == {"status": "ok"}
    page = client.get("/v1/sessions", params={"total": True}).json()
    assert (page["total"], len(page["sessions"])) == (1, 1)
    assert "total" not in client.get("/v1/sessions").json()
    assert "fsynced" in client.get("/version").json()["ack"]
    text = client.get("/metrics").text
    assert "llr_samples_total 1.0" in text
    assert 'route="/v1/sessions/{name}/samples"' in text


def test_every_answer_carries_a_request_id(client: TestClient) -> None:
    assert client.get("/livez").headers["x-request-id"]
    given = client.get("/livez", headers={"x-request-id": "mine-1"})
    assert given.headers["x-request-id"] == "mine-1"


def test_too_many_large_bodies_at_once_are_told_to_wait() -> None:
    settings = Settings(store="memory:", max_bodies=2048)
    with TestClient(App(settings)) as client:
        create(client)
        rows = {"x": [[1.0, 2.0]] * 500, "y": [1.0] * 500}
        refused = client.post(SAMPLES, json=rows)
        problem(refused, 503, "unavailable")
        assert refused.headers["retry-after"]
        assert client.post(SAMPLES, json={"x": [1.0, 2.0], "y": 1.0}).status_code == 200


def test_cors_is_off_unless_configured() -> None:
    asked = {"origin": "https://a.example", "access-control-request-method": "POST"}
    for origins, allowed in (((), None), (("https://a.example",), "https://a.example")):
        with TestClient(App(Settings(store="memory:", cors_origins=origins))) as client:
            create(client)
            sample = {"x": [1.0, 2.0], "y": 1.0}
            plain = client.post(SAMPLES, json=sample, headers={"origin": "https://a.example"})
            assert plain.headers.get("access-control-allow-origin") == allowed
            preflight = client.options(SAMPLES, headers=asked)
            assert preflight.headers.get("access-control-allow-origin") == allowed


def test_a_place_counts_the_samples_that_were_known(client: TestClient) -> None:
    create(client, model="logistic")
    good = [{"x": [1, 2], "y": 1}] * 2
    assert client.post(f"{SAMPLES}?producer=p&seq=0", json=good).status_code == 200
    again = [*good, {"x": [1, 2], "y": 7}]
    body = problem(client.post(f"{SAMPLES}?producer=p&seq=0", json=again), 422, "invalid")
    assert body["errors"][0]["pointer"] == "/2/y"


def test_a_snapshot_makes_no_session_beyond_the_limits(client: TestClient) -> None:
    client.put("/v1/sessions/wide", json={"model": "linear", "regret": "off"})
    client.post("/v1/sessions/wide/samples", json={"x": [1.0] * 50, "y": 1.0})
    snapshot = client.get("/v1/sessions/wide/snapshot").json()
    with TestClient(App(Settings(store="memory:", max_dim=10))) as small:
        problem(small.put("/v1/sessions/wide/snapshot", json=snapshot), 422, "invalid")


def test_a_long_block_is_read_in_pieces_and_refused_as_one(client: TestClient) -> None:
    """Its pieces are decoded one by one; what is wrong far down is reported with its line."""
    client.put("/v1/sessions/wide", json={"model": "linear"})
    lines = [b'{"x":[0.5,%d],"y":1}' % i for i in range(6000)]
    samples, ndjson = "/v1/sessions/wide/samples", {"content-type": "application/x-ndjson"}
    for wrong in (b'{"x":[0.5],"y":1}', b'{"x":[0.5,1],"y":true}'):
        body = b"\n".join([*lines, wrong, b""])
        answer = problem(client.post(samples, content=body, headers=ndjson), 422, "invalid")
        assert [error["line"] for error in answer["errors"]] == [6001]
        assert answer["accepted"] == 0
    assert client.post(samples, content=b"\n".join(lines), headers=ndjson).json()["t"] == 6000


def test_the_state_says_whether_the_step_size_has_arrived(client: TestClient) -> None:
    assert (
        create(client, model="gaussian", dim=None, algorithm="sg/ag", eta0=1e-7).status_code == 201
    )
    assert client.get("/v1/sessions/demo").json()["eta_status"]["state"] == "starting"
    (y,) = STREAMS["gaussian"](1).take(300)
    learnt = client.post(SAMPLES, json=[{"y": float(one)} for one in y])
    assert learnt.status_code == 200
    assert "eta_status" not in learnt.json()
    status = client.get("/v1/sessions/demo").json()["eta_status"]
    assert status["state"] == "travelling"
    assert "eta0 was too small" in status["advice"]
    assert create(client, "still", algorithm="isg").json()["eta_status"]["state"] == "fixed"
    unknown = client.put("/v1/sessions/early", json={"model": "linear"}).json()
    assert unknown["eta_status"]["state"] == "starting"


def test_a_table_too_large_for_the_service_is_refused(client: TestClient) -> None:
    large = create(client, algorithm="saga", dim=50_000, options={"table": 1000})
    (error,) = problem(large, 422, "invalid")["errors"]
    assert error["pointer"] == "/options"
    assert create(client, algorithm="saga", dim=50, options={"table": 1000}).status_code == 201
