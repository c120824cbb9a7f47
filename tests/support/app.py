"""An app in the test's own loop, on a store that fails and waits when told to."""

import asyncio
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

import httpx
from llr_service.app import App
from llr_service.stores.memory import Memory
from llr_service.stores.store import (
    Change,
    Conflict,
    SessionSummary,
    StoredSession,
    StoreUnavailable,
    Written,
)

DEMO = "/v1/sessions/demo"
SAMPLES = f"{DEMO}/samples"


class Stub(Memory):
    """A store in memory that fails and waits when told to."""

    def __init__(self) -> None:
        super().__init__()
        self.fails: Callable[[Sequence[Change]], list[Written | Conflict]] | None = None
        self.opened = threading.Event()
        self.opened.set()
        self.waiting = 0
        self.loads: Counter[str] = Counter()
        self.told: list[str] = []

    def write(self, group: Sequence[Change]) -> list[Written | Conflict]:
        self.waiting += 1
        assert self.opened.wait(20)
        self.waiting -= 1
        return self.fails(group) if self.fails else super().write(group)

    def load(self, name: str) -> StoredSession | None:
        self.loads[name] += 1
        return super().load(name)

    def list_replays(self, after: str, limit: int) -> Sequence[SessionSummary]:
        return self._told(super().list_replays(after, limit))

    def list(self, after: str, limit: int) -> list[SessionSummary]:
        return [*self._told(super().list(after, limit))]

    def _told(self, rows: Sequence[SessionSummary]) -> Sequence[SessionSummary]:
        self.told += [row.name for row in rows]
        return rows


@asynccontextmanager
async def running(app: App) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with (
        app.inner.router.lifespan_context(app.inner),
        httpx.AsyncClient(transport=transport, base_url="http://here") as http,
    ):
        yield http


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(20):
        while not condition():
            await asyncio.sleep(0)


async def settle() -> None:
    """Let every task go as far as it can without the store."""
    for _ in range(100):
        await asyncio.sleep(0)


def away(_: Sequence[Change]) -> list[Written | Conflict]:
    raise StoreUnavailable("away")
