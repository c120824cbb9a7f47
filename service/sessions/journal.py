"""What a session writes to the store: samples, now and then its state, what it keeps."""

from typing import Any

from llr import Learner
from service.codec import pack_samples
from service.sessions.batch import Fresh
from service.sessions.committer import Committer, Receipt
from service.stores.store import Append, Keep, Replace, Shelved


class Journal:
    """The way of one session to the store.

    Attributes:
        last: the receipt of what was written last, None if nothing was.
    """

    def __init__(self, session: int, tail: int, committer: Committer) -> None:
        self._session, self._tail, self._committer = session, tail, committer
        self.last: Receipt[Any] | None = None

    def learnt(self, learner: Learner, at: int, fresh: Fresh) -> Receipt[Any]:
        """Queue the smaller of the samples and the state; a snapshot when the tail is long."""
        samples, also = fresh.samples, (fresh.producer, fresh.kept)
        size, most = samples.nbytes, learner.nbytes
        change: Append | Replace
        if size > most or self._tail + size > 2 * most + 4096:
            self._tail = 0
            change = Replace(self._session, at, samples.n, learner.pack(), *also)
        else:
            self._tail += size
            change = Append(self._session, at, samples.n, pack_samples(samples), *also)
        self.last = self._committer.commit(change)
        return self.last

    def kept(self, at: int, kept: Shelved) -> Receipt[Any]:
        """Queue what is kept and forgotten while nothing is learnt."""
        self.last = self._committer.commit(Keep(self._session, at, kept))
        return self.last
