"""WebSockets: uvicorn's protocol with an orderly end, and the handshake with its checks.

At shutdown every client gets the answers to its messages and then a close frame; uvicorn's protocol
would disconnect first. Neither keys nor samples are logged.

A handshake that is not allowed gets the problem that a request would get. A browser lets any page
open a WebSocket to any host, without the checks that it makes for requests: pages of other origins
are refused unless `cors_origins` has them.
"""

import logging
import time
from typing import Any

import orjson
from starlette.routing import compile_path
from starlette.types import Receive, Scope, Send
from websockets.datastructures import Headers
from websockets.frames import Frame
from websockets.http11 import Request, Response

from llr_service import logs
from llr_service.app_state import AppState
from llr_service.http import audit
from llr_service.http.access import Hosts, check_origin, confine
from llr_service.http.auth import KEY as CALLER
from llr_service.http.auth import Access, Role, authenticate, require
from llr_service.http.responses import Header, error_response
from llr_service.http.routing import check_query, session_in
from llr_service.http.uvicorn_private import WebSocketsSansIOProtocol
from llr_service.problems import MEDIA_TYPE, Problem
from llr_service.routes.learning import StreamParams
from llr_service.routes.stream import WebSocketEndpoint
from llr_service.sessions.config import NAME_PATTERN

QUIET = logging.getLogger("llr_service.websocket")
"""Has warnings only: what is below shows headers, queries and messages as they came."""
QUIET.setLevel(logging.WARNING)


class Socket(WebSocketsSansIOProtocol):
    """One WebSocket."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.logger = self.conn.logger = QUIET
        self.conn.debug = False
        self._so_far = bytearray()

    def data_received(self, data: bytes) -> None:
        """Take what came. A head that is HTTP but opens no WebSocket is refused."""
        self._heard()
        super().data_received(data)
        if not self.handshake_initiated:
            self._refuse(Problem("malformed", "this head opens no WebSocket: is it too long?"))

    def handle_connect(self, event: Request) -> None:
        """Open the WebSocket, or answer what is wrong with its head as a problem."""
        if self.conn.accept(event).status_code == 101:
            super().handle_connect(event)
            return
        self.handshake_initiated = self.handshake_complete = self.close_sent = True
        detail = str(self.conn.handshake_exc or "this head opens no WebSocket")
        self._refuse(Problem("malformed", detail, headers={"Sec-WebSocket-Version": "13"}))

    def send_500_response(self) -> None:
        """Answer for an app that failed before the WebSocket was open."""
        if self.initial_response is None and not self.handshake_complete:
            self._refuse(Problem("internal", "the failure was logged"))

    def handle_cont(self, event: Frame) -> None:
        """Another part of a message. Parts cost their bytes only, however small they are."""
        if self.frames:
            self._so_far = bytearray(self.frames.pop())
        self._so_far += event.data
        if event.fin:
            self.frames = [bytes(self._so_far)]
            self._so_far.clear()
            self.send_receive_event_to_app()

    def pause_writing(self) -> None:
        """Stop reading while the client does not read: what it sends would need answers."""
        super().pause_writing()
        self.transport.pause_reading()

    def resume_writing(self) -> None:
        """Read again."""
        super().resume_writing()
        if not self.read_paused:
            self.transport.resume_reading()

    def shutdown(self) -> None:
        """At shutdown do nothing: the app closes the connection once all messages are answered."""
        if self.close_sent or not self.handshake_complete:
            super().shutdown()

    def hang_up(self, unread_only: bool) -> None:
        """Abort connections that did not close when asked to; finally all of them."""
        if self.close_sent or not unread_only:
            self.transport.abort()

    def _heard(self) -> None:
        """Whoever sends is there: an answer to a ping may be a long way behind the samples."""
        if self.pong_timer is not None:
            self.pong_timer.cancel()
            self.pong_timer = self.pending_ping_payload = None
            self.schedule_ping()

    def _refuse(self, problem: Problem) -> None:
        body = orjson.dumps(problem.body(), option=orjson.OPT_APPEND_NEWLINE)
        own = {"content-type": MEDIA_TYPE, "content-length": str(len(body)), "connection": "close"}
        headers = Headers(problem.headers | own)
        response = Response(problem.kind.status, problem.kind.title, headers, body)
        self.transport.write(response.serialize())
        self.transport.close()


log = logging.getLogger("llr_service")

WS = "WS"
"""The method of a WebSocket, in logs."""
STREAM_PARAMETERS = frozenset(StreamParams._fields)
STREAM = compile_path(WebSocketEndpoint.path)[0]
PROTOCOL, KEY = "llr", "llr.key."
"""What a page offers as protocols: the first is spoken, the second has the page's key after it."""


class WebSocketHandshake:
    """Authorizes WebSocket handshakes and calls the one WebSocket route."""

    def __init__(self, context: AppState) -> None:
        self._settings, self._metrics = context.settings, context.metrics
        self._stream, self._hosts = WebSocketEndpoint(context), Hosts(context.settings)
        self._keys, self._limiter = context.keys, context.limiter
        self._guarded = context.settings.has_keys or context.limiter is not None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one WebSocket."""
        started = time.perf_counter()
        request_id = logs.begin_request(scope["headers"])
        own: Header = (b"x-request-id", request_id.encode())
        await receive()
        try:
            name = self._admitted(scope)
        except Problem as problem:
            await _refuse(problem, own, scope, send)
            self._account(scope, started, problem.kind.status)
            return
        spoken = PROTOCOL if PROTOCOL in scope.get("subprotocols", ()) else None
        await send({"type": "websocket.accept", "subprotocol": spoken, "headers": [own]})
        code = await self._stream(name, scope, receive, send)
        self._account(scope, started, 101, code=code)

    def _admitted(self, scope: Scope) -> str:
        """The session that may be streamed to. Raises the problem if not."""
        found, path = STREAM.fullmatch(scope["path"]), scope["path"]
        self._hosts.check(path, scope["headers"])
        check_origin(dict(scope["headers"]), self._settings)
        if self._guarded:
            keys = [p.removeprefix(KEY) for p in scope.get("subprotocols", ()) if p.startswith(KEY)]
            offered = [(b"x-api-key", key.encode("latin-1", "replace")) for key in keys]
            headers = [*scope["headers"], *offered]
            scope[CALLER] = key = authenticate(headers, self._keys.by_digest)
            if self._limiter is not None:
                self._limiter.take(key)
            access = self._stream.access if found else Access(Role.ADMIN)
            require(key.role, access.role)
            confine(key, access, WS, session_in(path))
        if found is None or not NAME_PATTERN.fullmatch(found["name"]):
            raise Problem("not-found", f"WebSockets are at {self._stream.path} only")
        check_query(scope["query_string"], STREAM_PARAMETERS)
        return str(found["name"])

    def _account(self, scope: Scope, started: float, status: int, **told: int | None) -> None:
        seconds = time.perf_counter() - started
        route = self._stream.path if STREAM.fullmatch(scope["path"]) else "unmatched"
        self._metrics.request(route, "WEBSOCKET", status, seconds)
        if status in audit.REFUSED:
            audit.record(scope, WS, route, status, scope.get(CALLER))
        about = {"method": WS, "path": scope["path"], "status": status, "ms": seconds * 1e3}
        log.debug("websocket", extra=about | told)


async def _refuse(problem: Problem, own: Header, scope: Scope, send: Send) -> None:
    """Answer with the problem; if the server cannot send it, with 403 and no body."""
    if "websocket.http.response" not in scope.get("extensions", {}):
        await send({"type": "websocket.close", "code": 1008, "reason": problem.kind.title})
        return
    status, headers, body = error_response(problem)
    start = {"type": "websocket.http.response.start", "status": status, "headers": [*headers, own]}
    await send(start)
    await send({"type": "websocket.http.response.body", "body": body})
