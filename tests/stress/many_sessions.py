"""Row 16: more sessions than memory has room for."""

import asyncio
import json
import random
import time
from pathlib import Path

from .pace import in_ms, p99
from .samples import CONFIG, Stream, as_npy
from .server import Server
from .verdict import Tick, Verdict, broken
from .wire import Wire

CLIENTS = 8
CAP = 2**20
"""The least memory a service can be given for sessions; some hundreds have room."""
TAIL = 20
"""Samples in the log of a session that has to be learnt from when it is loaded."""
LOOKS = 1000
ROOM = 200 * 2**20
SLOWEST = 0.010
"""Seconds that loading may add to the slowest looks."""


def path(number: int) -> str:
    """The address of a session."""
    return f"/v1/sessions/s{number}"


async def _create(port: int, numbers: range, tick: Tick) -> None:
    """Create sessions over one connection, and let each learn a little."""
    config = json.dumps(CONFIG).encode()
    async with await Wire.open(port) as wire:
        for number in numbers:
            created = await wire.ask("PUT", path(number), config, "application/json")
            samples = as_npy(Stream(number % 100).rows(0, TAIL))
            learnt = await wire.ask("POST", f"{path(number)}/samples?theta=false", *samples)
            assert (created.status, learnt.status) == (201, 200), (created, learnt)
            tick()


async def _create_all(port: int, sessions: int, tick: Tick) -> None:
    async with asyncio.TaskGroup() as tasks:
        for client in range(CLIENTS):
            tasks.create_task(_create(port, range(client, sessions, CLIENTS), tick))


async def _look(port: int, numbers: list[int]) -> tuple[list[float], int]:
    """Seconds that looking at each of these sessions takes, and how many are wrong."""
    took, wrong = list[float](), 0
    async with await Wire.open(port) as wire:
        for number in numbers:
            started = time.perf_counter()
            answer = await wire.ask("GET", path(number))
            took.append(time.perf_counter() - started)
            wrong += answer.status != 200 or answer.json()["t"] != TAIL
    return took, wrong


def run(folder: Path, seed: int, sessions: int, tick: Tick) -> Verdict:
    """So many sessions, created and looked at again at random."""
    lot = random.Random(seed)
    with Server(folder / "llr.db", {"MEMORY_CAP": CAP}) as server:
        memory, started = server.resident(), time.perf_counter()
        asyncio.run(_create_all(server.port, sessions, tick))
        rate = sessions / (time.perf_counter() - started)
        numbers = [lot.randrange(sessions) for _ in range(LOOKS)]
        took, wrong = asyncio.run(_look(server.port, numbers))
        loaded, _ = asyncio.run(_look(server.port, numbers[-1:] * LOOKS))
        held = server.metric("llr_sessions_loaded_bytes")
        evicted = server.metric("llr_evictions_total")
        grown = server.resident() - memory
    counts = {
        "sessions": sessions,
        "created a second": round(rate),
        "held bytes": int(held),
        "evictions": int(evicted),
        "memory on top MiB": grown >> 20,
        "looks": LOOKS,
        "wrong": wrong,
        "p50 ms": in_ms(sorted(took)[LOOKS // 2]),
        "p99 ms": in_ms(p99(took)),
        "p99 ms if loaded": in_ms(p99(loaded)),
        "file MiB": sum(each.stat().st_size for each in folder.iterdir()) >> 20,
    }
    faults = broken(
        every_session_is_there=wrong == 0,
        sessions_stay_under_the_cap=held <= CAP,
        memory_is_bounded=grown < ROOM,
        idle_ones_are_evicted=evicted > 0,
    )
    slow = broken(a_reload_is_quick=p99(took) < p99(loaded) + SLOWEST)
    return Verdict(counts, "memory under the cap, reload p99 < 10 ms", faults, slow)
