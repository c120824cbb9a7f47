"""Server-Sent Events: read line by line, and taken up again where they broke off."""

import json
from typing import Any

import httpx

from llr_client.answers import State, read
from llr_client.errors import SessionNotFound, UnexpectedAnswer
from llr_client.wire import Give, NextLine, Sleep, Talk, Wire

SILENCE = 45.0
"""Seconds without a word after which the connection is taken for dead; it beats every 15."""

AGAIN = 1.0
"""Seconds until a stream that ended is asked for again, at most."""


class Events:
    """Lines in, events out.

    Attributes:
        id: of the last event that came whole, empty if there is none.
    """

    def __init__(self, last: str = "") -> None:
        self.id = self._id = last
        self._data: list[str] = []

    def feed(self, line: str) -> str | None:
        r"""Take a line; returns the data of the event that it ends, if it does.

        >>> events = Events()
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


class Watch:
    """A session that is watched, and which of its states was seen last."""

    def __init__(self, wire: Wire, path: str) -> None:
        self._wire, self._path = wire, path
        self._found, self._last = False, ""

    def talk(self) -> Talk[None]:
        """Give the state now and whenever it moves, until the session is deleted."""
        while True:
            try:
                yield from self._wire.ask(self._request(), streamed=True)
                yield from self._read()
            except SessionNotFound:
                if not self._found:
                    raise
                return
            except httpx.RequestError:
                pass  # the connection broke while it was read: come back
            yield Sleep(self._wire.clock.random() * AGAIN)

    def _request(self) -> httpx.Request:
        headers = {"accept": "text/event-stream"}
        if self._last:
            headers["last-event-id"] = self._last
        timeout = httpx.Timeout(self._wire.timeout, read=max(self._wire.timeout, SILENCE))
        return self._wire.request("GET", self._path, headers=headers, timeout=timeout)

    def _read(self) -> Talk[None]:
        """Give the states of one connection."""
        events = Events(self._last)
        while (line := (yield NextLine())) is not None:
            data = events.feed(line)
            if data is not None:
                self._found = True
                yield Give(read(State, _members(data)))
            self._last = events.id


def _members(data: str) -> Any:
    try:
        return json.loads(data)
    except ValueError:
        raise UnexpectedAnswer("an event is not JSON") from None
