"""Row 29: memory, descriptors and the event loop stay within their budgets, whatever is asked."""

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from socket import SO_RCVBUF, SOL_SOCKET, socket

import numpy as np
from support.serving import Server, started

from .samples import as_npy
from .verdict import Tick, Verdict, broken

UNREAD = 16 * 2**20
"""Bytes of answers that clients may leave unread, all together."""
ROOM = 256 * 2**20
"""Bytes of memory that all of it may take on top."""
DELAY = 0.05
"""Seconds that the event loop may be held up, in 999 of 1,000 looks."""
LONG = 1_000
"""Sessions from which a loop that is held up is a fault: the short form measures no time."""
WIDE, READERS, BACKUPS = 1024, 40, 8
JSON = "application/json"


def unread(server: Server, target: bytes) -> socket:
    """A request whose answer is never read."""
    connection = socket()
    connection.setsockopt(SOL_SOCKET, SO_RCVBUF, 4096)
    connection.settimeout(60)
    connection.connect(("127.0.0.1", server.port))
    connection.sendall(b"GET %b HTTP/1.1\r\nhost: here\r\n\r\n" % target)
    connection.recv(1)
    return connection


@contextmanager
def probed(server: Server, delays: list[float]) -> Iterator[None]:
    """Let another process ask `/livez` all the time, and note how long each answer took."""
    command = [sys.executable, str(Path(__file__).with_name("probe.py")), str(server.port)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as probe:  # noqa: S603
        try:
            yield
        finally:
            delays += json.loads(probe.communicate()[0])


Asked = tuple[str, str, str, bytes]
"""A method, a path below the wide session, a content type and a body."""


def asked(number: int) -> list[Asked]:
    """One request of each kind that works on rows, all of them wide."""
    row = [float(number % 7 == place % 7) for place in range(WIDE)]
    sample = json.dumps({"x": row, "y": 1.0}).encode()
    kept = json.dumps({"x": row, "id": f"i{number}"}).encode()
    label = json.dumps({"id": f"i{number}", "y": 0.5}).encode()
    return [
        ("POST", "/samples", JSON, sample),
        ("POST", "/samples", "application/x-ndjson", (sample + b"\n") * 8),
        ("POST", "/samples", "application/x-npy", as_npy(np.array([[*row, 1.0]] * 64))[0]),
        ("POST", "/predict", JSON, json.dumps({"x": row}).encode()),
        ("POST", "/predict", JSON, kept),
        ("POST", "/labels", JSON, label),
        ("GET", "", JSON, b""),
        ("GET", "/history", JSON, b""),
    ]


def load(server: Server, rounds: int) -> Counter[int]:
    """Ask for everything that works on rows, one after the other; the statuses."""
    came = Counter[int]()
    with closing(HTTPConnection("127.0.0.1", server.port, timeout=60)) as connection:
        for number in range(rounds):
            for method, path, kind, body in asked(number):
                headers = {"host": "here", "content-type": kind}
                connection.request(method, f"/v1/sessions/wide{path}", body, headers)
                answer = connection.getresponse()
                answer.read()
                came[answer.status] += 1
    return came


def descriptors(server: Server) -> int:
    """How many files and sockets the service has open."""
    return len(os.listdir(f"/proc/{server.process.pid}/fd"))


def _sessions(server: Server, count: int) -> None:
    connection = HTTPConnection("127.0.0.1", server.port, timeout=60)
    headers = {"host": "here", "content-type": "application/json"}

    def ask(method: str, path: str, body: object, status: int) -> None:
        connection.request(method, path, json.dumps(body), headers)
        answer = connection.getresponse()
        assert answer.status == status, answer.read()
        answer.read()

    ask("PUT", "/v1/sessions/wide", {"model": "linear", "dim": WIDE, "regret": "exact"}, 201)
    for number in range(3):
        sample = {"x": [float(number == place % 3) for place in range(WIDE)], "y": 1.0}
        ask("POST", "/v1/sessions/wide/samples", sample, 200)
    for number in range(count):
        ask("PUT", f"/v1/sessions/s{number}", {"model": "gaussian"}, 201)
    connection.close()


def _backups(server: Server) -> Counter[int]:
    """Several at once: one is made, the others are told to wait."""
    with ThreadPoolExecutor(BACKUPS) as pool:
        ask = [pool.submit(server.ask, "POST", b"/v1/backup") for _ in range(BACKUPS)]
        return Counter(each.result()[0] for each in ask)


def run(folder: Path, seed: int, count: int, tick: Tick) -> Verdict:
    """So many sessions and one of d = 1,024; then answers that nobody reads, lists and backups."""
    delays, targets = list[float](), (b"/v1/sessions/wide/snapshot", b"/v1/sessions?limit=1000")
    with started(folder, max_unread=str(UNREAD), max_streams="100", allowed_hosts="here") as server:
        _sessions(server, count)
        tick()
        before, open_before = server.peak(), descriptors(server)
        with probed(server, delays), ExitStack() as stack:
            for number in range(READERS):
                stack.enter_context(unread(server, targets[number % 2]))
                stack.enter_context(unread(server, b"/v1/sessions/wide/events"))
            tick()
            backups = _backups(server)
            came = load(server, max(10, count // 20))
            tick()
        status = server.ask("GET", b"/v1/sessions/wide")[0]
        until = time.monotonic() + 20
        while descriptors(server) > open_before + 8 and time.monotonic() < until:
            server.ask("GET", b"/livez")
        grown, left = server.peak() - before, descriptors(server) - open_before
    held_up = sorted(delays)[-max(1, len(delays) // 1000)]
    faults = broken(
        memory_is_bounded=grown < ROOM,
        descriptors_are_closed=left <= 8,
        one_backup_at_a_time=backups[200] >= 1 and {*backups} <= {200, 429},
        it_still_answers=status == 200,
        everything_is_answered={*came} == {200},
    )
    held = broken(the_loop_is_free=held_up < DELAY)
    long = count >= LONG
    counts = {
        "sessions": count,
        "memory on top MiB": grown >> 20,
        "descriptors left": left,
        "backups": dict(backups),
        "requests on rows": came.total(),
        "looks at the loop": len(delays),
        "loop held up ms, p99.9": round(held_up * 1e3, 1),
    }
    target = "memory, descriptors and loop within budget"
    return Verdict(counts, target, faults + held * long, held * (not long))
