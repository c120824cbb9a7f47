"""What a session writes to the store: samples, now and then its state, what it keeps."""

from typing import Any

from llr import Learner
from service.codec import Samples, pack_samples
from service.sessions.batch import Fresh
from service.sessions.committer import Committer, Receipt
from service.sessions.retention import Retention
from service.stores.store import Append, Keep, Replace, Shelved, Stored


class Journal:
    """The way of one session to the store.

    Attributes:
        last: the receipt of what was written last, None if nothing was.
        retention: what of the samples stays in the log.
    """

    def __init__(self, stored: Stored, retention: Retention, committer: Committer) -> None:
        self._session, self._committer = stored.id, committer
        self._tail = sum(len(entry.blob) for entry in stored.tail)
        self.retention = retention
        self.last: Receipt[Any] | None = None

    def learnt(self, learner: Learner, at: int, fresh: Fresh) -> Receipt[Any]:
        """Queue the smaller of the samples and the state; a snapshot when the tail is long."""
        samples, also = fresh.samples, (fresh.producer, fresh.kept)
        size, most = samples.nbytes, learner.nbytes
        change: Append | Replace
        if size > most or self._tail + size > 2 * most + 4096:
            self._tail = 0
            kept = self._retained(samples)
            change = Replace(self._session, at, samples.n, learner.pack(), *also, **kept)
        else:
            self._tail += size
            blob = pack_samples(samples)
            self.retention.add(samples.n, len(blob))
            change = Append(self._session, at, samples.n, blob, *also)
        self.last = self._committer.commit(change)
        return self.last

    def _retained(self, samples: Samples) -> dict[str, Any]:
        """What the log keeps in spite of a snapshot, with these samples if they stay."""
        blob = pack_samples(samples) if self.retention.going else None
        stays = blob is not None and self.retention.add(samples.n, len(blob))
        return {"retained": self.retention.kept, "blob": blob if stays else None}

    def kept(self, at: int, kept: Shelved) -> Receipt[Any]:
        """Queue what is kept and forgotten while nothing is learnt."""
        self.last = self._committer.commit(Keep(self._session, at, kept))
        return self.last
