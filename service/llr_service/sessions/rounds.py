"""What is done for the sessions now and then, whether or not anybody asks."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from llr_service.sessions.hub import Hub

log = logging.getLogger("llr_service")

SWEEP_SECONDS = 1.0
"""How often it is looked for what has expired."""
LOOK_SECONDS = 0.1
"""How often it is looked for what others did to the sessions that are watched."""
RELEARN_SECONDS = 60.0
"""How often it is looked for what-ifs that nobody sees to."""


async def rounds(hub: Hub) -> None:
    """Go on until cancelled."""
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(_every(SWEEP_SECONDS, hub.sweep))
        if hub.shared:
            tasks.create_task(_every(RELEARN_SECONDS, hub.relearner.look))
            tasks.create_task(_every(LOOK_SECONDS, hub.look))


async def _every(seconds: float, work: Callable[[], Awaitable[None]]) -> None:
    while True:
        await asyncio.sleep(seconds)
        try:
            await work()
        except Exception:
            log.exception("a round failed")
