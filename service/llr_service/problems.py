"""Every error the service answers with, as one table and one shape (RFC 9457).

A `Problem` is raised anywhere and answered by one handler. Its kind fixes status, type and title;
the detail says what to do; `errors` name the place by a JSON pointer or a line number.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

MEDIA_TYPE = "application/problem+json"
TYPE_PREFIX = "urn:llr:problem:"
RETRY_AFTER = {"Retry-After": "1"}
"""The header of a problem that is over soon."""


@dataclass(frozen=True)
class Kind:
    """One sort of error: a stable name, its HTTP status and a title for people."""

    name: str
    status: int
    title: str


KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("malformed", 400, "The request cannot be parsed"),
        Kind("unauthenticated", 401, "A key is needed"),
        Kind("forbidden", 403, "This key may not do that"),
        Kind("quota-exceeded", 403, "There are as many sessions as this key may have"),
        Kind("not-found", 404, "There is nothing here"),
        Kind("session-not-found", 404, "There is no such session"),
        Kind("id-not-found", 404, "Nothing is kept under this id"),
        Kind("shadow-not-found", 404, "There is no such shadow"),
        Kind("method-not-allowed", 405, "This address does not do that"),
        Kind("too-slow", 408, "The request did not arrive in time"),
        Kind("session-exists", 409, "The session exists with another config"),
        Kind("shadow-exists", 409, "There is another shadow of this name"),
        Kind("id-taken", 409, "The id stands for another x"),
        Kind("sequence-gap", 409, "Samples are missing before these"),
        Kind("producers-full", 409, "The session knows its most producers"),
        Kind("not-retained", 409, "The session did not keep all its samples"),
        Kind("relearning-stopped", 409, "The session did not learn all it was to"),
        Kind("diverged", 409, "The step would leave the finite numbers"),
        Kind("state-changed", 412, "The session has moved on"),
        Kind("too-large", 413, "The request is too large"),
        Kind("unsupported-type", 415, "This content type is not understood"),
        Kind("misdirected", 421, "This host is not served here"),
        Kind("invalid", 422, "The request is not valid"),
        Kind("too-many", 429, "There are too many of these"),
        Kind("rate-limited", 429, "This key asks too often"),
        Kind("internal", 500, "The service failed"),
        Kind("damaged", 500, "The stored session is damaged"),
        Kind("unavailable", 503, "The service cannot answer now"),
        Kind("relearning", 503, "The session is still learning what it was forked for"),
        Kind("disk-full", 507, "The disk is full"),
    )
}


class Problem(Exception):
    """An error to be answered.

    Args:
        kind: a name from `KINDS`.
        detail: what happened and what to do about it.
        errors: places, each with `detail` and a `pointer` or a `line`.
        headers: headers of the answer, such as Retry-After.
        extra: further members of the answer, such as `expected`.
    """

    def __init__(
        self,
        kind: str,
        detail: str,
        errors: Sequence[Mapping[str, Any]] = (),
        headers: Mapping[str, str] | None = None,
        **extra: Any,
    ) -> None:
        super().__init__(detail)
        self.kind = KINDS[kind]
        self.detail = _text(detail)
        self.errors = [
            {name: _text(value) if isinstance(value, str) else value for name, value in one.items()}
            for one in errors
        ]
        self.headers = dict(headers or {})
        self.extra = extra

    def body(self) -> dict[str, Any]:
        """The members of the answer."""
        members: dict[str, Any] = {
            "type": TYPE_PREFIX + self.kind.name,
            "title": self.kind.title,
            "status": self.kind.status,
            "detail": self.detail,
        }
        if self.errors:
            members["errors"] = self.errors
        return members | self.extra


def too_new(what: str) -> Problem:
    """The problem of something stored that this version cannot use, because it is older."""
    detail = f"{what}: a newer version of the service wrote it, so start that version"
    return Problem("unavailable", detail, headers=RETRY_AFTER)


def pointer(*steps: object) -> str:
    """A JSON pointer (RFC 6901) that goes down these steps.

    >>> pointer("options", "a/b", 3)
    '/options/a~1b/3'
    """
    escaped = (str(step).replace("~", "~0").replace("/", "~1") for step in steps)
    return "".join(f"/{step}" for step in escaped)


def _text(text: str) -> str:
    """Text that can be sent: half a surrogate pair has no bytes."""
    return text.encode("utf-8", "backslashreplace").decode()
