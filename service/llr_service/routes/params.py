"""What a request to learn asks for beside its samples, in its query and its headers."""

import re
from typing import Annotated, NamedTuple
from urllib.parse import parse_qsl

from fastapi import Header

from llr_service.problems import Problem
from llr_service.sessions.batch import Expected, Ticket
from llr_service.sessions.producers import MOST_SAMPLES, PRODUCER

IfMatch = Annotated[
    str | None, Header(alias="If-Match", description='`"<t>"` or `"<t>.<version>"`: 412 elsewhere.')
]


class LearnParams(NamedTuple):
    """What the query and the headers of a request ask for."""

    ticket: Ticket | None = None
    if_match: Expected | None = None
    theta: bool = True
    predictions: bool = False
    admitted: bool = False


_DEFAULT = LearnParams()


def learn_params(query: bytes, headers: dict[bytes, bytes]) -> LearnParams:
    """The query and If-Match, checked."""
    match = headers.get(b"if-match")
    if not query and match is None:
        return _DEFAULT
    given = dict(parse_qsl(query.decode("latin-1"), keep_blank_values=True))
    return LearnParams(
        _ticket(given),
        expected(match),
        _truth(given, "theta", True),
        _truth(given, "predictions", False),
    )


class StreamParams(NamedTuple):
    """What the query of a WebSocket asks for: `seq` is the number of its first sample."""

    producer: str | None
    seq: int | None
    theta: bool
    predictions: bool


def stream_params(query: bytes) -> StreamParams:
    """The query of a WebSocket, checked. With a producer alone every message has its own seq."""
    given = dict(parse_qsl(query.decode("latin-1"), keep_blank_values=True))
    producer, seq = given.get("producer"), given.get("seq")
    if producer is None and seq is not None:
        raise _wrong("producer", "producer and seq come together")
    return StreamParams(
        None if producer is None else _producer(producer),
        None if seq is None else number(seq),
        _truth(given, "theta", True),
        _truth(given, "predictions", False),
    )


def producer_of(query: bytes) -> str | None:
    """The producer that a query names, checked; None if it names none."""
    if not query:
        return None
    given = dict(parse_qsl(query.decode("latin-1"), keep_blank_values=True)).get("producer")
    return None if given is None else _producer(given)


def _ticket(given: dict[str, str]) -> Ticket | None:
    producer, seq = given.get("producer"), given.get("seq")
    if producer is None and seq is None:
        return None
    if producer is None or seq is None:
        raise _wrong("seq" if seq is None else "producer", "producer and seq come together")
    return Ticket(_producer(producer), number(seq))


def _producer(given: str) -> str:
    if not PRODUCER.fullmatch(given):
        raise _wrong("producer", "1 to 128 visible ASCII characters")
    return given


def number(seq: str) -> int:
    """The number of a sample."""
    if not (seq.isascii() and seq.isdigit() and len(seq) <= 16 and int(seq) < MOST_SAMPLES):
        raise _wrong("seq", "a whole number from 0")
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
