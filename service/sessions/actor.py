"""A session: one learner, one owner, samples in the order they came.

Learning runs ahead of the store: the learner takes the next samples while earlier ones are being
committed. What the outside sees, `published`, only ever moves when a commit is durable. If a commit
fails the session is dropped, never patched: the next touch loads what the store has.
"""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, TypeVar

from llr import Learner, Outcome, SampleError
from service.codec import Samples, pack_samples
from service.metrics import Metrics
from service.problems import Problem
from service.sessions.committer import Committer, Receipt
from service.sessions.config import SessionConfig
from service.sessions.shelf import Shelf
from service.settings import Settings
from service.stores.store import (
    Append,
    Conflict,
    Keep,
    Replace,
    Shelved,
    StoreError,
    StoreFull,
    Written,
)

R = TypeVar("R")

LONG = 100_000
"""Bytes of a batch above which learning leaves the event loop for a thread."""

RETRY = {"Retry-After": "1"}
PRODUCER = re.compile(r"[\x21-\x7e]{1,128}")
MOST_SAMPLES = 2**53


@dataclass(frozen=True)
class Ticket:
    """What a producer says about a batch: who sends it, the number of its first sample."""

    producer: str
    seq: int


@dataclass(frozen=True)
class Learnt:
    """What came of a batch: the learner after it, and how many samples were new."""

    learner: Learner
    accepted: int
    duplicate: bool
    predictions: Any = None


@dataclass(frozen=True)
class Pending:
    """A batch that was learnt and waits for the store."""

    learnt: Learnt
    commit: Receipt[Any] | None


class Fresh(NamedTuple):
    """Samples that were not learnt before, and what is stored along with them.

    Attributes:
        samples: the samples.
        places: where each of them stands in the body it came in.
        producer: whose they are, and the number of its next one.
        kept: what becomes of the ids they were kept under.
    """

    samples: Samples
    places: Sequence[int]
    producer: tuple[str, int] | None = None
    kept: Shelved = ()


Find = Callable[[], Fresh | Pending]
"""How the samples of a step are found when its turn has come; Pending if none of them are new."""


class Event(NamedTuple):
    """What those who watch are told of a state: of which t, and whether it is diverged."""

    of: tuple[int, bool] | None = None
    text: bytes = b""


class Session:
    """One named learner in memory.

    Attributes:
        name: its name.
        config: its config.
        id: its number in the store.
        features: whether its samples have an x.
        published: the learner as of the last commit, None before the first sample of a session
            whose dim was left out. Never learns: what runs ahead is a view of it.
        producers: for each producer, the number of its next sample.
        shelf: what is kept for late labels.
        changed: set and replaced whenever `published` moves or the session diverges, for those
            who watch.
        event: what those who watch were told last.
    """

    def __init__(
        self,
        name: str,
        config: SessionConfig,
        session: int,
        learner: Learner | None,
        producers: dict[str, int],
        tail: int,
        shelf: Shelf,
        committer: Committer,
        metrics: Metrics,
        settings: Settings,
        clock: Callable[[], float],
    ) -> None:
        self.name, self.config, self.id = name, config, session
        self.features = config.features
        self.producers, self.shelf = producers, shelf
        self.published = learner
        self.changed = asyncio.Event()
        self.event = Event()
        self.watchers = 0
        self.gone = False
        self.diverged = False
        self._learner = learner
        self._tail = tail
        self.metrics, self.settings = metrics, settings
        self._committer, self._clock = committer, clock
        self._turn = asyncio.Lock()
        self._waiting = self._queued = 0
        self.last: Receipt[Any] | None = None

    @property
    def t(self) -> int:
        """Samples learnt and committed."""
        return self.published.t if self.published else 0

    @property
    def busy(self) -> bool:
        """Whether somebody waits for it or watches it."""
        return bool(self._waiting or self.watchers)

    @property
    def nbytes(self) -> int:
        """How much memory it takes, roughly."""
        learner = self._learner.nbytes if self._learner else 0
        return 2000 + learner + 100 * len(self.producers) + self.shelf.nbytes

    @property
    def ahead(self) -> Learner | None:
        """The learner with all that was learnt, durable or not; None as for `published`."""
        return self._learner

    @property
    def label_ms(self) -> int:
        """For how long x is kept for its label, in milliseconds."""
        return int(1000 * (self.config.label_seconds or self.settings.label_seconds))

    def now(self) -> int:
        """The time, in milliseconds since 1970."""
        return int(1000 * self._clock())

    async def learn(
        self,
        samples: Samples,
        ticket: Ticket | None = None,
        if_match: int | None = None,
        predictions: bool = False,
    ) -> Learnt:
        """Learn from a batch, whole or not at all; returns when it is durable."""
        return await self.finish(await self.begin(samples, ticket, if_match, predictions))

    async def begin(
        self,
        samples: Samples,
        ticket: Ticket | None = None,
        if_match: int | None = None,
        predictions: bool = False,
        admitted: bool = False,
    ) -> Pending:
        """Learn from a batch ahead of the store, in turn. `finish` has to follow.

        A later block of a request is `admitted`: it does not queue behind its own first ones.
        """
        if not admitted:
            self._admit()
        self._waiting += 1
        find = partial(self._fresh, samples, ticket, if_match)
        try:
            if samples.nbytes < LONG and not self._queued:
                return self._step(find, predictions)
            async with self.line():
                return await self.go(find, samples.nbytes, predictions)
        except BaseException:
            self._waiting -= 1
            raise

    async def finish(self, pending: Pending) -> Learnt:
        """Wait until what was begun is durable. Who stops waiting stops nothing."""
        try:
            if pending.commit is not None:
                await durable(pending.commit)
            return pending.learnt
        finally:
            self._waiting -= 1

    async def settled(self) -> None:
        """Wait until all that was learnt is durable."""
        async with self.line():
            if self.last is not None:
                await durable(self.last)

    @contextmanager
    def attended(self) -> Iterator[None]:
        """While somebody waits for the session, as one of so many."""
        self._admit()
        self._waiting += 1
        try:
            yield
        finally:
            self._waiting -= 1

    @asynccontextmanager
    async def line(self) -> AsyncIterator[None]:
        """Queue for the session; inside it is one's turn."""
        self._queued += 1
        try:
            async with self._turn:
                yield
        finally:
            self._queued -= 1

    async def go(self, find: Find, nbytes: int, predictions: bool) -> Pending:
        """At one's turn, learn ahead of the store; from many bytes in a thread."""
        if nbytes < LONG:
            return self._step(find, predictions)
        return await self._long_step(find, predictions)

    def keep(self, kept: Shelved) -> Receipt[Any]:
        """At one's turn, keep and forget ahead of the store."""
        self.check()
        self.shelf.put(kept)
        at = self._learner.t if self._learner else 0
        self.last = self._committer.commit(Keep(self.id, at, kept))
        self.last.then(partial(self._committed, self._learner))
        return self.last

    def check(self, if_match: int | None = None) -> None:
        """Refuse to go on if this copy was dropped, or is not where it is expected to be."""
        if self.gone:
            raise Problem("unavailable", "the session was reloaded, send again", headers=RETRY)
        if if_match is not None and if_match != (at := self._learner.t if self._learner else 0):
            raise Problem("state-changed", f"the session is at t = {at}, not {if_match}", t=at)

    def drop(self) -> None:
        """This copy is no longer the session; those who watch are told."""
        self.gone = True
        self.wake()

    def _admit(self) -> None:
        if self._waiting >= self.settings.max_queue:
            raise Problem("unavailable", "too many requests wait for this session", headers=RETRY)

    def _step(self, find: Find, predictions: bool) -> Pending:
        """Learn on the copy that runs ahead, and queue the commit."""
        fresh = find()
        if isinstance(fresh, Pending):
            return fresh
        ahead, started = self._view(fresh.samples), time.perf_counter()
        outcome = _run(ahead, fresh, predictions)
        return self._taken(ahead, fresh, outcome, started)

    async def _long_step(self, find: Find, predictions: bool) -> Pending:
        """The same, with the learning in a thread."""
        fresh = find()
        if isinstance(fresh, Pending):
            return fresh
        ahead, started = self._view(fresh.samples), time.perf_counter()
        outcome = await to_the_end(asyncio.to_thread(_run, ahead, fresh, predictions))
        self.check()  # it may have been dropped meanwhile
        return self._taken(ahead, fresh, outcome, started)

    def _view(self, samples: Samples) -> Learner:
        """What learns while the session stays where it is."""
        if self._learner is not None:
            return self._learner.view()
        return self.config.learner(samples.dim, self.settings.max_dim)

    def nothing_new(self, sent: int) -> Pending:
        """What comes of so many samples none of which are new."""
        if self._learner is None:
            raise Problem("invalid", "the first batch of a session without dim is empty")
        return Pending(Learnt(self._learner, 0, sent > 0), self.last)

    def _taken(self, ahead: Learner, fresh: Fresh, outcome: Outcome, started: float) -> Pending:
        """What was learnt becomes the session's, and its commit is queued."""
        at = self._learner.t if self._learner else 0
        if not outcome:
            self.diverged = True
            self.wake()
            self.metrics.diverged()
            raise Problem("diverged", _advice(at + outcome.accepted), t=at)
        n = fresh.samples.n
        self.metrics.learnt(n, time.perf_counter() - started)
        self._learner, self.diverged = ahead, False
        if fresh.producer:
            self.producers[fresh.producer[0]] = fresh.producer[1]
        if fresh.kept:
            self.shelf.put(fresh.kept)
        self.last = self._commit(ahead, at, fresh)
        self.last.then(partial(self._committed, ahead))
        return Pending(Learnt(ahead, n, False, outcome.predictions), self.last)

    def _fresh(
        self, samples: Samples, ticket: Ticket | None, if_match: int | None
    ) -> Fresh | Pending:
        """The samples that were not learnt before."""
        self.check(if_match)
        n = samples.n
        if ticket is None:
            return Fresh(samples, range(n)) if n else self.nothing_new(n)
        expected = self.producers.get(ticket.producer, 0)
        if ticket.seq > expected:
            raise Problem(
                "sequence-gap",
                f"producer {ticket.producer!r} is at {expected}: send from there",
                expected=expected,
            )
        if (
            ticket.producer not in self.producers
            and len(self.producers) >= self.settings.max_producers
        ):
            raise Problem("too-many", "this session has its most producers", headers=RETRY)
        known = expected - ticket.seq
        if known >= n:
            return self.nothing_new(n)
        return Fresh(samples.after(known), range(known, n), (ticket.producer, ticket.seq + n))

    def _commit(self, learner: Learner, at: int, fresh: Fresh) -> Receipt[Any]:
        """Queue the smaller of the samples and the state; a snapshot when the tail is long."""
        samples, also = fresh.samples, (fresh.producer, fresh.kept)
        size, most = samples.nbytes, learner.nbytes
        if size > most or self._tail + size > 2 * most + 4096:
            self._tail = 0
            return self._committer.commit(Replace(self.id, at, samples.n, learner.pack(), *also))
        self._tail += size
        blob = pack_samples(samples)
        return self._committer.commit(Append(self.id, at, samples.n, blob, *also))

    def _committed(self, learner: Learner | None, outcome: Any) -> None:
        """The store has spoken: everybody may see it, or this copy is dropped."""
        if isinstance(outcome, Written):
            self._publish(learner)
        else:
            self.drop()

    def _publish(self, learner: Learner | None) -> None:
        if learner is not None and not self.gone and learner.t > self.t:
            self.published = learner
            self.wake()

    def wake(self) -> None:
        """Let those who watch look again."""
        if self.watchers:
            self.changed.set()
            self.changed = asyncio.Event()


def _run(learner: Learner, fresh: Fresh, predictions: bool) -> Outcome:
    """Learn; what is wrong with a sample is told by its place."""
    try:
        return learner.learn(*fresh.samples.arguments, predictions=predictions)
    except SampleError as wrong:
        number = "" if wrong.index is None else f"/{fresh.places[wrong.index]}"
        errors = [{"pointer": f"{number}/{wrong.field}", "detail": wrong.reason}]
        raise Problem("invalid", f"{wrong}", errors) from None


async def durable(commit: Receipt[Any]) -> None:
    """Wait for the store. Cancelling the one who waits does not cancel the commit."""
    try:
        written = await commit.wait()
    except StoreFull as full:
        raise Problem("disk-full", "nothing was stored: make room, then send again") from full
    except StoreError as failure:
        detail = "the store failed: send the same again, with its producer and seq"
        raise Problem("unavailable", detail, headers=RETRY) from failure
    if isinstance(written, Conflict):
        raise Problem("unavailable", "the session moved elsewhere, send again", headers=RETRY)


async def to_the_end(work: Coroutine[Any, Any, R]) -> R:
    """Wait for work that cannot be called off; who is cancelled meanwhile waits for it first."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


async def in_thread_if_long(body: bytes, work: Callable[..., R], *arguments: Any) -> R:
    """Work on a body; on a long one in a thread, so that others are served meanwhile."""
    if len(body) < LONG // 2:
        return work(*arguments)
    return await asyncio.to_thread(work, *arguments)


def _advice(at: int) -> str:
    return (
        f"sample {at} of the session would make it leave the finite numbers; nothing of this body "
        "was learnt. Create the session again with a smaller eta0, or scale the samples"
    )
