"""The orders in which a session may have learnt, given what its producers were told."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple


class Batch(NamedTuple):
    """Samples that are learnt together: where the session was after them, and which they are."""

    t: int
    n: int
    producer: str
    seq: int

    @property
    def start(self) -> int:
        """Where the session was before them."""
        return self.t - self.n


class Place(NamedTuple):
    """How far an order has come: the session's t, and the next sample of each producer."""

    t: int
    following: Mapping[str, int]

    def after(self, batch: Batch) -> "Place":
        """Where it is when a batch was learnt."""
        return Place(batch.t, {**self.following, batch.producer: batch.seq + batch.n})


class Orders:
    """Every order between two places, with each acknowledged batch where it was told to be.

    Args:
        end: the place at the end.
        acked: the batches that were acknowledged.
        ends: the numbers before which the batches of each producer ended that went out, in order.
    """

    def __init__(
        self, end: Place, acked: Sequence[Batch], ends: Mapping[str, Sequence[int]]
    ) -> None:
        self._end, self._ends = end, ends
        self._known = {batch.start: batch for batch in acked}
        self._starts = [*sorted(self._known), end.t]
        self._told = defaultdict[str, list[int]](list)
        for batch in sorted(acked, key=lambda batch: batch.seq):
            self._told[batch.producer].append(batch.seq)

    def since(self, place: Place) -> Iterator[list[Batch]]:
        """The orders from a place on, as the batches in turn."""
        known = list[Batch]()
        while (batch := self._known.get(place.t)) is not None:
            if batch.seq != place.following.get(batch.producer, 0):
                return
            known.append(batch)
            place = place.after(batch)
        if place.t == self._end.t:
            yield known
            return
        for batch in self._unanswered(place):
            for rest in self.since(place.after(batch)):
                yield [*known, batch, *rest]

    def _unanswered(self, place: Place) -> Iterator[Batch]:
        """The batches that may come next where none begins that was acknowledged."""
        room = self._starts[bisect_left(self._starts, place.t)] - place.t
        for producer, there in self._end.following.items():
            seq, told = place.following.get(producer, 0), self._told[producer]
            at = bisect_left(told, seq)
            most = min(told[at] if at < len(told) else there, seq + room)
            ends = self._ends.get(producer, ())
            for end in ends[bisect_right(ends, seq) : bisect_right(ends, most)]:
                yield Batch(place.t + end - seq, end - seq, producer, seq)
