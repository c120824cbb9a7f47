"""What a harness says in the end."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

Tick = Callable[[], None]
"""Called once for each unit of work, for those who watch the progress."""


class Verdict(NamedTuple):
    """What was counted, and what became of the promise.

    Attributes:
        counts: by name.
        target: what they had to be.
        faults: how the promise was broken.
        slow: what took too long. The ordinary tests let that pass, a busy machine is no fault.
    """

    counts: dict[str, Any]
    target: str
    faults: list[str]
    slow: list[str] = []  # noqa: RUF012


class Harness(NamedTuple):
    """One row of docs/reliability.md.

    Attributes:
        promise: what it shows, as a sentence.
        unit: what is counted.
        long: how many of them for a release.
        short: how many in the ordinary tests, 0 if it has no short form.
        run: takes an empty folder, a seed, how many, and a tick.
    """

    promise: str
    unit: str
    long: int
    short: int
    run: Callable[[Path, int, int, Tick], Verdict]


def broken(**claims: bool) -> list[str]:
    """The names of the claims that do not hold."""
    return [name.replace("_", " ") for name, holds in claims.items() if not holds]
