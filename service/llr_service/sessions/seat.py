"""A seat at a session: as long as it is taken the session stays in memory."""

from typing import Self

from llr_service.sessions.actor import Session


class Seat:
    """Taken with `with`, and moved when another copy has become the session.

    Attributes:
        session: the copy one sits at.
    """

    def __init__(self, session: Session) -> None:
        self.session = session

    def move(self, session: Session) -> None:
        """Sit at another copy from now on."""
        self.session.watchers -= 1
        session.watchers += 1
        self.session = session

    def __enter__(self) -> Self:
        self.session.watchers += 1
        return self

    def __exit__(self, *_: object) -> None:
        self.session.watchers -= 1
