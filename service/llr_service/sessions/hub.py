"""All sessions: found by name, loaded when touched, let go of when memory runs short."""

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import takewhile

from llr import StateError
from llr_service.codec.samples import NAMED
from llr_service.metrics import Metrics
from llr_service.problems import Problem
from llr_service.sessions import late
from llr_service.sessions.actor import Session
from llr_service.sessions.batch import Expected
from llr_service.sessions.config import SessionConfig
from llr_service.sessions.journal import Journal, new_version
from llr_service.sessions.loading import damaged, not_found, rebuild
from llr_service.sessions.origin import Origin, from_stored, to_stored
from llr_service.sessions.packing import pack
from llr_service.sessions.relearner import Relearner
from llr_service.sessions.relearning import Relearning
from llr_service.sessions.retention import Retention
from llr_service.sessions.roster import config_now, new_team
from llr_service.sessions.shelf import Shelf
from llr_service.sessions.storage import Storage
from llr_service.sessions.team import Team
from llr_service.sessions.waiting import TRIES, Moved, told
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
from llr_service.stores.validation import name_taken

log = logging.getLogger("llr_service")
ANOTHER = "choose another name, or delete the session first"


class Hub:
    """The sessions of a store; `clock` tells the seconds since 1970."""

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
        self._keeping: set[str] = set()
        self._sizes: dict[str, int] = {}
        self.relearner = Relearner(storage, self.get, self.touched)
        self._bytes = 0

    def at_hand(self, name: str) -> Session | None:
        """The session if it is loaded; no waiting."""
        session = self._loaded.get(name)
        if session is None or session.gone:
            return None
        self._loaded.move_to_end(name)
        return session

    def peek(self, name: str) -> Session | None:
        """The session if it is loaded, without keeping it from being let go."""
        session = self._loaded.get(name)
        return None if session is None or session.gone else session

    async def get(self, name: str) -> Session:
        """The session, loaded if need be. Raises `session-not-found`."""
        session = self.at_hand(name)
        if session is not None:
            return session
        loading = self._loading.get(name)
        if loading is None:
            loading = asyncio.ensure_future(self._load(name))
            self._loading[name] = loading
            loading.add_done_callback(lambda _: self._loading.pop(name, None))
        return await asyncio.shield(loading)

    @property
    def shared(self) -> bool:
        """Whether others may change the sessions too."""
        return self.storage.shared

    async def stale(self, session: Session) -> bool:
        """Whether a copy is not as the store is; it is dropped then. The store is asked if shared.

        It is behind if others changed the session, and ahead if the store lost what it had.
        """
        heads = self.storage.versions
        if heads is None:
            return False
        since = session.journal.stored
        head = await told(heads.of(session.name))
        if head and head.session == session.id and session.journal.knows(head.number, since):
            await session.journal.heard(head.number)  # others may have told somebody already
            return session.gone
        self._drop(session)
        return True

    async def create(self, name: str, config: SessionConfig) -> tuple[Session, bool]:
        """The session and whether it is new. Raises `session-exists` if its config differs."""
        config.check(self._settings.max_dim)
        body, version = to_stored(config), new_version()
        written = await self._created(CreateSession(name, body, version=version))
        if isinstance(written, Session):
            now = config_now(written.config, written.published)
            if config not in (written.config, now):
                raise Problem("session-exists", ANOTHER, config=now.model_dump())
            return written, False
        log.info("session created", extra={"session": name, "t": 0})
        stored = StoredSession(written.session, body, 0, None, 0, (), {}, version=version)
        return self._keep(name, stored, None), True

    async def restore(
        self,
        name: str,
        config: SessionConfig,
        team: Team | None,
        producers: Mapping[str, int],
        origin: Origin | None = None,
    ) -> Session:
        """A new session that goes on from a state. Raises `session-exists` if the name is taken.

        Without a team it is a fresh one that knows these producers; with an origin it learns
        those samples first.
        """
        config.check(self._settings.max_dim, team.dim if team else None)
        t, packed = (team.t, pack(team)) if team else (0, None)
        body, version = to_stored(config, origin), new_version()
        written = await self._created(CreateSession(name, body, t, packed, producers, version))
        if isinstance(written, Session):
            raise Problem("session-exists", ANOTHER)
        log.info("session restored", extra={"session": name, "t": t})
        stored = StoredSession(written.session, body, t, packed, t, (), producers, version=version)
        return self._keep(name, stored, team)

    async def delete(self, name: str, if_match: Expected | None = None) -> None:
        """Delete a session. Raises `session-not-found`."""
        session = await self._there(name)
        session.check(if_match)
        deleted = self.storage.committer.commit(DeleteSession(session.id))
        deleted.then(lambda _: self._drop(session))  # even if the one who asked has gone
        written = await told(deleted.wait())
        if isinstance(written, Conflict):
            raise not_found(name)
        log.info("session deleted", extra={"session": name, "t": session.t})

    async def list(self, after: str, limit: int, prefix: str = "") -> list[SessionSummary]:
        """Sessions in the order of their names; with a prefix, those that have more after it.

        They stand together, so the store is asked for what follows the prefix, and no further.
        """
        start = max(after, prefix)
        rows = await told(self.storage.list(start, limit))
        return [*takewhile(lambda row: row.name.startswith(prefix), rows)]

    async def count(self) -> int:
        """How many sessions there are."""
        return await told(self.storage.count())

    async def ready(self) -> None:
        """Return when the store answers."""
        await told(self.storage.ready())

    def touched(self, session: Session) -> None:
        """Account for a session's size, and let others go if memory runs short."""
        name, size = session.name, session.nbytes
        if session.shelf.first_due is not None:
            self._keeping.add(name)
        if self._sizes.get(name) != size and self._loaded.get(name) is session:
            self._account(name, size)
            if self._bytes > self._settings.memory_cap:
                self._evict(session)

    async def sweep(self) -> None:
        """Forget what has expired in the sessions that are in memory, or learn it."""
        now = int(1000 * self._clock())
        for name in list(self._keeping):
            session = self.peek(name)
            first = session.shelf.first_due if session else None
            if session is None or first is None:
                self._keeping.discard(name)
            elif first <= now:
                with suppress(Problem):
                    await late.sweep(session)
                self.touched(session)

    async def look(self) -> None:
        """See what others did to the sessions that are watched here."""
        watched = [one for one in self._loaded.values() if one.watchers and not one.gone]
        with suppress(Problem):
            await asyncio.gather(*(self.stale(session) for session in watched))

    def drain(self) -> None:
        """End all that watch: the service is about to stop."""
        for session in self._loaded.values():
            session.wake()

    async def _load(self, name: str) -> Session:
        try:
            loaded = self.storage.committer.call(lambda store: store.load(name))
            stored = await told(loaded.wait())
        except Damaged as damage:
            raise damaged(name, damage) from damage
        if stored is None:
            raise not_found(name)
        config, _ = from_stored(stored.config)
        try:
            team = await asyncio.to_thread(rebuild, config, stored)
        except (StateError, ValueError) as damage:
            raise damaged(name, damage) from damage
        meanwhile = self.at_hand(name)
        if meanwhile is not None:  # made while this copy was on its way
            return meanwhile
        return self._keep(name, stored, team)

    async def _there(self, name: str) -> Session:
        """The session that has a name now, whatever had it before."""
        session = await self.get(name)
        return await self.get(name) if await self.stale(session) else session

    async def _created(self, create: CreateSession) -> Written | Session:
        """What was stored, or the session that has the name; tried again if that goes meanwhile."""
        for _ in range(TRIES):
            written = await told(self.storage.committer.commit(create).wait())
            if isinstance(written, Written):
                return written
            try:
                return await self._there(create.name)
            except Problem as problem:
                if problem.kind.name != "session-not-found":
                    raise
            if written.reason != name_taken(create.name):
                raise Problem("invalid", f"cannot be stored: {written.reason}")
        raise Moved

    def _make(self, name: str, stored: StoredSession, team: Team | None) -> Session:
        config, origin = from_stored(stored.config)
        if team is None and (config.takes_names or config.dim or not config.features):
            dim = NAMED if config.takes_names else config.dim or 1
            team = new_team(config, dim, self._settings.max_dim)
        retention = Retention.of(stored, config.retain, self._settings.max_retained)
        made = Session(
            name,
            config,
            stored.id,
            team,
            dict(stored.producers),
            Shelf(stored.pending),
            Journal(stored, retention, self.storage.committer),
            self._metrics,
            self._settings,
            self._clock,
        )
        if origin is not None:
            made.relearning = Relearning(origin)
            made.relearning.close(made.turns, lambda: made.t)
        return made

    def _keep(self, name: str, stored: StoredSession, team: Team | None) -> Session:
        if name in self._loaded:  # a copy that is not the session any more
            self._drop(self._loaded[name])
        session = self._loaded[name] = self._make(name, stored, team)
        self.touched(session)
        if session.turns.closed is not None:
            self.relearner.start(name)
        return session

    def _evict(self, spared: Session) -> None:
        """Let go of the sessions that were idle longest, until the rest fits."""
        for _ in range(len(self._loaded)):
            if self._bytes <= self._settings.memory_cap:
                return
            name, session = next(iter(self._loaded.items()))  # to list them all would take long
            if session is spared or session.busy:
                self._loaded.move_to_end(name)
            else:
                session.gone = True
                self._forget(name)
                self._metrics.evicted()

    def _drop(self, session: Session) -> None:
        """Let go of a copy that is not the session any more."""
        session.drop()
        if self._loaded.get(session.name) is session:
            self._forget(session.name)

    def _forget(self, name: str) -> None:
        self._loaded.pop(name, None)
        self._account(name, 0)

    def _account(self, name: str, size: int) -> None:
        self._bytes += size - self._sizes.pop(name, 0)
        if size:
            self._sizes[name] = size
        self._metrics.loaded(len(self._loaded), self._bytes)
