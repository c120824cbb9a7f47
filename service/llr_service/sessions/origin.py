"""What a session is to learn anew: another one's samples. It is stored with the config."""

from typing import NamedTuple

from pydantic_core import from_json, to_json

from llr_service.sessions.config import SessionConfig

MEMBER = "relearn"
"""Of the stored config, besides those of the config itself."""


class Origin(NamedTuple):
    """Whose samples they are.

    Attributes:
        source: the name of that session when it was forked.
        session: its number in the store.
        of: how many of its samples, from the first one on.
    """

    source: str
    session: int
    of: int


def to_stored(config: SessionConfig, origin: Origin | None = None) -> bytes:
    """The config as it is stored."""
    if origin is None:
        return config.model_dump_json().encode()
    return to_json(config.model_dump(mode="json") | {MEMBER: list(origin)})


def from_stored(text: bytes) -> tuple[SessionConfig, Origin | None]:
    """The config that was stored, and what the session is to learn anew if anything.

    >>> config = SessionConfig(model="linear")
    >>> from_stored(to_stored(config, Origin("a", 1, 9)))[1]
    Origin(source='a', session=1, of=9)
    >>> from_stored(to_stored(config)) == (config, None)
    True
    """
    members = from_json(text)
    origin = members.pop(MEMBER, None)
    return SessionConfig.model_validate(members), origin and Origin(*origin)
