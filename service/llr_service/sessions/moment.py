"""What tells one state of a session from another, for those who watch it."""

from typing import NamedTuple


class Moment(NamedTuple):
    """When a session was as it is: its t, how often its team was changed, its status."""

    t: int
    changes: int
    status: str


class Event(NamedTuple):
    """What those who watch were told, of which moment, and when the next is due."""

    of: Moment | None = None
    text: bytes = b""
    due: float = 0.0
