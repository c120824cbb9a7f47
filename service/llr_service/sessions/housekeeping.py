"""What runs in the background for a whole store: it is measured, and sessions expire."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from llr_service.metrics import Metrics
from llr_service.sessions.expiry import Expiry
from llr_service.sessions.storage import Storage

log = logging.getLogger("llr_service")

MEASURE_SECONDS = 60.0
"""Seconds between two measurements of the store."""
SCAN_SECONDS, SWEEP_SECONDS = 3600.0, 1.0
"""Seconds between two searches of the store for sessions that expire, and for those that are due.
"""


class Housekeeping:
    """The background tasks of one app; `run` them until cancelled."""

    def __init__(self, storage: Storage, metrics: Metrics, expiry: Expiry | None = None) -> None:
        self._storage, self._metrics, self._expiry = storage, metrics, expiry

    async def run(self) -> None:
        """Run the tasks until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(_repeat(MEASURE_SECONDS, self.measure))
            if self._expiry is not None:
                tasks.create_task(_repeat(SCAN_SECONDS, self._expiry.scan))
                tasks.create_task(_repeat(SWEEP_SECONDS, self._expiry.sweep))

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
