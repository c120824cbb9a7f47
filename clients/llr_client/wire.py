"""Requests and their answers, without any input or output.

What the SDK does is written once, as generators: a `Talk` yields what it wants done, is sent what
came of it, and returns its result. `Client` does these things one after the other, `AsyncClient`
awaits them.
"""

import json
import re
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import httpx

from llr_client.address import shown
from llr_client.errors import LLRError, UnexpectedAnswer, Unreachable
from llr_client.refusals import refusal
from llr_client.retries import Attempts, Clock

R = TypeVar("R")
JSON = "application/json"
KEY = re.compile(r"[\x21-\x7e]+")


@dataclass(frozen=True)
class Send:
    """Send a request; the response comes back, or a transport error is thrown.

    The body of the response has been read, unless it is `streamed` and a success.
    """

    request: httpx.Request
    streamed: bool = False


@dataclass(frozen=True)
class Sleep:
    """Wait."""

    seconds: float


@dataclass(frozen=True)
class NextLine:
    """Read a line of the streamed response; None comes back at its end."""


@dataclass(frozen=True)
class Give:
    """Hand a value to whoever iterates."""

    value: Any


Talk = Generator[Send | Sleep | NextLine | Give, Any, R]


@dataclass(frozen=True)
class Reply:
    """An answer of success, and whether tries before it failed."""

    response: httpx.Response
    retried: bool

    def json(self) -> Any:
        """The body, read as JSON."""
        try:
            return self.response.json()
        except ValueError:
            url = shown(self.response.request.url)
            raise UnexpectedAnswer(f"{url} answered something that is not JSON") from None

    def members(self, *needed: str) -> dict[str, Any]:
        """The body, an object that has at least these members."""
        found = self.json()
        if not isinstance(found, dict) or not found.keys() >= set(needed):
            url = shown(self.response.request.url)
            raise UnexpectedAnswer(f"{url} answered something else than this service would")
        return found


@dataclass(frozen=True)
class Wire:
    """How to reach a service.

    Attributes:
        url: where it is.
        key: an API key, if it asks for one.
        timeout: seconds to connect, and between two parts of an answer.
        patience: seconds of trying again in all.
        clock: time and chance.
        on_retry: called with the error and the seconds to wait before each further try.
    """

    url: str
    key: str | None = field(repr=False)
    timeout: float
    patience: float
    clock: Clock
    on_retry: Callable[[LLRError, float], None] | None = None

    def __post_init__(self) -> None:
        if self.key is not None and not KEY.fullmatch(self.key):
            raise ValueError("a key has visible ASCII characters only, and at least one")

    def request(
        self,
        method: str,
        path: str,
        query: Mapping[str, Any] | None = None,
        body: bytes | None = None,
        kind: str = JSON,
        headers: Mapping[str, str] | None = None,
        timeout: httpx.Timeout | None = None,
    ) -> httpx.Request:
        """A request, ready to be sent as often as need be."""
        given = dict(headers or {}) | ({} if body is None else {"content-type": kind})
        if self.key is not None:
            given["authorization"] = f"Bearer {self.key}"
        patient = (timeout or httpx.Timeout(self.timeout)).as_dict()
        url = httpx.URL(self.url + path, params=query) if query else httpx.URL(self.url + path)
        return httpx.Request(
            method, url, headers=given, content=body, extensions={"timeout": patient}
        )

    def ask(self, request: httpx.Request, streamed: bool = False) -> Talk[Reply]:
        """Send a request until it is answered for good."""
        attempts, retried = Attempts(self.patience, self.clock), False
        while True:
            try:
                response: httpx.Response = yield Send(request, streamed)
                if response.is_success:
                    return Reply(response, retried)
                error = refusal(response)
            except httpx.RequestError as lost:
                error = Unreachable(f"{shown(self.url)} does not answer: {_told(lost)}")
                error.__cause__ = lost
            error.retried = retried
            pause = attempts.pause(error)
            if pause is None:
                raise error
            if self.on_retry is not None:
                self.on_retry(error, pause)
            yield Sleep(pause)
            retried = True


def advance(talk: Talk[Any], outcome: Any) -> Send | Sleep | NextLine | Give:
    """Tell a talk what came of its last wish; returns the next. Ends with StopIteration."""
    if isinstance(outcome, httpx.RequestError):
        return talk.throw(outcome)
    return talk.send(outcome)


def to_json(value: Any) -> bytes:
    """JSON, with arrays and numbers of numpy, or of whatever else has `tolist`, as plain ones."""
    return ENCODER.encode(value).encode()


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is not a number, a list or an array")


ENCODER = json.JSONEncoder(default=_plain, separators=(",", ":"))


def _told(lost: httpx.RequestError) -> str:
    """What happened, in words, also for errors that come without any."""
    if isinstance(lost, httpx.TimeoutException):
        return "timed out"
    return str(lost) or type(lost).__name__
