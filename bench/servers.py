"""Servers as processes of their own: started, watched from outside, stopped."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
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

    @property
    def pid(self) -> int:
        """The number of its process."""
        return self._process.pid

    @property
    def cpu(self) -> float:
        """Seconds of processor time so far, the kernel's and its children's included."""
        return cpu_of(self._process.pid)

    @property
    def memory(self) -> int:
        """Resident bytes, its children's included."""
        return sum(_resident(folder) for folder in _family(self._process.pid))

    def kill(self) -> None:
        """SIGKILL to all of it, and wait."""
        for folder in reversed(_family(self._process.pid)):
            os.kill(int(folder.name), signal.SIGKILL)
        self._process.wait()

    def stop(self) -> None:
        """SIGTERM, and wait."""
        if self._process.poll() is not None:
            return
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def cpu_of(pid: int) -> float:
    """Seconds of processor time of a process and all its descendants, also of those that ended."""
    return sum(_cpu(folder) for folder in _family(pid))


def _family(pid: int) -> list[Path]:
    """The folders of a process and all its descendants in /proc, parents first."""
    folder = Path("/proc") / str(pid)
    children = list[int]()
    with suppress(OSError):  # it may end meanwhile
        for task in (folder / "task").iterdir():
            children += map(int, (task / "children").read_text().split())
    return [folder, *(one for child in children for one in _family(child))]


def _cpu(folder: Path) -> float:
    """Its own seconds, and those of its children that ended; 0 if it has ended itself."""
    with suppress(OSError):
        fields = (folder / "stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:15])) / TICKS
    return 0.0


def _resident(folder: Path) -> int:
    return int((folder / "statm").read_text().split()[1]) * PAGE


def serving(*module: str) -> AbstractContextManager[Server]:
    """`python -m module` on the cores of this process, listening until the block ends."""
    return running(sys.executable, "-m", *module)


@contextmanager
def running(*command: str) -> Iterator[Server]:
    """A command that says first on which port it listens, until the block ends."""
    with subprocess.Popen(  # noqa: S603
        command,
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        if process.stdout is None:
            raise RuntimeError("a server without a standard output")
        port = process.stdout.readline().rpartition(":")[2]
        if not port.strip().isdigit():
            raise RuntimeError(f"{' '.join(command)} did not start")
        server = Server(process, int(port))
        try:
            yield server
        finally:
            server.stop()


def service(store: Path, *options: str) -> AbstractContextManager[Server]:
    """The service itself, on an SQLite file."""
    return serving("llr_service", "--port", "0", "--store", f"sqlite:///{store}", *options)
