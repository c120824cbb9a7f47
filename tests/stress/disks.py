"""Two ways to take the room from a running service, and to give it back."""

import os
import resource
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

from .server import Server

SIZE = 32 * 2**20
LEFT = 200 * 2**10
HOLD = 'mount -t tmpfs -o size="$1" none "$2" && echo ready && exec cat'


class Disk(Protocol):
    """Where a service keeps its file.

    Attributes:
        statuses: what a request may be answered with when there is no room.
    """

    statuses: frozenset[int]

    def serve(self) -> Server:
        """Start a service on this disk."""
        ...

    def fill(self, server: Server) -> None:
        """Leave next to no room."""
        ...

    def clear(self, server: Server) -> None:
        """Give the room back, while the service runs."""
        ...


class Tmpfs:
    """A small disk in memory, in a namespace of its own; a large file takes the room."""

    statuses = frozenset({507})

    def __init__(self, folder: Path, holder: int) -> None:
        self._store = folder / "llr.db"
        self._filler = Path(f"/proc/{holder}/root{folder}/filler")
        self._under = ["nsenter", f"-t{holder}", "-U", "-m", "--preserve-credentials"]

    def serve(self) -> Server:
        """Start a service on this disk."""
        return Server(self._store, under=self._under)

    def fill(self, server: Server) -> None:
        """Leave next to no room."""
        with self._filler.open("wb") as filler:
            found = os.fstatvfs(filler.fileno())
            os.posix_fallocate(filler.fileno(), 0, found.f_bavail * found.f_bsize - LEFT)

    def clear(self, server: Server) -> None:
        """Give the room back."""
        self._filler.unlink()


class Limited:
    """A limit on the size of every file the service writes. The kernel calls that no disk error."""

    statuses = frozenset({503, 507})

    def __init__(self, folder: Path) -> None:
        self._log = folder / "llr.db-wal"
        self._store = folder / "llr.db"

    def serve(self) -> Server:
        """Start a service without a limit, that can get one."""
        return Server(self._store)

    def fill(self, server: Server) -> None:
        """No file may grow much beyond what the log has now."""
        self._limit(server, self._log.stat().st_size + LEFT)

    def clear(self, server: Server) -> None:
        """No limit any more; a service that was killed has none."""
        with suppress(ProcessLookupError):
            self._limit(server, resource.RLIM_INFINITY)

    def _limit(self, server: Server, size: int) -> None:
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


@contextmanager
def tmpfs(folder: Path) -> Iterator[Tmpfs | None]:
    """A small disk until the end, None where the system does not let an ordinary user have one."""
    command = ["unshare", "-rm", "sh", "-c", HOLD, "sh", str(SIZE), str(folder)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as holder:  # noqa: S603
        assert holder.stdout is not None
        there = holder.stdout.readline() == b"ready\n"
        yield Tmpfs(folder, holder.pid) if there else None
        holder.communicate()
