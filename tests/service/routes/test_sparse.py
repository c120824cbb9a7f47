"""Sparse sequence numbers: each sample its own, in every format, exactly once."""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    rule,
    run_state_machine_as_test,
)
from llr_service.app import App
from llr_service.settings import Settings
from starlette.testclient import TestClient
from support import arrow

import llr

DEMO = "/v1/sessions/demo"
SAMPLES = f"{DEMO}/samples"
NDJSON, NPY = {"content-type": "application/x-ndjson"}, {"content-type": "application/x-npy"}
CONFIG = {"model": "linear", "dim": 2, "algorithm": "sg/ag"}
RNG = np.random.default_rng(11)
X = RNG.normal(size=(40, 2))
Y = X @ [1.0, -2.0] + 0.1 * RNG.normal(size=40)


def at(path: Path) -> TestClient:
    app = App(Settings(store=f"sqlite:///{path / 'llr.db'}"))
    return TestClient(app, raise_server_exceptions=False)


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    with at(tmp_path) as started:
        assert started.put(DEMO, json=CONFIG).status_code == 201
        yield started


def rows(numbers: list[int]) -> list[dict[str, Any]]:
    """Samples, the sample of a number always the same."""
    return [{"x": X[i % 40].tolist(), "y": float(Y[i % 40]), "seq": i} for i in numbers]


def learnt(numbers: list[int]) -> Any:
    learner = llr.Learner("linear", 2, "sg/ag", regret="exact")
    if numbers:
        at = [i % 40 for i in numbers]
        assert learner.learn(X[at], Y[at])
    return learner.to_plain()


def state(client: TestClient, name: str = "demo") -> Any:
    return client.get(f"/v1/sessions/{name}/snapshot").json()["state"]


def next_seq(client: TestClient, producer: str = "p") -> int:
    return int(client.get(f"{DEMO}?producer={producer}").json()["next_seq"])


def npy(*columns: Any, dtype: Any = np.float64) -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.column_stack(columns).astype(dtype))
    return stream.getvalue()


def lines(samples: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(each) + "\n" for each in samples).encode()


def body(form: str, numbers: list[int]) -> dict[str, Any]:
    """Arguments of a POST that sends these samples in a format."""
    samples, at = rows(numbers), [i % 40 for i in numbers]
    if form == "columns":
        return {"json": {name: [each[name] for each in samples] for name in ("x", "y", "seq")}}
    if form == "npy":
        array = npy(X[at], Y[at], numbers)
        return {"content": array, "headers": NPY, "params": {"columns": "x,y,seq"}}
    if form == "arrow":
        return {"content": arrow.of_samples(X[at], y=Y[at], seq=numbers), "headers": arrow.HEADERS}
    if form == "lines":
        return {"content": lines(samples), "headers": NDJSON}
    return {"json": samples}


def post(client: TestClient, form: str, numbers: list[int], **query: Any) -> Any:
    sent = body(form, numbers)
    return client.post(SAMPLES, **sent | {"params": sent.get("params", {}) | query})


@pytest.mark.parametrize("form", ["list", "columns", "npy", "arrow", "lines"])
def test_every_format_numbers_each_sample(client: TestClient, form: str) -> None:
    first = post(client, form, [3, 17, 18], producer="p")
    assert (first.status_code, first.json()["accepted"]) == (200, 3), first.text
    assert next_seq(client) == 19
    again = post(client, form, [3, 17, 18], producer="p").json()
    assert (again["accepted"], again["duplicate"]) == (0, True)
    overlap = post(client, form, [17, 18, 30, 31], producer="p", next=40).json()
    assert (overlap["accepted"], overlap["t"]) == (2, 5)
    assert next_seq(client) == 40
    assert state(client) == learnt([3, 17, 18, 30, 31])


def test_one_sample_has_a_number(client: TestClient) -> None:
    for _ in range(2):
        assert client.post(f"{SAMPLES}?producer=p", json=rows([7])[0]).status_code == 200
    assert (next_seq(client), client.get(DEMO).json()["t"]) == (8, 1)


def test_a_websocket_numbers_each_sample(client: TestClient) -> None:
    address = f"{DEMO}/stream?producer=p&columns=x,y,seq"
    with client.websocket_connect(address) as stream:

        def said(message: Any) -> Any:
            stream.send_text(json.dumps(message))
            return stream.receive_json()

        assert said(rows([3])[0])["accepted"] == 1
        assert said(rows([3, 9]))["accepted"] == 1
        stream.send_bytes(body("npy", [9, 12])["content"])
        assert stream.receive_json()["accepted"] == 1
        assert said({"next": 20, "samples": rows([14])})["accepted"] == 1
        assert "is at 20" in said({"seq": 25, "samples": rows([30])})["error"]["detail"]
        assert said({"seq": 20, "samples": rows([30]), "next": 33})["accepted"] == 1
        bare = [{"x": X[i].tolist(), "y": Y[i]} for i in (33, 34)]
        assert said(bare)["accepted"] == 2  # on from 33
    assert next_seq(client) == 35
    assert state(client) == learnt([3, 9, 12, 14, 30, 33, 34])


def test_seq_in_the_query_keeps_gaps_out(client: TestClient) -> None:
    """A body that covers [seq, next) is refused while what comes before it is missing."""
    gap = post(client, "list", [12, 15], producer="p", seq=10, next=20)
    assert (gap.status_code, gap.json()["expected"]) == (409, 0)
    assert post(client, "list", [2, 5], producer="p", seq=0, next=10).status_code == 200
    assert post(client, "list", [12, 15], producer="p", seq=10, next=20).status_code == 200
    assert next_seq(client) == 20
    dense = {"x": X[21:22].tolist(), "y": Y[21:22].tolist()}
    gap = client.post(f"{SAMPLES}?producer=p&seq=21", json=dense)
    assert gap.status_code == 409
    assert state(client) == learnt([2, 5, 12, 15])


def test_next_moves_past_what_a_numbered_body_skips(client: TestClient) -> None:
    dense = {"x": X[:2].tolist(), "y": Y[:2].tolist()}
    assert client.post(f"{SAMPLES}?producer=p&seq=0&next=7", json=dense).status_code == 200
    assert next_seq(client) == 7
    assert client.post(f"{SAMPLES}?producer=p&seq=7", json=dense).json()["accepted"] == 2


def test_a_number_moves_without_a_sample_and_survives(client: TestClient, tmp_path: Path) -> None:
    post(client, "list", [0, 1], producer="p")
    moved = client.post(f"{SAMPLES}?producer=p&next=50", content=b"", headers=NDJSON)
    assert moved.status_code == 200, moved.text
    assert (moved.json()["accepted"], moved.json()["duplicate"]) == (0, False)
    known = post(client, "list", [0, 1], producer="p", next=60).json()
    assert (known["accepted"], known["duplicate"], known["t"]) == (0, True, 2)
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy" / "llr.db").write_bytes(client.post("/v1/backup").content)
    with at(tmp_path / "copy") as copy:
        assert next_seq(copy) == 60
        assert state(copy) == learnt([0, 1])


@pytest.mark.parametrize(
    ("sent", "query", "place"),
    [
        (rows([3, 3]), {"producer": "p"}, "/1/seq"),
        (rows([3, 9, 4]), {"producer": "p"}, "/2/seq"),
        (rows([3])[0] | {"seq": -1}, {"producer": "p"}, "/seq"),
        (rows([3])[0] | {"seq": 1.5}, {"producer": "p"}, "/seq"),
        (rows([3])[0] | {"seq": 2**53}, {"producer": "p"}, "/seq"),
        (rows([3])[0] | {"seq": "3"}, {"producer": "p"}, "/seq"),
        (rows([3])[0] | {"seq": True}, {"producer": "p"}, "/seq"),
        (rows([3, 4]), {"producer": "p", "seq": "4"}, "/0/seq"),
        (rows([3, 4]), {"producer": "p", "next": "4"}, "next"),
        (rows([3, 4]), {}, "producer"),
        ([{"x": [1, 2], "y": 1}], {"producer": "p"}, "seq"),
        ([{"x": [1, 2], "y": 1}], {"next": "9"}, "producer"),
        ([*rows([3]), {"x": [1, 2], "y": 1}], {"producer": "p"}, ""),
        ({"x": [[1, 2], [1, 2]], "y": [1, 2], "seq": [5, 5]}, {"producer": "p"}, "/seq/1"),
    ],
)
def test_numbers_that_cannot_be_are_refused_by_place(
    client: TestClient, sent: Any, query: dict[str, str], place: str
) -> None:
    answer = client.post(SAMPLES, json=sent, params=query)
    assert answer.status_code == 422, answer.text
    error = answer.json()["errors"][0]
    assert error.get("pointer", error.get("parameter")) == place
    assert client.get(DEMO).json()["t"] == 0


def test_lines_that_do_not_increase_are_refused_by_line(client: TestClient) -> None:
    sent = lines(rows([3, 5])) + b"\n" + lines(rows([5]))
    found = client.post(f"{SAMPLES}?producer=p", content=sent, headers=NDJSON).json()
    assert [(each["line"], each["pointer"]) for each in found["errors"]] == [(4, "/seq")]


def test_an_array_of_numbers_is_float64_and_whole(client: TestClient) -> None:
    for array, why in (
        (npy(X[:2], Y[:2], [1, 2], dtype=np.float32), "must be of float64"),
        (npy(X[:2], Y[:2], [1, 2.5]), "/1/seq: must be a whole number"),
    ):
        query = {"producer": "p", "columns": "x,y,seq"}
        found = client.post(SAMPLES, content=array, headers=NPY, params=query).json()
        assert why in found["detail"]


def test_blocks_of_one_body_are_numbered_alike(client: TestClient) -> None:
    """However its chunks are cut, all lines of a body have a seq or none."""

    def chunks() -> Iterator[bytes]:
        yield lines(rows([1]))
        yield lines([{"x": [1, 2], "y": 1}])

    found = client.post(f"{SAMPLES}?producer=p", content=chunks(), headers=NDJSON)
    assert found.status_code == 422
    assert "some" in found.json()["detail"] or "seq" in found.text


FORMS = st.sampled_from(["list", "columns", "npy", "arrow", "lines"])


class Machine(RuleBasedStateMachine):
    """Retries, overlaps, skips and gaps of two producers, against a model of six lines."""

    def __init__(self) -> None:
        super().__init__()
        self.app = TestClient(App(Settings(store="memory:")), raise_server_exceptions=False)
        self.client = self.app.__enter__()
        assert self.client.put(DEMO, json=CONFIG).status_code == 201
        self.next = {"a": 0, "b": 0}
        self.order: list[int] = []

    def teardown(self) -> None:
        self.app.__exit__(None, None, None)

    @rule(
        form=FORMS,
        producer=st.sampled_from(["a", "b"]),
        back=st.integers(-3, 6),
        steps=st.lists(st.integers(1, 4), min_size=1, max_size=5),
        first=st.none() | st.integers(0, 3),
        skipped=st.none() | st.integers(0, 4),
    )
    def send(
        self,
        form: str,
        producer: str,
        back: int,
        steps: list[int],
        first: int | None,
        skipped: int | None,
    ) -> None:
        start = max(0, self.next[producer] - back)
        numbers = np.cumsum([start, *steps]).tolist()
        query: dict[str, Any] = {"producer": producer}
        if first is not None:
            query["seq"] = max(0, start - first)
        if skipped is not None:
            query["next"] = numbers[-1] + 1 + skipped
        answer = post(self.client, form, numbers, **query)
        expected = self.next[producer]
        if query.get("seq", 0) > expected:
            assert answer.status_code == 409
            assert answer.json()["expected"] == expected
            return
        new = [number for number in numbers if number >= expected]
        assert (answer.status_code, answer.json()["accepted"]) == (200, len(new)), answer.text
        assert answer.json()["duplicate"] == (not new)
        self.order += new
        self.next[producer] = max(expected, query.get("next", numbers[-1] + 1))

    @rule(producer=st.sampled_from(["a", "b"]), n=st.integers(1, 3), back=st.integers(-1, 4))
    def send_dense(self, producer: str, n: int, back: int) -> None:
        expected = self.next[producer]
        start = max(0, expected - back)
        numbers = list(range(start, start + n))
        bare = [{"x": each["x"], "y": each["y"]} for each in rows(numbers)]
        answer = self.client.post(f"{SAMPLES}?producer={producer}&seq={start}", json=bare)
        if start > expected:
            assert answer.status_code == 409
            return
        new = [number for number in numbers if number >= expected]
        assert answer.json()["accepted"] == len(new)
        self.order += new
        self.next[producer] = max(expected, start + n)

    @invariant()
    def holds(self) -> None:
        for producer, number in self.next.items():
            assert next_seq(self.client, producer) == number
        assert state(self.client) == learnt(self.order)


@pytest.mark.slow
def test_whatever_is_sent_the_model_agrees() -> None:
    run_state_machine_as_test(
        Machine,
        settings=settings(max_examples=15, stateful_step_count=15, derandomize=True, deadline=None),
    )
