"""A WebSocket as uvicorn has it, but for how it ends and what it writes to the log.

When the service stops, whoever is connected gets the answers to what it sent, then is told that the
service goes away; uvicorn's own would hang up first. And neither keys nor samples are logged.
"""

import logging
from typing import Any

from pydantic_core import to_json
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.datastructures import Headers
from websockets.frames import Frame
from websockets.http11 import Request, Response

from llr_service.problems import MEDIA_TYPE, Problem

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
        """The other side does not read. What it says meanwhile, pings too, would be answered."""
        super().pause_writing()
        self.transport.pause_reading()

    def resume_writing(self) -> None:
        """It does again."""
        super().resume_writing()
        if not self.read_paused:
            self.transport.resume_reading()

    def shutdown(self) -> None:
        """The service stops. The app knows, and ends what is open when all is answered."""
        if self.close_sent or not self.handshake_complete:
            super().shutdown()

    def hang_up(self, unread_only: bool) -> None:
        """Leave those who were told to go and stay, or, at last, everybody."""
        if self.close_sent or not unread_only:
            self.transport.abort()

    def _heard(self) -> None:
        """Whoever sends is there: an answer to a ping may be a long way behind the samples."""
        if self.pong_timer is not None:
            self.pong_timer.cancel()
            self.pong_timer = self.pending_ping_payload = None
            self.schedule_ping()

    def _refuse(self, problem: Problem) -> None:
        body = to_json(problem.body())
        own = {"content-type": MEDIA_TYPE, "content-length": str(len(body)), "connection": "close"}
        headers = Headers(problem.headers | own)
        response = Response(problem.kind.status, problem.kind.title, headers, body)
        self.transport.write(response.serialize())
        self.transport.close()
