"""Validation of changes: the consistency rule, and what no store can hold.

A change that fails here is a conflict in every engine, for the same reason.
"""

from collections.abc import Iterable
from typing import NamedTuple

from llr_service.stores.store import (
    AppendSamples,
    Change,
    Conflict,
    CreateSession,
    DeleteSession,
    PendingChanges,
    Update,
    UpdatePending,
    WriteSnapshot,
)

LARGEST = 2**63 - 1


def not_text(text: str) -> str | None:
    """Why a string is not text, None if it is: half a surrogate pair has no bytes."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return f"{text!a} is not text"
    return None


def validate(change: Change) -> str | None:
    """Why a change cannot be kept whatever is stored, None if it can."""
    if isinstance(change, DeleteSession):
        return _numbers(change.session, change.version or 0)
    if isinstance(change, CreateSession):
        return _start(change) or _producers(change.producers.items())
    if isinstance(change, UpdatePending):
        return _numbers(change.session, change.t, *change.check) or _wrong_pending(change.pending)
    least = 1 if isinstance(change, AppendSamples) else 0
    if change.n < least:
        return f"n is {change.n}, it has to be at least {least}"
    wrong = _numbers(change.session, change.t, change.t + change.n, *change.check)
    named = _producers([change.producer] if change.producer else [])
    kept = _retained(change) if isinstance(change, WriteSnapshot) else None
    return wrong or named or kept or _wrong_pending(change.pending)


def _start(change: CreateSession) -> str | None:
    if not change.name:
        return "a session needs a name"
    if change.t and change.snapshot is None:
        return f"a session that starts at {change.t} needs a snapshot"
    return not_text(change.name) or _numbers(change.t, change.version)


def _producers(producers: Iterable[tuple[str, int]]) -> str | None:
    for name, number in producers:
        wrong = not_text(name) or _numbers(number)
        if wrong:
            return wrong
    return None


def _wrong_pending(pending: PendingChanges) -> str | None:
    for name, row in pending:
        wrong = not_text(name) or _numbers(row.expires if row else 0)
        if wrong:
            return wrong
    return None


def _retained(change: WriteSnapshot) -> str | None:
    samples, size = change.retained
    if change.blob is None:
        fits = samples <= change.t
    else:
        fits = change.n > 0 and samples == change.t + change.n
    return _numbers(samples, size) if fits else f"the log cannot keep {samples} samples"


def _numbers(*numbers: int) -> str | None:
    wrong = next((number for number in numbers if not 0 <= number <= LARGEST), None)
    return None if wrong is None else f"{wrong} is not a number from 0 to 2**63 - 1"


def no_session(session: int) -> str:
    """The reason of a conflict over a session that is not there."""
    return f"there is no session {session}"


class Position(NamedTuple):
    """How far a stored session is: its t, and the version of its last change."""

    t: int
    version: int


def find_conflict(change: Update | DeleteSession, found: Position | None) -> Conflict | None:
    """The consistency rule: a change follows the last one of its session, and makes a new version.

    If it kept the version, any other change could follow the one before it, too. Sessions of 0.1.0
    have no version; their first change here gives them one. A deletion may leave out what it was
    computed from; then it follows anything.

    Every engine refuses what this refuses; None if the change may be stored. `found` is where the
    session is, None if there is no such session.
    """
    if found is None:
        return Conflict(no_session(change.session))
    if isinstance(change, DeleteSession):
        expected = found.version if change.version is None else change.version
    elif found.t != change.t:
        return Conflict(f"session {change.session} is at {found.t}, not at {change.t}")
    else:
        expected = change.check.expected
    if found.version != expected:
        return Conflict(f"session {change.session} was changed at {found.t}")
    if expected and not isinstance(change, DeleteSession) and change.check.new in (0, expected):
        made = f"a change of version {expected} has to make another one, not {change.check.new}"
        return Conflict(made)
    return None


def name_taken(name: str) -> str:
    """The reason of a conflict over a name."""
    return f"there is a session {name} already"
