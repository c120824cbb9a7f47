"""The memory that request bodies may take, all of them together."""

from functools import partial
from typing import Self

from starlette.types import Message, Receive

from llr_service.app_state import AppState
from llr_service.http.bodies import read_body
from llr_service.http.responses import Header
from llr_service.problems import Problem


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
        settings = self._state.settings
        limits = (settings.max_body, settings.body_timeout, settings.min_rate)
        body = await read_body(receive, headers, *limits, partial(self._more, receive))
        self.reserve(len(body) - self._reserved)  # the first part was not counted yet
        return body

    async def _more(self, receive: Receive) -> Message:
        """Another part of a body."""
        message = await self._state.cancel_on_shutdown(receive())
        self.reserve(len(message.get("body", b"")))
        return message
