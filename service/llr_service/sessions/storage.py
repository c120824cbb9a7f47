"""The store as the sessions use it: a committer that writes, and a reader of versions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import BinaryIO

from llr_service.sessions.committer import Committer
from llr_service.sessions.heads import Heads
from llr_service.stores.store import BackupCapable, SessionSummary, Store


@dataclass(frozen=True)
class Storage:
    """The way to the store.

    Attributes:
        committer: writes and reads, in one thread.
        versions: looks up what other processes changed; None if the store has a single writer.
    """

    committer: Committer
    versions: Heads | None = None

    @property
    def shared(self) -> bool:
        """Whether other processes change the sessions too."""
        return self.versions is not None

    async def list(self, after: str, limit: int) -> list[SessionSummary]:
        """List at most `limit` sessions whose names follow `after`, in order."""
        return await self.committer.call(lambda store: store.list(after, limit)).wait()

    async def list_replays(self, after: str, limit: int) -> Sequence[SessionSummary]:
        """List the sessions whose configs have the store's `REPLAY_MARK`."""
        return await self.committer.call(lambda store: store.list_replays(after, limit)).wait()

    async def count(self) -> int:
        """Count the sessions; this is slow with many."""
        return await self.committer.call(lambda store: store.count()).wait()

    async def ready(self) -> None:
        """Return when the store answers. Raises a `StoreError`."""
        if self.versions is not None:  # it waits for no writer
            await self.versions.of("")
        else:
            await self.list("", 1)

    async def backup(self) -> BinaryIO | None:
        """Copy the store as it is now; None if the engine has its own tools for that."""
        return await self.committer.call(_backup).wait()


def _backup(store: Store) -> BinaryIO | None:
    return store.backup() if isinstance(store, BackupCapable) else None
