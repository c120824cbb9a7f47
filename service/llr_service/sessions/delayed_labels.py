"""Delayed labels: store an example when it is predicted, learn it when its label arrives.

An example is durable before its prediction is answered. A label is learnt like any sample, at the
θ of its arrival; that its example no longer waits is stored with the sample, as one change. An
expired example is deleted, or learnt with the session's `expired_label`.
"""

import logging
import math
from collections.abc import Collection, Sequence

import numpy as np

from llr_service.codec import Labels
from llr_service.codec.samples import NAMED
from llr_service.problems import Problem
from llr_service.sessions.batch import Expected, LearnResult, NewSamples, PendingCommit
from llr_service.sessions.pending_labels import (
    LabelMoment,
    cost,
    has_x,
    pack_learnt,
    pack_waiting,
    packed_width,
    unpack_rows,
    unpack_x,
)
from llr_service.sessions.session import Session
from llr_service.sessions.storage import wait_durable
from llr_service.stores.store import PendingChanges, PendingExample

log = logging.getLogger("llr_service")

NOT_LEARNABLE = ("diverged", "invalid")
"""Problems of expired examples that cannot be learnt; they are deleted instead."""
MAX_NAMED_IDS = 10
"""How many ids a problem names."""


async def store(ids: Sequence[str], rows: Sequence[bytes], t: int, session: Session) -> int:
    """Store examples under ids, all or none; returns how many are new, once they are durable.

    Args:
        ids: an id a row. An id may be repeated with the same row.
        rows: the packed rows of `pending_labels.pack_rows`.
        t: the t of the prediction.
        session: the session.
    """
    now = session.now()
    with session.queue.slot():
        async with session.queue.lock():
            await _expire(session, now)
            changes = select_new(session, ids, rows, LabelMoment(t, now))
            commit = session.write_pending(changes) if changes else session.log.last
        if commit is not None:
            await wait_durable(commit)
    count = sum(row is not None for _, row in changes)
    session.metrics.kept(count)
    return count


async def apply(
    labels: Labels, if_match: Expected | None, predictions: bool, session: Session
) -> LearnResult:
    """Learn from labels, whole or not at all; returns when that is durable."""
    now = session.now()
    if session.pending.has_expired(now):
        with session.queue.slot():
            async with session.queue.lock():
                await _expire(session, now)
    arrived = _ArrivedLabels(session, labels, now)
    pending = await session.submit(arrived, None, if_match, predictions)
    learnt = await pending.durable()
    session.metrics.labelled(learnt.accepted)
    return learnt


class _ArrivedLabels:
    """Labels that arrived at a time, for the examples of a session."""

    __slots__ = ("_labels", "_now", "_session")

    def __init__(self, session: Session, labels: Labels, now: int) -> None:
        self._session, self._labels, self._now = session, labels, now

    @property
    def n(self) -> int:
        """How many labels there are."""
        return self._labels.y.size

    @property
    def nbytes(self) -> int:
        """Bytes of their samples."""
        labels, size = self._labels, self._session.pending.size
        numbers = labels.y.nbytes + (0 if labels.w is None else labels.w.nbytes)
        return numbers + sum(map(size, labels.ids))

    def select(self, if_match: Expected | None) -> NewSamples | PendingCommit:
        """Look up the samples whose labels are new."""
        return match_labels(self._session, self._labels, if_match, self._now)


async def expire(session: Session) -> None:
    """Delete or learn the expired examples; returns when that is durable."""
    with session.queue.pin():
        async with session.queue.lock():
            await _expire(session, session.now())
        await session.flush()


async def _expire(session: Session, now: int) -> None:
    """Delete or learn the expired examples ahead of the store. The caller holds the lock."""
    while ids := session.pending.expired(now):
        changes: PendingChanges = tuple((name, None) for name in ids)
        rows = [row.blob for row in map(session.pending.get, ids) if row and not row.learnt]
        if rows:
            changes += session.pending.count(expired=len(rows))
        new = _label_expired(session, rows, changes)
        try:
            if new is None:
                session.write_pending(changes)
            else:
                await session.learn_locked(new)
        except Problem as problem:
            if problem.kind.name not in NOT_LEARNABLE:
                raise
            details = {"session": session.name, "n": len(rows), "why": problem.detail}
            log.warning("expired samples cannot be learnt", extra=details)
            session.write_pending(changes)
        session.metrics.expired(len(rows))


def _label_expired(
    session: Session, rows: list[bytes], changes: PendingChanges
) -> NewSamples | None:
    """The expired examples with the session's `expired_label`; None if there are none to learn."""
    y = session.config.expired_y
    if y is None or not rows:
        return None
    width = expected_width(session, rows)
    fitting = [row for row in rows if packed_width(row) == width]
    if not fitting:
        return None
    samples = unpack_rows(fitting, np.full(len(fitting), float(y)))
    return NewSamples(samples, range(len(fitting)), None, changes)


def expected_width(session: Session, rows: Sequence[bytes]) -> int:
    """The width that rows must have; before dim is known the first row decides."""
    if session.latest is not None:
        return (session.latest.dim or 0) if session.features else 0
    first = session.pending.first
    return packed_width(rows[0] if first is None else first.blob)


def select_new(
    session: Session, ids: Sequence[str], rows: Sequence[bytes], predicted: LabelMoment
) -> PendingChanges:
    """The changes that store the examples that are new. A problem if one cannot be stored."""
    now = predicted.at
    session.check()
    new, taken, until = dict[str, PendingExample](), list[int](), now + session.label_ms
    for index, (name, row) in enumerate(zip(ids, rows, strict=True)):
        known = new.get(name) or session.pending.get(name)
        if known is None:
            new[name] = PendingExample(until, False, pack_waiting(row, predicted))
        elif not has_x(known, row):
            taken.append(index)
    if taken:
        detail = "stands for another x"
        errors = [_id_error(f"/ids/{index}", ids[index], detail) for index in taken[:MAX_NAMED_IDS]]
        raise Problem("id-taken", "nothing was kept: each x needs an id of its own", errors)
    _check_width(session, rows)
    return (*_make_room(session, new, now), *new.items())


def match_labels(
    session: Session, labels: Labels, if_match: Expected | None, now: int
) -> NewSamples | PendingCommit:
    """Look up the samples whose labels are new. A problem if an id is unknown."""
    session.check()
    new, unknown, blobs = dict[str, int](), list[int](), list[bytes]()
    for index, name in enumerate(labels.ids):
        row = session.pending.get_stored(name)
        if row is None:
            unknown.append(index)
        elif not row.learnt and name not in new:
            new[name] = index
            blobs.append(row.blob)
    if unknown:
        raise _not_found(session, labels, unknown)
    if not blobs:
        return session.no_new_samples(labels.y.size)
    session.check(if_match)
    indexes, rows = list(new.values()), [unpack_x(blob) for blob in blobs]
    _check_found(session, labels, rows, indexes)
    changes = _learnt_changes(session, new, blobs, now)
    y, w = labels.y, labels.w
    if len(indexes) < y.size:
        y, w = y[indexes], None if w is None else w[indexes]
    return NewSamples(unpack_rows(rows, y, w), indexes, None, changes)


def _learnt_changes(
    session: Session, names: Collection[str], blobs: Sequence[bytes], now: int
) -> PendingChanges:
    """The traces of examples that are learnt now, one after the other."""
    t, until = session.latest.t if session.latest else 0, now + session.label_ms
    rows = [
        (name, PendingExample(until, True, pack_learnt(blob, LabelMoment(t + i, now))))
        for i, (name, blob) in enumerate(zip(names, blobs, strict=True))
    ]
    return (*rows, *session.pending.count(learnt=len(names)))


def _check_width(session: Session, rows: Sequence[bytes]) -> None:
    width = expected_width(session, rows)
    for index, row in enumerate(rows):
        if packed_width(row) != width:
            detail = f"has {_width_text(packed_width(row))}, not the {_width_text(width)} of the"
            errors = [{"pointer": f"/x/{index}", "detail": f"{detail} others"}]
            raise Problem("invalid", f"{detail} others", errors)


def _check_found(
    session: Session, labels: Labels, rows: Sequence[bytes], indexes: Sequence[int]
) -> None:
    """Check the widths: examples that were stored before dim was known may not fit."""
    width = expected_width(session, rows)
    for index, row in zip(indexes, rows, strict=True):
        if packed_width(row) != width:
            found = _width_text(packed_width(row))
            detail = f"its x has {found}, the session {_width_text(width)}"
            error = _id_error(f"/{index}/id", labels.ids[index], detail)
            raise Problem("invalid", f"{error['id']}: {detail}", [error])


def _make_room(session: Session, new: dict[str, PendingExample], now: int) -> PendingChanges:
    """Deletions that make room: ids that were learnt, never an example that waits."""
    pending, most = session.pending, session.settings.max_kept
    missing = pending.nbytes + sum(cost(name, row) for name, row in new.items()) - most
    if not new or missing <= 0:
        return ()
    known = pending.oldest_learnt(max(missing, most // 16))  # more than needed: searches are slow
    found = sum(cost(name, row) for name in known if (row := pending.get(name)))
    if found < missing:
        first = pending.next_expiry
        wait = 1 if first is None else max(1, math.ceil((first - now) / 1000))
        detail = f"this session keeps at most {most} bytes for late labels: send the labels first"
        raise Problem("too-many", detail, headers={"Retry-After": f"{wait}"})
    return tuple((name, None) for name in known)


def _not_found(session: Session, labels: Labels, unknown: Sequence[int]) -> Problem:
    ids, detail = labels.ids, "unknown or expired"
    errors = [_id_error(f"/{index}/id", ids[index], detail) for index in unknown[:MAX_NAMED_IDS]]
    named = ", ".join(error["id"] for error in errors)
    seconds = f"{session.label_ms / 1000:g}"
    return Problem(
        "id-not-found",
        f"{named}: {detail}; x is kept for {seconds} seconds. Nothing of this body was learnt",
        errors,
    )


def _id_error(pointer: str, name: str, detail: str) -> dict[str, str]:
    return {"pointer": pointer, "id": name, "detail": detail}


def _width_text(width: int) -> str:
    return "named features" if width == NAMED else f"{width} features"
