"""What runs in the background for a whole store: its size and its sessions are measured."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from llr_service.metrics import Metrics
from llr_service.sessions.storage import Storage

log = logging.getLogger("llr_service")

MEASURE_SECONDS = 60.0
"""Seconds between two measurements of the store."""


class Housekeeping:
    """The background tasks of one app; `run` them until cancelled."""

    def __init__(self, storage: Storage, metrics: Metrics) -> None:
        self._storage, self._metrics = storage, metrics

    async def run(self) -> None:
        """Run the tasks until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(_repeat(MEASURE_SECONDS, self.measure))

    async def measure(self) -> None:
        """Measure the store for the metrics."""
        sessions, size = await self._storage.count(), await self._storage.size()
        self._metrics.stored(sessions, size)


async def _repeat(seconds: float, work: Callable[[], Awaitable[None]]) -> None:
    """Do some work now and every so many seconds; a failure is logged and does not end it."""
    while True:
        try:
            await work()
        except Exception as failure:
            log.warning("a background task failed", extra={"why": str(failure)})
        await asyncio.sleep(seconds)
