"""Sessions that keep their samples: all of them, through snapshots and restarts, up to a bound."""

from itertools import pairwise
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from llr_service.app import App
from llr_service.codec import Samples, unpack_samples
from llr_service.sessions.batch import NewSamples
from llr_service.sessions.ensemble import Ensemble
from llr_service.sessions.session_log import Retention, SessionLog
from llr_service.settings import Settings
from llr_service.stores.memory import Memory
from llr_service.stores.sqlite import SQLite
from llr_service.stores.store import Change, CreateSession, Entry
from starlette.testclient import TestClient
from support.stores_contract import known, retained

import llr

A = "/v1/sessions/a"
SMALL = {"model": "linear", "retain": True, "options": {"second_order": False}}
"""A config whose state is soon smaller than its samples, so that there are snapshots."""
RNG = np.random.default_rng(11)
X = RNG.normal(size=(4000, 3))
Y = X @ [1.0, -2.0, 0.5]


def learn(client: TestClient, start: int, end: int) -> None:
    rows = {"x": X[start:end].tolist(), "y": Y[start:end].tolist()}
    assert client.post(f"{A}/samples", json=rows).status_code == 200


def state(client: TestClient) -> dict[str, Any]:
    return dict(client.get(A).json())


def test_all_samples_stay_whatever_the_snapshots(settings: Settings) -> None:
    lives = [[0, 1, 2, 40, 41], [41, 1500, 3900, 4000], [0, 1000, 2000, 3000, 4000]]
    for ends in lives:
        with TestClient(App(settings)) as client:
            client.put(A, json=SMALL)
            for start, end in pairwise(ends):
                learn(client, start, end)
            kept = state(client)["retained"]
            assert (kept["samples"], kept["complete"]) == (state(client)["t"], True)
    with TestClient(App(settings)) as client:
        assert state(client)["retained"] == kept
    store = SQLite(settings.store.removeprefix("sqlite:///"))
    stored = known(store, "a")
    assert stored.snapshot_t > 0
    entries = [*retained(store, stored), *stored.tail]
    store.close()
    assert sum(len(entry.blob) for entry in entries) == kept["bytes"]
    samples = Samples.joined([unpack_samples(entry.blob) for entry in entries])
    assert np.array_equal(cast(Any, samples.X), np.tile(X, (2, 1)))
    assert np.array_equal(samples.y, np.tile(Y, 2))


def test_a_session_that_keeps_its_samples_learns_as_any_other(client: TestClient) -> None:
    client.put(A, json={"model": "linear", "algorithm": "sg/ag", "dim": 3, "retain": True})
    learn(client, 0, 4000)
    alone = llr.Learner("linear", 3, "sg/ag", regret="exact")
    alone.learn(X, Y)
    assert client.get(f"{A}/snapshot").json()["state"] == alone.to_plain()


@pytest.mark.slow
def test_at_the_bound_it_learns_on_and_says_that_it_stopped_keeping(settings: Settings) -> None:
    few = settings.model_copy(update={"max_retained": 2000})
    with TestClient(App(few)) as client:
        client.put(A, json=SMALL)
        for end in [*range(40, 4000, 40)] * 3:  # until a snapshot replaces the log
            learn(client, end - 40, end)
        kept = {"samples": 40, "bytes": 40 * 32 + 24, "complete": False}
        assert (state(client)["retained"], state(client)["t"]) == (kept, 3 * 3960)
    with TestClient(App(settings)) as client:
        assert state(client)["retained"] == kept, "what is missing does not come back"
        learn(client, 3960, 4000)
        assert state(client)["retained"] == kept


def test_what_is_kept_goes_with_the_session(settings: Settings) -> None:
    with TestClient(App(settings)) as client:
        client.put(A, json={"model": "linear", "retain": True})
        learn(client, 0, 4000)
        client.delete(A)
        client.put(A, json={"model": "linear", "retain": True})
        assert state(client)["retained"] == {"samples": 0, "bytes": 0, "complete": True}
    store = SQLite(settings.store.removeprefix("sqlite:///"))
    assert store.read_log(1, 0, 4000, 99) is None
    store.close()


def test_a_copy_that_did_not_learn_the_samples_itself_does_not_have_them(
    client: TestClient,
) -> None:
    client.put(A, json={"model": "linear", "retain": True})
    learn(client, 0, 10)
    nothing = {"samples": 0, "bytes": 0, "complete": False}
    assert client.post(f"{A}/fork", json={"name": "b"}).json()["retained"] == nothing
    snapshot = client.get(f"{A}/snapshot").json()
    assert client.put("/v1/sessions/c/snapshot", json=snapshot).json()["retained"] == nothing
    plain = client.post(f"{A}/fork", json={"name": "d", "retain": False}).json()
    assert (plain["retained"], plain["t"]) == (None, 10)


@pytest.mark.parametrize("retain", [1, "yes", None])
def test_retain_is_true_or_false(client: TestClient, retain: Any) -> None:
    refused = client.put(A, json={"model": "linear", "retain": retain})
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["pointer"] == "/retain"


class Straight:
    """A committer that writes at once."""

    def __init__(self) -> None:
        self.store = Memory()

    def commit(self, change: Change) -> str:
        return type(self.store.write([change])[0]).__name__


class Learner:
    """What a journal knows of one."""

    nbytes = 100

    def pack(self) -> bytes:
        return b"state"


@given(st.lists(st.integers(1, 20), max_size=30), st.integers(0, 3000))
@settings(max_examples=200, derandomize=True, deadline=None)
def test_what_stays_is_the_same_after_a_reload_at_any_time(sizes: list[int], most: int) -> None:
    committer, t, samples = Straight(), 0, list[float]()
    committer.store.write([CreateSession("a", b"{}")])
    stored = known(committer.store, "a")
    log = SessionLog(stored, Retention.of(stored, True, most), cast(Any, committer))
    for n in sizes:
        fresh = NewSamples(Samples(None, np.arange(t, t + n, dtype=float)), range(n))
        samples += fresh.samples.y.tolist()
        ensemble = Ensemble(cast(Any, Learner()))
        assert cast(Any, log.append_samples(ensemble, t, fresh, 1000 + t)) == "Written"
        t += n
        stored = known(committer.store, "a")
        again = Retention.of(stored, True, most)
        assert (again.kept, again.still_complete) == (
            log.retention.kept,
            log.retention.still_complete,
        )
        assert again.kept.bytes <= most
        entries = committer.store.read_log(1, 0, again.kept.samples, 10**6) or []
        assert [y for entry in entries for y in labels(entry)] == samples[: again.kept.samples]


def labels(entry: Entry) -> list[float]:
    return list(unpack_samples(entry.blob).y)
