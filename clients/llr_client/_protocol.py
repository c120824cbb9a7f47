"""Sans-I/O protocol: requests, retries and answers as generators.

Every operation of the SDK is written once. An `Operation` yields a step (`Send`, `Sleep`,
`NextLine`, `Emit`), receives the step's outcome, and returns its result. `Driver` performs the
steps blocking, `AsyncDriver` awaits them.
"""

import json
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import httpx

from llr_client.errors import LLRError, UnexpectedAnswer, Unreachable, error_from_response
from llr_client.retries import FIRST_PATIENCE, PATIENCE, Backoff, Clock
from llr_client.syntax import KEY, redact_url

R = TypeVar("R")
JSON = "application/json"


@dataclass(frozen=True)
class Send:
    """Send a request; the response comes back, or a transport error is thrown.

    The body of the response has been read, unless it is `streamed` and a success.
    """

    request: httpx.Request
    streamed: bool = False


@dataclass(frozen=True)
class Sleep:
    """Pause before the next step."""

    seconds: float


@dataclass(frozen=True)
class NextLine:
    """Read a line of the streamed response; None comes back at its end."""


@dataclass(frozen=True)
class Emit:
    """Yield a value to the caller who iterates."""

    value: Any


Operation = Generator[Send | Sleep | NextLine | Emit, Any, R]


@dataclass(frozen=True)
class Reply:
    """A successful response, and whether earlier attempts failed."""

    response: httpx.Response
    retried: bool

    def json(self) -> Any:
        """Parse the body as JSON."""
        try:
            return self.response.json()
        except ValueError:
            url = redact_url(self.response.request.url)
            raise UnexpectedAnswer(f"{url} answered something that is not JSON") from None

    def members(self, *needed: str) -> dict[str, Any]:
        """Parse the body as an object that has at least these members."""
        found = self.json()
        if not isinstance(found, dict) or not found.keys() >= set(needed):
            url = redact_url(self.response.request.url)
            raise UnexpectedAnswer(f"{url} answered something else than this service would")
        return found


@dataclass
class Contact:
    """Whether the service has ever answered."""

    made: bool = False


@dataclass(frozen=True)
class Endpoint:
    """A service's address, credentials and retry settings.

    Attributes:
        url: the service's URL.
        key: an API key, if the service needs one.
        timeout: seconds to connect, and between two parts of an answer.
        patience: total seconds of retries. If None, FIRST_PATIENCE until the service has answered
            for the first time, and PATIENCE afterwards.
        clock: time, sleep and random numbers.
        on_retry: called with the error and the pause in seconds, before each retry.
        contact: whether the service has ever answered.
    """

    url: str
    key: str | None = field(repr=False)
    timeout: float
    patience: float | None
    clock: Clock
    on_retry: Callable[[LLRError, float], None] | None = None
    contact: Contact = field(default_factory=Contact)

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
        """Build a request that can be sent several times."""
        given = dict(headers or {}) | ({} if body is None else {"content-type": kind})
        if self.key is not None:
            given["authorization"] = f"Bearer {self.key}"
        patient = (timeout or httpx.Timeout(self.timeout)).as_dict()
        url = httpx.URL(self.url + path, params=query) if query else httpx.URL(self.url + path)
        return httpx.Request(
            method, url, headers=given, content=body, extensions={"timeout": patient}
        )

    def call(self, request: httpx.Request, streamed: bool = False) -> Operation[Reply]:
        """Send a request and retry temporary failures."""
        attempts, retried = Backoff(0.0, self.clock), False
        while True:
            try:
                response: httpx.Response = yield Send(request, streamed)
                self.contact.made = True
                if response.is_success:
                    return Reply(response, retried)
                error = error_from_response(response)
            except httpx.RequestError as lost:
                error = Unreachable(self._why(lost))
                error.__cause__ = lost
            error.retried = retried
            attempts.patience = self._patience()
            pause = attempts.pause(error)
            if pause is None:
                raise error
            if self.on_retry is not None:
                self.on_retry(error, pause)
            yield Sleep(pause)
            retried = True

    def _patience(self) -> float:
        if self.patience is not None:
            return self.patience
        return PATIENCE if self.contact.made else FIRST_PATIENCE

    def _why(self, lost: httpx.RequestError) -> str:
        """A message for a lost request; before the first answer it says how to get one."""
        url, reason = redact_url(self.url), _reason(lost)
        if self.contact.made or not isinstance(lost, httpx.ConnectError | httpx.ConnectTimeout):
            return f"{url} does not answer: {reason}"
        why = "" if "refused" in reason.lower() else f" ({reason})"
        return f"nothing answers at {url}{why}: start it with `llr serve`, or set LLR_URL"


def advance(operation: Operation[Any], outcome: Any) -> Send | Sleep | NextLine | Emit:
    """Send an operation the outcome of its last step; returns the next step.

    Raises:
        StopIteration: with the operation's result, at its end.
    """
    if isinstance(outcome, httpx.RequestError):
        return operation.throw(outcome)
    return operation.send(outcome)


def to_json(value: Any) -> bytes:
    """Encode as JSON. Values with a `tolist` method, such as numpy arrays, become lists."""
    return ENCODER.encode(value).encode()


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is not a number, a list or an array")


ENCODER = json.JSONEncoder(default=_plain, separators=(",", ":"))


def _reason(lost: httpx.RequestError) -> str:
    """A message for a transport error, also for one without a message."""
    if isinstance(lost, httpx.TimeoutException):
        return "timed out"
    return str(lost) or type(lost).__name__
