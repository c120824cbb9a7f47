"""Late labels: x is kept under an id when it is predicted for, and learnt when its label comes.

What is kept is durable before the prediction is answered. A label is learnt like any sample, at
the theta of its arrival; that its x is no longer waiting is stored with what was learnt, as one
change. What expires is forgotten, or learnt with the session's `expired_label`.
"""

import logging
from collections.abc import Sequence

import numpy as np

from llr_service.codec import Labels
from llr_service.problems import Problem
from llr_service.sessions.actor import Session
from llr_service.sessions.batch import Expected, Fresh, Learnt, Pending
from llr_service.sessions.kept_rows import samples_of, width_of
from llr_service.sessions.matching import first_labels, new_rows, width_wanted
from llr_service.sessions.moments import Moment
from llr_service.sessions.waiting import durable
from llr_service.stores.store import PendingChanges

log = logging.getLogger("llr_service")
UNFIT = ("diverged", "invalid")


async def keep(ids: Sequence[str], rows: Sequence[bytes], t: int, session: Session) -> int:
    """Keep rows under ids, all or none; returns how many are new, when they are durable.

    Args:
        ids: an id a row. One that is kept already may come again with the same row.
        rows: as `kept_rows.rows_of` makes them.
        t: how many samples the prediction knew of.
        session: whose they are.
    """
    now = session.now()
    with session.turns.attended():
        async with session.turns.line():
            await _sweep(session, now)
            new = new_rows(session, ids, rows, Moment(t, now))
            commit = session.keep(new) if new else session.journal.last
        if commit is not None:
            await durable(commit)
    count = sum(row is not None for _, row in new)
    session.metrics.kept(count)
    return count


async def label(
    labels: Labels, if_match: Expected | None, predictions: bool, session: Session
) -> Learnt:
    """Learn from what is kept under ids, whole or not at all; returns when it is durable."""
    now = session.now()
    if session.shelf.overdue(now):
        session.turns.admit()
        async with session.turns.line():
            await _sweep(session, now)
    late = _LateLabels(session, labels, now)
    learnt = await session.finish(await session.submit(late, None, if_match, predictions))
    session.metrics.labelled(learnt.accepted)
    return learnt


class _LateLabels:
    """Labels that came at a time, for what a session keeps."""

    __slots__ = ("_labels", "_now", "_session")

    def __init__(self, session: Session, labels: Labels, now: int) -> None:
        self._session, self._labels, self._now = session, labels, now

    @property
    def nbytes(self) -> int:
        """How many bytes their samples take."""
        labels, size = self._labels, self._session.shelf.size
        return labels.y.nbytes + sum(map(size, labels.ids))

    def first_labels(self, if_match: Expected | None) -> Fresh | Pending:
        """The samples whose labels came for the first time."""
        return first_labels(self._session, self._labels, if_match, self._now)


async def sweep(session: Session) -> None:
    """Forget what has expired, or learn it with the label for that; returns when it is durable."""
    async with session.turns.line():
        await _sweep(session, session.now())
    await session.settled()


async def _sweep(session: Session, now: int) -> None:
    """At the session's turn: nothing is due afterwards. Nobody waits for the store."""
    while ids := session.shelf.due(now):
        forgotten: PendingChanges = tuple((name, None) for name in ids)
        rows = [kept.blob for kept in map(session.shelf.get, ids) if kept and not kept.learnt]
        if rows:
            forgotten += session.shelf.counted(expired=len(rows))
        fresh = _by_default(session, rows, forgotten)
        try:
            if fresh is None:
                session.keep(forgotten)
            else:
                await session.go(fresh, fresh.samples.nbytes, False)
        except Problem as problem:
            if problem.kind.name not in UNFIT:
                raise
            told = {"session": session.name, "n": len(rows), "why": problem.detail}
            log.warning("expired samples cannot be learnt", extra=told)
            session.keep(forgotten)
        session.metrics.expired(len(rows))


def _by_default(session: Session, rows: list[bytes], forgotten: PendingChanges) -> Fresh | None:
    """What has expired, with the label for that; None if there is nothing to learn."""
    y = session.config.expired_label
    if y is None or not rows:
        return None
    width = width_wanted(session, rows)
    fitting = [row for row in rows if width_of(row) == width]
    if not fitting:
        return None
    samples = samples_of(fitting, np.full(len(fitting), float(y)))
    return Fresh(samples, range(len(fitting)), None, forgotten)
