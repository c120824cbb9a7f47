"""What a look at every session of a store finds."""

from typing import NamedTuple


class Checked(NamedTuple):
    """A session, and what is wrong with it. The name is empty for what belongs to no session."""

    name: str
    damage: str | None
