"""Row 3: SIGKILL of Postgres itself, with replicas at work; it is started again after a while."""

import asyncio
import random
import signal
import time
from collections import Counter
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from .fleet import Crowd, Fleet
from .server import PATIENCE, Server
from .verdict import Tick, Verdict, broken

REPLICAS, PRODUCERS = 2, 4
UNAVAILABLE = "503 with Retry-After"
SOON = 2.0
"""Seconds after which replicas have to be ready again, with the database."""


def run(folder: Path, seed: int, kills: int, tick: Tick) -> Verdict:
    """So many kills of the database."""
    with Fleet(REPLICAS) as fleet:
        return asyncio.run(_run(fleet, seed, kills, tick))


async def _run(fleet: Fleet, seed: int, kills: int, tick: Tick) -> Verdict:
    lot, crowd = random.Random(seed), Crowd(PRODUCERS, seed, fleet)
    meanwhile, ready = Counter[str](), list[float]()
    for _ in range(kills):
        tasks = crowd.start()
        await asyncio.wait(tasks, timeout=lot.uniform(0.1, 0.5))
        await asyncio.to_thread(fleet.cluster.stop, signal.SIGKILL)
        meanwhile += Counter(await asyncio.gather(*(_refusal(one) for one in fleet.replicas)))
        await asyncio.to_thread(fleet.cluster.start)
        started = time.perf_counter()
        await asyncio.gather(*(_ready(one) for one in fleet.replicas))
        ready.append(time.perf_counter() - started)
        await crowd.stop(tasks)
        await crowd.settle()
        tick()
    return _verdict(crowd, meanwhile, ready)


async def _refusal(server: Server) -> str:
    """What readiness says while there is no database; what is left of that may answer a little."""
    async with asyncio.timeout(PATIENCE):
        while (said := await asyncio.to_thread(_asked, server)) == "200":
            await asyncio.sleep(0.02)
    return said


def _asked(server: Server, path: str = "/readyz") -> str:
    with closing(HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)) as connection:
        connection.request("GET", path)
        answer = connection.getresponse()
        answer.read()
        return f"{answer.status}{' with Retry-After' * bool(answer.headers['Retry-After'])}"


async def _ready(server: Server) -> None:
    """Wait until a replica says that it is ready, and works, both by itself."""
    async with asyncio.timeout(PATIENCE):
        for path in ("/readyz", "/v1/sessions?limit=1"):  # each on a line of its own
            while await asyncio.to_thread(_asked, server, path) != "200":
                await asyncio.sleep(0.02)


def _verdict(crowd: Crowd, meanwhile: Counter[str], ready: list[float]) -> Verdict:
    tally = crowd.producers.tally
    counts: dict[str, Any] = (
        {"kills": len(ready)} | tally.counts() | {"samples": crowd.producers.samples}
    )
    counts |= {"readiness meanwhile": dict(meanwhile), "samples meanwhile": dict(tally.refusals)}
    counts |= {"ready after s, at most": round(max(ready), 2)}
    faults = tally.broken() + broken(
        without_a_database_it_says_so=set(meanwhile) == {UNAVAILABLE},
        and_says_so_to_those_who_send=set(tally.refusals) == {UNAVAILABLE},
        there_were_acks=tally.acks > len(ready),
    )
    slow = broken(it_is_ready_soon=max(ready) < SOON)
    return Verdict(counts, "lost 0, twice 0, 503 meanwhile, ready again", faults, slow)
