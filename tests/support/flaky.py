"""Transports that fail in ways a network does, and a clock that costs no time."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

import httpx
from llr_client.retries import Clock
from starlette.testclient import TestClient

URL = "http://testserver"

PASS, REFUSE, LOSE, LATE, BUSY = "pass", "refuse", "lose", "late", "busy"
"""What befalls a request: nothing; no connection; the answer lost; a timeout; a 503."""


class InProcess(httpx.BaseTransport):
    """Requests answered by an app in this process."""

    def __init__(self, app: TestClient) -> None:
        self._app = app

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        sent = self._app.request(
            request.method,
            request.url.raw_path.decode(),
            content=request.read(),
            headers=list(request.headers.items()),
            follow_redirects=False,
        )
        return httpx.Response(sent.status_code, headers=sent.headers, content=sent.content)


class Flaky(httpx.BaseTransport):
    """A transport before which something befalls each request, as told; then nothing more."""

    def __init__(self, inner: httpx.BaseTransport, fates: Iterable[str] = ()) -> None:
        self.inner, self.fates = inner, list(fates)
        self.requests: list[httpx.Request] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        fate = self.fates.pop(0) if self.fates else PASS
        if fate == REFUSE:
            raise httpx.ConnectError("connection refused", request=request)
        if fate == BUSY:
            return httpx.Response(503, headers={"retry-after": "2"}, json={"detail": "busy"})
        response = self.inner.handle_request(request)
        if fate == LOSE:
            raise httpx.RemoteProtocolError("server disconnected", request=request)
        if fate == LATE:
            raise httpx.ReadTimeout("", request=request)
        return response


class Scripted(httpx.BaseTransport):
    """Answers as told, one after the other; the last again and again."""

    def __init__(
        self, *answers: httpx.Response | Callable[[httpx.Request], httpx.Response]
    ) -> None:
        self._answers, self.requests = list(answers), list[httpx.Request]()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        return answer(request) if callable(answer) else answer


@dataclass
class Time:
    """Time that passes only by sleeping, and chance that always takes the same side."""

    chance: float = 1.0
    now: float = 0.0
    slept: list[float] = field(default_factory=list)

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    async def async_sleep(self, seconds: float) -> None:
        self.sleep(seconds)

    @property
    def clock(self) -> Clock:
        return Clock(lambda: self.now, self.sleep, lambda: self.chance)

    @property
    def async_clock(self) -> Clock:
        return Clock(lambda: self.now, self.async_sleep, lambda: self.chance)


def lines(*parts: bytes, broken: bool = False) -> Iterator[bytes]:
    """The body of a streamed answer, which may break off."""
    yield from parts
    if broken:
        raise httpx.ReadError("connection reset")
