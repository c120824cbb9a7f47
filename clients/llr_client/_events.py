"""Server-Sent Events: a line parser, and a stream that reconnects with Last-Event-ID."""

import json
from typing import Any

import httpx

from llr_client._protocol import Emit, Endpoint, NextLine, Operation, Sleep
from llr_client.answers import State, parse
from llr_client.errors import SessionNotFound, UnexpectedAnswer

READ_TIMEOUT = 45.0
"""Seconds without data after which the connection counts as dead; the service sends a heartbeat
every 15 s."""

MAX_RECONNECT_PAUSE = 1.0
"""The longest pause before a reconnect, in seconds."""


class EventParser:
    """Parses the lines of an event stream.

    Attributes:
        id: the id of the last complete event; empty if there is none.
    """

    def __init__(self, last: str = "") -> None:
        self.id = self._id = last
        self._data: list[str] = []

    def feed(self, line: str) -> str | None:
        r"""Parse a line; returns the event's data if the line ends an event.

        >>> events = EventParser()
        >>> [events.feed(line) for line in ("id: 7", "data: {", "data: }", ": a comment", "")]
        [None, None, None, None, '{\n}']
        >>> events.id
        '7'
        """
        if line:
            field, _, value = line.partition(":")
            if field == "data":
                self._data.append(value.removeprefix(" "))
            if field == "id":
                self._id = value.removeprefix(" ")
            return None
        self.id = self._id
        data, self._data = self._data, []
        return "\n".join(data) if data else None


class EventStream:
    """The events of a session, across reconnects."""

    def __init__(self, endpoint: Endpoint, path: str) -> None:
        self._endpoint, self._path = endpoint, path
        self._found, self._last = False, ""

    def operation(self) -> Operation[None]:
        """Emit the state now and after every change, until the session is deleted."""
        while True:
            try:
                yield from self._endpoint.call(self._request(), streamed=True)
                yield from self._read()
            except SessionNotFound:
                if not self._found:
                    raise
                return
            except httpx.RequestError:
                pass  # the connection broke: reconnect
            yield Sleep(self._endpoint.clock.random() * MAX_RECONNECT_PAUSE)

    def _request(self) -> httpx.Request:
        headers = {"accept": "text/event-stream"}
        if self._last:
            headers["last-event-id"] = self._last
        timeout = httpx.Timeout(
            self._endpoint.timeout, read=max(self._endpoint.timeout, READ_TIMEOUT)
        )
        return self._endpoint.request("GET", self._path, headers=headers, timeout=timeout)

    def _read(self) -> Operation[None]:
        """Emit the states of one connection."""
        events = EventParser(self._last)
        while (line := (yield NextLine())) is not None:
            data = events.feed(line)
            if data is not None:
                self._found = True
                yield Emit(parse(State, _members(data)))
            self._last = events.id


def _members(data: str) -> Any:
    try:
        return json.loads(data)
    except ValueError:
        raise UnexpectedAnswer("an event is not JSON") from None
