"""How fast the service is over HTTP: beside an empty endpoint, the library, pydantic, a quiet hour.

    .venv/bin/python -m bench.http                       the whole table, about five minutes
    .venv/bin/python -m bench.http --quick               shorter turns, fewer of them
    .venv/bin/python -m bench.http --routes              the hot routes beside the empty endpoint
    .venv/bin/python -m bench.http --sessions 1000000    with that many sessions

Servers are pinned to one core and the load to another, over loopback; the store is an SQLite file,
synced, in the folder `--store`: choose the disk to be measured. How long a sync takes there is
printed, for the rival who syncs each request lives and dies by it: it is left ten times behind
where a sync takes 4 ms, and cannot be where one takes 0.2. Ratios are of the best turns, and in
brackets of the medians. A target that is missed is printed, not raised.
"""

import argparse
import os
import platform
import statistics
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import fastapi
import pydantic
import uvicorn
from rich.console import Console

from bench import contest
from bench.arena import Arena, arena
from bench.contest import Contest, Line
from bench.ingest import arrays, grouped, lines
from bench.many import many
from bench.names import named
from bench.routes import routes
from bench.stalls import stalls


class Scale(NamedTuple):
    """How much is measured: turns, seconds of a turn, requests, lines, bytes, sessions."""

    rounds: int
    seconds: float
    requests: int
    lines: int
    paced_rounds: int
    paced_seconds: float
    bulk: int
    sessions: int


FULL = Scale(7, 2.0, 40, 200_000, 4, 6.0, 100_000_000, 20_000)
QUICK = Scale(2, 1.0, 10, 50_000, 1, 4.0, 100_000_000, 2_000)


def sync_time(folder: Path) -> float:
    """Seconds that a page takes to be on the disk of a folder, the median of many."""
    taken = []
    with (folder / "synced").open("wb") as file:
        for _ in range(100):
            file.write(bytes(4096))
            file.flush()
            begin = time.perf_counter()
            os.fdatasync(file.fileno())
            taken.append(time.perf_counter() - begin)
    return statistics.median(taken)


def contests(place: Arena, scale: Scale) -> list[Contest]:
    return [
        routes(place, scale.rounds, scale.seconds),
        grouped(place, scale.rounds, scale.seconds),
        arrays(place, scale.rounds, scale.requests, "exact"),
        arrays(place, scale.rounds, 4 * scale.requests, "off"),
        lines(place, scale.rounds, scale.lines),
        named(place, scale.rounds, scale.seconds),
        stalls(place, scale.paced_rounds, scale.paced_seconds, scale.bulk),
    ]


def measured(folder: Path, scale: Scale, routes_only: bool) -> list[Line]:
    with arena(folder) as place:
        if routes_only:
            return contest.measure([routes(place, scale.rounds, scale.seconds)])
        return contest.measure(contests(place, scale)) + many(place, scale.sessions)


def main() -> None:
    parser = argparse.ArgumentParser(description="Time the service over HTTP.")
    parser.add_argument("--quick", action="store_true", help="shorter turns, fewer of them")
    parser.add_argument("--routes", action="store_true", help="the hot routes only")
    parser.add_argument("--sessions", type=int, help="how many sessions to make")
    parser.add_argument("--store", type=Path, default=Path.cwd(), help="where to write")
    given = parser.parse_args()
    scale = QUICK if given.quick else FULL
    scale = scale._replace(sessions=given.sessions or scale.sessions)
    load = f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.2f} before"
    with tempfile.TemporaryDirectory(dir=given.store, prefix="bench-") as folder:
        sync = 1e3 * sync_time(Path(folder))
        found = measured(Path(folder), scale, given.routes)
    versions = (("fastapi", fastapi), ("pydantic", pydantic), ("uvicorn", uvicorn))
    print(", ".join(f"{name} {module.__version__}" for name, module in versions), end=", ")
    print(
        f"Python {platform.python_version()}; {load} and {os.getloadavg()[0]:.2f} after", end="; "
    )
    print(f"a sync takes {sync:.2f} ms")
    Console(width=160).print(contest.table(found))


if __name__ == "__main__":
    main()
