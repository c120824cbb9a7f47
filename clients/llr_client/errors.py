"""The errors of the SDK, as one tree.

::

    LLRError                      base class
    ├── Unreachable               no answer within `patience`
    ├── UnexpectedAnswer          the answer is not one of this service, or of another version
    ├── ProducerShared            another process sends samples under this producer's name
    └── Problem                   the service refused the request
        ├── Malformed             400  the body cannot be parsed
        ├── Unauthenticated       401  an API key is needed
        ├── Forbidden             403  this key's role does not allow that
        ├── QuotaExceeded         403  this key has as many sessions as it may
        ├── NotFound              404  there is nothing at this path
        │   ├── SessionNotFound   404  the session does not exist
        │   ├── IdNotFound        404  no pending example has this id
        │   └── ShadowNotFound    404  the shadow does not exist
        ├── MethodNotAllowed      405  this path does not have that method
        ├── TooSlow               408  the body did not arrive in time
        ├── SessionExists         409  the name is taken with another config
        ├── ShadowExists          409  the name is taken by another shadow
        ├── IdTaken               409  the id belongs to another x
        ├── SequenceGap           409  samples are missing before these
        │   └── StateRegressed         acknowledged samples are gone: the store is older
        ├── ProducersFull         409  the session has as many producers as it may
        ├── NotRetained           409  the session did not retain all its samples
        ├── RelearningStopped     409  a what-if could not learn all its samples
        ├── Diverged              409  the step is not finite
        ├── StateChanged          412  the session has moved on
        ├── TooLarge              413  the request is too large
        ├── UnsupportedType       415  the content type is not supported
        ├── Misdirected           421  the service does not accept this host name
        ├── Invalid               422  the request is invalid; `errors` says where
        ├── TooMany               429  streams or pending examples are at their limit
        ├── RateLimited           429  the key is at its rate limit
        ├── Internal              500  the service failed
        ├── Damaged               500  the stored session cannot be read
        ├── Unavailable           503  the service cannot answer now
        ├── Relearning            503  a what-if is still learning its samples
        └── DiskFull              507  nothing was stored

Temporary failures are retried for `patience` seconds before they are raised.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import httpx

from llr_client.syntax import redact_url


class LLRError(Exception):
    """Base class of the SDK's errors.

    Attributes:
        learnt: samples of the failed call that were certainly learnt. Call again with the rest:
            samples without an answer keep their numbers, so they are learnt once.
        retried: whether earlier attempts failed too, so that one of them may have succeeded.
    """

    learnt: int = 0
    retried: bool = False

    def __str__(self) -> str:
        before = f" ({self.learnt} samples before these were learnt)" if self.learnt else ""
        return super().__str__() + before


class Unreachable(LLRError):
    """No answer arrived within `patience` seconds."""


class UnexpectedAnswer(LLRError):
    """The answer is not one of this service, or of a version that this SDK does not know."""


class ProducerShared(LLRError):
    """Another process sends samples under this producer's name; these were not learnt."""


class Problem(LLRError):
    """The service refused the request, with problem details (RFC 9457).

    Attributes:
        type: the problem's type, `urn:llr:problem:…`; stable across versions.
        title: the type in words.
        status: the HTTP status.
        detail: what happened and what to do about it.
        errors: the invalid places, each with `detail` and a `pointer`, a `line` or a `parameter`.
        request_id: the id under which the service logged the request, if it has one.
        retry_after: seconds after which to retry, if the service says so.
        extra: further members, such as `expected` of a sequence gap.
    """

    kind: ClassVar[str] = ""

    def __init__(
        self,
        detail: str,
        *,
        type: str = "about:blank",  # noqa: A002
        title: str = "",
        status: int = 0,
        errors: Sequence[Mapping[str, Any]] = (),
        request_id: str | None = None,
        retry_after: float | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(f"{title}: {detail}" if title and title != detail else detail)
        self.type, self.title, self.status, self.detail = type, title, status, detail
        self.errors = [dict(error) for error in errors]
        self.request_id, self.retry_after = request_id, retry_after
        self.extra = dict(extra or {})

    def as_type(self, other: "type[Problem]", detail: str) -> "Problem":
        """The same problem as another class, with another detail."""
        return other(
            detail,
            type=self.type,
            title=self.title,
            status=self.status,
            errors=self.errors,
            request_id=self.request_id,
            extra=self.extra,
        )


class Malformed(Problem):
    """The body cannot be parsed."""

    kind = "malformed"


class Unauthenticated(Problem):
    """An API key is needed, and it must be one of the service's."""

    kind = "unauthenticated"


class Forbidden(Problem):
    """The key's role does not allow the request."""

    kind = "forbidden"


class QuotaExceeded(Problem):
    """There are as many sessions as this key may have; delete one."""

    kind = "quota-exceeded"


class NotFound(Problem):
    """There is nothing at this path."""

    kind = "not-found"


class SessionNotFound(NotFound):
    """The session does not exist."""

    kind = "session-not-found"


class IdNotFound(NotFound):
    """An id is unknown or has expired; `errors` says which. Nothing was learnt."""

    kind = "id-not-found"


class ShadowNotFound(NotFound):
    """The shadow does not exist; the detail lists the session's shadows."""

    kind = "shadow-not-found"


class MethodNotAllowed(Problem):
    """This path does not have that method."""

    kind = "method-not-allowed"


class TooSlow(Problem):
    """The body did not arrive in time."""

    kind = "too-slow"


class SessionExists(Problem):
    """The name is taken with another config, which is `extra["config"]`."""

    kind = "session-exists"


class ShadowExists(Problem):
    """The name is taken by another shadow or by the champion."""

    kind = "shadow-exists"


class IdTaken(Problem):
    """The id belongs to another x, which is pending or was learnt."""

    kind = "id-taken"


class SequenceGap(Problem):
    """Samples are missing before these."""

    kind = "sequence-gap"


class StateRegressed(SequenceGap):
    """Acknowledged samples are gone: the session or its store was replaced by an older one."""


class ProducersFull(Problem):
    """The session has as many producers as it may. Send as one of those, or without numbers."""

    kind = "producers-full"


class NotRetained(Problem):
    """The session did not retain all its samples: a what-if needs one created with `retain`."""

    kind = "not-retained"


class RelearningStopped(Problem):
    """A what-if could not learn all its samples; `detail` says why."""

    kind = "relearning-stopped"


class Diverged(Problem):
    """The step is not finite; nothing of the batch was learnt."""

    kind = "diverged"


class StateChanged(Problem):
    """The session has moved on since the state you saw."""

    kind = "state-changed"


class TooLarge(Problem):
    """The request is too large."""

    kind = "too-large"


class UnsupportedType(Problem):
    """The content type is not supported."""

    kind = "unsupported-type"


class Misdirected(Problem):
    """The service does not accept the host name of the request."""

    kind = "misdirected"


class Invalid(Problem):
    """The request is invalid; `errors` says where."""

    kind = "invalid"


class TooMany(Problem):
    """Streams or pending examples are at their limit."""

    kind = "too-many"


class RateLimited(Problem):
    """The key is at its rate limit; `extra` has `retry_after` in seconds."""

    kind = "rate-limited"


class Internal(Problem):
    """The service failed. Report this bug with the request id."""

    kind = "internal"


class Damaged(Problem):
    """The stored session cannot be read."""

    kind = "damaged"


class Unavailable(Problem):
    """The service cannot answer now."""

    kind = "unavailable"


class Relearning(Problem):
    """A what-if is still learning its samples; `extra` has its progress."""

    kind = "relearning"


class DiskFull(Problem):
    """Nothing was stored: the service's disk is full."""

    kind = "disk-full"


def _subclasses(tree: type[Problem]) -> list[type[Problem]]:
    return [one for child in tree.__subclasses__() for one in (child, *_subclasses(child))]


KINDS: dict[str, type[Problem]] = {
    one.kind: one for one in _subclasses(Problem) if "kind" in vars(one)
}
"""The class of each problem type."""


PREFIX = "urn:llr:problem:"


def error_from_response(response: httpx.Response) -> LLRError:
    """The error for a response other than 2xx, whose body has been read."""
    if not response.is_error:
        return UnexpectedAnswer(
            f"{redact_url(response.request.url)} answered {response.status_code}"
        )
    members = _members(response)
    standard = {name: members.pop(name, "") for name in ("type", "title", "status", "detail")}
    name = str(standard["type"])
    return KINDS.get(name.removeprefix(PREFIX), Problem)(
        str(standard["detail"] or standard["title"] or f"HTTP status {response.status_code}"),
        type=name or "about:blank",
        title=str(standard["title"]),
        status=response.status_code,
        errors=_places(members.pop("errors", None)),
        request_id=response.headers.get("x-request-id"),
        retry_after=_seconds(response.headers.get("retry-after", "")),
        extra=members,
    )


def _members(response: httpx.Response) -> dict[str, Any]:
    """The problem document; empty if the response is not one, as from a proxy."""
    try:
        found = response.json()
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _places(errors: Any) -> list[Mapping[str, Any]]:
    """The problem's `errors`; empty if the member has another form, as from a proxy."""
    return [one for one in errors if isinstance(one, Mapping)] if isinstance(errors, list) else []


def _seconds(retry_after: str) -> float | None:
    """Parse Retry-After in seconds; a date, which this service never sends, is ignored."""
    return float(retry_after) if retry_after.isascii() and retry_after.isdigit() else None
