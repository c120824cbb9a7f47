"""Ids and what is kept under them: which are new, which labels are the first, what is wrong."""

import math
from collections.abc import Collection, Sequence

from llr_service.codec import Labels
from llr_service.codec.samples import NAMED
from llr_service.problems import Problem
from llr_service.sessions.actor import Session
from llr_service.sessions.batch import Expected, Fresh, Pending
from llr_service.sessions.kept_rows import samples_of, width_of
from llr_service.sessions.moments import Moment, learnt, waiting, x_of
from llr_service.sessions.shelf import cost, holds
from llr_service.stores.store import PendingChanges, PendingExample

MOST = 10
"""How many ids a problem names."""


def width_wanted(session: Session, rows: Sequence[bytes]) -> int:
    """The width of a row that fits; before it is known the first one tells."""
    if session.ahead is not None:
        return (session.ahead.dim or 0) if session.features else 0
    first = session.shelf.first
    return width_of(rows[0] if first is None else first.blob)


def new_rows(
    session: Session, ids: Sequence[str], rows: Sequence[bytes], predicted: Moment
) -> PendingChanges:
    """What is to be kept: all that is not kept yet. A Problem if not all of it can be."""
    now = predicted.at
    session.check()
    new, taken, until = dict[str, PendingExample](), list[int](), now + session.label_ms
    for place, (name, row) in enumerate(zip(ids, rows, strict=True)):
        known = new.get(name) or session.shelf.get(name)
        if known is None:
            new[name] = PendingExample(until, False, waiting(row, predicted))
        elif not holds(known, row):
            taken.append(place)
    if taken:
        detail = "stands for another x"
        errors = [_told(f"/ids/{place}", ids[place], detail) for place in taken[:MOST]]
        raise Problem("id-taken", "nothing was kept: each x needs an id of its own", errors)
    _check_width(session, rows)
    return (*_made_room(session, new, now), *new.items())


def first_labels(
    session: Session, labels: Labels, if_match: Expected | None, now: int
) -> Fresh | Pending:
    """The samples whose labels came for the first time. A Problem if an id is not known."""
    session.check()
    fresh, unknown, blobs = dict[str, int](), list[int](), list[bytes]()
    for place, name in enumerate(labels.ids):
        kept = session.shelf.stored(name)
        if kept is None:
            unknown.append(place)
        elif not kept.learnt and name not in fresh:
            fresh[name] = place
            blobs.append(kept.blob)
    if unknown:
        raise _not_found(session, labels, unknown)
    if not blobs:
        return session.nothing_new(labels.y.size)
    session.check(if_match)
    places, found = list(fresh.values()), [x_of(blob) for blob in blobs]
    _check_found(session, labels, found, places)
    kept_on = _learnt(session, fresh, blobs, now)
    y = labels.y if len(places) == labels.y.size else labels.y[places]
    return Fresh(samples_of(found, y), places, None, kept_on)


def _learnt(
    session: Session, names: Collection[str], blobs: Sequence[bytes], now: int
) -> PendingChanges:
    """What is kept of those that are learnt now, one after the other."""
    t, until = session.ahead.t if session.ahead else 0, now + session.label_ms
    rows = [
        (name, PendingExample(until, True, learnt(blob, Moment(t + i, now))))
        for i, (name, blob) in enumerate(zip(names, blobs, strict=True))
    ]
    return (*rows, *session.shelf.counted(learnt=len(names)))


def _check_width(session: Session, rows: Sequence[bytes]) -> None:
    width = width_wanted(session, rows)
    for place, row in enumerate(rows):
        if width_of(row) != width:
            detail = f"has {_told_width(width_of(row))}, not the {_told_width(width)} of the others"
            raise Problem("invalid", detail, [{"pointer": f"/x/{place}", "detail": detail}])


def _check_found(
    session: Session, labels: Labels, rows: Sequence[bytes], places: Sequence[int]
) -> None:
    """What was kept before dim was known may not fit."""
    width = width_wanted(session, rows)
    for place, row in zip(places, rows, strict=True):
        if width_of(row) != width:
            detail = f"its x has {_told_width(width_of(row))}, the session {_told_width(width)}"
            told = _told(f"/{place}/id", labels.ids[place], detail)
            raise Problem("invalid", f"{told['id']}: {detail}", [told])


def _made_room(session: Session, new: dict[str, PendingExample], now: int) -> PendingChanges:
    """What has to be forgotten so that there is room: ids that were learnt, never what waits."""
    shelf, most = session.shelf, session.settings.max_kept
    missing = shelf.nbytes + sum(cost(name, row) for name, row in new.items()) - most
    if not new or missing <= 0:
        return ()
    known = shelf.known_longest(max(missing, most // 16))  # more than needed: it is a long search
    found = sum(cost(name, row) for name in known if (row := shelf.get(name)))
    if found < missing:
        first = shelf.first_due
        wait = 1 if first is None else max(1, math.ceil((first - now) / 1000))
        detail = f"this session keeps at most {most} bytes for late labels: send the labels first"
        raise Problem("too-many", detail, headers={"Retry-After": f"{wait}"})
    return tuple((name, None) for name in known)


def _not_found(session: Session, labels: Labels, unknown: Sequence[int]) -> Problem:
    ids, detail = labels.ids, "unknown or expired"
    errors = [_told(f"/{place}/id", ids[place], detail) for place in unknown[:MOST]]
    named = ", ".join(error["id"] for error in errors)
    seconds = f"{session.label_ms / 1000:g}"
    return Problem(
        "id-not-found",
        f"{named}: {detail}; x is kept for {seconds} seconds. Nothing of this body was learnt",
        errors,
    )


def _told(pointer: str, name: str, detail: str) -> dict[str, str]:
    return {"pointer": pointer, "id": name, "detail": detail}


def _told_width(width: int) -> str:
    return "named features" if width == NAMED else f"{width} features"
