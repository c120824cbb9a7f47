"""How many acknowledgements a second Postgres gives, in groups and one by one.

    .venv/bin/python -m bench.postgres            on a cluster of its own, half a minute
    .venv/bin/python -m bench.postgres --store postgresql://…?migrate=true

Clients wait for the acknowledgement of one sample of ten features before they send the next, each
in a session of its own, through the committer that the service has. The rival sends the same
statement for every sample by itself, over many connections at once, so that Postgres can do what it
does by itself to sync several commits together. Clients, committer and database share the machine;
what all of them need of its processors for an acknowledgement is told too, which others who are
busy there change less than the rate.
"""

import argparse
import asyncio
import importlib
import os
import queue
import sys
import tempfile
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from itertools import count
from math import nan
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, NamedTuple

from llr_service.metrics import Metrics
from llr_service.sessions.committer import Committer
from llr_service.stores import open_store
from llr_service.stores.postgres import connection, write
from llr_service.stores.postgres.driver import TimedConnection, connect
from llr_service.stores.postgres.url import address
from llr_service.stores.store import AppendSamples, CreateSession, Written
from rich.console import Console

from bench import contest
from bench.contest import Contest, Line, Scores, Turn, at_least, plain
from bench.http import sync_time
from bench.servers import cpu_of
from scripts.system_programs import find

CLIENTS = (1, 32, 256, 512)
RIVAL = 256
"""Clients of the contest with a target."""
LINES = 32
"""Connections of the rival."""
BLOB = bytes(88)
_names = count()


class Scale(NamedTuple):
    """How much is measured: turns, and seconds of a turn."""

    rounds: int
    seconds: float


FULL, QUICK = Scale(5, 2.0), Scale(2, 1.0)
Commit = Callable[[AppendSamples], Awaitable[object]]
Measured = Callable[["Database", int, float], Coroutine[None, None, Turn]]


class Database(NamedTuple):
    """Where it is, and its process if it is ours."""

    url: str
    pid: int | None = None

    @property
    def own_cpu(self) -> float:
        """Seconds of processor time of the database, NaN if it is another's."""
        return cpu_of(self.pid) if self.pid else nan

    def cpu(self) -> float:
        """Seconds of processor time of this process and the database."""
        return process_time() + self.own_cpu

    def syncs(self) -> tuple[int, int]:
        """How many transactions it has committed so far, and how often it synced its log."""
        line = connect(address(self.url).dsn, 5.0)
        try:
            commits = line.value("SELECT sum(xact_commit)::bigint FROM pg_stat_database")
            return commits, line.value("SELECT wal_sync FROM pg_stat_wal")
        finally:
            line.close()


async def _acks(of: Database, sessions: list[int], seconds: float, commit: Commit) -> Turn:
    """Acknowledgements a second, with a client for each session."""
    end = perf_counter() + seconds

    async def client(session: int) -> int:
        t = 0
        while perf_counter() < end:
            await commit(AppendSamples(session, t, 1, BLOB, ("producer", t + 1)))
            t += 1
        return t

    begin, before = perf_counter(), of.cpu()
    done = sum(await asyncio.gather(*map(client, sessions)))
    return Turn(done / (perf_counter() - begin), (of.cpu() - before) / done)


async def grouped(of: Database, clients: int, seconds: float) -> Turn:
    """Through the committer: whatever waits is one statement."""
    committer = Committer(await asyncio.to_thread(open_store, of.url), Metrics())
    names = [f"bench-{next(_names)}" for _ in range(clients)]
    made = [await committer.commit(CreateSession(name, b"{}")).wait() for name in names]
    sessions = [result.session for result in made if isinstance(result, Written)]

    async def commit(change: AppendSamples) -> None:
        await committer.commit(change).wait()

    try:
        return await _acks(of, sessions, seconds, commit)
    finally:
        await committer.close()


async def one_each(of: Database, clients: int, seconds: float) -> Turn:
    """The same statement for every change, over connections of its own."""
    where = address(of.url)
    lines = [connect(where.dsn, where.timeout) for _ in range(LINES)]
    for line in lines:
        connection.apply_settings(line, where)
    names = [f"bench-{next(_names)}" for _ in range(clients)]
    made = write.write(lines[0], [CreateSession(name, b"{}") for name in names])
    sessions = [result.session for result in made if isinstance(result, Written)]
    free: queue.SimpleQueue[TimedConnection] = queue.SimpleQueue()
    for line in lines:
        free.put(line)
    loop, threads = asyncio.get_running_loop(), ThreadPoolExecutor(LINES)

    def write_one(change: AppendSamples) -> None:
        line = free.get()
        write.write(line, [change])
        free.put(line)

    async def commit(change: AppendSamples) -> None:
        await loop.run_in_executor(threads, write_one, change)

    try:
        return await _acks(of, sessions, seconds, commit)
    finally:
        threads.shutdown()
        for line in lines:
            line.close()


def turns(scale: Scale) -> int:
    """How many turns there will be, for a bar of progress."""
    return scale.rounds * (len(CLIENTS) + 1)


def contests(of: Database, rounds: int, seconds: float) -> list[Contest]:
    """Every number of clients, and the rival beside one of them."""

    def turn(measured: Measured, clients: int) -> Turn:
        return asyncio.run(measured(of, clients, seconds))

    entries: dict[str, Callable[[], Turn]] = {f"{n}": partial(turn, grouped, n) for n in CLIENTS}
    entries["each"] = partial(turn, one_each, RIVAL)

    def verdict(scores: Scores) -> list[Line]:
        unit, each = "acks/s", scores["each"]
        lines = [plain(f"{RIVAL} clients, a statement each, {LINES} connections", unit, each)]
        for n in CLIENTS:
            line = plain(f"{n} clients, grouped, one connection", unit, scores[f"{n}"])
            rival = n == RIVAL
            lines.append(at_least(line, scores[f"{n}"], "each", each, 5.0) if rival else line)
        return lines

    return [Contest(entries, rounds, verdict)]


@contextmanager
def database(given: str | None) -> Iterator[Database]:
    """The one that was given, or a cluster which goes with the block."""
    if given:
        yield Database(given)
        return
    cluster = _tests().Cluster(max_connections="64", shared_buffers="128MB", autovacuum="on")
    try:
        yield Database(cluster.url(migrate="true"), cluster.pid)
    finally:
        cluster.remove()


def installed() -> bool:
    """Whether the programs of Postgres are on this machine."""
    return find("initdb") is not None


def _tests() -> Any:
    """The clusters that the tests make."""
    tests = str(Path(__file__).parents[1] / "tests")
    if tests not in sys.path:
        sys.path.insert(0, tests)
    return importlib.import_module("support.postgres")


def main() -> None:
    parser = argparse.ArgumentParser(description="Count what Postgres acknowledges.")
    parser.add_argument("--store", help="the URL of a database to fill")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2.0)
    given = parser.parse_args()
    load = f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.2f} before"
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        sync = 1e3 * sync_time(Path(folder))
    with database(given.store) as found_at:
        open_store(found_at.url).close()
        found = contest.measure(contests(found_at, given.rounds, given.seconds))
    print(f"{load} and {os.getloadavg()[0]:.2f} after; a sync takes {sync:.2f} ms")
    Console(width=140).print(contest.table(found))


if __name__ == "__main__":
    main()
