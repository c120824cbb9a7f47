"""Row 7: damaged files. The service refuses to start, or serves what is whole and no more."""

import random
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import httpx
from llr_service.app import App
from llr_service.problems import MEDIA_TYPE
from llr_service.settings import Settings
from llr_service.stores.store import StoreError
from starlette.testclient import TestClient

from .damage import damage
from .samples import DIM, Stream, as_npy
from .server import RefusedError, Server
from .verdict import Tick, Verdict, broken

SESSIONS = 12
IMAGES = ("closed", "unfolded", "killed")
"""The file as a stop leaves it, with all logs folded into snapshots; as a stop leaves it that had
no time for that; and as a crash does, with its log beside it."""
AS_PROCESS = 50
"""Every so many refusals one is tried as a process of its own: the exit code and the words."""
NOON = 1_767_268_800.0
"""The time of every sample, so that answers about the same samples are equal."""

Answers = dict[str, dict[str, Any]]


def opened(folder: Path) -> TestClient:
    """An app on the file in a folder; raises `StoreError` on entering if it refuses."""
    settings = Settings(store=f"sqlite:///{folder / 'llr.db'}", docs=False)
    app = App(settings, clock=lambda: NOON)
    return TestClient(app, "http://localhost", raise_server_exceptions=False)


def build(folder: Path, seed: int) -> None:
    """A store with sessions of several sizes, in an image for each way to leave it."""
    with opened(folder / "closed") as client:
        for number in range(SESSIONS):
            _grow(client, f"s{number}", Stream(seed + number), (1 + number) ** 2)
        shutil.copytree(folder / "closed", folder / "killed")
    shutil.copytree(folder / "killed", folder / "unfolded")
    with opened(folder / "unfolded"):
        pass  # only the sessions in memory are folded, and none is


def _grow(client: TestClient, name: str, stream: Stream, n: int) -> None:
    """A session whose last samples stand in the log, some with a snapshot before them."""
    options = {"algorithm": "svrg/ag", "options": {"refresh": 5}} if n % 2 else {}
    client.put(f"/v1/sessions/{name}", json={"model": "linear", "dim": DIM} | options)
    for start, stop in ((0, n), (n, n + 3), (n + 3, n + 4)):
        _send(client, name, stream, start, stop)


def _send(client: TestClient, name: str, stream: Stream, start: int, stop: int) -> httpx.Response:
    body, kind = as_npy(stream.rows(start, stop))
    path = f"/v1/sessions/{name}/samples?producer=p&seq={start}"
    answer: httpx.Response = client.post(path, content=body, headers={"content-type": kind})
    return answer


def ask(
    client: TestClient, seed: int, whole: Answers | None = None
) -> tuple[Answers, Counter[str]]:
    """What each session says: its state, all of it, then the answers to a retry and to a sample.

    An answer is compared with that of the `whole` file, if there is one; it has to be the same, or
    a problem; after a sample that was refused, the session says what it said before. Returns the
    answers and a count of their sorts.
    """
    answers: Answers = {}
    sorts: Counter[str] = Counter()
    for number in range(SESSIONS):
        name, stream, n = f"s{number}", Stream(seed + number), (1 + number) ** 2 + 4
        got = {
            "state": client.get(f"/v1/sessions/{name}"),
            "snapshot": client.get(f"/v1/sessions/{name}/snapshot"),
            "retry": _send(client, name, stream, n - 1, n),
            "sample": _send(client, name, stream, n, n + 1),
            "after": client.get(f"/v1/sessions/{name}"),
        }
        answers[name] = {step: response.json() for step, response in got.items()}
        right = (whole or answers)[name]
        for step, response in got.items():
            wanted = [right[step]]
            if step == "after":
                wanted = allowed_after(got["sample"], right)
            sorts[sort_of(response, wanted)] += 1
    return answers, sorts


def allowed_after(sample: httpx.Response, right: dict[str, Any]) -> list[Any]:
    """What a session may say after a sample: an acknowledged one is there, a refused one is not.

    A write that failed with 503 may have been stored.
    """
    if sample.status_code == 200:
        return [right["after"]]
    return [right["state"], right["after"]] if sample.status_code == 503 else [right["state"]]


def sort_of(response: httpx.Response, right: list[Any]) -> str:
    """`right` if it is one of these answers, `wrong`, or the name of the problem."""
    if response.status_code == 200:
        return "right" if response.json() in right else "wrong"
    if response.headers["content-type"] != MEDIA_TYPE:
        return "wrong"
    return str(response.json()["type"]).rpartition(":")[2]


class Damages:
    """What came of every damaged copy."""

    def __init__(self, folder: Path, seed: int) -> None:
        self._folder, self._seed, self._lot = folder, seed, random.Random(seed)
        self.sorts: Counter[str] = Counter()
        self.kinds: Counter[str] = Counter()
        self.refused: list[str] = []
        self.opened = 0
        build(folder, seed)
        shutil.copytree(folder / IMAGES[0], folder / "whole")
        with opened(folder / "whole") as client:
            self._whole, _ = ask(client, seed)

    def one(self, number: int) -> None:
        """Damage a copy and ask it everything."""
        copy = self._folder / f"copy-{number}"
        shutil.copytree(self._folder / self._lot.choice(IMAGES), copy)
        self.kinds[damage(copy, self._lot)] += 1
        try:
            with opened(copy) as client:
                self.opened += 1
                self.sorts += ask(client, self._seed, self._whole)[1]
        except StoreError as refusal:
            self.refused.append(str(refusal))
            if len(self.refused) % AS_PROCESS == 1:
                self.refused[-1] = _refusal(copy)
        shutil.rmtree(copy)


def _refusal(folder: Path) -> str:
    """What the process says when it does not start; nothing if it starts or falls over."""
    try:
        with Server(folder / "llr.db"):
            return ""
    except RefusedError as refusal:
        return "" if "Traceback" in str(refusal) else str(refusal)


def run(folder: Path, seed: int, damages: int, tick: Tick) -> Verdict:
    """So many damaged copies of one store."""
    done = Damages(folder, seed)
    for number in range(damages):
        done.one(number)
        tick()
    counts = {"damages": dict(done.kinds), "refused to start": len(done.refused)}
    counts |= {"opened": done.opened} | {"answers": dict(done.sorts)}
    faults = broken(
        nothing_wrong_is_served=done.sorts["wrong"] == 0,
        no_session_vanishes=done.sorts["session-not-found"] == 0,
        healthy_sessions_are_served=done.sorts["right"] > done.opened,
        a_refusal_says_why=all(done.refused),
    )
    return Verdict(counts, "wrong 0, the healthy served", faults)
