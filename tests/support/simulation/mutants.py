"""Faults put into the service one at a time: the rules have to find every one of them."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any
from unittest.mock import patch

from llr_service.sessions.actor import Session
from llr_service.sessions.batch import Fresh
from llr_service.sessions.committer import Committer
from llr_service.sessions.hub import Hub
from llr_service.sessions.journal import Journal
from llr_service.sessions.producers import new_of
from llr_service.sessions.waiting import told
from llr_service.stores.sqlite.database import SETTINGS
from llr_service.stores.store import Conflict, DeleteSession, Written
from llr_service.stores.validation import find_conflict

from .plans import simulate

MOST = 2000
"""Seeds within which each has to be found."""

Change = Callable[[ExitStack], None]


@dataclass(frozen=True)
class Mutant:
    """A fault: what is wrong, how it is put in, and on which engine it is looked for."""

    name: str
    put_in: Change
    engine: str = "memory"


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


_taken, _committed, _learnt = Session._taken, Session._committed, Journal.learnt
_renewed, _kept, _write, _finish = (
    Journal.renewed,
    Journal.kept,
    Committer._write,
    Committer._finish,
)
_make = Hub._make


def _publish_early(self: Session, *arguments: Any) -> Any:
    pending = _taken(self, *arguments)
    self.published = self._team
    return pending


def _keep_copy(self: Session, team: Any, outcome: Any) -> None:
    if isinstance(outcome, Written):
        _committed(self, team, outcome)


def _publish_failed(self: Session, team: Any, outcome: Any) -> None:
    _committed(self, team, outcome if isinstance(outcome, Written) else Written(self.id))


def _without_producer(self: Journal, team: Any, at: int, fresh: Fresh) -> Any:
    return _learnt(self, team, at, fresh._replace(producer=None))


def _without_ids(self: Journal, team: Any, at: int, fresh: Fresh) -> Any:
    return _learnt(self, team, at, fresh._replace(kept=()))


def _kept_nowhere(self: Journal, at: int, kept: Any) -> Any:
    return _kept(self, at, ())


def _any_version(change: Any, position: Any) -> Conflict | None:
    if position is not None:
        position = position._replace(version=change.check.expected)
    return find_conflict(change, position)


def _forgetful(samples: Any, ticket: Any, producers: dict[str, int], most: int) -> Any:
    known = dict(producers)
    if ticket is not None and ticket.seq < known.get(ticket.producer, 0):
        known[ticket.producer] = ticket.seq
    return new_of(samples, ticket, known, most)


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


async def _delete_kept(self: Hub, name: str, *_: Any) -> None:
    session = await self._there(name)
    await told(self.storage.committer.commit(DeleteSession(session.id)).wait())


def _loses_ids(self: Hub, name: str, stored: Any, team: Any) -> Session:
    return _make(self, name, replace(stored, pending={}), team)


def _loses_producers(self: Hub, name: str, stored: Any, team: Any) -> Session:
    return _make(self, name, replace(stored, producers={}), team)


def _stale_team(self: Journal, team: Any) -> Any:
    """A new team is told of, and not stored."""
    return _kept(self, team.t, ())


async def _unsettled(hub: Hub, session: Session) -> Session:
    return session


def _unsynced(stack: ExitStack) -> None:
    """SQLite syncs at checkpoints alone."""
    settings = ["PRAGMA synchronous = OFF" if "synchronous" in one else one for one in SETTINGS]
    stack.enter_context(patch("llr_service.stores.sqlite.database.SETTINGS", tuple(settings)))


CONFLICT = "find_conflict"
MUTANTS = (
    Mutant("x is acknowledged before it is stored", _set(("sessions.late", "durable", _at_once))),
    Mutant(
        "a promotion is acknowledged before it is stored",
        _set(("sessions.reshaping", "durable", _at_once)),
    ),
    Mutant(
        "states are published before they are stored", _set((Session, "_taken", _publish_early))
    ),
    Mutant(
        "no change checks its version, copies stay after a failure",
        _set(("stores.memory", CONFLICT, _any_version), (Session, "_committed", _keep_copy)),
    ),
    Mutant(
        "a copy stays in memory after a failed commit", _set((Session, "_committed", _keep_copy))
    ),
    Mutant("a failed commit is published", _set((Session, "_committed", _publish_failed))),
    Mutant("a producer's number is not stored", _set((Journal, "learnt", _without_producer))),
    Mutant("numbers seen before are learnt again", _set(("sessions.actor", "new_of", _forgetful))),
    Mutant("a label leaves its x waiting in the store", _set((Journal, "learnt", _without_ids))),
    Mutant("x is not stored", _set((Journal, "kept", _kept_nowhere))),
    Mutant("x is not loaded", _set((Hub, "_make", _loses_ids))),
    Mutant("producers are not loaded", _set((Hub, "_make", _loses_producers))),
    Mutant("a promoted team is not stored", _set((Journal, "renewed", _stale_team))),
    Mutant("the outcomes of a group are swapped", _set((Committer, "_write", _swapped))),
    Mutant("a conflict counts as stored", _set((Committer, "_write", _written_anyway))),
    Mutant("a queue is not taken up again", _set((Committer, "_finish", _tells_first))),
    Mutant("a deletion leaves a copy in memory", _set((Hub, "delete", _delete_kept))),
    Mutant(
        "numbers are told that are not stored", _set(("routes.sessions", "settled", _unsettled))
    ),
    Mutant("SQLite does not sync", _unsynced, "sqlite"),
)
