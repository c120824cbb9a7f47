"""Reading the body of a request, within bounds of size, time and memory.

A body may keep the service waiting for `seconds` in all, and one second more for every `rate`
bytes it has brought: a large body has its time, a byte a second has not. Only waiting counts; the
time in which a streamed body is worked on does not.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator, Iterable
from functools import partial
from types import coroutine
from typing import Any, Self, TypeVar, cast

from starlette.types import Message, Receive

from llr_service.app_state import AppState
from llr_service.http.responses import Header
from llr_service.problems import Problem
from llr_service.settings import MIN_RATE

R = TypeVar("R")

_SMALL = 256  # bytes up to which a part of a body is joined with the next one
_LONG = 2**20  # bytes from which on parts are joined in a thread: a fraction of a millisecond
_LONGEST = 18  # digits of a length anybody could mean; int() refuses some thousands of them


class ClientGone(Exception):
    """The client disconnected before the body was complete: no answer is needed."""


async def read_body(
    receive: Receive,
    headers: Iterable[tuple[bytes, bytes]],
    limit: int,
    seconds: float,
    rate: float = MIN_RATE,
    more: Callable[[Receive], Awaitable[Message]] | None = None,
) -> bytes:
    """The whole body.

    Args:
        receive: the ASGI channel to read from.
        headers: the headers as ASGI has them, names in lower case.
        limit: the most bytes a body may have.
        seconds: how long the body may let us wait.
        rate: bytes that buy another second.
        more: receives what follows the first part; by default as `receive` does.

    Raises:
        Problem: `too-large`, before reading where Content-Length tells; `too-slow`; `malformed`
            where Content-Length is no number.
        ClientGone: the client went away.
    """
    _check_length(headers, limit)
    reading = cast(Coroutine[Any, Any, Message], receive())
    try:
        waiting = reading.send(None)
    except StopIteration as done:  # the first part is there: no clock has to be set for it
        message = done.value
        waiting = None
        if not message.get("more_body", False):
            return _part(message, 0, limit)
    deadline = asyncio.get_running_loop().time() + seconds
    try:
        async with asyncio.timeout_at(deadline) as clock:
            if waiting is not None:
                message = await _resumed(reading, waiting)
            body = _part(message, 0, limit)
            if message.get("more_body", False):
                rest = receive if more is None else partial(more, receive)
                body = await _rest(
                    rest, body, limit, lambda n: clock.reschedule(deadline + n / rate)
                )
    except TimeoutError:
        raise _too_slow(seconds, rate) from None
    return body


@coroutine
def _resumed(reading: Coroutine[Any, Any, R], waiting: Any) -> Generator[Any, Any, R]:
    """Wait for a coroutine that has run until it had to wait for something."""
    try:
        while True:
            try:
                sent = yield waiting
            except BaseException as thrown:
                waiting = reading.throw(thrown)
            else:
                waiting = reading.send(sent)
    except StopIteration as done:
        return cast(R, done.value)


async def _rest(
    receive: Receive, first: bytes, limit: int, received: Callable[[int], None]
) -> bytes:
    """Read the rest of a body after its first part; `received` is called with the size so far."""
    parts, size, more = [first], len(first), True
    while more:
        received(size)
        message = await receive()
        part = _part(message, size, limit)
        size += len(part)
        if len(parts[-1]) < _SMALL:  # a byte at a time would cost a list of bytes
            parts[-1] += part
        else:
            parts.append(part)
        more = message.get("more_body", False)
    if size < _LONG:
        return b"".join(parts)
    return await asyncio.to_thread(b"".join, parts)  # which gives up the GIL


async def stream_body(
    receive: Receive,
    headers: Iterable[tuple[bytes, bytes]],
    limit: int | None,
    seconds: float,
    rate: float = MIN_RATE,
) -> AsyncGenerator[bytes, None]:
    """The body in parts as they arrive, none of them empty.

    Takes and raises what `read_body` does, with two differences: `limit` may be None for a body
    of any length, and no single part may let us wait longer than `seconds`, however much came
    before it.
    """
    _check_length(headers, limit)
    now = asyncio.get_running_loop().time
    waited, received, more = 0.0, 0, True
    while more:
        started = now()
        try:
            async with asyncio.timeout(min(seconds, seconds + received / rate - waited)):
                message = await receive()
        except TimeoutError:
            raise _too_slow(seconds, rate) from None
        waited += now() - started
        part = _part(message, received, limit)
        received += len(part)
        more = message.get("more_body", False)
        if part:
            yield part


def _part(message: Message, received: int, limit: int | None) -> bytes:
    """The part of the body in a message, if it fits the limit."""
    if message["type"] == "http.disconnect":
        raise ClientGone
    part: bytes = message.get("body", b"")
    if limit is not None and received + len(part) > limit:
        raise _too_large(limit)
    return part


def _check_length(headers: Iterable[tuple[bytes, bytes]], limit: int | None) -> None:
    """Refuse a body whose Content-Length is above the limit, or is not a number."""
    for name, value in headers:
        if name == b"content-length":
            if not value.isdigit():
                raise Problem("malformed", "Content-Length is not a number of bytes.")
            if limit is not None and (len(value) > _LONGEST or int(value) > limit):
                raise _too_large(limit)


def _too_large(limit: int) -> Problem:
    """The answer leaves the connection open: closed with a body on its way, it would be lost."""
    detail = f"A body has at most {limit} bytes here. Send it in smaller parts, or as NDJSON."
    return Problem("too-large", detail, limit=limit)


def _too_slow(seconds: float, rate: float) -> Problem:
    """The answer closes the connection; the rest of the body is not read."""
    detail = (
        f"Send the body within {seconds:g} seconds, or faster than {rate:g} bytes a second."
        " Nothing of what was not acknowledged was learnt."
    )
    return Problem("too-slow", detail, headers={"Connection": "close"})


class BodyBudget:
    """The share of one body: reserved as it arrives, released when the body is done with."""

    __slots__ = ("_reserved", "_state")

    def __init__(self, state: AppState) -> None:
        self._state, self._reserved = state, 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def reserve(self, size: int) -> None:
        """Reserve so many bytes more. Raises `unavailable` if the budget is exhausted."""
        state = self._state
        if state.bodies + size > state.settings.max_bodies:
            detail = "too many large bodies at once, send again"
            raise Problem("unavailable", detail, headers={"Retry-After": "1"})
        state.bodies += size
        self._reserved += size

    def release(self) -> None:
        """Give back what was reserved."""
        self._state.bodies -= self._reserved
        self._reserved = 0

    async def read(self, receive: Receive, headers: list[Header]) -> bytes:
        """Read a whole body within its limits, reserving what arrives.

        Waiting for more than the first part ends when the service shuts down.
        """
        given = self._state.settings
        body = await read_body(
            receive, headers, given.max_body, given.body_timeout, given.min_rate, self._more
        )
        self.reserve(len(body) - self._reserved)  # the first part was not counted yet
        return body

    async def _more(self, receive: Receive) -> Message:
        """Another part of a body."""
        message = await self._state.cancel_on_shutdown(receive())
        self.reserve(len(message.get("body", b"")))
        return message
