"""The log of a session: what it writes to the store, what stays there, and the recovery from it."""

from contextlib import suppress
from secrets import randbits
from typing import Any

from llr import ARITHMETIC, StateError
from llr_service.codec import Samples, pack_samples, unpack_samples
from llr_service.codec.log_entry import read_layout
from llr_service.problems import RETRY_AFTER, Problem, too_new
from llr_service.sessions.batch import NewSamples
from llr_service.sessions.committer import CommitFuture, Committer
from llr_service.sessions.config import SessionConfig
from llr_service.sessions.ensemble import Ensemble, new_ensemble
from llr_service.sessions.packing import pack, unpack
from llr_service.stores.store import (
    AppendSamples,
    Change,
    PendingChanges,
    Retained,
    StoredSession,
    StoreError,
    UpdatePending,
    VersionCheck,
    WriteSnapshot,
)


class Retention:
    """The samples that stay in a log in spite of snapshots, from the first one on.

    Attributes:
        kept: the samples that stay.
        still_complete: whether the next ones may stay too; after a gap none do.
    """

    def __init__(self, kept: Retained, still_complete: bool, max_bytes: int) -> None:
        self.kept, self.still_complete = kept, still_complete
        self._max_bytes = max_bytes

    @classmethod
    def of(cls, stored: StoredSession, retain: bool, max_bytes: int) -> "Retention":
        """The retention of a stored session.

        >>> stored = StoredSession(1, b"{}", 7, b"", 7, (), {})
        >>> Retention.of(stored, True, 100).still_complete  # its first 7 samples are gone
        False
        """
        complete = retain and stored.retained.samples == stored.snapshot_t
        made = cls(stored.retained, complete, max_bytes)
        for entry in stored.tail:
            made.add(entry.n, len(entry.blob))
        return made

    def add(self, n: int, size: int) -> bool:
        """Retain n more samples of `size` bytes if there is room; whether there was."""
        self.still_complete = self.still_complete and self.kept.bytes + size <= self._max_bytes
        if self.still_complete:
            self.kept = Retained(self.kept.samples + n, self.kept.bytes + size)
        return self.still_complete


def new_version() -> int:
    """A random version, with room for the versions that follow it."""
    return randbits(62)


class SessionLog:
    """Writes the changes of one copy of a session.

    Each change names the version before it and its own. The versions of a copy count up from a
    random number, so that no two copies make the same one.

    Args:
        stored: the session as it was loaded or created.
        retention: the samples that stay in the log.
        committer: the thread that writes.

    Attributes:
        last: the commit of the last change, None before the first.
        retention: the samples that stay in the log.
    """

    def __init__(self, stored: StoredSession, retention: Retention, committer: Committer) -> None:
        self._session, self._committer = stored.id, committer
        self._tail_bytes = sum(len(entry.blob) for entry in stored.tail)
        self.retention = retention
        self._start = self._last = stored.version
        self._newest = self._first = self._acked = new_version()
        self.last: CommitFuture[Any] | None = None

    @property
    def tail_bytes(self) -> int:
        """Bytes of samples in the log since the last snapshot."""
        return self._tail_bytes

    @property
    def last_version(self) -> int:
        """The version of the last change that was queued, or loaded if none was."""
        return self._last

    @property
    def stored_version(self) -> int:
        """The version of the last change that is known to be stored."""
        return self._start if self._acked == self._first else self._acked

    def is_current(self, version: int, since: int) -> bool:
        """Whether this copy is the session, given the version of the session's last change.

        It is if that is the version that was stored when the store was asked, or a later one of
        this copy, which is stored only if no other change came between. An earlier version of
        this copy means that the store has lost what followed.

        Args:
            version: the version that the store returned.
            since: `stored_version` before the store was asked.
        """
        before = self._first if since == self._start else since
        return version == since or before < version <= self._newest

    def ack(self) -> None:
        """Note that the first change that was not known to be stored is."""
        self._acked += 1

    async def wait_ack(self, version: int) -> None:
        """Wait until this copy knows the outcome of a change, if it is one of its own."""
        if self._acked < version <= self._newest and self.last is not None:
            with suppress(StoreError):
                await self.last.wait()

    def append_samples(
        self, ensemble: Ensemble, t: int, new: NewSamples, now: int
    ) -> CommitFuture[Any]:
        """Write the smaller of the samples, learnt now, and the state; it after a long tail."""
        samples, also = new.samples, (new.producer, new.pending)
        size, state_size = samples.nbytes, ensemble.nbytes
        if size > state_size or self._tail_bytes + size > 2 * state_size + 4096:
            self._tail_bytes = 0
            kept = self._retained(samples, now) | {"check": self._next_check()}
            return self._commit(
                WriteSnapshot(self._session, t, samples.n, pack(ensemble), *also, **kept)
            )
        self._tail_bytes += size
        blob = pack_samples(samples, time=now)
        self.retention.add(samples.n, len(blob))
        return self._commit(
            AppendSamples(self._session, t, samples.n, blob, *also, self._next_check())
        )

    def write_snapshot(
        self, ensemble: Ensemble, producer: tuple[str, int] | None = None
    ) -> CommitFuture[Any]:
        """Write an ensemble at the same t as the last one, and a producer's number if it moves."""
        self._tail_bytes, check, kept = 0, self._next_check(), self.retention.kept
        t, state = ensemble.t, pack(ensemble)
        return self._commit(
            WriteSnapshot(self._session, t, 0, state, producer, check=check, retained=kept)
        )

    def write_pending(self, t: int, changes: PendingChanges) -> CommitFuture[Any]:
        """Write changes of the pending examples, without samples."""
        return self._commit(UpdatePending(self._session, t, changes, self._next_check()))

    def _commit(self, change: Change) -> CommitFuture[Any]:
        self.last = self._committer.commit(change)
        return self.last

    def _retained(self, samples: Samples, now: int) -> dict[str, Any]:
        """The part of the log that outlives a snapshot, with these samples if they stay."""
        blob = pack_samples(samples, time=now) if self.retention.still_complete else None
        stays = blob is not None and self.retention.add(samples.n, len(blob))
        return {"retained": self.retention.kept, "blob": blob if stays else None}

    def _next_check(self) -> VersionCheck:
        """The version check of the next change."""
        before = self._last
        self._newest += 1
        self._last = self._newest
        return VersionCheck(before, self._last)


def recover(config: SessionConfig, stored: StoredSession) -> Ensemble | None:
    """Rebuild the ensemble from the snapshot and the log, to the last bit.

    Raises `StateError`, and a Problem if another version of the service learnt the samples.
    """
    for entry in stored.tail:
        check_arithmetic(read_layout(entry.blob).arithmetic)
    ensemble = unpack(stored.snapshot, config.drift) if stored.snapshot is not None else None
    for entry in stored.tail:
        samples = unpack_samples(entry.blob)
        ensemble = ensemble or new_ensemble(config, samples.dim)
        outcome = ensemble.learn(*samples.arguments, w=samples.weights)
        if not outcome:
            raise StateError("the log cannot be learnt from")
        ensemble.date(read_layout(entry.blob).time)
    if (ensemble.t if ensemble else 0) != stored.t:
        raise StateError("the log and the state do not meet")
    return ensemble


def check_arithmetic(number: int) -> None:
    """Raise a Problem unless samples that this arithmetic learnt can be learnt again to the bit."""
    if number == ARITHMETIC:
        return
    if number > ARITHMETIC:
        raise too_new(f"a log entry is of arithmetic {number}, this version has {ARITHMETIC}")
    if number:
        remedy = "stop this version, run `llr checkpoint` of the version before, and start again"
    else:
        remedy = (
            "with 0.1.0 save GET /v1/sessions/NAME/snapshot of each session, and PUT it to this"
            " version with a new store"
        )
    detail = "an older version learnt the last samples of the session, with other last digits"
    raise Problem("unavailable", f"{detail}: {remedy}", headers=RETRY_AFTER)


def folded(stored: StoredSession, ensemble: Ensemble, kept: Retained) -> WriteSnapshot:
    """The change that folds the log of a stored session into a snapshot of its ensemble."""
    check = VersionCheck(stored.version, new_version())
    state = pack(ensemble)
    return WriteSnapshot(stored.id, stored.t, 0, state, check=check, retained=kept)
