"""Replicas and databases: what a sample costs each as there are more of them.

    .venv/bin/python -m bench.replicas            on clusters of its own, a minute
    .venv/bin/python -m bench.replicas --seconds 10

Connections wait for the acknowledgement of one sample of ten features before they send the next,
each in a session of its own that goes through one replica, as a balancer that hashes would have it;
the last line has them go anywhere. Clients, replicas and databases share the machine, so rates are
those of its cores; what a sample costs in processor time is what carries over to others.
"""

import argparse
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import NamedTuple
from urllib.request import urlopen

from rich.console import Console
from rich.table import Table

from bench.arena import cores
from bench.load import Lane, Load, loading
from bench.postgres import database
from bench.requests import as_json, get, post, put, samples
from bench.servers import Server, serving
from service.stores import open_store

LINES = 48
"""Connections of all replicas together, and sessions."""
COMMITS, GROUPS = "llr_commit_group_size_sum", "llr_commit_group_size_count"
CONFLICTS = "llr_conflicts_total"
SETTINGS = ((1, 1), (2, 1), (3, 1), (1, 2), (2, 2), (3, 2))


class Figures(NamedTuple):
    """What came of one setting."""

    replicas: int
    databases: int
    hashed: bool
    rate: float
    cpu: float
    group: float
    conflicts: float
    reads: float


class Site:
    """Some replicas on some databases, and a process of clients for each."""

    def __init__(self, servers: Sequence[Server], loads: Sequence[Load], databases: int) -> None:
        self._servers, self._loads, self._databases = servers, loads, databases
        bodies = as_json(*samples(10, 512))
        names = [f"s{number}" for number in range(LINES)]
        puts = [put(name, dim=10) for name in names]
        loads[0].run(servers[0].port, [Lane(puts, 1, len(puts))])
        self._posts = [[post(name, body) for body in bodies] for name in names]
        self._gets = [[get(name)] for name in names]

    def measure(self, seconds: float, hashed: bool = True) -> Figures:
        """Learn for a while, then read for a while."""
        self._run(self._posts, seconds / 4, hashed)  # copies find their places
        before, cpu = self._metrics(), self._cpu()
        answers, took = self._run(self._posts, seconds, hashed)
        changes, groups, conflicts = (
            after - start for after, start in zip(self._metrics(), before, strict=True)
        )
        spent = self._cpu() - cpu
        reads, reading = self._run(self._gets, seconds / 2, hashed)
        place = len(self._servers), self._databases, hashed
        costs = spent / answers, changes / groups, conflicts / changes
        return Figures(*place, answers / took, *costs, reads / reading)

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

    def _cpu(self) -> float:
        return sum(server.cpu for server in self._servers)

    def _metrics(self) -> list[float]:
        texts = [_told(server.port) for server in self._servers]
        return [sum(text[name] for text in texts) for name in (COMMITS, GROUPS, CONFLICTS)]


def _told(port: int) -> dict[str, float]:
    with urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
        lines = answer.read().decode().splitlines()
    pairs = (line.split() for line in lines if line.startswith("llr_") and "{" not in line)
    return {name: float(value) for name, value in pairs}


@contextmanager
def site(replicas: int, databases: int) -> Iterator[Site]:
    """Replicas on databases of their own, until the block ends."""
    with ExitStack() as held:
        urls = [held.enter_context(database(None)).url for _ in range(databases)]
        for url in urls:
            open_store(url).close()
        options = ("service", "--port", "0", "--log-level", "error", "--store", ",".join(urls))
        servers = [held.enter_context(serving(*options)) for _ in range(replicas)]
        _, other = cores()
        loads = [held.enter_context(loading(other)) for _ in range(replicas)]
        yield Site(servers, loads, databases)


def table(found: Sequence[Figures]) -> Table:
    """For people."""
    titles = (
        "replicas",
        "databases",
        "sessions",
        "samples/s",
        "µs of a replica's processor a sample",
    )
    made = Table(*titles, "changes a commit", "conflicts a change", "reads/s")
    for one in found:
        goes = "to one replica" if one.hashed else "anywhere"
        rates = f"{one.rate:,.0f}", f"{1e6 * one.cpu:.0f}", f"{one.group:.1f}"
        last = f"{one.conflicts:.3%}", f"{one.reads:,.0f}"
        made.add_row(f"{one.replicas}", f"{one.databases}", goes, *rates, *last)
    return made


def main() -> None:
    """Measure every setting and print a table."""
    parser = argparse.ArgumentParser(description="Count what replicas acknowledge.")
    parser.add_argument("--seconds", type=float, default=4.0)
    seconds = parser.parse_args().seconds
    console, found = Console(width=140), list[Figures]()
    console.print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.2f} before")
    for replicas, databases in SETTINGS:
        with site(replicas, databases) as made:
            found.append(made.measure(seconds))
            if (replicas, databases) == (3, 1):
                found.append(made.measure(seconds, hashed=False))
        console.print(found[-1])
    console.print(table(found))


if __name__ == "__main__":
    main()
