"""Where the time goes: the service under load, looked at a thousand times a second by py-spy."""

import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from bench.arena import cores
from bench.hosts import CLIENTS, CONNECTIONS
from bench.load import Lane, Load, loading
from bench.markdown import table
from bench.report import Section
from bench.requests import as_json, as_ndjson, as_npy, post, put, samples
from bench.servers import Server, service

RATE, SHOWN = 1000, 15
KINDS = 3


class Scale(NamedTuple):
    """For how many seconds to look."""

    seconds: int


FULL, QUICK = Scale(10), Scale(3)


def measure(folder: Path, scale: Scale, tick: Callable[[], None]) -> Section:
    """Look at single samples, at long npy bodies and at long NDJSON bodies."""
    X, y = samples(10, 4096)
    wide = as_npy(*samples(50, 10_000))
    lanes = {
        "One sample a request": Lane([post("d10", body) for body in as_json(X, y)], CONNECTIONS),
        "npy, d = 50": Lane([post("d50", wide, "application/x-npy")], CLIENTS),
        "NDJSON, d = 10": Lane(
            [post("d10", 20 * as_ndjson(X, y), "application/x-ndjson")], CLIENTS
        ),
    }
    text = [PROSE]
    with loading(cores()[1]) as load, service(folder / "profile.db") as server:
        create = [put("d10", dim=10), put("d50", dim=50, regret="off")]
        load.run(server.port, [Lane(create, 1, len(create))])
        for title, lane in lanes.items():
            text += [f"### {title}", _table(_looked(server, load, lane, scale.seconds))]
            tick()
    return Section("Where the time goes", text)


PROSE = """\
Share of the time in which a thread of the service was at work, by the Python function that was
running; what it calls in C (the kernels, SQLite, JSON, the sockets) counts as its own."""


def _looked(server: Server, load: Load, lane: Lane, seconds: int) -> Counter[str]:
    """How often each function was seen at work."""
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(1) as pool:
        path = Path(folder) / "stacks"
        busy = pool.submit(load.run, server.port, [lane], seconds + 1.0)
        command = ["py-spy", "record", "--pid", str(server.pid), "--duration", str(seconds)]
        options = ["--format", "raw", "--rate", str(RATE), "--output", str(path), "--nonblocking"]
        spy = Path(sys.executable).parent / command[0]
        subprocess.run([spy, *command[1:], *options], check=True, capture_output=True)  # noqa: S603
        busy.result()
        return _own(path.read_text())


def _own(stacks: str) -> Counter[str]:
    """Of stacks with their counts, the function at the end of each."""
    seen: Counter[str] = Counter()
    for line in stacks.splitlines():
        stack, _, count = line.rpartition(" ")
        seen[_short(stack.rpartition(";")[2])] += int(count)
    return seen


def _table(seen: Counter[str]) -> str:
    total = seen.total()
    rows = [(f"`{where}`", f"{count / total:.1%}") for where, count in seen.most_common(SHOWN)]
    return table(("function", "share"), rows)


def _short(where: str) -> str:
    """A function and the last of its path: `name (package/file.py:line)` without the line."""
    if where.startswith("thread ") or not where:
        return "outside of Python"
    name, _, place = where.rstrip(")").partition(" (")
    file = place.rpartition(":")[0] or place
    return f"{name}, {'/'.join(Path(file).parts[-2:])}"
