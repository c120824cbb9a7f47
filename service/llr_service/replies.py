"""Answering in plain ASGI, for what does not go through FastAPI."""

from typing import Protocol

from pydantic_core import to_json
from starlette.types import Message, Scope, Send

from llr_service.problems import MEDIA_TYPE, Problem

Header = tuple[bytes, bytes]
Reply = tuple[int, list[Header], bytes]
"""Status, headers and body of an answer."""

ROUTE, SESSION = "llr.route", "llr.session"
"""Where a scope says which route it takes if FastAPI does not know, and which session it found."""

WHOLE = "llr.whole"
"""Where a scope holds a `Whole`, if there is one."""


class Whole(Protocol):
    """A request of which all is there, and that may be answered without waiting."""

    @property
    def body(self) -> bytes:
        """Its body."""
        ...

    @property
    def ready(self) -> bool:
        """Whether an answer would be written at once."""
        ...

    def answer(self, status: int, headers: list[Header], body: bytes) -> bool:
        """Answer all at once; False if that cannot be, and nothing was done."""
        ...

    def leave(self) -> None:
        """Let the app serve it, of which it was kept so far."""
        ...


class AtOnce(Protocol):
    """What may serve a request at once."""

    def __call__(self, scope: Scope, whole: Whole) -> bool:
        """Serve a request; False, and nothing done, if it is for the app."""
        ...


class Answer:
    """The way back: an ASGI channel that notes the status and adds the request's id.

    Attributes:
        status: what was answered, 0 before that.
    """

    __slots__ = ("_id", "_send", "_whole", "status")

    def __init__(self, send: Send, request_id: str, whole: Whole | None) -> None:
        self._send, self._whole = send, whole
        self._id: Header = (b"x-request-id", request_id.encode())
        self.status = 0

    async def __call__(self, message: Message) -> None:
        """Send a message."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message["headers"] = [*message.get("headers", ()), self._id]
        await self._send(message)

    async def whole(self, status: int, body: bytes, headers: list[Header]) -> None:
        """Send all of an answer."""
        if self._whole is not None and self._whole.answer(status, [*headers, self._id], body):
            self.status = status
            return
        raw = [*headers, (b"content-length", b"%d" % len(body))]
        await self({"type": "http.response.start", "status": status, "headers": raw})
        await self({"type": "http.response.body", "body": body})

    async def problem(self, problem: Problem) -> None:
        """Send a problem, unless it is too late for one."""
        if self.status:
            return
        status, headers, body = refusal(problem)
        await self.whole(status, body, headers)


def refusal(problem: Problem) -> Reply:
    """The answer that tells a problem."""
    headers = {"content-type": MEDIA_TYPE} | problem.headers
    raw = [(name.lower().encode(), value.encode("latin-1")) for name, value in headers.items()]
    return problem.kind.status, raw, to_json(problem.body(), inf_nan_mode="null")
