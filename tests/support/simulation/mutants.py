"""Faults put into the service one at a time: the rules have to find every one of them."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any
from unittest.mock import patch

from llr_service.sessions.batch import NewSamples, SequenceId, select_unseen
from llr_service.sessions.committer import Committer
from llr_service.sessions.packing import pack
from llr_service.sessions.registry import SessionRegistry
from llr_service.sessions.session import Session
from llr_service.sessions.session_log import SessionLog
from llr_service.sessions.storage import store_result
from llr_service.stores.sqlite.database import SETTINGS
from llr_service.stores.sqlite.write import MOVE
from llr_service.stores.store import (
    Conflict,
    DeleteSession,
    UpdatePending,
    VersionCheck,
    WriteSnapshot,
    Written,
)
from llr_service.stores.validation import find_conflict

from . import server
from .plans import simulate

MOST = 2000
"""Seeds within which each has to be found."""

Change = Callable[[ExitStack], None]


@dataclass(frozen=True)
class Mutant:
    """A fault: what is wrong, how it is put in, and on which engine it is looked for.

    `first` is the seed from which the ordinary tests look for it, if that takes many seeds.
    """

    name: str
    put_in: Change
    engine: str = "memory"
    first: int = 0


def found(mutant: Mutant, first: int = 0, most: int = MOST) -> tuple[int | None, str]:
    """How many seeds it takes to find a mutant, and what is said of it; None if it is not found."""
    with ExitStack() as stack:
        mutant.put_in(stack)
        for seed in range(first, first + most):
            faults = simulate(seed, mutant.engine)[1]
            if faults:
                return seed - first + 1, faults[0]
    return None, ""


def _set(*changes: tuple[Any, str, Any]) -> Change:
    """Replace attributes of the service."""

    def put_in(stack: ExitStack) -> None:
        for owner, name, value in changes:
            if isinstance(owner, str):
                stack.enter_context(patch(f"llr_service.{owner}.{name}", value))
            else:
                stack.enter_context(patch.object(owner, name, value))

    return put_in


async def _at_once(commit: Any) -> None:
    """Do not wait for the store."""


_taken, _committed, _learnt = Session._adopt, Session._on_commit, SessionLog.append_samples
_renewed, _kept, _write, _finish = (
    SessionLog.write_snapshot,
    SessionLog.write_pending,
    Committer._write,
    Committer._finish,
)
_make, _checked = SessionRegistry._make, Session.check


def _publish_early(self: Session, *arguments: Any) -> Any:
    pending = _taken(self, *arguments)
    self.published = self._ensemble
    return pending


def _keep_copy(self: Session, ensemble: Any, labels: Any, outcome: Any) -> None:
    if isinstance(outcome, Written):
        _committed(self, ensemble, labels, outcome)


def _publish_failed(self: Session, ensemble: Any, labels: Any, outcome: Any) -> None:
    told = outcome if isinstance(outcome, Written) else Written(self.id)
    _committed(self, ensemble, labels, told)


def _without_producer(self: SessionLog, ensemble: Any, at: int, fresh: NewSamples, now: int) -> Any:
    return _learnt(self, ensemble, at, fresh._replace(producer=None), now)


def _without_ids(self: SessionLog, ensemble: Any, at: int, fresh: NewSamples, now: int) -> Any:
    return _learnt(self, ensemble, at, fresh._replace(pending=()), now)


def _kept_nowhere(self: SessionLog, at: int, kept: Any) -> Any:
    return _kept(self, at, ())


def _any_version(change: Any, position: Any) -> Conflict | None:
    if position is not None and not isinstance(change, DeleteSession):
        position = position._replace(version=change.check.expected)
    return find_conflict(change, position)


def _forgetful(samples: Any, sequence: Any, producers: dict[str, int], most: int) -> Any:
    known = dict(producers)
    if sequence is not None and sequence.seq < known.get(sequence.producer, 0):
        known[sequence.producer] = sequence.seq
    return select_unseen(samples, sequence, known, most)


def _swapped(self: Committer, group: Sequence[Any]) -> Any:
    done = _write(self, [*group])
    outcomes = [outcome for _, outcome in done][::-1]
    return [(receipt, outcome) for (receipt, _), outcome in zip(done, outcomes, strict=True)]


def _written_anyway(self: Committer, group: Sequence[Any]) -> Any:
    """A conflict is taken for a success."""
    return [
        (receipt, Written(0) if isinstance(outcome, Conflict) else outcome)
        for receipt, outcome in _write(self, [*group])
    ]


def _tells_first(self: Committer, done: Any) -> None:
    """What waits is not given to the thread before somebody else asks for something."""
    waiting, self._waiting = self._waiting, []
    _finish(self, done)
    self._waiting = waiting + self._waiting


def _any_position(found: Any, move: Any) -> bool:
    """The database does not compare versions."""
    return found is not None and found["t"] == move["was_t"]


def _counts(self: SequenceId, samples: Any) -> int | None:
    """The next number of a producer is how many samples it sent."""
    return None if self.seq is None else self.seq + samples.n


async def _never_stale(self: SessionRegistry, session: Session) -> bool:
    """A copy is not compared with the database."""
    return False


def _unversioned(self: SessionLog, t: int, changes: Any) -> Any:
    """A kept x does not name the version that it makes: what follows it follows anything."""
    check = VersionCheck(self._last, self._last)
    return self._commit(UpdatePending(self._session, t, changes, check))


def _promoted_unversioned(self: SessionLog, ensemble: Any, producer: Any = None) -> Any:
    """A promotion does not name the version that it makes."""
    check, kept = VersionCheck(self._last, self._last), self.retention.kept
    return self._commit(
        WriteSnapshot(
            self._session, ensemble.t, 0, pack(ensemble), producer, check=check, retained=kept
        )
    )


def _same_version_too(change: Any, position: Any) -> Conflict | None:
    """An engine accepts a change that makes no new version."""
    if isinstance(change, DeleteSession):
        return find_conflict(change, position)
    check = change.check._replace(new=change.check.expected + 1)
    if isinstance(change, WriteSnapshot):
        return find_conflict(replace(change, check=check), position)
    return find_conflict(change._replace(check=check), position)


def _goes_on(self: Session, if_match: Any = None) -> None:
    """A copy that was discarded accepts changes."""
    discarded, self.discarded = self.discarded, False
    try:
        _checked(self, if_match)
    finally:
        self.discarded = discarded


async def _by_name(self: SessionRegistry, session: Session) -> bool:
    """A copy is compared by its version alone, whichever session has the name."""
    versions = self.storage.versions
    if versions is None:
        return False
    since, found = session.log.stored_version, await store_result(versions.read(session.name))
    if found and session.log.is_current(found.number, since):
        await session.log.wait_ack(found.number)
        return session.discarded
    self._drop(session)
    return True


def _same_versions() -> int:
    """Every copy gives the same versions."""
    return 1


async def _delete_kept(self: SessionRegistry, name: str, *_: Any) -> None:
    session = await self.get_current(name)
    await store_result(self.storage.committer.commit(DeleteSession(session.id)).wait())


def _loses_ids(self: SessionRegistry, name: str, stored: Any, ensemble: Any) -> Session:
    return _make(self, name, replace(stored, pending={}), ensemble)


def _loses_producers(self: SessionRegistry, name: str, stored: Any, ensemble: Any) -> Session:
    return _make(self, name, replace(stored, producers={}), ensemble)


def _stale_team(self: SessionLog, ensemble: Any) -> Any:
    """A new team is told of, and not stored."""
    return _kept(self, ensemble.t, ())


async def _unsettled(registry: SessionRegistry, session: Session) -> Session:
    return session


def _unsynced(stack: ExitStack) -> None:
    """SQLite syncs at checkpoints alone."""
    settings = ["PRAGMA synchronous = OFF" if "synchronous" in one else one for one in SETTINGS]
    stack.enter_context(patch("llr_service.stores.sqlite.database.SETTINGS", tuple(settings)))


CONFLICT = "find_conflict"
MUTANTS = (
    Mutant(
        "x is acknowledged before it is stored",
        _set(("sessions.delayed_labels", "wait_durable", _at_once)),
    ),
    Mutant(
        "a promotion is acknowledged before it is stored",
        _set(("sessions.session", "wait_durable", _at_once)),
    ),
    Mutant(
        "states are published before they are stored", _set((Session, "_adopt", _publish_early))
    ),
    Mutant(
        "no change checks its version, copies stay after a failure",
        _set(("stores.memory", CONFLICT, _any_version), (Session, "_on_commit", _keep_copy)),
    ),
    Mutant(
        "a copy stays in memory after a failed commit", _set((Session, "_on_commit", _keep_copy))
    ),
    Mutant("a failed commit is published", _set((Session, "_on_commit", _publish_failed))),
    Mutant(
        "a producer's number is not stored", _set((SessionLog, "append_samples", _without_producer))
    ),
    Mutant(
        "numbers seen before are learnt again",
        _set(("sessions.session", "select_unseen", _forgetful)),
    ),
    Mutant(
        "a label leaves its x waiting in the store",
        _set((SessionLog, "append_samples", _without_ids)),
    ),
    Mutant("x is not stored", _set((SessionLog, "write_pending", _kept_nowhere))),
    Mutant("x is not loaded", _set((SessionRegistry, "_make", _loses_ids))),
    Mutant("producers are not loaded", _set((SessionRegistry, "_make", _loses_producers))),
    Mutant("a promoted team is not stored", _set((SessionLog, "write_snapshot", _stale_team))),
    Mutant("the outcomes of a group are swapped", _set((Committer, "_write", _swapped))),
    Mutant("a conflict counts as stored", _set((Committer, "_write", _written_anyway))),
    Mutant("a queue is not taken up again", _set((Committer, "_finish", _tells_first))),
    Mutant("a deletion leaves a copy in memory", _set((SessionRegistry, "delete", _delete_kept))),
    Mutant(
        "numbers are told that are not stored", _set(("routes.sessions", "get_flushed", _unsettled))
    ),
    Mutant("SQLite does not sync", _unsynced, "sqlite"),
    Mutant("an engine accepts any version", _set(("stores.memory", CONFLICT, _any_version))),
    Mutant(
        "a database accepts any version",
        _set((server, "_fits", _any_position), ("stores.plan", CONFLICT, _any_version)),
        "postgres",
    ),
    Mutant(
        "x is kept without a version of its own, copies stay",
        _set(
            (SessionLog, "write_pending", _unversioned),
            ("stores.memory", CONFLICT, _same_version_too),
            (Session, "_on_commit", _keep_copy),
        ),
    ),
    Mutant(
        "a replica does not compare its copy",
        _set((SessionRegistry, "evict_if_stale", _never_stale)),
        "postgres",
    ),
    Mutant(
        "copies give the same versions",
        _set(("sessions.session_log", "new_version", _same_versions)),
        "postgres",
    ),
    Mutant(
        "a promotion has no version of its own",
        _set(
            (SessionLog, "write_snapshot", _promoted_unversioned),
            ("stores.memory", CONFLICT, _same_version_too),
        ),
    ),
    Mutant(
        "SQLite accepts any version",
        _set(
            ("stores.plan", CONFLICT, _any_version),
            ("stores.sqlite.write", "MOVE", MOVE.partition(" AND sessions.version")[0]),
        ),
        "sqlite",
    ),
    Mutant(
        "x is kept without a version of its own, a dropped copy counts as current, on SQLite",
        _set(
            (SessionLog, "write_pending", _unversioned),
            ("stores.plan", CONFLICT, _same_version_too),
            (SessionRegistry, "evict_if_stale", _never_stale),
        ),
        "sqlite",
        first=400,
    ),
    Mutant(
        "a promotion has no version of its own, on SQLite",
        _set((SessionLog, "write_snapshot", _promoted_unversioned)),
        "sqlite",
        first=100,
    ),
    Mutant("next is a count of samples", _set((SequenceId, "end", _counts))),
    Mutant(
        "a copy goes on after its first failure", _set((Session, "check", _goes_on)), first=1700
    ),
    Mutant(
        "a name stands for another session",
        _set(
            (SessionRegistry, "evict_if_stale", _by_name),
            ("sessions.registry", "new_version", _same_versions),
        ),
        "postgres",
        first=500,
    ),
)
