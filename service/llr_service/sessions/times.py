"""The wall-clock times of a session: when its samples were learnt.

The library has no clock, so the service notes the time of each batch as a mark: t after the batch,
and milliseconds since 1970 by the clock of the replica that learnt it. Marks are `stride(t)` apart
at least, except for the last one and those that date a drift alarm, so there are at most
`MAX_MARKS`. A sample is dated by the first mark at or after it: exactly up to t = `DENSE`, or if
batches are longer than the stride; otherwise late by less than two strides, t / 120 samples. A
recovered session has the marks that were stored, not the time of its recovery.
"""

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from itertools import pairwise
from typing import Any, Literal, get_args

import numpy as np

DENSE = 480
"""How many marks there are at most beside those of alarms; up to this t all are exact."""
MAX_MARKS = 512
NO_TIME = 0
"""The time of a batch stored by a version without times."""

LEARNING_MS = 60_000
"""A session whose last sample is at most this old is learning; an older one is idle."""
DRIFT_SAMPLES = 500
"""A session that learns is drifting for this many samples after an alarm."""
MAX_MS = 253_402_300_799_999
"""The last millisecond of the year 9999."""

Activity = Literal["learning", "idle", "drifting"]
ACTIVITIES: tuple[Activity, ...] = get_args(Activity)
Mark = tuple[int, int]
_WIRE = np.dtype("<i8")


def stride(t: int) -> int:
    """How many samples are between two marks: a power of two, with at most `DENSE` of them up to t.

    >>> stride(480), stride(481), stride(10**6)
    (1, 2, 4096)
    """
    return 1 << max(0, -(-t // DENSE) - 1).bit_length()


class Times:
    """The times of one session, as a value: `at` makes the times after one more batch.

    Values that follow each other share the arrays of their marks, of which each sees its own part.

    >>> times = Times().at(5, 2000).at(9, 3000)
    >>> times.of(3), times.of(7), times.last
    (2000, 3000, 3000)
    """

    __slots__ = ("_count", "_last", "_ms", "_t")

    def __init__(self, marks: Iterable[Mark] = (), last: Mark | None = None) -> None:
        settled = [*marks]
        self._t = array("q", [t for t, _ in settled])
        self._ms = array("q", [ms for _, ms in settled])
        self._count, self._last = len(settled), last

    @property
    def nbytes(self) -> int:
        """The size of the packed marks."""
        return 16 * (self._count + 1)

    @property
    def last(self) -> int | None:
        """When the last sample was learnt; None if that is not known."""
        return self._last[1] if self._last else None

    @property
    def t(self) -> int:
        """The t of the last batch, 0 if its time is not known."""
        return self._last[0] if self._last else 0

    def at(self, t: int, now: int, alarms: Sequence[int] = ()) -> "Times":
        """The times after a batch that led to t; `alarms` are the drift alarms so far."""
        if now == NO_TIME:
            return self
        times, last = self, self._last
        if last is not None:
            apart = stride(t)
            if apart > stride(last[0]) or self._count > MAX_MARKS - 3:
                times = self._thinned(apart, alarms)
            if last[0] - times._settled >= apart:
                times = times._settle(last)
        if alarms and alarms[-1] > (last[0] if last else 0):
            times = times._settle((t, now))
        return times._with_last((t, now))

    def of(self, t: int) -> int | None:
        """When the session reached t, in milliseconds; None if that is not known."""
        if self._last is None or not 0 < t <= self._last[0]:
            return None
        place = self._place(t)
        return self._ms[place] if place < self._count else self._last[1]

    def pack(self) -> bytes:
        """The marks as bytes."""
        return np.array(self.to_plain(), _WIRE).tobytes()

    @classmethod
    def unpack(cls, data: bytes) -> "Times":
        """The times that `pack` wrote. Raises ValueError for anything else."""
        return cls.from_plain(np.frombuffer(data, _WIRE).reshape(-1, 2).tolist())

    def to_plain(self) -> list[list[int]]:
        """The marks as JSON values: those that stay, then the last, which may be one of them."""
        marks = zip(self._t[: self._count], self._ms[: self._count], strict=True)
        return [[*mark] for mark in marks] + ([[*self._last]] if self._last else [])

    @classmethod
    def from_plain(cls, plain: Any) -> "Times":
        """The times that `to_plain` wrote. Raises ValueError for anything else."""
        marks = [(t, ms) for t, ms in plain]
        if len(marks) > MAX_MARKS or not all(
            type(n) is int and 0 < n <= MAX_MS for mark in marks for n in mark
        ):
            raise ValueError("times: not pairs of t and time")
        if not marks:
            return cls()
        *settled, last = marks
        growing = settled if settled and last == settled[-1] else marks
        if any(before[0] >= after[0] for before, after in pairwise(growing)):
            raise ValueError("times: t does not grow")
        return cls(settled, last)

    @property
    def _settled(self) -> int:
        """The t of the last mark that stays, 0 without one."""
        return self._t[self._count - 1] if self._count else 0

    def _place(self, t: int) -> int:
        """The first mark at or after t."""
        return bisect_left(self._t, t, 0, self._count)

    def _with_last(self, last: Mark) -> "Times":
        times = Times.__new__(Times)
        times._t, times._ms, times._count, times._last = self._t, self._ms, self._count, last
        return times

    def _settle(self, mark: Mark) -> "Times":
        """The times with one mark more that stays."""
        times, count = self._with_last(mark), self._count
        if len(self._t) != count:  # another batch followed these times too, but was not stored
            times._t, times._ms = self._t[:count], self._ms[:count]
        times._t.append(mark[0])
        times._ms.append(mark[1])
        times._count = count + 1
        return times

    def _thinned(self, apart: int, alarms: Sequence[int]) -> "Times":
        """The times with marks that are so far apart, and those of the alarms."""
        dating, before, marks = {self._place(alarm) for alarm in alarms}, 0, list[Mark]()
        for place in range(self._count):
            t = self._t[place]
            if t - before >= apart or place in dating:
                marks.append((t, self._ms[place]))
                before = t
        return Times(marks, self._last)


def rfc3339(milliseconds: int | None) -> str | None:
    """A time as RFC 3339 in UTC.

    >>> rfc3339(1_000)
    '1970-01-01T00:00:01.000Z'
    """
    if not milliseconds:
        return None
    seconds, rest = divmod(milliseconds, 1000)
    return f"{_to_the_second(seconds)}.{rest:03d}Z"


@lru_cache(maxsize=256)
def _to_the_second(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").removesuffix("+00:00")


def activity(t: int, times: Times, alarm: int | None, now: int) -> Activity:
    """`drifting`, `learning` or `idle`; `alarm` is the t of the last drift alarm.

    >>> activity(100, Times().at(100, 5_000), None, 6_000)
    'learning'
    >>> activity(100, Times().at(100, 5_000), None, 66_000)
    'idle'
    """
    if times.last is None or now - times.last > LEARNING_MS:
        return "idle"
    return "drifting" if alarm is not None and t - alarm < DRIFT_SAMPLES else "learning"
