"""From a request to a pending commit: its parameters, and one way in for every format.

The query and the headers become `LearnParams`; `submit` turns the bytes of a JSON, npy, Arrow or
WebSocket body into samples and learns from them ahead of the store.
"""

import asyncio
import re
from typing import Annotated, NamedTuple
from urllib.parse import parse_qsl

from fastapi import Header

from llr.intervals import LEVELS
from llr_service.codec import Samples, decode_arrow, decode_json, decode_npy, parse_columns
from llr_service.codec.arrow_ipc import ARROW
from llr_service.codec.npy import Columns
from llr_service.codec.samples import Form
from llr_service.problems import Problem
from llr_service.sessions.batch import (
    INLINE_DECODE_BYTES,
    MAX_SEQUENCE,
    PRODUCER,
    Expected,
    PendingCommit,
    SequenceId,
)
from llr_service.sessions.session import Session

IfMatch = Annotated[
    str | None, Header(alias="If-Match", description='`"<t>"` or `"<t>.<version>"`: 412 elsewhere.')
]


class LearnParams(NamedTuple):
    """What the query and the headers of a request ask for."""

    sequence: SequenceId | None = None
    if_match: Expected | None = None
    theta: bool = True
    predictions: bool = False
    admitted: bool = False
    columns: Columns | None = None
    follows: int | None = None
    """The number of the first sample if nothing else numbers the samples."""


_DEFAULT = LearnParams()


def learn_params(query: bytes, headers: dict[bytes, bytes]) -> LearnParams:
    """The query and If-Match, checked."""
    match = headers.get(b"if-match")
    if not query and match is None:
        return _DEFAULT
    given = _members(query)
    return LearnParams(
        _sequence(given),
        expected(match),
        _truth(given, "theta", True),
        _truth(given, "predictions", False),
        columns=_columns(given),
    )


def _members(query: bytes) -> dict[str, str]:
    """The members of a query; of a name that comes twice the last one counts.

    >>> _members(b"producer=a%20b&seq=7&theta")
    {'producer': 'a b', 'seq': '7', 'theta': ''}
    """
    text = query.decode("latin-1")
    if "%" in text or "+" in text:
        return dict(parse_qsl(text, keep_blank_values=True))
    pairs = [part.partition("=") for part in text.split("&") if part]
    return {name: value for name, _, value in pairs}


class StreamParams(NamedTuple):
    """What the query of a WebSocket asks for: `seq` is the number of its first sample."""

    producer: str | None
    seq: int | None
    theta: bool
    predictions: bool
    columns: Columns | None


def stream_params(query: bytes) -> StreamParams:
    """The query of a WebSocket, checked. With a producer alone every message has its own seq."""
    given = _members(query)
    producer, seq = given.get("producer"), given.get("seq")
    if producer is None and seq is not None:
        raise _wrong("producer", "producer and seq come together")
    return StreamParams(
        None if producer is None else _producer(producer),
        None if seq is None else number(seq),
        _truth(given, "theta", True),
        _truth(given, "predictions", False),
        _columns(given),
    )


def interval_of(query: bytes) -> float | None:
    """The level of the interval that a query asks for; None if it asks for none."""
    if not query:
        return None
    given = _members(query).get("interval")
    if given is None:
        return None
    for level in LEVELS:
        if given == str(level):
            return level
    raise _wrong("interval", f"one of the levels {', '.join(map(str, LEVELS))}")


def producer_of(query: bytes) -> str | None:
    """The producer that a query names, checked; None if it names none."""
    if not query:
        return None
    given = _members(query).get("producer")
    return None if given is None else _producer(given)


def _sequence(given: dict[str, str]) -> SequenceId | None:
    producer, seq, following = given.get("producer"), given.get("seq"), given.get("next")
    if producer is None and seq is None and following is None:
        return None
    if producer is None:
        raise _wrong("producer", "seq and next are the numbers of a producer: name it")
    return SequenceId(
        _producer(producer),
        None if seq is None else number(seq),
        None if following is None else number(following, "next"),
    )


def _columns(given: dict[str, str]) -> Columns | None:
    names = given.get("columns")
    if names is None:
        return None
    try:
        return parse_columns(names)
    except ValueError as wrong:
        raise _wrong("columns", str(wrong)) from None


def no_columns() -> Problem:
    """The problem of `columns` with a body that is not npy."""
    return _wrong("columns", "names the columns of application/x-npy: leave it out")


def _producer(given: str) -> str:
    if not PRODUCER.fullmatch(given):
        raise _wrong("producer", "1 to 128 visible ASCII characters")
    return given


def number(seq: str, parameter: str = "seq") -> int:
    """The number of a sample."""
    if not (seq.isascii() and seq.isdigit() and len(seq) <= 16 and int(seq) < MAX_SEQUENCE):
        raise _wrong(parameter, "a whole number from 0")
    return int(seq)


def expected(value: bytes | None) -> Expected | None:
    """Where an `If-Match` expects the session to be; None for anywhere.

    >>> expected(b'"12"'), expected(b'"12.3"'), expected(b"*")
    (Expected(t=12, version=None), Expected(t=12, version=3), None)
    """
    if value is None or value.strip() == b"*":
        return None
    found = re.fullmatch(rb'\s*"(\d{1,16})(?:\.(\d{1,16}))?"\s*', value)
    if not found:
        raise _wrong("If-Match", 'write If-Match: "<t>" or If-Match: "<t>.<version>"')
    return Expected(int(found[1]), int(found[2]) if found[2] else None)


def expected_header(value: str | None) -> Expected | None:
    """The same, of a header as FastAPI has it."""
    return expected(None if value is None else value.encode("latin-1", "replace"))


def _truth(given: dict[str, str], name: str, default: bool) -> bool:
    value = given.get(name)
    if value not in (None, "true", "false"):
        raise _wrong(name, "true or false")
    return default if value is None else value == "true"


def _wrong(parameter: str, detail: str) -> Problem:
    return Problem(
        "invalid", f"{parameter}: {detail}", [{"parameter": parameter, "detail": detail}]
    )


JSON, NDJSON, NPY = "application/json", "application/x-ndjson", "application/x-npy"
WHOLE = (JSON, NPY, ARROW)
"""Content types of bodies that are learnt atomically."""


def decode(body: bytes, kind: str, session: Session, params: LearnParams) -> Samples:
    """The samples in a body of this type for a session."""
    if kind == NPY:
        return decode_npy(body, session.features, params.columns)
    if params.columns is not None:
        raise no_columns()
    if kind == ARROW:
        return decode_arrow(body, session.features, session.takes_names, session.classes)
    return decode_json(body, session.features, session.classes)


async def submit(
    session: Session, kind: str, body: bytes, params: LearnParams
) -> tuple[PendingCommit, Samples]:
    """Learn from a whole body ahead of the store; with the samples it had.

    The errors of a problem point into the body.
    """
    if len(body) < INLINE_DECODE_BYTES and kind != ARROW:  # whose first body imports pyarrow
        samples = decode(body, kind, session, params)
    else:
        samples = await asyncio.to_thread(decode, body, kind, session, params)
    sequence = params.sequence
    if params.follows is not None and sequence is not None and samples.numbers is None:
        sequence = sequence._replace(seq=params.follows)
    try:
        pending = await session.submit(
            samples, sequence, params.if_match, params.predictions, params.admitted
        )
    except Problem as problem:
        raise by_pointer(problem, samples.form) from None
    return pending, samples


def by_pointer(problem: Problem, form: Form) -> Problem:
    """Places among the samples as pointers into the body they came in."""
    for error in problem.errors if form != "rows" else ():
        if "pointer" not in error:
            continue
        _, index, *rest = error["pointer"].split("/")
        if index.isdigit():
            error["pointer"] = "/".join(["", *rest] if form == "single" else ["", *rest, index])
    return problem
