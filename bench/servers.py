"""Servers as processes of their own: started, watched from outside, stopped."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")
PATIENCE = 20.0


class Server:
    """A server that listens on a port of loopback, and what /proc knows of it."""

    def __init__(self, process: "subprocess.Popen[str]", port: int) -> None:
        self.port = port
        self._process = process
        self._folder = Path("/proc") / str(process.pid)

    @property
    def cpu(self) -> float:
        """Seconds of processor time so far, its own and the kernel's on its behalf."""
        fields = (self._folder / "stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    @property
    def memory(self) -> int:
        """Resident bytes."""
        return int((self._folder / "statm").read_text().split()[1]) * PAGE

    def stop(self) -> None:
        """SIGTERM, and wait."""
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


@contextmanager
def serving(*module: str) -> Iterator[Server]:
    """`python -m module` on the cores of this process, listening until the block ends."""
    with subprocess.Popen(  # noqa: S603
        [sys.executable, "-m", *module],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        if process.stdout is None:
            raise RuntimeError("a server without a standard output")
        port = process.stdout.readline().rpartition(":")[2]
        if not port.strip().isdigit():
            raise RuntimeError(f"{' '.join(module)} did not start")
        server = Server(process, int(port))
        try:
            yield server
        finally:
            server.stop()


def service(store: Path, *options: str) -> AbstractContextManager[Server]:
    """The service itself, on an SQLite file."""
    return serving("service", "--port", "0", "--store", f"sqlite:///{store}", *options)
