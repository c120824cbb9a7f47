"""A session: one learner, one owner, samples in the order they came.

Learning runs ahead of the store: the learner takes the next samples while earlier ones are being
committed. What the outside sees, `published`, only ever moves when a commit is durable. If a commit
fails the session is dropped, never patched: the next touch loads what the store has.
"""

import asyncio
import re
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, TypeVar

from llr import Learner, Outcome, SampleError
from service.codec import Samples, pack_samples
from service.metrics import Metrics
from service.problems import Problem
from service.sessions.committer import Committer, Receipt
from service.sessions.config import SessionConfig
from service.settings import Settings
from service.stores.store import Append, Conflict, Replace, StoreError, StoreFull, Written

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
        committer: Committer,
        metrics: Metrics,
        settings: Settings,
    ) -> None:
        self.name, self.config, self.id = name, config, session
        self.features = config.features
        self.producers = producers
        self.published = learner
        self.changed = asyncio.Event()
        self.event = Event()
        self.watchers = 0
        self.gone = False
        self.diverged = False
        self._learner = learner
        self._tail = tail
        self._committer, self._metrics = committer, metrics
        self._settings = settings
        self._turn = asyncio.Lock()
        self._waiting = self._queued = 0
        self._last: Receipt[Any] | None = None

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
        return 2000 + (self._learner.nbytes if self._learner else 0) + 100 * len(self.producers)

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
        if not admitted and self._waiting >= self._settings.max_queue:
            raise Problem("unavailable", "too many requests wait for this session", headers=RETRY)
        self._waiting += 1
        try:
            if samples.nbytes < LONG and not self._queued:
                return self._step(samples, ticket, if_match, predictions)
            return await self._in_turn(samples, ticket, if_match, predictions)
        except BaseException:
            self._waiting -= 1
            raise

    async def _in_turn(
        self, samples: Samples, ticket: Ticket | None, if_match: int | None, predictions: bool
    ) -> Pending:
        """Queue for a step, and take a long one in a thread."""
        self._queued += 1
        try:
            async with self._turn:
                if samples.nbytes < LONG:
                    return self._step(samples, ticket, if_match, predictions)
                return await self._long_step(samples, ticket, if_match, predictions)
        finally:
            self._queued -= 1

    async def finish(self, pending: Pending) -> Learnt:
        """Wait until what was begun is durable. Who stops waiting stops nothing."""
        try:
            if pending.commit is not None:
                await _durable(pending.commit)
            return pending.learnt
        finally:
            self._waiting -= 1

    async def settled(self) -> None:
        """Wait until all that was learnt is durable."""
        self._queued += 1
        try:
            async with self._turn:
                if self._last is not None:
                    await _durable(self._last)
        finally:
            self._queued -= 1

    def drop(self) -> None:
        """This copy is no longer the session; those who watch are told."""
        self.gone = True
        self.wake()

    def _check_present(self) -> None:
        if self.gone:
            raise Problem("unavailable", "the session was reloaded, send again", headers=RETRY)

    def _step(
        self, samples: Samples, ticket: Ticket | None, if_match: int | None, predictions: bool
    ) -> Pending:
        """Learn on the copy that runs ahead, and queue the commit."""
        fresh = self._fresh(samples, ticket, if_match)
        if fresh is None:
            return self._nothing_new(samples)
        ahead, started = self._ahead(fresh), time.perf_counter()
        outcome = _run(ahead, fresh, predictions, samples.n - fresh.n)
        return self._taken(ahead, fresh, outcome, started, ticket, samples.n)

    async def _long_step(
        self, samples: Samples, ticket: Ticket | None, if_match: int | None, predictions: bool
    ) -> Pending:
        """The same, with the learning in a thread."""
        fresh = self._fresh(samples, ticket, if_match)
        if fresh is None:
            return self._nothing_new(samples)
        ahead, started = self._ahead(fresh), time.perf_counter()
        work = asyncio.to_thread(_run, ahead, fresh, predictions, samples.n - fresh.n)
        outcome = await to_the_end(work)
        self._check_present()  # it may have been dropped meanwhile
        return self._taken(ahead, fresh, outcome, started, ticket, samples.n)

    def _ahead(self, samples: Samples) -> Learner:
        """What learns while the session stays where it is."""
        if self._learner is not None:
            return self._learner.view()
        return self.config.learner(samples.dim, self._settings.max_dim)

    def _nothing_new(self, samples: Samples) -> Pending:
        if self._learner is None:
            raise Problem("invalid", "the first batch of a session without dim is empty")
        return Pending(Learnt(self._learner, 0, samples.n > 0), self._last)

    def _taken(
        self,
        ahead: Learner,
        fresh: Samples,
        outcome: Outcome,
        started: float,
        ticket: Ticket | None,
        sent: int,
    ) -> Pending:
        """What was learnt becomes the session's, and its commit is queued."""
        at = self._learner.t if self._learner else 0
        if not outcome:
            self.diverged = True
            self.wake()
            self._metrics.diverged()
            raise Problem("diverged", _advice(at + outcome.accepted), t=at)
        self._metrics.learnt(fresh.n, time.perf_counter() - started)
        self._learner, self.diverged = ahead, False
        if ticket:
            self.producers[ticket.producer] = ticket.seq + sent
        self._last = self._commit(ahead, at, fresh, ticket, sent)
        self._last.then(partial(self._committed, ahead))
        return Pending(Learnt(ahead, fresh.n, False, outcome.predictions), self._last)

    def _fresh(
        self, samples: Samples, ticket: Ticket | None, if_match: int | None
    ) -> Samples | None:
        """The samples that were not learnt before; None if there are none."""
        self._check_present()
        if if_match is not None and if_match != (at := self._learner.t if self._learner else 0):
            raise Problem("state-changed", f"the session is at t = {at}, not {if_match}", t=at)
        if ticket is None:
            return samples if samples.n else None
        expected = self.producers.get(ticket.producer, 0)
        if ticket.seq > expected:
            raise Problem(
                "sequence-gap",
                f"producer {ticket.producer!r} is at {expected}: send from there",
                expected=expected,
            )
        if (
            ticket.producer not in self.producers
            and len(self.producers) >= self._settings.max_producers
        ):
            raise Problem("too-many", "this session has its most producers", headers=RETRY)
        known = expected - ticket.seq
        return samples.after(known) if known < samples.n else None

    def _commit(
        self, learner: Learner, at: int, samples: Samples, ticket: Ticket | None, sent: int
    ) -> Receipt[Any]:
        """Queue the smaller of the samples and the state; a snapshot when the tail is long."""
        producer = (ticket.producer, ticket.seq + sent) if ticket else None
        size, most = samples.nbytes, learner.nbytes
        if size > most or self._tail + size > 2 * most + 4096:
            self._tail = 0
            return self._committer.commit(Replace(self.id, at, samples.n, learner.pack(), producer))
        self._tail += size
        blob = pack_samples(samples)
        return self._committer.commit(Append(self.id, at, samples.n, blob, producer))

    def _committed(self, learner: Learner, outcome: Any) -> None:
        """The store has spoken: everybody may see it, or this copy is dropped."""
        if isinstance(outcome, Written):
            self._publish(learner)
        else:
            self.drop()

    def _publish(self, learner: Learner) -> None:
        if not self.gone and learner.t > self.t:
            self.published = learner
            self.wake()

    def wake(self) -> None:
        """Let those who watch look again."""
        if self.watchers:
            self.changed.set()
            self.changed = asyncio.Event()


def _run(learner: Learner, samples: Samples, predictions: bool, known: int) -> Outcome:
    """Learn; what is wrong with a sample is told by its place, `known` ones before the first."""
    try:
        return learner.learn(*samples.arguments, predictions=predictions)
    except SampleError as wrong:
        number = "" if wrong.index is None else f"/{known + wrong.index}"
        errors = [{"pointer": f"{number}/{wrong.field}", "detail": wrong.reason}]
        raise Problem("invalid", f"{wrong}", errors) from None


async def _durable(commit: Receipt[Any]) -> None:
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
