"""Every request of a row and its answer, as JSON lines, and what `support.checker` says of them.

`wire.py` and `server.py` tell the journal of the row that runs. A session is known by its store
and its name; a store by its URL, and by the file's number, for another file may take its place.
"""

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from time import perf_counter
from typing import Any
from urllib.parse import parse_qs, unquote

from support.checker import Seen, check

from .verdict import Harness, Tick, Verdict

PATH = re.compile(r"/v1/sessions/([^/?]+)(/[^?]*)?(?:\?(.*))?$")
READS = {("GET", ""), ("GET", "/snapshot"), ("POST", "/predict")}
BLOCK = 16_384
"""Bytes of NDJSON that are surely learnt as one block."""
SHOWN = 3
"""Violations that are told."""


class Journal:
    """The history of one row, as a file of JSON lines.

    Args:
        path: the file.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.lines = path, 0
        self._stores, self._last = dict[str, str](), ""
        self._teams = set[str]()
        self._file = path.open("w")

    def serves(self, place: str, url: str) -> None:
        """A service listens at a place. Unknown places lead to the one that came last."""
        file = Path(url.removeprefix("sqlite:///"))
        number = f"#{file.stat().st_ino}" if file.is_file() else ""
        self._last = self._stores[place] = f"{url}{number}"

    def asked(self, place: str, method: str, path: str, body: bytes, kind: str) -> Seen | None:
        """A request is sent; None if it is about no session."""
        found = PATH.match(path)
        if found is None:
            return None
        name, rest, query = unquote(found[1]), found[2] or "", parse_qs(found[3] or "")
        session = f"{self._stores.get(place, self._last)} {name}"
        return replace(
            _request(method, rest, query, body, kind), session=session, asked=perf_counter()
        )

    def answered(self, seen: Seen | None, status: int | None, body: bytes) -> None:
        """Its answer has come, or None will."""
        if seen is None:
            return
        seen.status, seen.told = status, perf_counter()
        if seen.ok and body:
            _read(seen, json.loads(body))
        if seen.kind == "other":
            self._teams.add(seen.session)
        if seen.kind == "learn" and seen.session in self._teams:
            seen.version = None  # the answer does not tell which team it is of
        self._file.write(json.dumps(asdict(seen)) + "\n")
        self.lines += 1

    def close(self) -> None:
        """Nothing more comes."""
        self._file.close()


def _request(
    method: str, rest: str, query: Mapping[str, list[str]], body: bytes, kind: str
) -> Seen:
    """What a request asks for."""
    if (method, rest) in READS:
        return Seen("", "read")
    if (method, rest) == ("PUT", ""):
        return Seen("", "make")
    if (method, rest) == ("DELETE", ""):
        return Seen("", "delete")
    if (method, rest) != ("POST", "/samples"):
        return Seen("", "other")
    producer = query.get("producer", [None])[0]
    n, whole = _count(body, kind)
    return Seen("", "learn", n, producer, int(query.get("seq", ["0"])[0]), whole, version=0)


def _count(body: bytes, kind: str) -> tuple[int, bool]:
    """How many samples a body has, and whether they are learnt as a whole."""
    if kind.endswith("npy"):
        shape = re.search(rb"'shape': \((\d+),", body)
        return int(shape[1]) if shape else 0, True
    if kind.endswith("ndjson"):
        return body.count(b"\n"), len(body) < BLOCK
    sent = json.loads(body)
    if isinstance(sent, list):
        return len(sent), True
    return len(sent["y"]) if isinstance(sent.get("y"), list) else 1, True


def _read(seen: Seen, answer: Any) -> None:
    """What an answer tells."""
    seen.t = answer.get("t")
    seen.accepted = answer.get("accepted", 0)
    if "theta" in answer:
        told = [answer["theta"], answer["log_eta"], answer["loss"]["total"]]
        seen.digest = hashlib.sha256(json.dumps(told).encode()).hexdigest()[:16]
        seen.version = answer.get("version", seen.version)
    if "state" in answer and "producers" in answer:
        seen.producers, seen.summed = answer["producers"], True


_current: list[Journal] = []


def current() -> Journal | None:
    """The journal of the row that runs, None if none does."""
    return _current[-1] if _current else None


def load(path: Path) -> list[Seen]:
    """The history in a file."""
    with path.open() as lines:
        return [Seen(**json.loads(line)) for line in lines]


CHECKED: dict[str, dict[str, int]] = {}
"""By promise, what was checked of the rows that ran in this process."""


def recorded(row: Harness) -> Harness:
    """The same row, whose history is recorded and checked; a violation breaks it."""

    def run(folder: Path, seed: int, count: int, tick: Tick) -> Verdict:
        verdict, history = history_of(row.run, folder, seed, count, tick)
        checker, faults = check(history)
        CHECKED[row.promise] = checker.counts
        counts, answers = verdict.counts, checker.counts["answers"]
        if answers:
            counts = counts | {"answers checked": answers}
        more = [f"and {len(faults) - SHOWN} more"] if len(faults) > SHOWN else []
        wrong = [f"history: {one}" for one in [*faults[:SHOWN], *more]]
        return verdict._replace(counts=counts, faults=[*verdict.faults, *wrong])

    return row._replace(run=run)


def history_of(
    run: Callable[[Path, int, int, Tick], Verdict], folder: Path, seed: int, count: int, tick: Tick
) -> tuple[Verdict, list[Seen]]:
    """Run a row: its verdict, and its history."""
    journal = Journal(folder.parent / f"{folder.name}.jsonl")
    _current.append(journal)
    try:
        verdict = run(folder, seed, count, tick)
        journal.close()
        return verdict, load(journal.path)
    finally:
        _current.pop()
        journal.close()
        journal.path.unlink()
