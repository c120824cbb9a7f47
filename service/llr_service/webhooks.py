"""Webhooks: events of the outbox are posted to the operator's URL, signed, until they are taken.

An answer of 2xx takes the event. Anything else, or none, is tried again, with pauses that double up
to `LONGEST`.
"""

import asyncio
import logging
import random
import time
from collections.abc import Callable

import httpx

from llr_service.sessions.outbox import Event, Outbox
from llr_service.signing import secret_bytes, signature
from llr_service.stores.store import StoreError

log = logging.getLogger("llr_service")

TIMEOUT = 10.0
"""Seconds that a receiver has to answer."""
SHORTEST, LONGEST = 1.0, 30.0
"""Seconds between two tries: the first pause, and the longest; less than `outbox.TAKEOVER`."""
LOOK_SECONDS = 1.0
"""Seconds between two looks at the outbox."""


class WebhookSender:
    """Sends what waits in an outbox; `run` it until cancelled.

    Args:
        outbox: the events.
        url: where they go.
        secret: the key of the signatures.
        clock: what tells the seconds since 1970.
        transport: what carries the requests; httpx's own if omitted.
    """

    def __init__(
        self,
        outbox: Outbox,
        url: str,
        secret: str,
        clock: Callable[[], float] = time.time,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._outbox, self._url, self._key, self._clock = outbox, url, secret_bytes(secret), clock
        self._transport = transport
        self._failures: dict[str, tuple[int, float]] = {}

    async def run(self) -> None:
        """Look for events and send them until cancelled."""
        async with httpx.AsyncClient(transport=self._transport, timeout=TIMEOUT) as http:
            while True:
                try:
                    await self.look(http)
                except StoreError as failure:
                    log.warning("the outbox cannot be read", extra={"why": str(failure)})
                await asyncio.sleep(LOOK_SECONDS)

    async def look(self, http: httpx.AsyncClient) -> None:
        """Try each event once that waits, is this process's and is due."""
        for id_, version in await self._outbox.waiting():
            due = self._failures.get(id_, (0, 0.0))[1]
            if time.monotonic() < due or not self._outbox.may_send(id_, version):
                continue
            event = await self._outbox.claim(id_, version)
            if event is not None and await self._try(http, event):
                await self._outbox.sent(event)
                self._failures.pop(id_, None)

    async def _try(self, http: httpx.AsyncClient, event: Event) -> bool:
        """Post an event; whether it was taken."""
        timestamp = int(self._clock())
        headers = {
            "content-type": "application/json",
            "webhook-id": event.id,
            "webhook-timestamp": str(timestamp),
            "webhook-signature": signature(self._key, event.id, timestamp, event.body),
        }
        try:
            answer = await http.post(self._url, content=event.body, headers=headers)
            if answer.is_success:
                log.info("webhook sent", extra={"event": event.id})
                return True
            why = f"status {answer.status_code}"
        except (httpx.HTTPError, httpx.InvalidURL) as failure:
            why = type(failure).__name__
        tries = self._failures.get(event.id, (0, 0.0))[0] + 1
        pause = min(LONGEST, SHORTEST * 2 ** (tries - 1)) * random.uniform(0.5, 1)  # noqa: S311
        self._failures[event.id] = (tries, time.monotonic() + pause)
        told = {"event": event.id, "why": why, "tries": tries, "again_in": round(pause, 1)}
        log.warning("webhook not taken", extra=told)
        return False
