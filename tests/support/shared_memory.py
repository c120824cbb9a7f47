"""A store in memory that several services of one process share, as replicas share a database."""

import threading
from collections.abc import Mapping, Sequence

from llr_service.stores.memory import Memory
from llr_service.stores.store import (
    Change,
    Conflict,
    SessionSummary,
    StoredSession,
    Version,
    Written,
)


class SharedMemory(Memory):
    """One call at a time, from whatever thread. Closing it leaves it to the others."""

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()

    def write(self, group: Sequence[Change]) -> list[Written | Conflict]:
        """Apply a group of changes, each for itself."""
        with self._lock:
            return super().write(group)

    def load(self, name: str) -> StoredSession | None:
        """All that is known of a session, None if there is none."""
        with self._lock:
            return super().load(name)

    def list(self, after: str, limit: int) -> list[SessionSummary]:
        """At most `limit` sessions whose names follow `after`, in order."""
        with self._lock:
            return super().list(after, limit)

    def list_replays(self, after: str, limit: int) -> Sequence[SessionSummary]:
        """Those of the list whose configs have the `MARK`."""
        with self._lock:
            return super().list_replays(after, limit)

    def versions(self, names: Sequence[str]) -> Mapping[str, Version]:
        """Which sessions have these names at present."""
        with self._lock:
            found = {name: self._ids[name] for name in names if name in self._ids}
            return {name: Version(id_, self._sessions[id_].version) for name, id_ in found.items()}
