"""A session: one team of learners, one owner, samples in the order they came.

Learning runs ahead of the store: the learner takes the next samples while earlier ones are being
committed. What the outside sees, `published`, only ever moves when a commit is durable. If a commit
fails the session is dropped, never patched: the next touch loads what the store has.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from llr import Outcome, SampleError, Status
from llr_service.codec import Samples
from llr_service.metrics import Metrics
from llr_service.problems import Problem
from llr_service.sessions.batch import Expected, Fresh, Late, Learnt, Pending, Ticket
from llr_service.sessions.committer import Receipt
from llr_service.sessions.config import SessionConfig
from llr_service.sessions.journal import Journal
from llr_service.sessions.moment import Event, Moment
from llr_service.sessions.producers import new_of
from llr_service.sessions.relearning import Relearning
from llr_service.sessions.roster import new_team
from llr_service.sessions.shelf import Shelf
from llr_service.sessions.step import advice, learn, placed
from llr_service.sessions.team import Team
from llr_service.sessions.turns import Turns
from llr_service.sessions.waiting import LONG, Moved, check_stored, durable, to_the_end
from llr_service.settings import Settings
from llr_service.stores.store import PendingChanges, Written
from llr_service.theta import of_few


class Session:
    """One named learner in memory, with what else learns its samples.

    Attributes:
        name: its name.
        config: its config.
        id: its number in the store.
        features: whether its samples have an x.
        published: the team as of the last commit, None before the first sample of a session
            whose dim was left out. Never learns: what runs ahead is a view of it.
        began: its t when it came into memory.
        changes: how often the team was changed since.
        producers: for each producer, the number of its next sample.
        shelf: what is kept for late labels.
        journal: its way to the store.
        turns: those who wait for it.
        relearning: what it learns anew or has learnt so, None if it was not forked for that.
        changed: set and replaced whenever `published` moves or the session diverges, for those
            who watch.
        event: what those who watch were told last.
    """

    def __init__(
        self,
        name: str,
        config: SessionConfig,
        session: int,
        team: Team | None,
        producers: dict[str, int],
        shelf: Shelf,
        journal: Journal,
        metrics: Metrics,
        settings: Settings,
        clock: Callable[[], float],
    ) -> None:
        self.name, self.config, self.id = name, config, session
        self.features = config.features
        self.producers, self.shelf = producers, shelf
        self.published = team
        self.began, self.changes = team.t if team else 0, 0
        self.changed = asyncio.Event()
        self.event = Event()
        self.watchers = 0
        self.gone = False
        self.diverged = False
        self.relearning: Relearning | None = None
        self._team = team
        self.metrics, self.settings = metrics, settings
        self.journal, self._clock = journal, clock
        self.turns = Turns(settings.max_queue)

    @property
    def t(self) -> int:
        """Samples learnt and committed."""
        return self.published.t if self.published else 0

    @property
    def status(self) -> str:
        """`ok`; `diverged` after a step that was refused; `stopped` if it could not re-learn."""
        if self.relearning is not None and self.relearning.stopped is not None:
            return "stopped"
        return "diverged" if self.diverged else "ok"

    @property
    def busy(self) -> bool:
        """Whether somebody waits for it or watches it."""
        return bool(self.turns.waiting or self.watchers)

    @property
    def nbytes(self) -> int:
        """How much memory it takes, roughly."""
        team = self._team.nbytes if self._team else 0
        return 2000 + team + 100 * len(self.producers) + self.shelf.nbytes

    @property
    def ahead(self) -> Team | None:
        """The team with all that was learnt, durable or not; None as for `published`."""
        return self._team

    @property
    def moment(self) -> Moment:
        """What tells its state from the one before."""
        return Moment(self.t, self.changes, self.status)

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
        if_match: Expected | None = None,
        predictions: bool = False,
    ) -> Learnt:
        """Learn from a batch, whole or not at all; returns when it is durable."""
        return await self.finish(await self.submit(samples, ticket, if_match, predictions))

    async def submit(
        self,
        samples: Samples | Late,
        ticket: Ticket | None = None,
        if_match: Expected | None = None,
        predictions: bool = False,
        admitted: bool = False,
    ) -> Pending:
        """Learn from a batch ahead of the store, in turn. `finish` has to follow.

        This is the one way in for samples, whatever they came as, and for late labels.
        A later block of a request is `admitted`: it does not queue behind its own first ones.
        """
        turns, nbytes = self.turns, samples.nbytes
        turns.enter(admitted)
        try:
            if nbytes < LONG and not turns.queued:
                return self._step(self._fresh(samples, ticket, if_match), predictions)
            async with turns.line():
                return await self.go(self._fresh(samples, ticket, if_match), nbytes, predictions)
        except BaseException:
            turns.waiting -= 1
            raise

    async def finish(self, pending: Pending) -> Learnt:
        """Wait until what was begun is durable. Who stops waiting stops nothing."""
        learnt, commit = pending
        try:
            if commit is not None:
                check_stored(await commit.outcome())
            return learnt
        finally:
            self.turns.waiting -= 1

    async def settled(self) -> None:
        """Wait until all that was learnt is durable."""
        async with self.turns.line():
            if self.journal.last is not None:
                await durable(self.journal.last)

    async def go(self, fresh: Fresh | Pending, nbytes: int, predictions: bool) -> Pending:
        """At one's turn, learn ahead of the store; from many bytes in a thread."""
        if nbytes < LONG:
            return self._step(fresh, predictions)
        return await self._long_step(fresh, predictions)

    def keep(self, kept: PendingChanges) -> Receipt[Any]:
        """At one's turn, keep and forget ahead of the store."""
        self.check()
        self.shelf.put(kept)
        commit = self.journal.kept(self._at, kept)
        commit.then(partial(self._committed, self._team))
        return commit

    def renew(self, team: Team) -> Receipt[Any]:
        """At one's turn, go on with another team that has learnt the same, ahead of the store."""
        self.check()
        self._team = team
        commit = self.journal.renewed(team)
        commit.then(partial(self._committed, team))
        return commit

    def check(self, if_match: Expected | None = None) -> None:
        """Refuse to go on if this copy was dropped, or is not where it is expected to be."""
        if self.gone:
            raise Moved
        if if_match is None:
            return
        at, version = self._at, self._team.version if self._team else 0
        if if_match.t != at:
            detail = f"the session is at t = {at}, not {if_match.t}"
        elif if_match.version not in (None, version):
            detail = f"the ensemble is at version {version}, not {if_match.version}"
        else:
            return
        raise Problem("state-changed", detail, t=at, version=version)

    def drop(self) -> None:
        """This copy is no longer the session; those who watch are told."""
        self.gone = True
        self.wake()

    def _step(self, fresh: Fresh | Pending, predictions: bool) -> Pending:
        """Learn on the copy that runs ahead, and queue the commit."""
        if isinstance(fresh, Pending):
            return fresh
        ahead, started = self._view(fresh), time.perf_counter()
        outcome = learn(ahead, fresh, predictions)
        return self._taken(ahead, fresh, outcome, started)

    async def _long_step(self, fresh: Fresh | Pending, predictions: bool) -> Pending:
        """The same, with the learning in a thread."""
        if isinstance(fresh, Pending):
            return fresh
        ahead, started = self._view(fresh), time.perf_counter()
        outcome = await to_the_end(asyncio.to_thread(learn, ahead, fresh, predictions))
        self.check()  # it may have been dropped meanwhile
        return self._taken(ahead, fresh, outcome, started)

    @property
    def _at(self) -> int:
        """Samples learnt, durable or not."""
        return self._team.t if self._team else 0

    def _view(self, fresh: Fresh) -> Team:
        """What learns while the session stays where it is."""
        if self._team is not None:
            return self._team.view()
        try:
            return new_team(self.config, fresh.samples.dim, self.settings.max_dim)
        except SampleError as wrong:
            raise placed(wrong, fresh) from None

    def nothing_new(self, sent: int, names: Sequence[str] = ()) -> Pending:
        """What comes of so many samples, with these names, none of which are new."""
        if self._team is None:
            raise Problem("invalid", "the first batch of a session without dim is empty")
        return Pending(Learnt(self._team, 0, sent > 0, names=names), self.journal.last)

    def _taken(self, ahead: Team, fresh: Fresh, outcome: Outcome, started: float) -> Pending:
        """What was learnt becomes the session's, and its commit is queued."""
        samples, _, producer, kept = fresh
        at, n = self._at, samples.y.size
        if outcome.status is not Status.LEARNT:
            self.diverged = True
            self.wake()
            self.metrics.diverged()
            raise Problem("diverged", advice(at + outcome.accepted), t=at)
        self.metrics.learnt(n, time.perf_counter() - started)
        self._team, self.diverged = ahead, False
        if producer is not None:
            self.producers[producer[0]] = producer[1]
        if kept:
            self.shelf.put(kept)
        try:
            commit = self.journal.learnt(ahead, at, fresh)
        except BaseException:
            self.drop()  # this copy is ahead of what will ever be stored
            raise
        commit.then(partial(self._committed, ahead))
        names = samples.names
        theta = of_few(names)(ahead.champion) if names else None
        return Pending(Learnt(ahead, n, False, outcome.predictions, names, theta), commit)

    def _fresh(
        self, samples: Samples | Late, ticket: Ticket | None, if_match: Expected | None
    ) -> Fresh | Pending:
        """The samples that were not learnt before."""
        self.check()
        if not isinstance(samples, Samples):
            return samples.first_labels(if_match)
        most = self.settings.max_producers
        fresh = new_of(samples, ticket, self.producers, most)
        if fresh is None and samples.n:
            return self.nothing_new(samples.n, samples.names)  # a retry, wherever the session is
        self.check(if_match)
        return fresh or self.nothing_new(samples.n, samples.names)

    def _committed(self, team: Team | None, outcome: Any) -> None:
        """The store has spoken: everybody may see it, or this copy is dropped."""
        if isinstance(outcome, Written):
            self.journal.hear()
            self._publish(team)
        else:
            self.drop()

    def _publish(self, team: Team | None) -> None:
        if team is not None and not self.gone and team is not self.published:
            self.changes += self.t == team.t
            self.published = team
            self.wake()

    def wake(self) -> None:
        """Let those who watch look again."""
        if self.watchers:
            self.changed.set()
            self.changed = asyncio.Event()
