"""A session: one ensemble of learners, changed by one request at a time, in order of arrival.

Learning runs ahead of the store: the learner takes the next samples while earlier ones are being
committed. `published`, the state that readers see, moves only when a commit is durable. If a commit
fails, the copy in memory is discarded as a whole, and the next request loads what the store has.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, Self

from llr import Outcome, SampleError, Status
from llr_service.codec import Samples
from llr_service.codec.samples import NAMED
from llr_service.metrics import Metrics
from llr_service.problems import Problem
from llr_service.sessions.batch import (
    INLINE_LEARN_BYTES,
    INLINE_LEARN_NS,
    DelayedLabels,
    Expected,
    LearnResult,
    NewSamples,
    PendingCommit,
    SequenceId,
    divergence_hint,
    finish_even_if_cancelled,
    learn,
    select_unseen,
    to_problem,
)
from llr_service.sessions.committer import CommitFuture
from llr_service.sessions.config import SessionConfig
from llr_service.sessions.ensemble import Ensemble, new_ensemble
from llr_service.sessions.outbox import Outbox
from llr_service.sessions.pending_labels import LabelSummary, PendingLabels
from llr_service.sessions.session_log import SessionLog
from llr_service.sessions.session_queue import ReplayStatus, SessionQueue
from llr_service.sessions.storage import VersionConflict, wait_durable
from llr_service.sessions.times import NO_TIME, Activity, Times, activity
from llr_service.settings import Settings
from llr_service.stores.store import PendingChanges, Written
from llr_service.theta import of_few


class StateVersion(NamedTuple):
    """The version of a state that watchers compare: t, changes of the ensemble, status."""

    t: int
    changes: int
    status: str


class CachedEvent(NamedTuple):
    """The last event, shared by all watchers: its state, its text, when the next may be written."""

    of: StateVersion | None = None
    text: bytes = b""
    due: float = 0.0


class EnsembleChange(NamedTuple):
    """A durable change of an ensemble, or the finding that it is as requested already.

    Attributes:
        session: the copy that made it. It may have been discarded since, and show an older state.
        ensemble: the ensemble as requested.
        changed: whether it had to be changed.
    """

    session: "Session"
    ensemble: Ensemble
    changed: bool


class Session:
    """A named learner in memory.

    Attributes:
        name: its name.
        config: its config.
        id: its number in the store.
        created: when it was created, in milliseconds since 1970; 0 if that is not known.
        features: whether its samples have an x.
        classes: the names of its classes; None if labels are numbers.
        published: the ensemble as of the last durable commit; None before the first sample of a
            session without dim. It never learns: learning works on a view of it.
        loaded_t: its t when it was loaded.
        ensemble_changes: how often the ensemble was changed since it was loaded.
        producers: for each producer, the number of its next sample.
        pending: the examples that wait for their labels, ahead of the store.
        labels: the counts of labels as of the last durable commit.
        log: writes its changes to the store.
        queue: its bounded queue and its lock.
        replay: the progress of a replay, None if the session is not a what-if.
        changed: an event that is set and replaced whenever `published` moves or the session
            diverges.
        event: the last event that watchers got.
        watchers: how many pins keep it in memory.
        discarded: whether this copy was dropped; it accepts nothing more.
        diverged: whether the last batch was refused because its step diverged.
        outbox: takes the events that are reported; None if none are.
    """

    def __init__(
        self,
        name: str,
        config: SessionConfig,
        session: int,
        ensemble: Ensemble | None,
        producers: dict[str, int],
        pending: PendingLabels,
        log: SessionLog,
        metrics: Metrics,
        settings: Settings,
        clock: Callable[[], float],
        created: int = NO_TIME,
    ) -> None:
        self.name, self.config, self.id, self.created = name, config, session, created
        self.features, self.classes = config.features, config.named_classes
        self.producers, self.pending, self.labels = producers, pending, pending.summary
        self.published = ensemble
        self.loaded_t, self.ensemble_changes = ensemble.t if ensemble else 0, 0
        self.changed = asyncio.Event()
        self.event = CachedEvent()
        self.watchers = 0
        self.discarded = False
        self.diverged = False
        self.replay: ReplayStatus | None = None
        self._ensemble = ensemble
        self._step_ns = (-1, 0)
        self.metrics, self.settings = metrics, settings
        self.log, self._clock = log, clock
        self.outbox: Outbox | None = None
        self.queue = SessionQueue(settings.max_queue)

    @property
    def t(self) -> int:
        """Samples learnt and committed."""
        return self.published.t if self.published else 0

    @property
    def status(self) -> str:
        """`ok`; `diverged` after a step that was refused; `stopped` if its replay failed."""
        if self.replay is not None and self.replay.stopped is not None:
            return "stopped"
        return "diverged" if self.diverged else "ok"

    @property
    def takes_names(self) -> bool:
        """Whether columns with names are features with names: so too if that is still open."""
        if self._ensemble is not None:
            return self._ensemble.dim == NAMED
        return self.config.takes_names is not False

    @property
    def busy(self) -> bool:
        """Whether requests or watchers need it in memory."""
        return bool(self.queue.pending or self.watchers)

    @property
    def nbytes(self) -> int:
        """The memory it takes, roughly."""
        ensemble = self._ensemble.nbytes if self._ensemble else 0
        return 2000 + ensemble + 100 * len(self.producers) + self.pending.nbytes

    @property
    def latest(self) -> Ensemble | None:
        """The ensemble after all samples, durable or not; None as for `published`."""
        return self._ensemble

    @property
    def has_tail(self) -> bool:
        """Whether its log has samples that no snapshot holds."""
        return bool(self.log.tail_bytes) and not self.discarded

    @property
    def state_version(self) -> StateVersion:
        """The version of the published state."""
        return StateVersion(self.t, self.ensemble_changes, self.status)

    @property
    def label_ms(self) -> int:
        """How long an example waits for its label, in milliseconds."""
        return int(1000 * (self.config.label_seconds or self.settings.label_seconds))

    @property
    def times(self) -> Times:
        """When the committed samples were learnt."""
        return self.published.times if self.published else Times()

    @property
    def expires(self) -> int | None:
        """When it expires unless a sample comes, in ms since 1970; None if it never does."""
        seconds, last = self.config.expire_seconds, max(self.created, self.times.last or 0)
        return None if seconds is None or not last else last + int(1000 * seconds)

    @property
    def activity(self) -> Activity:
        """`learning`, `idle` or `drifting`."""
        drift = self.published.drift if self.published else None
        alarm = drift.at[-1] if drift is not None and drift.alarms else None
        return activity(self.t, self.times, alarm, self.now())

    def now(self) -> int:
        """The time, in milliseconds since 1970."""
        return int(1000 * self._clock())

    async def submit(
        self,
        samples: Samples | DelayedLabels,
        sequence: SequenceId | None = None,
        if_match: Expected | None = None,
        predictions: bool = False,
        admitted: bool = False,
    ) -> PendingCommit:
        """Learn from a batch ahead of the store, whole or not at all.

        Every sample and every delayed label comes through here. `admitted` lets later blocks of
        one request pass the bound of the queue, which its first block has passed.
        """
        queue = self.queue
        queue.reserve(admitted)
        try:
            if not queue.lock_waiters and self._is_quick(samples.n, samples.nbytes):
                pending = self._step(self._select(samples, sequence, if_match), predictions)
            else:
                async with queue.lock():
                    new = self._select(samples, sequence, if_match)
                    pending = await self.learn_locked(new, predictions)
        except BaseException:
            queue.release()
            raise
        if pending.commit is None:
            queue.release()
        else:
            pending.commit.add_callback(queue.release)
        return pending

    async def flush(self) -> None:
        """Wait until everything learnt so far is durable."""
        async with self.queue.lock():
            if self.log.last is not None:
                await wait_durable(self.log.last)

    async def change_ensemble(
        self, change: Callable[[Ensemble], Ensemble | None], if_match: Expected | None
    ) -> EnsembleChange:
        """Change the ensemble durably; `change` returns None where it is as requested already.

        A change that has no effect is a retry: it succeeds whatever `if_match` expects.
        """
        with self.queue.slot():
            async with self.queue.lock():
                self.check()
                if self._ensemble is None:
                    detail = "dim is unknown before the first sample: send it first, or create"
                    raise Problem("invalid", f"{detail} the session with shadows")
                changed = change(self._ensemble)
                if changed is not None:
                    self.check(if_match)
                    changed.version = self._ensemble.version + 1
                ensemble = self._ensemble if changed is None else changed
                commit = self.log.last if changed is None else self.write_ensemble(changed)
            if commit is not None:
                await wait_durable(commit)
        return EnsembleChange(self, ensemble, changed is not None)

    async def checkpoint(self, bounded: bool = True) -> bool:
        """Fold the tail of the log into a snapshot, durably; whether there was a tail.

        Unless `bounded` that is done although the session is read-only or its queue is full.
        """
        with self.queue.slot() if bounded else self.queue.pin():
            async with self.queue.lock():
                self.check()
                if self._ensemble is None or not self.log.tail_bytes:
                    return False
                commit = self.write_ensemble(self._ensemble)
            await wait_durable(commit)
        return True

    async def learn_locked(
        self, new: NewSamples | PendingCommit, predictions: bool = False
    ) -> PendingCommit:
        """Learn ahead of the store, in a thread if it takes long. The caller holds the lock."""
        self.check()  # the copy may have been discarded while the caller waited for the lock
        if isinstance(new, PendingCommit) or self._is_quick(new.samples.n, new.samples.nbytes):
            return self._step(new, predictions)
        return await self._step_in_thread(new, predictions)

    def _is_quick(self, n: int, nbytes: int) -> bool:
        """Whether n samples are learnt in about a millisecond: the event loop may wait for that.

        The first sample of a session without dim is judged by its bytes alone.
        """
        if nbytes >= INLINE_LEARN_BYTES:
            return False
        ensemble = self._ensemble
        if ensemble is None:
            return n * (nbytes // (8 * n or 1)) ** 2 < INLINE_LEARN_NS
        version, step_ns = self._step_ns
        if version != ensemble.version:
            step_ns = ensemble.step_ns
            self._step_ns = (ensemble.version, step_ns)
        return n * step_ns < INLINE_LEARN_NS

    def write_pending(self, changes: PendingChanges) -> CommitFuture[Any]:
        """Change the pending examples ahead of the store. The caller holds the lock."""
        self.check()
        self.pending.apply(changes)
        commit = self.log.write_pending(self._latest_t, changes)
        self._publish_after(commit, self._ensemble)
        return commit

    def write_ensemble(self, ensemble: Ensemble) -> CommitFuture[Any]:
        """Replace the ensemble by one at the same t, ahead of the store. With the lock held."""
        self.check()
        self._ensemble = ensemble
        commit = self.log.write_snapshot(ensemble)
        self._publish_after(commit, ensemble)
        return commit

    def check(self, if_match: Expected | None = None) -> None:
        """Raise if this copy was discarded or is not at the expected state."""
        if self.discarded:
            raise VersionConflict
        if if_match is None:
            return
        t, version = self._latest_t, self._ensemble.version if self._ensemble else 0
        if if_match.t != t:
            detail = f"the session is at t = {t}, not {if_match.t}"
        elif if_match.version not in (None, version):
            detail = f"the ensemble is at version {version}, not {if_match.version}"
        else:
            return
        raise Problem("state-changed", detail, t=t, version=version)

    def no_new_samples(self, sent: int, names: Sequence[str] = ()) -> PendingCommit:
        """The result of a batch without new samples; durable once the last commit is."""
        if self._ensemble is None:
            raise Problem("invalid", "the first batch of a session without dim is empty")
        return PendingCommit(LearnResult(self._ensemble, 0, sent > 0, names=names), self.log.last)

    def discard(self) -> None:
        """Accept nothing more: the session is loaded again at its next use."""
        self.discarded = True
        self.notify_watchers()

    def notify_watchers(self) -> None:
        """Wake the watchers."""
        if self.watchers:
            self.changed.set()
            self.changed = asyncio.Event()

    @property
    def _latest_t(self) -> int:
        """Samples learnt, durable or not."""
        return self._ensemble.t if self._ensemble else 0

    def _select(
        self,
        samples: Samples | DelayedLabels,
        sequence: SequenceId | None,
        if_match: Expected | None,
    ) -> NewSamples | PendingCommit:
        """Select the samples that were not learnt before."""
        self.check()
        if not isinstance(samples, Samples):
            return samples.select(if_match)
        new = select_unseen(samples, sequence, self.producers, self.settings.max_producers)
        if new is None and samples.n:
            return self.no_new_samples(samples.n, samples.names)  # a retry passes any If-Match
        if new is not None and not new.samples.n:
            return self._skip(new, samples, if_match)
        self.check(if_match)
        return new or self.no_new_samples(samples.n, samples.names)

    def _skip(self, new: NewSamples, sent: Samples, if_match: Expected | None) -> PendingCommit:
        """Move a producer's number without learning, ahead of the store."""
        if not sent.n:
            self.check(if_match)
        done = self.no_new_samples(sent.n, sent.names)
        ensemble, producer = done.learnt.ensemble, new.producer
        if producer is None:
            return done
        commit = self.log.write_snapshot(ensemble, producer)
        self.producers[producer[0]] = producer[1]
        self._publish_after(commit, ensemble)
        return PendingCommit(done.learnt, commit)

    def _step(self, new: NewSamples | PendingCommit, predictions: bool) -> PendingCommit:
        """Learn on a working copy and queue the commit."""
        if isinstance(new, PendingCommit):
            return new
        ahead, started = self._working_copy(new), time.perf_counter()
        outcome = learn(ahead, new, predictions)
        return self._adopt(ahead, new, outcome, started)

    async def _step_in_thread(self, new: NewSamples, predictions: bool) -> PendingCommit:
        """The same, with the learning in a thread."""
        ahead, started = self._working_copy(new), time.perf_counter()
        learning = asyncio.to_thread(learn, ahead, new, predictions)
        outcome = await finish_even_if_cancelled(learning)
        self.check()  # the copy may have been discarded in the meantime
        return self._adopt(ahead, new, outcome, started)

    def _working_copy(self, new: NewSamples) -> Ensemble:
        """An ensemble that learns while the session's own stays as it is."""
        if self._ensemble is not None:
            return self._ensemble.view()
        try:
            return new_ensemble(self.config, new.samples.dim, self.settings.max_dim)
        except SampleError as error:
            raise to_problem(error, new) from None

    def _adopt(
        self, ahead: Ensemble, new: NewSamples, outcome: Outcome, started: float
    ) -> PendingCommit:
        """Make a working copy the session's ensemble and queue its commit."""
        samples, _, producer, pending = new
        t, n = self._latest_t, samples.y.size
        if outcome.status is not Status.LEARNT:
            if not self.diverged and self.outbox is not None and self.replay is None:
                self.outbox.add("diverged", self.id, self.name, t + outcome.accepted, self.now())
            self.diverged = True
            self.notify_watchers()
            self.metrics.diverged()
            raise Problem("diverged", divergence_hint(t + outcome.accepted), t=t)
        self.metrics.learnt(n, time.perf_counter() - started)
        now = self.now()
        ahead.date(now)
        if ahead.drift is not None and ahead.alarms:
            self._report_drifts(ahead, now)
        self._ensemble, self.diverged = ahead, False
        if producer is not None:
            self.producers[producer[0]] = producer[1]
        if pending:
            self.pending.apply(pending)
        try:
            commit = self.log.append_samples(ahead, t, new, now)
        except BaseException:
            self.discard()  # this copy is ahead of what will ever be stored
            raise
        self._publish_after(commit, ahead)
        names = samples.names
        theta = of_few(names)(ahead.champion) if names else None
        return PendingCommit(
            LearnResult(ahead, n, False, outcome.predictions, names, theta), commit
        )

    def _report_drifts(self, ahead: Ensemble, now: int) -> None:
        """Count the drift alarms of the last batch, and put them into the outbox."""
        new = ahead.alarms - (self._ensemble.alarms if self._ensemble else 0)
        if not new:
            return
        self.metrics.drifted(new)
        if self.outbox is not None and self.replay is None and ahead.drift is not None:
            for t in ahead.drift.at[-new:]:
                self.outbox.add("drift", self.id, self.name, t, now, alarms=ahead.alarms)

    def _publish_after(self, commit: CommitFuture[Any], ensemble: Ensemble | None) -> None:
        """Publish the state as it is now once its commit is durable."""
        commit.add_callback(partial(self._on_commit, ensemble, self.pending.summary))

    def _on_commit(self, ensemble: Ensemble | None, labels: LabelSummary, outcome: Any) -> None:
        """Publish the state of a durable commit; discard this copy after a failed one."""
        if isinstance(outcome, Written):
            self.log.ack()
            self._publish(ensemble, labels)
        else:
            self.discard()

    def _publish(self, ensemble: Ensemble | None, labels: LabelSummary) -> None:
        if not self.discarded:
            self.labels = labels
        if ensemble is not None and not self.discarded and ensemble is not self.published:
            self.ensemble_changes += self.t == ensemble.t
            self.published = ensemble
            self.notify_watchers()


class SessionPin:
    """Keeps a session in memory inside a `with` block, and follows it from copy to copy.

    Attributes:
        session: the copy that is pinned.
    """

    def __init__(self, session: Session) -> None:
        self.session = session

    def move(self, session: Session) -> None:
        """Pin another copy instead."""
        self.session.watchers -= 1
        session.watchers += 1
        self.session = session

    def __enter__(self) -> Self:
        self.session.watchers += 1
        return self

    def __exit__(self, *_: object) -> None:
        self.session.watchers -= 1
