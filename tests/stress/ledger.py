"""What was acknowledged of a session that many write to, compared with what is there."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

import llr

from .orders import Batch, Orders, Place
from .samples import Replay, Stream
from .tally import Tally

ORDERS = 64
"""Orders that are tried, if what was never answered leaves more than one."""


class Ledger:
    """The order of one session's samples, as far as its producers were told.

    A sample whose answer never came has no place of its own: it is there or not, as the session's
    count of its producer says, and lies in a gap between those that were answered.

    Args:
        streams: what each producer sends.
        tally: where it is told what came of it.
    """

    def __init__(self, streams: Mapping[str, Stream], tally: Tally) -> None:
        self._streams, self._tally = streams, tally
        self._acked = list[Batch]()
        self._ends = defaultdict[str, set[int]](set)
        self._place, self._replay = Place(0, {}), Replay()

    def sent(self, producer: str, end: int) -> None:
        """Note that the samples up to `end` go out together: they are learnt together or not."""
        self._ends[producer].add(end)

    def acked(self, producer: str, end: int, answer: Mapping[str, Any]) -> None:
        """Note an answer: of the samples before `end` the last ones were new, if any."""
        n = answer["accepted"]
        if n:
            self._acked.append(Batch(answer["t"], n, producer, end - n))

    def compare(self, snapshot: dict[str, Any]) -> None:
        """Compare a session that nobody writes to now; the next look goes on from here."""
        end = Place(snapshot["t"], snapshot["producers"])
        self._overlap(end)
        ends = {producer: sorted(each) for producer, each in self._ends.items()}
        orders = Orders(end, self._acked, ends).since(self._place)
        self._tell(list(islice(orders, ORDERS + 1)), snapshot)
        self._place, self._replay = end, Replay(llr.Learner.from_plain(snapshot["state"]))
        self._acked.clear()
        self._ends.clear()

    def _overlap(self, end: Place) -> None:
        """Count batches that were told a place that is another's, or beyond all there are."""
        at = self._place.t
        for batch in sorted(self._acked):
            self._tally.overlaps += batch.start < at or batch.t > end.t
            at = max(at, batch.t)

    def _tell(self, orders: Sequence[Sequence[Batch]], snapshot: dict[str, Any]) -> None:
        """Tell whether one of the orders gives the session."""
        new = snapshot["t"] - self._place.t
        if any(self._gives(order, snapshot) for order in orders[:ORDERS]):
            self._tally.replayed += new
        elif len(orders) > ORDERS:
            self._tally.unordered += new
        else:
            what = f"none of {len(orders)} orders" if orders else "the acks fit no order"
            self._tally.differing.append(f"{snapshot['name']} at {snapshot['t']}: {what}")

    def _gives(self, order: Sequence[Batch], snapshot: dict[str, Any]) -> bool:
        """Whether an order gives the session, to the last bit."""
        replay = Replay(self._replay.learner.copy())
        for batch in order:
            replay.learn(self._streams[batch.producer].rows(batch.seq, batch.seq + batch.n))
        return replay.equals(snapshot)
