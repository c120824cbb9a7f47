"""What a session with `retain` keeps of its samples: all of them, up to so many bytes."""

from llr_service.stores.store import Retained, StoredSession


class Retention:
    """How many of a session's samples stay in its log, from the first one on.

    Attributes:
        kept: those that stay.
        going: whether the next ones may stay too; once some did not, none after them do.
    """

    def __init__(self, kept: Retained, going: bool, most: int) -> None:
        self.kept, self.going = kept, going
        self._most = most

    @classmethod
    def of(cls, stored: StoredSession, retain: bool, most: int) -> "Retention":
        """What a stored session keeps, of at most so many bytes.

        >>> stored = StoredSession(1, b"{}", 7, b"", 7, (), {})
        >>> Retention.of(stored, True, 100).going  # not from t = 0
        False
        """
        made = cls(stored.retained, retain and stored.retained.samples == stored.snapshot_t, most)
        for entry in stored.tail:
            made.add(entry.n, len(entry.blob))
        return made

    def add(self, n: int, size: int) -> bool:
        """Whether n more samples, of so many bytes, stay."""
        self.going = self.going and self.kept.bytes + size <= self._most
        if self.going:
            self.kept = Retained(self.kept.samples + n, self.kept.bytes + size)
        return self.going
