"""Row 28: every error of the store at every route, seen through the public API.

A session with a shadow, ids that wait and two producers is prepared. The store then fails once, in
the write of one request, or while it loads the session. Refused means unchanged, in the store, in
memory and after a restart; an error after the write leaves the old state or the new one; the same
request, sent again, leaves what it leaves where nothing fails.
"""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import patch

import httpx
import numpy as np
from llr_service.app import App
from llr_service.settings import Settings
from llr_service.stores.memory import Memory
from llr_service.stores.sqlite import SQLite
from llr_service.stores.store import (
    Change,
    Damaged,
    Result,
    Store,
    StoredSession,
    StoreError,
    StoreFull,
    StoreInUse,
    StoreTooNew,
    StoreUnavailable,
)
from support.app import DEMO, SAMPLES, running
from support.shared_memory import SharedMemory

from .samples import as_npy
from .verdict import Tick, Verdict

NOW = 1_700_000_000.0
"""The time of every run, so that two runs store the same."""
JSON = {"content-type": "application/json"}
NDJSON = {"content-type": "application/x-ndjson"}
NPY = {"content-type": "application/x-npy"}
ROW = {"x": [1.0, 0.5], "y": 1.0}
LINES = b'{"x": [1.0, 0.5], "y": 1.0}\n{"x": [0.5, 1.0], "y": 0.0}\n'
CONFIG = {
    "model": "linear",
    "dim": 2,
    "retain": True,
    "shadows": {"rival": {"algorithm": "sg/ag"}, "spare": {"algorithm": "sg"}},
}


@dataclass(frozen=True)
class Ask:
    """A request: it changes something, or it is a read."""

    method: str
    path: str
    json: Any = None
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()

    @property
    def name(self) -> str:
        """What it does, in a word."""
        return self.method if self.method == "DELETE" else self.path.rpartition("/")[2]

    async def send(self, http: httpx.AsyncClient) -> httpx.Response:
        """Send it."""
        if self.json is not None:
            return await http.request(self.method, self.path, json=self.json)
        headers = dict(self.headers)
        return await http.request(self.method, self.path, content=self.body, headers=headers)


def _body(path: str, body: bytes, kind: dict[str, str]) -> Ask:
    return Ask("POST", path, body=body, headers=tuple(kind.items()))


def _npy() -> bytes:
    return as_npy(np.array([[1.0, 0.5, 1.0], [0.5, 1.0, 0.0]]))[0]


CHANGES: dict[str, Ask] = {
    "create": Ask("PUT", "/v1/sessions/new", CONFIG),
    "learn": Ask("POST", f"{SAMPLES}?producer=p&seq=2", ROW),
    "learn columns": Ask("POST", f"{SAMPLES}?producer=p&seq=2", {"x": [[1, 0]], "y": [2]}),
    "learn rows": Ask("POST", f"{SAMPLES}?producer=p&seq=1", [ROW, ROW, ROW]),
    "learn with weights": Ask("POST", f"{SAMPLES}?producer=p&seq=2", [ROW | {"w": 0.5}]),
    "learn NDJSON": _body(f"{SAMPLES}?producer=p&seq=2", LINES, NDJSON),
    "learn npy": _body(f"{SAMPLES}?producer=p&seq=2", _npy(), NPY),
    "learn a large batch": Ask("POST", f"{SAMPLES}?producer=p&seq=2", [ROW] * 200),
    "learn as a new producer": Ask("POST", f"{SAMPLES}?producer=new&seq=0", ROW),
    "learn sparse numbers": Ask("POST", f"{SAMPLES}?producer=p", [ROW | {"seq": 7}]),
    "skip numbers": Ask("POST", f"{SAMPLES}?producer=p&seq=0&next=9", [ROW, ROW]),
    "predict with an id": Ask("POST", f"{DEMO}/predict", {"x": [1.0, 1.0], "id": "fresh"}),
    "label": Ask("POST", f"{DEMO}/labels", {"id": "first", "y": 1.0}),
    "labels": Ask("POST", f"{DEMO}/labels", [{"id": "first", "y": 1.0}, {"id": "last", "y": 0.0}]),
    "labels as NDJSON": _body(f"{DEMO}/labels", b'{"id": "first", "y": 1.0}\n', NDJSON),
    "add a shadow": Ask("PUT", f"{DEMO}/shadows/more", {"algorithm": "sg"}),
    "remove a shadow": Ask("DELETE", f"{DEMO}/shadows/spare"),
    "promote": Ask("POST", f"{DEMO}/promote", {"name": "rival"}),
    "fork": Ask("POST", f"{DEMO}/fork", {"name": "copy"}),
    "what if": Ask("POST", f"{DEMO}/fork", {"name": "other", "algorithm": "sg"}),
    "delete": Ask("DELETE", DEMO),
    "delete if it is there": Ask("DELETE", DEMO, headers=(("if-match", '"2.0"'),)),
}
"""Requests that change something; each has the same effect when it is sent twice."""
READS: dict[str, Ask] = {
    "get": Ask("GET", DEMO),
    "get a producer": Ask("GET", f"{DEMO}?producer=p"),
    "snapshot": Ask("GET", f"{DEMO}/snapshot"),
    "history": Ask("GET", f"{DEMO}/history"),
    "predict": Ask("POST", f"{DEMO}/predict", {"x": [1.0, 1.0]}),
    "learn": CHANGES["learn"],
    "label": CHANGES["label"],
    "promote": CHANGES["promote"],
    "fork": CHANGES["fork"],
}
"""Requests that load the session if it is not in memory."""

BEFORE: dict[str, StoreError] = {
    "disk full": StoreFull("planted"),
    "unavailable before": StoreUnavailable("planted"),
    "damaged": Damaged("planted"),
    "in use": StoreInUse("planted"),
    "too new": StoreTooNew("planted"),
}
AFTER = "unavailable after"
FAILURES = (*BEFORE, AFTER)
ENGINES: dict[str, Callable[[Path], Store]] = {
    "memory": lambda _: Memory(),
    "sqlite": lambda folder: SQLite(folder / "llr.db"),
    "shared": lambda _: SharedMemory(),
}


DONE = {"DELETE": 404, "fork": 409}
"""What a request that was done is answered with when it is sent again."""


class Failing:
    """A store that fails as told, once, in a write or in a load."""

    def __init__(self, inner: Store) -> None:
        self.inner, self.writes, self.loads, self.failed = inner, "", "", 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def write(self, group: Sequence[Change]) -> list[Result]:
        """Write a group, or fail."""
        failure, self.writes = self.writes, ""
        self.failed += bool(failure)
        if failure in BEFORE:
            raise BEFORE[failure]
        results = self.inner.write(group)
        if failure:
            raise StoreUnavailable("planted, after it wrote")
        return results

    def load(self, name: str) -> StoredSession | None:
        """Load a session, or fail."""
        failure, self.loads = self.loads, ""
        self.failed += bool(failure)
        if failure:
            raise BEFORE.get(failure, StoreUnavailable("planted"))
        return self.inner.load(name)

    def close(self) -> None:
        """The engine stays open, so that it can be looked at."""


class FailingShared(Failing):
    """The same for a store that several services share."""

    def versions(self, names: Sequence[str]) -> Any:
        """Look up versions."""
        return self.inner.versions(names)  # type: ignore[attr-defined]


State = dict[str, Any]


def stored(store: Failing) -> State:
    """Everything that is stored, but for the numbers that are drawn by lot."""
    names = [row.name for row in store.inner.list("", 100)]
    found = {name: store.inner.load(name) for name in names}
    return {name: replace(one, version=0, id=0) for name, one in found.items() if one}


async def shown(http: httpx.AsyncClient) -> State:
    """Everything that the API shows."""
    listed = (await http.get("/v1/sessions")).json()["sessions"]
    state: State = {}
    for row in listed:
        path = f"/v1/sessions/{row['name']}"
        for more in ("", "?producer=p", "?producer=new", "/snapshot"):
            answer = await http.get(path + more)
            state[path + more] = answer.status_code, answer.json()
    return state


class Case:
    """One failure at one route on one engine; `faults` is what was wrong."""

    def __init__(self, ask: Ask, failure: str, engine: str, load: bool, folder: Path) -> None:
        self.ask, self.failure, self.load, self.folder = ask, failure, load, folder
        self.engine, self.faults, self.hit = engine, list[str](), False

    def run(self) -> None:
        """Run it in a loop of its own."""
        asyncio.run(self._run())

    async def _run(self) -> None:
        plain, failing = self._store("plain"), self._store("failing")
        after = await self._undisturbed(plain)
        async with serving(failing) as http:
            await prepare(http)
            seen = await shown(http)
        before = stored(failing), seen  # a stop folds logs into snapshots
        async with serving(failing) as http:
            await self._disturbed(http, failing, before, after)
        async with serving(failing) as http:
            self._equal("after a restart", await shown(http), after[1])
        for store in (plain, failing):
            store.inner.close()

    def _store(self, name: str) -> Failing:
        folder = self.folder / name
        folder.mkdir(parents=True)
        kind = FailingShared if self.engine == "shared" else Failing
        return kind(ENGINES[self.engine](folder))

    async def _undisturbed(self, store: Failing) -> tuple[State, State]:
        """What the request leaves where nothing fails."""
        async with serving(store) as http:
            await prepare(http)
        async with serving(store) as http:
            if not self.load:
                await http.get(DEMO)
            answer = await self.ask.send(http)
            if answer.status_code >= 300:
                self.faults.append(f"is refused where nothing fails: {answer.text}")
            return stored(store), await shown(http)

    async def _disturbed(
        self,
        http: httpx.AsyncClient,
        store: Failing,
        before: tuple[State, State],
        after: tuple[State, State],
    ) -> None:
        if self.load:
            store.loads = self.failure
        else:
            await http.get(DEMO)
            store.writes = self.failure
        answer = await self.ask.send(http)
        await http.get("/readyz")  # an answer that came too early does not hide the failure
        self.hit = bool(store.failed)
        if not self.hit:
            return
        if not refused(answer):
            self.faults.append(f"{answer.status_code}, although the store failed: {answer.text}")
        elif self.failure == "disk full" and "disk-full" not in answer.text:
            self.faults.append(f"a full disk is told of as {answer.text}")
        ambiguous = self.failure == AFTER and not self.load
        self._equal("in the store", stored(store), before[0], *([after[0]] if ambiguous else []))
        self._equal("in memory", await shown(http), before[1], *([after[1]] if ambiguous else []))
        again = await self.ask.send(http)
        there = again.status_code == DONE.get(self.ask.name)
        if again.status_code >= 300 and not (ambiguous and there):
            self.faults.append(f"sent again: {again.status_code} {again.text}")
        self._equal("in the store, sent again", stored(store), after[0])
        self._equal("in memory, sent again", await shown(http), after[1])

    def _equal(self, where: str, found: State, *wanted: State) -> None:
        if found in wanted:
            return
        other = wanted[-1]
        keys = [key for key in {*found, *other} if found.get(key) != other.get(key)]
        self.faults.append(f"{where}: another state of {', '.join(sorted(keys))}")


@asynccontextmanager
async def serving(store: Failing) -> AsyncIterator[httpx.AsyncClient]:
    """A service on a store, which stays open."""
    with patch("llr_service.app.open_store", lambda _: store):
        settings = Settings(store="memory:", log_level="error", allowed_hosts=("here",))
        async with running(App(settings, lambda: NOW)) as http:
            yield http


def refused(answer: httpx.Response) -> bool:
    """Whether an answer says that the store failed, in its own status or on its last line."""
    if answer.status_code in (500, 503, 507):
        return True
    return answer.status_code == 200 and '"type"' in answer.text.splitlines()[-1]


async def prepare(http: httpx.AsyncClient) -> None:
    """A session with a history."""
    asks = (
        Ask("PUT", DEMO, CONFIG),
        Ask("POST", f"{SAMPLES}?producer=p&seq=0", [ROW, {"x": [0.0, 1.0], "y": 2.0}]),
        Ask("POST", f"{DEMO}/predict", {"x": [2.0, 1.0], "id": "first"}),
        Ask("POST", f"{DEMO}/predict", {"x": [1.0, 2.0], "id": "last"}),
    )
    for ask in asks:
        answer = await ask.send(http)
        assert answer.status_code < 300, answer.text


Named = tuple[str, str, str, bool]


def cases() -> list[Named]:
    """Route, failure, engine, and whether it fails while the session is loaded."""
    writes = [(*one, False) for one in product(CHANGES, FAILURES, ENGINES)]
    loads = [(*one, True) for one in product(READS, BEFORE, ENGINES)]
    return [*writes, *loads]


def tried(named: Named, folder: Path) -> Case:
    """Run a case."""
    route, failure, engine, load = named
    case = Case((READS if load else CHANGES)[route], failure, engine, load, folder)
    case.run()
    return case


def run(folder: Path, seed: int, count: int, tick: Tick) -> Verdict:
    """So many cases, in an order drawn by lot; each of them at least once if there are enough."""
    lot, faults, counts = random.Random(seed), list[str](), Counter[str]()
    every = cases()
    lot.shuffle(every)
    for number in range(count):
        named = every[number % len(every)]
        case = tried(named, folder / f"{number}")
        counts["cases"] += 1
        counts["the store failed"] += case.hit
        where = f"{named[0]}, {named[1]}, {named[2]}{', loading' if named[3] else ''}"
        faults += [f"{where}: {fault}" for fault in case.faults]
        if not case.hit:
            faults.append(f"{where}: the store was not asked")
        tick()
    told = {"routes": len(CHANGES) + len(READS), "cases there are": len(every), **counts}
    return Verdict(told, "refused is unchanged, acknowledged is stored", faults[:20])
