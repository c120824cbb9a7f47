"""The outbox: events that are to be reported to a webhook, in the store until they were.

An event is a row among the sessions, under a name that no session can have. It is written before
the change that it is about, in the same group or an earlier one. So the event is durable whenever
that change is; and its name says what happened and at which t, so writing it again changes nothing.

Of several replicas one sends: the one that made the last version of the row, which is the replica
that wrote it, at first. A replica that finds the version unchanged for `TAKEOVER` seconds of its
own clock makes another one, and that succeeds for one of them only. The sender makes one before
every try. No clock is compared with another's.
"""

import time
from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import Any, Literal, NamedTuple

from pydantic_core import to_json

from llr_service.sessions.session_log import new_version
from llr_service.sessions.storage import Storage
from llr_service.sessions.times import rfc3339
from llr_service.stores.store import (
    CreateSession,
    DeleteSession,
    Store,
    UpdatePending,
    VersionCheck,
    Written,
)

Kind = Literal["drift", "diverged"]
NAMES = "!event-"
"""What the names of events begin with; no session's name does."""
TAKEOVER = 90.0
"""Seconds after which an event whose sender makes no version is taken over."""
PAGE = 100
"""Events that are read at a time."""


class Event(NamedTuple):
    """An event that this process may try to send.

    Attributes:
        id: its id, the same at every try and whoever tries.
        row: the number of its row.
        version: the version that this process made.
        body: what is sent.
    """

    id: str
    row: int
    version: int
    body: bytes


class Outbox:
    """The events of a store. `monotonic` tells the seconds by which others are waited for."""

    def __init__(self, storage: Storage, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._storage, self._monotonic = storage, monotonic
        self._own: dict[str, int] = {}
        self._seen: dict[str, tuple[int, float]] = {}

    def add(self, kind: Kind, session: int, name: str, t: int, now: int, **more: Any) -> None:
        """Queue an event ahead of the change it is about; `now` is in ms since 1970."""
        id_ = f"{session}-{kind}-{t}"
        body = {
            "type": kind,
            "id": id_,
            "session": name,
            "t": t,
            "time": rfc3339(now),
            **more,
        }
        version = new_version()
        written = self._storage.committer.commit(
            CreateSession(NAMES + id_, to_json(body), version=version)
        )
        written.add_callback(
            lambda result: self._own.update({id_: version}) if isinstance(result, Written) else None
        )

    async def waiting(self) -> Sequence[tuple[str, int]]:
        """The ids and versions of the events that wait, a page of them."""
        rows = await self._storage.list(NAMES, PAGE)
        events = takewhile(lambda row: row.name.startswith(NAMES), rows)
        return [(row.name.removeprefix(NAMES), row.version) for row in events]

    def may_send(self, id_: str, version: int) -> bool:
        """Whether this process may try to send an event that has this version now."""
        if self._own.get(id_) == version or not self._storage.shared:
            return True
        before, since = self._seen.get(id_, (None, 0.0))
        if before != version:
            since = self._monotonic()
            self._seen[id_] = (version, since)
        return self._monotonic() - since >= TAKEOVER

    async def claim(self, id_: str, version: int) -> Event | None:
        """Make a version before a try; None if another process has made one, or sent the event."""
        name = NAMES + id_
        stored = await self._storage.committer.call(lambda store: _load(store, name)).wait()
        if stored is None or stored[1] != version:
            return None
        row, _, body = stored
        new = new_version()
        change = UpdatePending(row, 0, (), VersionCheck(version, new))
        if not isinstance(await self._storage.committer.commit(change).wait(), Written):
            return None
        self._own[id_] = new
        return Event(id_, row, new, body)

    async def sent(self, event: Event) -> None:
        """Remove an event that was sent."""
        await self._storage.committer.commit(DeleteSession(event.row, event.version)).wait()
        self._own.pop(event.id, None)
        self._seen.pop(event.id, None)


def _load(store: Store, name: str) -> tuple[int, int, bytes] | None:
    stored = store.load(name)
    return None if stored is None else (stored.id, stored.version, stored.config)
