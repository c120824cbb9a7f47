"""Replicas of one database: what a sample costs as there are more of them.

    .venv/bin/python -m bench.replicas            on clusters of its own, a minute
    .venv/bin/python -m bench.replicas --seconds 10

Connections wait for the acknowledgement of one sample of ten features before they send the next,
each in a session of its own that goes through one replica, as a balancer that hashes would have it;
the last line has them go anywhere. Clients, replicas and the database share the machine, so rates
are those of its cores; what a sample costs in processor time is what carries over to others. Groups
tell how many changes a replica sends at once, syncs how many of all replicas' transactions the
database puts on disk together.
"""

import argparse
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import NamedTuple
from urllib.request import urlopen

from rich.console import Console
from rich.progress import Progress

from bench.arena import cores
from bench.load import Lane, Load, loading
from bench.markdown import table
from bench.postgres import Database, database
from bench.report import Section, Verdict
from bench.requests import as_json, get, post, put, samples
from bench.servers import Server, serving

LINES = 48
"""Connections of all replicas together, and sessions."""
COMMITS, GROUPS = "llr_commit_group_size_sum", "llr_commit_group_size_count"
CONFLICTS = "llr_conflicts_total"
SETTINGS = (1, 2, 3)
UNHASHED = 3
"""The setting that is measured again with sessions that go anywhere."""


class Figures(NamedTuple):
    """What came of one setting.

    Attributes:
        replicas: how many.
        hashed: whether each session goes through one replica.
        rate: samples a second.
        cpu: processor seconds of the replicas a sample.
        stored: processor seconds of the database a sample.
        group: changes a transaction.
        shared: transactions a sync of the database's log.
        conflicts: of a change, how many had to be done again.
        reads: states read a second.
    """

    replicas: int
    hashed: bool
    rate: float
    cpu: float
    stored: float
    group: float
    shared: float
    conflicts: float
    reads: float


class Site:
    """Some replicas on one database, and a process of clients for each."""

    def __init__(
        self, servers: Sequence[Server], loads: Sequence[Load], database: Database
    ) -> None:
        self._servers, self._loads, self._database = servers, loads, database
        bodies = as_json(*samples(10, 512))
        names = [f"s{number}" for number in range(LINES)]
        puts = [put(name, dim=10) for name in names]
        loads[0].run(servers[0].port, [Lane(puts, 1, len(puts))])
        self._posts = [[post(name, body) for body in bodies] for name in names]
        self._gets = [[get(name)] for name in names]

    def measure(self, seconds: float, hashed: bool = True) -> Figures:
        """Learn for a while, then read for a while."""
        self._run(self._posts, seconds / 4, hashed)  # copies find their places
        before = self._counted()
        answers, took = self._run(self._posts, seconds, hashed)
        after = self._counted()
        cpu, stored, changes, groups, conflicts, commits, syncs = (
            now - then for now, then in zip(after, before, strict=True)
        )
        reads, reading = self._run(self._gets, seconds / 2, hashed)
        place = len(self._servers), hashed
        costs = answers / took, cpu / answers, stored / answers
        shares = changes / groups, commits / syncs, conflicts / changes
        return Figures(*place, *costs, *shares, reads / reading)

    def _run(self, wanted: list[list[bytes]], seconds: float, hashed: bool) -> tuple[int, float]:
        """Send through all replicas at once; how many were answered, in how many seconds."""
        count = len(self._servers)
        lanes = [[Lane(some) for some in wanted[place::count]] for place in range(count)]
        if not hashed:
            mixed = [one for each in zip(*wanted, strict=True) for one in each]
            lanes = [[Lane(mixed, LINES // count)] for _ in range(count)]
        ports = [server.port for server in self._servers]
        with ThreadPoolExecutor(count) as threads:
            done = threads.map(lambda load, *to: load.run(*to, seconds), self._loads, ports, lanes)
            tallies = [tally for some in done for tally in some]
        return sum(tally.answers for tally in tallies), max(tally.seconds for tally in tallies)

    def _counted(self) -> list[float]:
        """Seconds of replicas and database, changes, groups, conflicts, commits and syncs."""
        texts = [_told(server.port) for server in self._servers]
        told = [sum(text[name] for text in texts) for name in (COMMITS, GROUPS, CONFLICTS)]
        synced = [self._database.syncs()]
        own = sum(server.cpu for server in self._servers)
        theirs = self._database.own_cpu
        return [own, theirs, *told, *map(sum, zip(*synced, strict=True))]


def _told(port: int) -> dict[str, float]:
    with urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
        lines = answer.read().decode().splitlines()
    pairs = (line.split() for line in lines if line.startswith("llr_") and "{" not in line)
    return {name: float(value) for name, value in pairs}


@contextmanager
def site(replicas: int) -> Iterator[Site]:
    """Replicas on a database of their own, until the block ends."""
    with ExitStack() as held:
        made = held.enter_context(database(None))
        options = ("llr_service", "--port", "0", "--log-level", "error", "--store", made.url)
        servers = [held.enter_context(serving(*options)) for _ in range(replicas)]
        _, other = cores()
        loads = [held.enter_context(loading(other)) for _ in range(replicas)]
        yield Site(servers, loads, made)


HEADINGS = (
    "replicas, where sessions go",
    "samples/s",
    "replica's CPU µs a sample",
    "database's CPU µs a sample",
    "changes a commit",
    "commits a sync",
    "conflicts a change",
    "reads/s",
)


def row(one: Figures) -> tuple[str, ...]:
    """A line of the table."""
    goes = "to one replica" if one.hashed else "anywhere"
    return (
        f"{one.replicas}, {goes}",
        f"{one.rate:,.0f}",
        f"{1e6 * one.cpu:.0f}",
        f"{1e6 * one.stored:.0f}",
        f"{one.group:.1f}",
        f"{one.shared:.1f}",
        f"{one.conflicts:.3%}",
        f"{one.reads:,.0f}",
    )


def measured(seconds: float, tick: Callable[[], None]) -> list[Figures]:
    """Every setting, one after the other, and one of them without hashing too."""
    found = []
    for replicas in SETTINGS:
        with site(replicas) as made:
            found.append(made.measure(seconds))
            if replicas == UNHASHED:
                found.append(made.measure(seconds, hashed=False))
        tick()
    return found


def section(found: Sequence[Figures]) -> Section:
    """For the report."""
    conflicts = max(one.conflicts for one in found if one.hashed)
    verdict = Verdict(
        "conflicts a change, sessions hashed", "< 0.1 %", f"{conflicts:.3%}", conflicts < 1e-3
    )
    return Section("Replicas", [PROSE, table(HEADINGS, [*map(row, found)])], [verdict])


PROSE = f"""\
{LINES} connections, one sample of ten features a request, each connection in a session of its own,
on Postgres that syncs every commit. Clients, replicas and the database share the machine's cores,
so the rates do not grow with replicas here; the cost of a sample does not depend on that.
[docs/scale.md](../docs/scale.md) reckons with it."""


def main() -> None:
    """Measure every setting and print a table."""
    parser = argparse.ArgumentParser(description="Count what replicas acknowledge.")
    parser.add_argument("--seconds", type=float, default=4.0)
    seconds = parser.parse_args().seconds
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.2f} before")
    with Progress(console=Console(stderr=True), auto_refresh=False) as progress:
        task = progress.add_task("measuring", total=len(SETTINGS))
        found = measured(seconds, lambda: progress.update(task, advance=1, refresh=True))
    print(*section(found).text, sep="\n\n")


if __name__ == "__main__":
    main()
