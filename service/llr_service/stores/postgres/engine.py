"""The engine: the store's methods, each a piece of work on the line to the database."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeVar

from llr_service.stores.postgres import read, write
from llr_service.stores.postgres.connection import PostgresConnection
from llr_service.stores.postgres.driver import TimedConnection
from llr_service.stores.postgres.url import Address, address
from llr_service.stores.store import (
    Change,
    Conflict,
    DeleteSession,
    Entry,
    SessionSummary,
    StoredSession,
    StoreUnavailable,
    Version,
    Written,
)

R = TypeVar("R")


class Postgres:
    """A store in a database. Its URL is `postgresql://user:password@host:port/database`.

    It connects at once if the server is there, and else as soon as it is: every call tries. A
    server that cannot be trusted, or has other tables, is refused.
    """

    def __init__(self, where: Address) -> None:
        self.address = where
        self._closed, self._untidy = False, True
        self._line = PostgresConnection(where)
        try:
            self._line.connect()
        except StoreUnavailable:
            pass  # it may come
        except BaseException:
            self.close()
            raise

    @classmethod
    def at(cls, url: str) -> "Postgres":
        """The store a URL names."""
        return cls(address(url))

    def write(self, group: Sequence[Change]) -> list[Written | Conflict]:
        """Store a group of changes, durably, each for itself."""
        self._untidy |= any(isinstance(change, DeleteSession) for change in group)
        return self.ask(partial(write.write, group=group)) if group else []

    def run_maintenance(self) -> bool:
        """Delete a part of the long logs that deleted sessions left; whether there is more."""
        self._untidy = self._untidy and self.ask(write.run_maintenance)
        return self._untidy

    def load(self, name: str) -> StoredSession | None:
        """All that is known of a session, None if there is none. Raises `Damaged`."""
        return self.ask(partial(read.load, name=name), f"session {name!a}")

    def read_log(self, session: int, start: int, end: int, nbytes: int) -> Sequence[Entry] | None:
        """The log from t = start up to t = end, None if there is no such session."""
        asked = partial(read.read_log, session=session, start=start, end=end, nbytes=nbytes)
        return self.ask(asked, f"session number {session}")

    def list(self, after: str, limit: int) -> list[SessionSummary]:
        """At most `limit` sessions whose names follow `after`, in order.

        A session is left out if its name, config or t is damaged: `load` tells.
        """
        return self.ask(partial(read.listed, after=after, limit=limit))

    def list_replays(self, after: str, limit: int) -> Sequence[SessionSummary]:
        """Those of the list whose configs have the `MARK`, by their own index."""
        asked = partial(read.listed, after=after, limit=limit, asked=read.LIST_REPLAYS)
        return self.ask(asked)

    def versions(self, names: Sequence[str]) -> Mapping[str, Version]:
        """Which sessions have these names at present."""
        return self.ask(partial(read.versions, names=names))

    def count(self) -> int:
        """How many sessions there are."""
        return self.ask(read.count)

    def size(self) -> int:
        """The bytes of the tables and of their indexes."""
        return self.ask(read.size)

    def close(self) -> None:
        """Hang up."""
        if not self._closed:
            self._closed = True
            self._line.close()

    def ask(self, work: Callable[[TimedConnection], R], where: str = "") -> R:
        """Do some work on the connection. Raises a `StoreError`, which says where."""
        if self._closed:
            raise StoreUnavailable(f"{self.address.shown} was closed")
        return self._line.run(work, where)
