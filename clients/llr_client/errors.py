"""Everything that can go wrong, as one tree.

::

    LLRError                      whatever the SDK raises by itself
    ├── Unreachable               nobody answered, for as long as `patience` allowed
    ├── UnexpectedAnswer          who answered is not this service, or not one this SDK understands
    ├── ProducerShared            somebody else sends samples under this producer's name
    └── Problem                   the service said no, and why
        ├── Malformed             400  the body cannot be read
        ├── Unauthenticated       401  a key is needed
        ├── Forbidden             403  this key may not do that
        ├── NotFound              404  there is nothing at this address
        │   ├── SessionNotFound   404  there is no such session
        │   ├── IdNotFound        404  nothing is kept under this id
        │   └── ShadowNotFound    404  there is no such shadow
        ├── MethodNotAllowed      405  this address does not do that
        ├── TooSlow               408  the body did not arrive in time
        ├── SessionExists         409  the name is taken, with another config
        ├── ShadowExists          409  there is another shadow of this name
        ├── IdTaken               409  the id stands for another x
        ├── SequenceGap           409  samples are missing before these
        │   └── StateRegressed         what was acknowledged is gone: the store is an older one
        ├── ProducersFull         409  the session knows its most producers
        ├── NotRetained           409  the session did not keep all its samples
        ├── RelearningStopped     409  a what-if could not learn all it was to
        ├── Diverged              409  the step would leave the finite numbers
        ├── StateChanged          412  somebody else learnt meanwhile
        ├── TooLarge              413  the request is too large
        ├── UnsupportedType       415  this content type is not understood
        ├── Misdirected           421  the service does not go by this host name
        ├── Invalid               422  the request is not valid, and `errors` says where
        ├── TooMany               429  streams or what is kept are at their limit
        ├── Internal              500  the service failed
        ├── Damaged               500  the stored session cannot be read
        ├── Unavailable           503  the service cannot answer now
        ├── Relearning            503  a what-if still learns what it was forked for
        └── DiskFull              507  nothing was stored

What may pass by itself has been tried again, until `patience` ended, before it is raised.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar


class LLRError(Exception):
    """Whatever the SDK raises by itself.

    Attributes:
        learnt: samples of the failed call that were learnt before, and for certain. Call again
            with those after them: what is in doubt keeps its numbers, and is learnt once.
        retried: whether tries before the last failed too, so that one of them may have worked.
    """

    learnt: int = 0
    retried: bool = False

    def __str__(self) -> str:
        before = f" ({self.learnt} samples before these were learnt)" if self.learnt else ""
        return super().__str__() + before


class Unreachable(LLRError):
    """Nobody answered, for as long as `patience` allowed."""


class UnexpectedAnswer(LLRError):
    """Who answered is not this service, or not one this SDK understands."""


class ProducerShared(LLRError):
    """Somebody else sends samples under this producer's name; these were not learnt."""


class Problem(LLRError):
    """The service said no.

    Attributes:
        type: which problem, `urn:llr:problem:…`; it stays the same from version to version.
        title: the same for people.
        status: the HTTP status.
        detail: what happened and what to do about it.
        errors: places, each with `detail` and a `pointer`, a `line` or a `parameter`.
        request_id: the id under which the service logged the request, if it had one.
        retry_after: seconds after which the service asks to be tried again, if it does.
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

    def turned_into(self, other: "type[Problem]", detail: str) -> "Problem":
        """The same answer, understood better."""
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
    """The body cannot be read."""

    kind = "malformed"


class Unauthenticated(Problem):
    """A key is needed, one that is known to the service."""

    kind = "unauthenticated"


class Forbidden(Problem):
    """This key may not do that."""

    kind = "forbidden"


class NotFound(Problem):
    """There is nothing at this address."""

    kind = "not-found"


class SessionNotFound(NotFound):
    """There is no such session."""

    kind = "session-not-found"


class IdNotFound(NotFound):
    """Nothing is kept under an id, or no longer; `errors` says which. Nothing was learnt."""

    kind = "id-not-found"


class ShadowNotFound(NotFound):
    """There is no such shadow; the detail names those there are."""

    kind = "shadow-not-found"


class MethodNotAllowed(Problem):
    """This address does not do that."""

    kind = "method-not-allowed"


class TooSlow(Problem):
    """The body did not arrive in time."""

    kind = "too-slow"


class SessionExists(Problem):
    """The name is taken, with another config, which is in `extra["config"]`."""

    kind = "session-exists"


class ShadowExists(Problem):
    """There is another shadow of this name, or the champion has it."""

    kind = "shadow-exists"


class IdTaken(Problem):
    """The id stands for another x, which is kept or was learnt."""

    kind = "id-taken"


class SequenceGap(Problem):
    """Samples are missing before these."""

    kind = "sequence-gap"


class StateRegressed(SequenceGap):
    """Samples that were acknowledged are gone: the session or its store is an older one."""


class ProducersFull(Problem):
    """The session knows as many producers as it may; go on as one of those, or without numbers."""

    kind = "producers-full"


class NotRetained(Problem):
    """The session did not keep all its samples: a what-if needs one created with `retain`."""

    kind = "not-retained"


class RelearningStopped(Problem):
    """A what-if could not learn all it was to; `detail` says why."""

    kind = "relearning-stopped"


class Diverged(Problem):
    """The step would leave the finite numbers; nothing of the batch was learnt."""

    kind = "diverged"


class StateChanged(Problem):
    """Somebody else learnt meanwhile."""

    kind = "state-changed"


class TooLarge(Problem):
    """The request is too large."""

    kind = "too-large"


class UnsupportedType(Problem):
    """This content type is not understood."""

    kind = "unsupported-type"


class Misdirected(Problem):
    """The service does not go by the host name it was asked by."""

    kind = "misdirected"


class Invalid(Problem):
    """The request is not valid; `errors` says where."""

    kind = "invalid"


class TooMany(Problem):
    """Streams or what is kept for late labels are at their limit."""

    kind = "too-many"


class Internal(Problem):
    """The service failed: a bug, to be reported with the request id."""

    kind = "internal"


class Damaged(Problem):
    """The stored session cannot be read."""

    kind = "damaged"


class Unavailable(Problem):
    """The service cannot answer now."""

    kind = "unavailable"


class Relearning(Problem):
    """A what-if still learns what it was forked for; `extra` says how far it is."""

    kind = "relearning"


class DiskFull(Problem):
    """Nothing was stored: the service's disk is full."""

    kind = "disk-full"


def _below(tree: type[Problem]) -> list[type[Problem]]:
    return [one for child in tree.__subclasses__() for one in (child, *_below(child))]


KINDS: dict[str, type[Problem]] = {one.kind: one for one in _below(Problem) if "kind" in vars(one)}
"""The class of each problem type."""
