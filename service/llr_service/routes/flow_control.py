"""How much of a WebSocket may be under way before nothing more is read from it."""

import asyncio

AHEAD, HEAVY = 64, 4 * 1024**2
"""Messages of a stream that are learnt before the first of them is answered, and bytes of them and
of the states they leave; a single one may be heavier."""


class FlowControl:
    """How much is under way."""

    def __init__(self) -> None:
        self._messages = self._bytes = 0
        self._eased = asyncio.Event()

    def add(self, size: int) -> None:
        """A message of this weight was begun."""
        self._messages += 1
        self._bytes += size

    def remove(self, size: int) -> None:
        """It was answered."""
        self._messages -= 1
        self._bytes -= size
        self._eased.set()

    async def room(self) -> None:
        """Wait until another message may be begun."""
        while self._messages >= AHEAD or self._bytes >= HEAVY:
            self._eased.clear()
            await self._eased.wait()
