"""A batch on its way through a session: what is said of it, what is new in it, what came of it."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from llr_service.codec import Samples
from llr_service.sessions.committer import Receipt
from llr_service.sessions.team import Team
from llr_service.stores.store import PendingChanges


class Ticket(NamedTuple):
    """What a producer says about a batch: who sends it, the number of its first sample."""

    producer: str
    seq: int


class Expected(NamedTuple):
    """Where a request expects a session to be: its t, and its ensemble version if that matters."""

    t: int
    version: int | None = None


class Fresh(NamedTuple):
    """Samples that were not learnt before, and what is stored along with them.

    Attributes:
        samples: the samples.
        places: where each of them stands in the body it came in.
        producer: whose they are, and the number of its next one.
        kept: what becomes of the ids they were kept under.
    """

    samples: Samples
    places: Sequence[int]
    producer: tuple[str, int] | None = None
    kept: PendingChanges = ()


class Learnt(NamedTuple):
    """What came of a batch.

    Attributes:
        team: the team after it.
        accepted: how many samples were new.
        duplicate: whether there were some, and none was.
        predictions: what was predicted for each of them before, if asked for.
        names: of its features, where they have names.
        theta: of the champion, if it was read while no other batch had followed.
    """

    team: Team
    accepted: int
    duplicate: bool
    predictions: Any = None
    names: Sequence[str] = ()
    theta: Any = None


class Pending(NamedTuple):
    """A batch that was learnt and waits for the store."""

    learnt: Learnt
    commit: Receipt[Any] | None


class Late(Protocol):
    """Late labels: what they are for is looked up when their turn has come."""

    @property
    def nbytes(self) -> int:
        """How many bytes their samples take."""

    def first_labels(self, if_match: Expected | None) -> Fresh | Pending:
        """The samples whose labels came for the first time; Pending if there are none."""
