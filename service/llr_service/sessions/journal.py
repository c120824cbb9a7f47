"""What a session writes to the store: samples, now and then its state, what it keeps."""

from contextlib import suppress
from secrets import randbits
from typing import Any

from llr_service.codec import Samples, pack_samples
from llr_service.sessions.batch import Fresh
from llr_service.sessions.committer import Committer, Receipt
from llr_service.sessions.packing import pack
from llr_service.sessions.retention import Retention
from llr_service.sessions.team import Team
from llr_service.stores.store import (
    AppendSamples,
    PendingChanges,
    StoredSession,
    StoreError,
    UpdatePending,
    VersionCheck,
    WriteSnapshot,
)


def new_version() -> int:
    """A version that no change has, with room for those that follow it."""
    return randbits(62)


class Journal:
    """The way of one copy of a session to the store.

    Args:
        stored: the session as it was loaded or created.
        retention: what of the samples stays in the log.
        committer: who writes.

    Attributes:
        last: the receipt of what was written last, None if nothing was.
        retention: what of the samples stays in the log.
    """

    def __init__(self, stored: StoredSession, retention: Retention, committer: Committer) -> None:
        self._session, self._committer = stored.id, committer
        self._tail = sum(len(entry.blob) for entry in stored.tail)
        self.retention = retention
        self._start = self._last = stored.version
        self._own = self._first = self._heard = new_version()
        self.last: Receipt[Any] | None = None

    @property
    def tail(self) -> int:
        """Bytes of samples in the log since the last snapshot."""
        return self._tail

    @property
    def stored(self) -> int:
        """The version of the last change that is known to be stored."""
        return self._start if self._heard == self._first else self._heard

    def knows(self, version: int, since: int) -> bool:
        """Whether the copy is the session if this is the version of its last change.

        That is so for what was `stored` when the store was asked, and for what this copy wrote
        after it: that was stored only if nothing of others came between. An earlier change of its
        own is no good: the store has lost what followed it.

        Args:
            version: what the store said.
            since: `stored`, before it was asked.
        """
        before = self._first if since == self._start else since
        return version == since or before < version <= self._own

    def hear(self) -> None:
        """The first change of which that was not known is stored."""
        self._heard += 1

    async def heard(self, version: int) -> None:
        """Wait until it is known here what the store says of a change, if it is of this copy."""
        if self._heard < version <= self._own and self.last is not None:
            with suppress(StoreError):
                await self.last.wait()

    def learnt(self, team: Team, at: int, fresh: Fresh) -> Receipt[Any]:
        """Queue the smaller of the samples and the state; a snapshot when the tail is long."""
        samples, also = fresh.samples, (fresh.producer, fresh.kept)
        size, most = samples.nbytes, team.nbytes
        change: AppendSamples | WriteSnapshot
        if size > most or self._tail + size > 2 * most + 4096:
            self._tail = 0
            kept = self._retained(samples) | {"check": self._next_check()}
            change = WriteSnapshot(self._session, at, samples.n, pack(team), *also, **kept)
        else:
            self._tail += size
            blob = pack_samples(samples)
            self.retention.add(samples.n, len(blob))
            change = AppendSamples(self._session, at, samples.n, blob, *also, self._next_check())
        self.last = self._committer.commit(change)
        return self.last

    def _retained(self, samples: Samples) -> dict[str, Any]:
        """What the log keeps in spite of a snapshot, with these samples if they stay."""
        blob = pack_samples(samples) if self.retention.going else None
        stays = blob is not None and self.retention.add(samples.n, len(blob))
        return {"retained": self.retention.kept, "blob": blob if stays else None}

    def renewed(self, team: Team) -> Receipt[Any]:
        """Queue a team that has learnt the same as the one before."""
        self._tail, check, kept = 0, self._next_check(), self.retention.kept
        change = WriteSnapshot(self._session, team.t, 0, pack(team), check=check, retained=kept)
        self.last = self._committer.commit(change)
        return self.last

    def kept(self, at: int, kept: PendingChanges) -> Receipt[Any]:
        """Queue what is kept and forgotten while nothing is learnt."""
        self.last = self._committer.commit(
            UpdatePending(self._session, at, kept, self._next_check())
        )
        return self.last

    def _next_check(self) -> VersionCheck:
        """The version check of the next change."""
        was = self._last
        self._own += 1
        self._last = self._own
        return VersionCheck(was, self._last)
