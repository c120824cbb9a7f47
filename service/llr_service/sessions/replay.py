"""The replay of what-ifs: sessions that learn the samples of another one, in the background.

A block of samples is read from the log of the source, learnt like any batch, and durable before the
next block is read. So the session's t is its progress, and after a crash the replay continues from
there. A permanent refusal stops it: a step that diverges, a sample that the model cannot take, or a
source that was deleted.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from llr_service.codec import Samples, unpack_samples
from llr_service.problems import Problem
from llr_service.sessions.batch import NewSamples
from llr_service.sessions.config import ReplaySource, from_stored
from llr_service.sessions.session import Session
from llr_service.sessions.storage import Storage, wait_durable
from llr_service.stores.store import REPLAY_MARK, Damaged, Entry, SessionSummary, StoreError

log = logging.getLogger("llr_service")

BLOCK = 2**18
"""Bytes of the log in a block."""
MAX_BLOCKS = 2
"""Blocks in memory, of all replays together."""
RETRY_SECONDS = 1.0
"""Seconds between two tries when the store fails."""
PAGE = 1000
"""What-ifs listed at a time."""
TEMPORARY = ("unavailable", "disk-full")
"""Problems that a retry may solve."""


class ReplayWorker:
    """Runs the replays, one task a session.

    Args:
        storage: the store.
        get: gets a session by name.
        update_size: notes that the size of a session may have changed.
    """

    def __init__(
        self,
        storage: Storage,
        get: Callable[[str], Awaitable[Session]],
        update_size: Callable[[Session], None],
    ) -> None:
        self._storage, self._get, self._update_size = storage, get, update_size
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._restart: set[str] = set()
        self._last_seen: dict[str, int] = {}
        self._blocks = asyncio.Semaphore(MAX_BLOCKS)

    def start(self, name: str) -> None:
        """Replay a session in the background until it is done or has failed."""
        if name in self._tasks:
            self._restart.add(name)  # the task of an earlier session of that name may be ending
            return
        self._tasks[name] = asyncio.create_task(self._run(name))
        self._tasks[name].add_done_callback(partial(self._ended, name))

    def _ended(self, name: str, task: asyncio.Task[None]) -> None:
        del self._tasks[name]
        if name in self._restart:
            self._restart.discard(name)
            if not task.cancelled():
                self.start(name)

    async def resume(self) -> None:
        """Start every replay that was unfinished when the service stopped."""
        while True:
            try:
                for name in await self._unfinished():
                    self.start(name)
                return
            except StoreError as failure:
                log.warning("replays wait for the store", extra={"why": str(failure)})
                await asyncio.sleep(RETRY_SECONDS)

    async def adopt_orphans(self) -> None:
        """Start the replays that made no progress since the last call: their replica is gone."""
        before, self._last_seen = self._last_seen, await self._unfinished()
        for name, t in self._last_seen.items():
            if before.get(name) == t:
                self.start(name)

    async def _unfinished(self) -> dict[str, int]:
        """The unfinished what-ifs of the store, and the t of each."""
        found: dict[str, int] = {}
        after = ""
        while rows := await self._storage.list_replays(after, PAGE):
            found |= {row.name: row.t for row in rows if is_unfinished(row)}
            after = rows[-1].name
        return found

    async def close(self) -> None:
        """Cancel all replays, each after its present block."""
        tasks = [*self._tasks.values()]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _run(self, name: str) -> None:
        while True:
            try:
                session = await self._get(name)
                self._restart.discard(name)
                with session.queue.pin():
                    await self._replay(session)
                return
            except Problem as problem:
                if problem.kind.name not in TEMPORARY:
                    return
            except StoreError as failure:
                details = {"session": name, "why": str(failure)}
                log.warning("a replay waits for the store", extra=details)
            await asyncio.sleep(RETRY_SECONDS)

    async def _replay(self, session: Session) -> None:
        status = session.replay
        if status is None or session.queue.read_only is None:
            return
        status.start(session.t)
        try:
            await self._check_source(status.source)
            while session.t < status.source.samples:
                async with self._blocks:
                    await self._learn_block(session, status.source)
                status.stopped = None
                self._update_size(session)
            session.queue.read_only = None
        except Problem as problem:
            if problem.kind.name in TEMPORARY:
                raise
            status.stopped = problem.detail
        except Exception:
            log.exception("a replay failed", extra={"session": session.name})
            status.stopped = "an internal error, which was logged"
        session.notify_watchers()
        details = {"session": session.name, "t": session.t, "why": status.stopped or "done"}
        log.info("a replay ended", extra=details)

    async def _check_source(self, source: ReplaySource) -> None:
        """Check that the source's id is still that of its name: ids differ between stores."""
        try:
            session = await self._get(source.name)
        except Problem as problem:
            raise (_deleted() if problem.kind.name == "session-not-found" else problem) from None
        if session.id != source.session:
            raise _deleted()

    async def _learn_block(self, session: Session, source: ReplaySource) -> None:
        """Learn the next entries of the source's log together, or else one by one as they came."""
        t = session.t
        try:
            read = self._storage.committer.call(
                lambda store: store.read_log(source.session, t, source.samples, BLOCK)
            )
            entries = await read.wait()
        except Damaged as damage:
            raise Problem("damaged", f"the samples cannot be read: {damage}") from damage
        if entries is None:
            raise _deleted()
        parts = await asyncio.to_thread(_unpack_all, entries)
        try:
            await _learn(session, Samples.joined(parts))
        except (Problem, ValueError) as refused:
            if len(parts) == 1 or (isinstance(refused, Problem) and refused.kind.name in TEMPORARY):
                raise
            for part in parts:
                await _learn(session, part)


def _deleted() -> Problem:
    return Problem("session-not-found", "the session whose samples these are was deleted")


async def _learn(session: Session, samples: Samples) -> None:
    async with session.queue.lock():
        session.check()
        new = NewSamples(samples, range(samples.n))
        pending = await session.learn_locked(new)
    if pending.commit is not None:
        await wait_durable(pending.commit)


def is_unfinished(row: SessionSummary) -> bool:
    """Whether a session is a what-if that has not learnt all samples of its source."""
    if REPLAY_MARK not in row.config:
        return False
    _, source = from_stored(row.config)
    return source is not None and row.t < source.samples


def _unpack_all(entries: Sequence[Entry]) -> list[Samples]:
    return [unpack_samples(entry.blob) for entry in entries]
