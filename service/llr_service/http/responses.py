"""Answering in plain ASGI, for what does not go through FastAPI."""

from pydantic_core import to_json
from starlette.types import Message, Send

from llr_service.problems import MEDIA_TYPE, Problem

Header = tuple[bytes, bytes]
Reply = tuple[int, list[Header], bytes]
"""Status, headers and body of an answer."""

ROUTE, SESSION = "llr.route", "llr.session"
"""Where a scope says which route it takes if FastAPI does not know, and which session it found."""


class ResponseWriter:
    """The way back: an ASGI channel that notes the status and adds the request's id.

    Attributes:
        status: what was answered, 0 before that.
    """

    __slots__ = ("_id", "_send", "status")

    def __init__(self, send: Send, request_id: str) -> None:
        self._send = send
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
        raw = [*headers, (b"content-length", b"%d" % len(body))]
        await self({"type": "http.response.start", "status": status, "headers": raw})
        await self({"type": "http.response.body", "body": body})

    async def problem(self, problem: Problem) -> None:
        """Send a problem, unless it is too late for one."""
        if self.status:
            return
        status, headers, body = error_response(problem)
        await self.whole(status, body, headers)


def error_response(problem: Problem) -> Reply:
    """The answer that tells a problem."""
    headers = {"content-type": MEDIA_TYPE} | problem.headers
    raw = [(name.lower().encode(), value.encode("latin-1")) for name, value in headers.items()]
    return problem.kind.status, raw, to_json(problem.body(), inf_nan_mode="null")
