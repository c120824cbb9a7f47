"""Who re-learns: what-ifs in the background, a block at a time, until each has learnt all.

A block is read from the log of the source, learnt like any batch and durable before the next one.
So a session's t is how far it is, and after a crash it goes on from there. What is refused for good
(a step that diverges, a sample the model cannot take, a source that was deleted) stops it.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from llr_service.codec import Samples, unpack_samples
from llr_service.problems import Problem
from llr_service.sessions.actor import Session
from llr_service.sessions.batch import Fresh
from llr_service.sessions.origin import Origin, from_stored
from llr_service.sessions.storage import Storage
from llr_service.sessions.waiting import durable
from llr_service.stores.store import REPLAY_MARK, Damaged, Entry, SessionSummary, StoreError

log = logging.getLogger("llr_service")

BLOCK = 2**18
"""Bytes of the log that are learnt at a time."""
AT_ONCE = 2
"""Blocks in memory, of all sessions."""
PAUSE = 1.0
"""Seconds until it is tried again when the store fails."""
PAGE = 1000
"""What-ifs looked at in one go for those that did not end."""
PASSING = ("unavailable", "disk-full")


class Relearner:
    """Sees to the sessions that re-learn.

    Args:
        storage: the way to the store.
        get: finds a session by name.
        touched: is told of sessions whose size may have changed.
    """

    def __init__(
        self,
        storage: Storage,
        get: Callable[[str], Awaitable[Session]],
        touched: Callable[[Session], None],
    ) -> None:
        self._storage, self._get, self._touched = storage, get, touched
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._again: set[str] = set()
        self._seen: dict[str, int] = {}
        self._few = asyncio.Semaphore(AT_ONCE)

    def start(self, name: str) -> None:
        """See to a session from now on, until it has learnt all or cannot."""
        if name in self._tasks:
            self._again.add(name)  # who sees to the last one of that name may be about to end
            return
        self._tasks[name] = asyncio.create_task(self._see_to(name))
        self._tasks[name].add_done_callback(partial(self._ended, name))

    def _ended(self, name: str, task: asyncio.Task[None]) -> None:
        del self._tasks[name]
        if name in self._again:
            self._again.discard(name)
            if not task.cancelled():
                self.start(name)

    async def resume(self) -> None:
        """Start with every session that had not ended when the service did."""
        while True:
            try:
                for name in await self._unfinished():
                    self.start(name)
                return
            except StoreError as failure:
                log.warning("what-ifs wait", extra={"why": str(failure)})
                await asyncio.sleep(PAUSE)

    async def look(self) -> None:
        """Start with those that did not move since the last look: who saw to them is gone."""
        before, self._seen = self._seen, await self._unfinished()
        for name, t in self._seen.items():
            if before.get(name) == t:
                self.start(name)

    async def _unfinished(self) -> dict[str, int]:
        """The sessions of the store that have not learnt all, and how far each is."""
        found: dict[str, int] = {}
        after = ""
        while rows := await self._storage.list_replays(after, PAGE):
            found |= {row.name: row.t for row in rows if unfinished(row)}
            after = rows[-1].name
        return found

    async def close(self) -> None:
        """Let be, at the end of the blocks that are being learnt."""
        tasks = [*self._tasks.values()]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _see_to(self, name: str) -> None:
        while True:
            try:
                session = await self._get(name)
                self._again.discard(name)
                with session.turns.held():
                    await self._relearn(session)
                return
            except Problem as problem:
                if problem.kind.name not in PASSING:
                    return
            except StoreError as failure:
                log.warning("a what-if waits", extra={"session": name, "why": str(failure)})
            await asyncio.sleep(PAUSE)

    async def _relearn(self, session: Session) -> None:
        going = session.relearning
        if going is None or session.turns.closed is None:
            return
        going.begin(session.t)
        try:
            await self._check_source(going.origin)
            while session.t < going.origin.of:
                async with self._few:
                    await self._block(session, going.origin)
                going.stopped = None
                self._touched(session)
            session.turns.closed = None
        except Problem as problem:
            if problem.kind.name in PASSING:
                raise
            going.stopped = problem.detail
        except Exception:
            log.exception("a what-if failed", extra={"session": session.name})
            going.stopped = "the service failed, which was logged"
        session.wake()
        told = {"session": session.name, "t": session.t, "why": going.stopped or "all is learnt"}
        log.info("a what-if ends", extra=told)

    async def _check_source(self, origin: Origin) -> None:
        """See that a number stands for the session it did: in another store it may not."""
        try:
            source = await self._get(origin.source)
        except Problem as problem:
            raise (_deleted() if problem.kind.name == "session-not-found" else problem) from None
        if source.id != origin.session:
            raise _deleted()

    async def _block(self, session: Session, origin: Origin) -> None:
        """Learn the next entries of a log, together or else one by one as they once came."""
        t, source, of = session.t, origin.session, origin.of
        try:
            log_of = self._storage.committer
            entries = await log_of.call(lambda store: store.read_log(source, t, of, BLOCK)).wait()
        except Damaged as damage:
            raise Problem("damaged", f"the samples cannot be read: {damage}") from damage
        if entries is None:
            raise _deleted()
        parts = await asyncio.to_thread(_unpacked, entries)
        try:
            await _learn(session, Samples.joined(parts))
        except (Problem, ValueError) as refused:
            if len(parts) == 1 or (isinstance(refused, Problem) and refused.kind.name in PASSING):
                raise
            for part in parts:
                await _learn(session, part)


def _deleted() -> Problem:
    return Problem("session-not-found", "the session whose samples these are was deleted")


async def _learn(session: Session, samples: Samples) -> None:
    async with session.turns.line():
        session.check()
        fresh = Fresh(samples, range(samples.n))
        pending = await session.go(fresh, samples.nbytes, False)
    if pending.commit is not None:
        await durable(pending.commit)


def unfinished(row: SessionSummary) -> bool:
    """Whether a session has not learnt all yet that it was to learn anew."""
    if REPLAY_MARK not in row.config:
        return False
    _, origin = from_stored(row.config)
    return origin is not None and row.t < origin.of


def _unpacked(entries: Sequence[Entry]) -> list[Samples]:
    return [unpack_samples(entry.blob) for entry in entries]
