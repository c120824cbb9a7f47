"""One HTTP request on its way through the middleware and a direct route."""

from collections.abc import Awaitable

from starlette.types import Message, Receive, Scope, Send

from llr_service import logs
from llr_service.app_state import AppState
from llr_service.http.auth import ANYBODY, ApiKey
from llr_service.http.bodies import BodyBudget
from llr_service.http.responses import Header, Response, content_length, error_response
from llr_service.http.uvicorn_private import Cycle
from llr_service.problems import Problem
from llr_service.sessions.config import NAME_PATTERN
from llr_service.sessions.consistency import get_latest
from llr_service.sessions.session import Session


class Request:
    """What a direct route gets: parameters, headers, body, session, and the channel back.

    Attributes:
        state: the parts of the app.
        scope: the ASGI scope.
        receive: the ASGI channel of the body.
        headers: by name; of a header that comes twice the last one counts.
        id: the request's id, as logs and the response have it.
        name: the session's name in the path; None if there is none.
        caller: the key that the request came with.
        route: the path template for metrics and logs; empty if no direct route matched.
        budget: the memory reserved for the body.
        session: the session that was found, for the log.
        status: the status that was sent, 0 before that.
    """

    __slots__ = (
        "_send",
        "budget",
        "caller",
        "headers",
        "id",
        "name",
        "receive",
        "route",
        "scope",
        "session",
        "state",
        "status",
    )

    def __init__(self, state: AppState, scope: Scope, receive: Receive, send: Send) -> None:
        self.state, self.scope, self.receive, self._send = state, scope, receive, send
        self.headers: dict[bytes, bytes] = dict(scope["headers"])
        header = self.headers.get
        self.id = logs.set_request_id(header(b"x-request-id"), header(b"traceparent"))
        self.name: str | None = None
        self.caller: ApiKey = ANYBODY
        self.route = ""
        self.budget = BodyBudget(state)
        self.session: Session | None = None
        self.status = 0

    @property
    def _id(self) -> Header:
        return b"x-request-id", self.id.encode()

    @property
    def content_type(self) -> str:
        """The media type of the body, without parameters."""
        kind = self.headers.get(b"content-type", b"")
        return _MEDIA_TYPES.get(kind) or media_type(kind)

    def body(self) -> Awaitable[bytes]:
        """The whole body, within the limits of size, time and memory."""
        return self.budget.read(self.receive, self.scope["headers"])

    async def find_session(self) -> Session:
        """The session of the path as this process has it, loaded if need be; or a 404."""
        name = self.name or ""
        session = self.state.sessions.get_cached(name)
        if session is None:
            check_name(name)
            session = await self.state.sessions.get(name)
        self.session = session
        return session

    async def current_session(self) -> Session:
        """The session, not older than anything acknowledged before; or a 404."""
        sessions, name = self.state.sessions, self.name or ""
        session = sessions.get_cached(name)
        if session is None or sessions.shared:
            check_name(name)
            session = await get_latest(sessions, name)
        self.session = session
        return session

    async def send(self, message: Message) -> None:
        """Send an ASGI message; the response's head gets the request's id."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message["headers"] = [*message.get("headers", ()), self._id]
        await self._send(message)

    def write(self, response: Response) -> bool:
        """Send a whole response at once, if the channel back is uvicorn's; whether it was sent.

        Whoever wraps the channel, to add headers to what it sends, gets ASGI's messages.
        """
        cycle = getattr(self._send, "__self__", None)
        if type(cycle) is Cycle and cycle.respond(response, self.id.encode()):
            self.status = response.status
            return True
        return False

    async def respond(self, response: Response) -> None:
        """Send a whole response."""
        status, headers, body = response
        self.status = status
        raw = [*headers, content_length(len(body)), self._id]
        await self._send({"type": "http.response.start", "status": status, "headers": raw})
        await self._send({"type": "http.response.body", "body": body})

    async def refuse(self, problem: Problem) -> None:
        """Send a problem, unless a response has begun."""
        if not self.status:
            await self.respond(error_response(problem))


_MEDIA_TYPES = {b"application/json": "application/json"}


def media_type(content_type: bytes) -> str:
    """The media type in a Content-Type, in lower case.

    >>> media_type(b"Application/JSON; charset=utf-8")
    'application/json'
    """
    return content_type.partition(b";")[0].strip().lower().decode("latin-1")


def check_name(name: str) -> None:
    """Refuse what cannot be a session's name."""
    if not NAME_PATTERN.fullmatch(name):
        detail = "a name has 1 to 128 letters, digits, dots, _ or -, the first a letter or digit"
        raise Problem("invalid", f"name: {detail}", [{"parameter": "name", "detail": detail}])
