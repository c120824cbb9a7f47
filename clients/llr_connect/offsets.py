"""Offsets of the partitions of a log: where to start, and what may be committed.

A connector takes messages of a partition in order and finishes them in any order, since they may
go to several sessions. The committed offset is the one before which everything is finished.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from llr_cli.options import BadData

Partition = tuple[str, int]
"""A topic and the number of a partition."""


def starting_offset(
    known: int | None, low: int, high: int, *, latest: bool = False
) -> tuple[int, int]:
    """The first offset to read, and the number of offsets that are gone unread.

    Args:
        known: the next offset according to the service or the group; None if there is none.
        low: the oldest offset that exists.
        high: the offset that the next message will get.
        latest: start with new messages where nothing is known.

    >>> starting_offset(None, 5, 9), starting_offset(7, 5, 9), starting_offset(3, 5, 9)
    ((5, 0), (7, 0), (5, 2))
    """
    if known is None:
        return (high if latest else low), 0
    if known > high:
        raise BadData(
            f"has {high:,} offsets, though {known:,} were read: the topic was deleted and created"
            " again, or lost its last messages; --producer NAME starts over"
        )
    return max(known, low), max(0, low - known)


@dataclass
class _Progress:
    """The offsets of one partition: the next to take, and those taken but not finished."""

    next: int
    lost: int
    pending: set[int] = field(default_factory=set)
    committed: int = -1

    @property
    def finished(self) -> int:
        return min(self.pending, default=self.next)


class Offsets:
    """The progress in all partitions that are assigned now.

    >>> offsets = Offsets()
    >>> offsets.assign(("orders", 0), 17)
    >>> [offsets.take(("orders", 0), number) for number in (17, 20)]
    [0, 0]
    >>> offsets.finish(("orders", 0), 20)
    >>> list(offsets.to_commit(everything=True))
    [(('orders', 0), 17)]
    """

    def __init__(self) -> None:
        self._progress: dict[Partition, _Progress] = {}

    def __contains__(self, partition: Partition) -> bool:
        return partition in self._progress

    def __iter__(self) -> Iterator[Partition]:
        return iter(list(self._progress))

    def assign(self, partition: Partition, offset: int, lost: int = 0) -> None:
        """Start a partition at an offset, before which `lost` are gone unread."""
        self._progress[partition] = _Progress(offset, lost)

    def revoke(self, partition: Partition) -> None:
        """Forget a partition."""
        self._progress.pop(partition, None)

    def next(self, partition: Partition) -> int:
        """The next offset to take."""
        return self._progress[partition].next

    def take(self, partition: Partition, offset: int) -> int | None:
        """Take a message; None if it is not to be learnt, else the number of those lost before it.

        A message is not to be learnt if its partition is not assigned now, or it was taken before.
        """
        progress = self._progress.get(partition)
        if progress is None or offset < progress.next:
            return None
        progress.pending.add(offset)
        progress.next, lost, progress.lost = offset + 1, progress.lost, 0
        return lost

    def finish(self, partition: Partition, offset: int) -> None:
        """Note that a message is learnt or skipped; one of a revoked partition counts no more."""
        if partition in self._progress:
            self._progress[partition].pending.discard(offset)

    def to_commit(self, *, everything: bool = False) -> Iterator[tuple[Partition, int]]:
        """The offsets to commit, once: of partitions without pending messages, or of all."""
        for partition, progress in self._progress.items():
            if progress.finished != progress.committed and (everything or not progress.pending):
                progress.committed = progress.finished
                yield partition, progress.finished
