"""The registry of sessions: found by name, loaded when used, evicted when memory runs short."""

import asyncio
import logging
import time
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from itertools import takewhile

from llr import StateError, StateTooNew
from llr_service.codec.samples import NAMED
from llr_service.metrics import Metrics
from llr_service.problems import Problem, too_new
from llr_service.sessions import delayed_labels
from llr_service.sessions.batch import Expected
from llr_service.sessions.config import (
    ReplaySource,
    SessionConfig,
    created_of,
    from_stored,
    to_stored,
)
from llr_service.sessions.ensemble import Ensemble, current_config, new_ensemble
from llr_service.sessions.outbox import Outbox
from llr_service.sessions.packing import pack
from llr_service.sessions.pending_labels import PendingLabels
from llr_service.sessions.replay import ReplayWorker
from llr_service.sessions.session import Session
from llr_service.sessions.session_log import Retention, SessionLog, new_version, recover
from llr_service.sessions.session_queue import ReplayStatus
from llr_service.sessions.storage import (
    MAX_TRIES,
    Storage,
    VersionConflict,
    not_found,
    store_result,
)
from llr_service.settings import Settings
from llr_service.stores.store import (
    Conflict,
    CreateSession,
    Damaged,
    DeleteSession,
    SessionSummary,
    StoredSession,
    Written,
)
from llr_service.stores.validation import name_taken, no_session

log = logging.getLogger("llr_service")

NAME_IS_TAKEN = "choose another name, or delete the session first"
FIRST = "/"
"""What comes before every name of a session, and after those of the outbox's events."""
EXPIRY_SECONDS = 1.0
"""Seconds between two searches for expired examples."""
POLL_SECONDS = 0.1
"""Seconds between two looks for changes of watched sessions by other replicas."""
FOLD_SECONDS, FOLDED_TOGETHER = 2.0, 256
"""Seconds that logs may take to be folded when the service stops, and how many at a time."""
ORPHAN_SECONDS = 60.0
"""Seconds between two looks for replays whose replica is gone."""


class SessionRegistry:
    """The sessions of a store that are in memory; `clock` returns the seconds since 1970.

    Attributes:
        outbox: takes the events of sessions that are reported; None if none are.
        expiring: names of sessions that expire, to be taken by `Expiry`.
    """

    def __init__(
        self,
        storage: Storage,
        metrics: Metrics,
        settings: Settings,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.storage, self._metrics, self._settings = storage, metrics, settings
        self._clock = clock
        self._loaded: OrderedDict[str, Session] = OrderedDict()
        self._loading: dict[str, asyncio.Future[Session]] = {}
        self._with_labels: set[str] = set()
        self._sizes: dict[str, int] = {}
        self.expiring: set[str] = set()
        self.outbox: Outbox | None = None
        self.replay_worker = ReplayWorker(storage, self.get, self.update_size)
        self._bytes = 0

    @property
    def shared(self) -> bool:
        """Whether other processes change the sessions too."""
        return self.storage.shared

    def get_cached(self, name: str) -> Session | None:
        """Get a session that is in memory, None if it is not."""
        session = self._loaded.get(name)
        if session is None or session.discarded:
            return None
        self._loaded.move_to_end(name)
        return session

    def peek(self, name: str) -> Session | None:
        """The same, without making the session's eviction later."""
        session = self._loaded.get(name)
        return None if session is None or session.discarded else session

    async def get(self, name: str) -> Session:
        """Get a session, loaded if it is not in memory. Raises `session-not-found`."""
        session = self.get_cached(name)
        if session is not None:
            return session
        if self.shared and (earlier := self._loading.get(name)) is not None:
            try:
                return await asyncio.shield(earlier)
            except Problem as problem:
                if problem.kind.name != "session-not-found":
                    raise
            # another replica may have created it since that load read the store
        loading = self._loading.get(name)
        if loading is None or loading.done():  # a load that failed may still be listed
            loading = self._loading[name] = asyncio.ensure_future(self._load(name))
            loading.add_done_callback(lambda done: self._end_load(name, done))
        return await asyncio.shield(loading)

    async def get_current(self, name: str) -> Session:
        """Get the session that has a name now, whichever had it before."""
        session = await self.get(name)
        return await self.get(name) if await self.evict_if_stale(session) else session

    async def evict_if_stale(self, session: Session) -> bool:
        """Discard a copy whose version is not the store's; whether it is discarded.

        A store with a single writer is not asked.

        The copy is behind if others changed the session, and ahead if the store lost something.
        """
        versions = self.storage.versions
        if versions is None:
            return session.discarded
        since = session.log.stored_version
        version = await store_result(versions.read(session.name))
        if (
            version
            and version.session == session.id
            and session.log.is_current(version.number, since)
        ):
            await session.log.wait_ack(version.number)  # other replicas may have answered with it
            return session.discarded
        self._drop(session)
        return True

    async def create(self, name: str, config: SessionConfig) -> tuple[Session, bool]:
        """Create a session or get it; whether it is new. `session-exists` if configs differ."""
        config.check(self._settings.max_dim)
        created = int(1000 * self._clock())
        body, version = to_stored(config, created=created), new_version()
        written = await self._write_new(CreateSession(name, body, version=version))
        if isinstance(written, Session):
            current = current_config(written.config, written.published)
            if config not in (written.config, current):
                raise Problem("session-exists", NAME_IS_TAKEN, config=current.model_dump())
            return written, False
        log.info("session created", extra={"session": name, "t": 0})
        stored = StoredSession(written.session, body, 0, None, 0, (), {}, version=version)
        return self._add(name, stored, None), True

    async def restore(
        self,
        name: str,
        config: SessionConfig,
        ensemble: Ensemble | None,
        producers: Mapping[str, int],
        source: ReplaySource | None = None,
    ) -> Session:
        """Create a session that continues from a state. Raises `session-exists`.

        Without an ensemble it starts at t = 0 with these producers; with a source it replays
        those samples first.
        """
        config.check(self._settings.max_dim, ensemble.dim if ensemble else None)
        t, packed = (ensemble.t, pack(ensemble)) if ensemble else (0, None)
        body, version = to_stored(config, source, int(1000 * self._clock())), new_version()
        written = await self._write_new(CreateSession(name, body, t, packed, producers, version))
        if isinstance(written, Session):
            raise Problem("session-exists", NAME_IS_TAKEN)
        log.info("session restored", extra={"session": name, "t": t})
        stored = StoredSession(written.session, body, t, packed, t, (), producers, version=version)
        return self._add(name, stored, ensemble)

    async def delete(self, name: str, if_match: Expected | None = None) -> None:
        """Delete a session. Raises `session-not-found`."""
        for _ in range(MAX_TRIES):
            session = await self.get_current(name)
            session.check(if_match)
            written = await self._delete(session, if_match is not None)
            if isinstance(written, Written):
                log.info("session deleted", extra={"session": name, "t": session.t})
                return
            if written.reason == no_session(session.id):
                raise not_found(name)
        raise VersionConflict

    async def delete_unchanged(self, session: Session) -> bool:
        """Delete a session unless something has changed it since; whether it was deleted."""
        return isinstance(await self._delete(session, matched=True), Written)

    async def _delete(self, session: Session, matched: bool) -> Written | Conflict:
        """Delete a session, only as this copy has it if it was `matched`."""
        version = session.log.last_version if matched else None
        deleted = self.storage.committer.commit(DeleteSession(session.id, version))
        deleted.add_callback(lambda _: self._forget(session))  # even if the request has ended
        return await store_result(deleted.wait())

    async def list(self, after: str, limit: int, prefix: str = "") -> list[SessionSummary]:
        """List sessions by name; with a prefix, the names that are longer than it.

        Names with a prefix follow each other, so the list starts there and ends after them.
        """
        start = max(after, prefix, FIRST)
        rows = await store_result(self.storage.list(start, limit))
        return [*takewhile(lambda row: row.name.startswith(prefix), rows)]

    async def count(self) -> int:
        """Count the sessions."""
        return await store_result(self.storage.count())

    async def ready(self) -> None:
        """Return when the store answers."""
        await store_result(self.storage.ready())

    def update_size(self, session: Session) -> None:
        """Account for a session's size, and evict others if memory runs short."""
        name, size = session.name, session.nbytes
        if session.pending.next_expiry is not None:
            self._with_labels.add(name)
        if self._sizes.get(name) != size and self._loaded.get(name) is session:
            self._account(name, size)
            if self._bytes > self._settings.memory_cap:
                self._evict(session)

    async def run_periodic(self) -> None:
        """Run the periodic tasks until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(_every(EXPIRY_SECONDS, self.expire_labels))
            if self.shared:
                tasks.create_task(_every(ORPHAN_SECONDS, self.replay_worker.adopt_orphans))
                tasks.create_task(_every(POLL_SECONDS, self.poll_changes))

    async def expire_labels(self) -> None:
        """Delete the expired examples of the sessions in memory, or learn them."""
        now = int(1000 * self._clock())
        for name in list(self._with_labels):
            session = self.peek(name)
            first = session.pending.next_expiry if session else None
            if session is None or first is None:
                self._with_labels.discard(name)
            elif first <= now:
                with suppress(Problem):
                    await delayed_labels.expire(session)
                self.update_size(session)

    async def poll_changes(self) -> None:
        """Discard the watched copies that other replicas have changed."""
        watched = [one for one in self._loaded.values() if one.watchers and not one.discarded]
        with suppress(Problem):
            await asyncio.gather(*(self.evict_if_stale(session) for session in watched))

    async def fold_tails(self) -> None:
        """Fold the logs of the sessions in memory into snapshots, for a bounded time.

        The next version of the service then has no samples to learn that this one acknowledged.
        """
        tailed = deque(one for one in self._loaded.values() if one.has_tail)
        with suppress(TimeoutError):
            async with asyncio.timeout(FOLD_SECONDS):
                while tailed:
                    some = [tailed.popleft() for _ in range(min(FOLDED_TOGETHER, len(tailed)))]
                    await asyncio.gather(*map(_fold, some))
        if tailed:
            log.info("logs stay: `llr checkpoint` folds them", extra={"sessions": len(tailed)})

    def begin_shutdown(self) -> None:
        """Wake all watchers, so that they end."""
        for session in self._loaded.values():
            session.notify_watchers()

    async def _load(self, name: str) -> Session:
        try:
            loaded = self.storage.committer.call(lambda store: store.load(name))
            stored = await store_result(loaded.wait())
        except Damaged as damage:
            raise _damaged(name, damage) from damage
        if stored is None:
            raise not_found(name)
        try:
            config, _ = from_stored(stored.config)
            ensemble = await asyncio.to_thread(recover, config, stored)
        except StateTooNew as newer:
            raise too_new(f"session {name} has {newer}") from newer
        except (StateError, ValueError) as damage:
            raise _damaged(name, damage) from damage
        if self._loading.get(name) is not asyncio.current_task():
            return await self.get(name)  # the session was created or deleted since it was read
        return self._add(name, stored, ensemble)

    async def _write_new(self, create: CreateSession) -> Written | Session:
        """Write a new session, or get the one that has the name; again if that is deleted."""
        for _ in range(MAX_TRIES):
            written = await store_result(self.storage.committer.commit(create).wait())
            if isinstance(written, Written):
                return written
            try:
                return await self.get_current(create.name)
            except Problem as problem:
                if problem.kind.name != "session-not-found":
                    raise
            if written.reason != name_taken(create.name):
                raise Problem("invalid", f"cannot be stored: {written.reason}")
        raise VersionConflict

    def _make(self, name: str, stored: StoredSession, ensemble: Ensemble | None) -> Session:
        config, source = from_stored(stored.config)
        if ensemble is None and (config.takes_names or config.dim or not config.features):
            dim = NAMED if config.takes_names else config.dim or 1
            ensemble = new_ensemble(config, dim, self._settings.max_dim)
        retention = Retention.of(stored, config.retain, self._settings.max_retained)
        made = Session(
            name,
            config,
            stored.id,
            ensemble,
            dict(stored.producers),
            PendingLabels(stored.pending),
            SessionLog(stored, retention, self.storage.committer),
            self._metrics,
            self._settings,
            self._clock,
            created_of(stored.config),
        )
        made.outbox = self.outbox
        if source is not None:
            made.replay = ReplayStatus(source, self._clock)
            made.replay.block_changes(made.queue, lambda: made.t)
        return made

    def _add(self, name: str, stored: StoredSession, ensemble: Ensemble | None) -> Session:
        self._loading.pop(name, None)  # it read an older state
        if name in self._loaded:  # a copy that is not the session any more
            self._drop(self._loaded[name])
        session = self._loaded[name] = self._make(name, stored, ensemble)
        self.update_size(session)
        if session.config.expire_seconds is not None:
            self.expiring.add(name)
        if session.queue.read_only is not None:
            self.replay_worker.start(name)
        return session

    def _evict(self, spared: Session) -> None:
        """Evict the sessions that were idle longest, until the rest fits."""
        for _ in range(len(self._loaded)):
            if self._bytes <= self._settings.memory_cap:
                return
            name, session = next(iter(self._loaded.items()))  # a list of them all would take long
            if session is spared or session.busy:
                self._loaded.move_to_end(name)
            else:
                session.discarded = True
                self._remove(name)
                self._metrics.evicted()

    def _forget(self, session: Session) -> None:
        """Discard a deleted session, and the load that read it before."""
        self._drop(session)
        self._loading.pop(session.name, None)

    def _end_load(self, name: str, loading: asyncio.Future[Session]) -> None:
        if self._loading.get(name) is loading:
            del self._loading[name]

    def _drop(self, session: Session) -> None:
        """Discard a copy and remove it."""
        session.discard()
        if self._loaded.get(session.name) is session:
            self._remove(session.name)

    def _remove(self, name: str) -> None:
        self._loaded.pop(name, None)
        self._account(name, 0)

    def _account(self, name: str, size: int) -> None:
        self._bytes += size - self._sizes.pop(name, 0)
        if size:
            self._sizes[name] = size
        self._metrics.loaded(len(self._loaded), self._bytes)


async def _fold(session: Session) -> None:
    """Fold the log of a session if that can be done now: its samples are stored in any case."""
    with suppress(Problem):
        await session.checkpoint(bounded=False)


def _damaged(name: str, error: Exception) -> Problem:
    """The problem of a session that cannot be read, which is logged."""
    log.error("session is damaged", extra={"session": name, "why": str(error)})
    return Problem("damaged", f"session {name} cannot be read from the store: {error}")


async def _every(seconds: float, work: Callable[[], Awaitable[None]]) -> None:
    while True:
        await asyncio.sleep(seconds)
        try:
            await work()
        except Exception:
            log.exception("a periodic task failed")
