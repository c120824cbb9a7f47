"""A session and its model: the samples in the order in which they have to be learnt.

The model is a list and each producer's next number; whatever is sent, the two have to agree.
"""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import httpx
from llr_service.app import App
from llr_service.settings import Settings
from starlette.testclient import TestClient

from .samples import DIM, ENCODINGS, Replay, Stream

SESSION = "/v1/sessions/demo"
STREAMS = {name: Stream(number) for number, name in enumerate("abc")}
CROWD = 3
CROWDED = {"model": "linear", "dim": 30_000}
"""A session of half a megabyte: with three of them a megabyte has no room for another."""


class Batch(NamedTuple):
    """Samples seq … seq + n − 1 of a producer, and how they are written."""

    producer: str
    seq: int
    n: int
    encoding: str


class Modelled:
    """An app on a store of its own, in this process, with one session that is modelled."""

    def __init__(self, folder: Path, dim_is_known: bool, counts: Counter[str]) -> None:
        self._store = f"sqlite:///{folder / 'llr.db'}"
        self._config = {"model": "linear"} | ({"dim": DIM} if dim_is_known else {})
        self._counts = counts
        self.open()
        for number in range(CROWD):
            self._client.put(f"/v1/sessions/crowd-{number}", json=CROWDED)
        self.create()

    @property
    def t(self) -> int:
        """How many samples have to be learnt."""
        return len(self._order)

    def next(self, producer: str) -> int:
        """The number of a producer's next sample."""
        return self._next.get(producer, 0)

    def is_new(self, batch: Batch) -> bool:
        """Whether a batch has samples to be learnt, without a gap before them."""
        return batch.seq <= self.next(batch.producer) < batch.seq + batch.n

    def open(self) -> None:
        """Start, on the same file."""
        self._app = App(Settings(store=self._store, memory_cap=2**20, docs=False))
        self._client = TestClient(self._app, "http://localhost", raise_server_exceptions=False)
        self._client.__enter__()

    def close(self) -> None:
        """Stop."""
        self._client.__exit__()

    def create(self) -> None:
        """A new session, a new model."""
        self._order: list[tuple[str, int]] = []
        self._next: dict[str, int] = {}
        assert self._client.put(SESSION, json=self._config).status_code == 201

    def delete(self) -> None:
        """No session."""
        assert self._client.delete(SESSION).status_code == 204

    def crowd_out(self) -> None:
        """Touch other sessions until this one has to leave memory."""
        for number in range(CROWD):
            self._client.get(f"/v1/sessions/crowd-{number}/history?theta=0")
        assert self._app.context.sessions.peek("demo") is None
        self._counts["reloads"] += 1

    def send(self, batch: Batch, times: int, headers: dict[str, str] | None = None) -> None:
        """Send a batch so many times at once; one of them may be learnt, what is new of it."""
        expected = self.next(batch.producer)
        with ThreadPoolExecutor(times) as threads:
            answers = [*threads.map(self.post, [batch] * times, [headers] * times)]
        shown = [each.json() for each in answers]
        if batch.seq > expected:
            assert {each.status_code for each in answers} == {409}
            assert {each["expected"] for each in shown} == {expected}
            return
        fresh = self._learn(batch, expected)
        assert sorted(each["accepted"] for each in shown) == [0] * (times - 1) + [fresh]
        assert all(each["duplicate"] == (each["accepted"] == 0) for each in shown)
        assert {each["t"] for each in shown} == {self.t}
        self._counts["sent again"] += times - (fresh > 0)

    def post(self, batch: Batch, headers: dict[str, str] | None = None) -> httpx.Response:
        """Send a batch."""
        rows = STREAMS[batch.producer].rows(batch.seq, batch.seq + batch.n)
        body, kind = ENCODINGS[batch.encoding](rows)
        path = f"{SESSION}/samples?producer={batch.producer}&seq={batch.seq}"
        self._counts["requests"] += 1
        headers = {"content-type": kind} | (headers or {})
        answer: httpx.Response = self._client.post(path, content=body, headers=headers)
        return answer

    def compare(self) -> None:
        """The session is what the model says, to the last bit."""
        shown = self._client.get(f"{SESSION}/snapshot").json()
        assert shown["t"] == self.t
        assert shown["producers"] == self._next
        if self._order:
            replay = Replay()
            for producer, number in self._order:
                replay.learn(STREAMS[producer].rows(number, number + 1))
            assert replay.equals(shown)

    def _learn(self, batch: Batch, expected: int) -> int:
        end = max(expected, batch.seq + batch.n)
        self._order += [(batch.producer, number) for number in range(expected, end)]
        self._next[batch.producer] = end
        self._counts["samples"] += end - expected
        return end - expected
