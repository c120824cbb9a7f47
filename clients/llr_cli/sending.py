"""Sends batches of samples, and deals with those that the service refuses."""

import re
from collections.abc import Iterator

from llr_client import Answer, LLRError, Problem, Session

from llr_cli.bad_rows import BadRows
from llr_cli.formats import Batch, try_classes
from llr_cli.options import BadData
from llr_cli.progress import PushProgress


def send(
    batches: Iterator[Batch], session: Session, pushing: PushProgress, refused: BadRows
) -> None:
    """Send batches of samples, the first row of which has the number `pushing.before`."""
    start = pushing.before
    for batch in batches:
        refused.add((batch if start else first_checked(batch)).bad)
        sent, answer = _send_batch(batch, start, session, pushing, refused)
        start += batch.rows
        pushing.learnt(sent, answer)


def _send_batch(
    batch: Batch, start: int, session: Session, pushing: PushProgress, refused: BadRows
) -> tuple[Batch, Answer | None]:
    """Send a batch, without the samples that the service refuses if bad rows are skipped.

    Returns:
        What was sent, and the answer; None if no good row is left.
    """
    while batch.n:
        try:
            return batch, batch.learn(session, start)
        except Problem as problem:
            places = _places(problem, batch)
            if not refused.tolerant or not places:
                pushing.sent += problem.learnt
                raise _with_place(problem, batch, places) from problem
            smaller = batch.without(places)
            if not start:
                first_checked(smaller)
            refused.add(smaller.bad[len(batch.bad) :])
            batch = smaller
        except LLRError as error:
            pushing.sent += error.learnt
            raise
    session.skip_to(start + batch.rows)
    return batch, None


def first_checked(batch: Batch) -> Batch:
    """Raise if the first block has no good row: then it is not the rows that are bad."""
    if batch.n or not batch.bad:
        return batch
    first = min(batch.bad, key=lambda row: row.place)
    why = batch.trouble or f"{first.unit} {first.place}: {first.why}"
    raise BadData(f"no row of the first {batch.rows:,} is a sample; {why}")


def _places(problem: Problem, batch: Batch) -> dict[int, str]:
    """The samples of a batch that a problem is about, and why."""
    found: dict[int, str] = {}
    for error in problem.errors:
        index = re.match(r"/(\d+)(/|$)", error.get("pointer", ""))
        if index and int(index[1]) + problem.learnt < batch.n:
            found.setdefault(int(index[1]) + problem.learnt, error["detail"])
    return found


def _with_place(problem: Problem, batch: Batch, places: dict[int, str]) -> Exception:
    """Convert a problem about samples to an error with the first one's place in the file."""
    for index, why in places.items():
        text = isinstance(batch.labels()[index], str) and "class" not in why
        hint = f"; {try_classes(batch.labels())}" if text else ""
        return BadData(f"{batch.place(index)}: {why}{hint}")
    return problem
