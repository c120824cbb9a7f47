"""The service as a process of its own: started, stopped, killed, and looked at from outside."""

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from .journal import current

READY, JSON = "llr: listening on ", "application/json"
PATIENCE = 180.0
"""Seconds after which a harness gives up: the first start on a machine compiles for a minute."""


class Ended(NamedTuple):
    """How a process ended: its exit code, and the seconds it took."""

    code: int
    seconds: float


class RefusedError(Exception):
    """The service did not start; the words are its own."""


class Server:
    """A running service on a free port, of loopback unless `HOST` is among its variables.

    Args:
        store: the SQLite file, or the URL of a store.
        variables: settings, as `LLR_` variables without the prefix.
        under: a command that runs the service, such as `nsenter`.
        port: where it listens, 0 for any free port.
        wait: whether to return only when it listens.
    """

    def __init__(
        self,
        store: Path | str,
        variables: dict[str, Any] | None = None,
        *,
        under: Sequence[str] = (),
        port: int = 0,
        wait: bool = True,
    ) -> None:
        given = {"LOG_LEVEL": "error"} | (variables or {})
        environment = os.environ | {f"LLR_{name}": str(value) for name, value in given.items()}
        url = store if isinstance(store, str) else f"sqlite:///{store}"
        command = [sys.executable, "-m", "llr_service", "--port", str(port), "--store", url]
        self._said = tempfile.TemporaryFile("a+b")  # noqa: SIM115
        self._process = subprocess.Popen(  # noqa: S603
            [*under, *command],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=self._said,
            text=True,
        )
        self.url, self._store = "", url
        if wait:
            self.listen()

    def listen(self) -> Self:
        """Wait until it says where it listens. Raises `RefusedError` if it ends instead."""
        self.url = self._listening()
        journal = current()
        if journal is not None:
            journal.serves(self.place, self._store)
        return self

    @property
    def pid(self) -> int:
        """The number of its process."""
        return self._process.pid

    @property
    def place(self) -> str:
        """Where it listens, as `host:port`."""
        return self.url.rpartition("/")[2]

    @property
    def host(self) -> str:
        """The address it listens on."""
        return self.place.partition(":")[0]

    @property
    def port(self) -> int:
        """The port it listens on."""
        return int(self.place.partition(":")[2])

    def ask(self, method: str, path: str, body: bytes | None = None) -> tuple[int, bytes]:
        """The status and the body that a request is answered with."""
        headers = {} if body is None else {"Content-Type": JSON}
        journal, status, said = current(), None, b""
        seen = journal.asked(self.place, method, path, body or b"", JSON) if journal else None
        try:
            with closing(HTTPConnection(self.host, self.port, timeout=PATIENCE)) as connection:
                connection.request(method, path, body, headers)
                answer = connection.getresponse()
                said = answer.read()
                status = answer.status
        finally:
            if journal is not None:
                journal.answered(seen, status, said)
        return status, said

    def get(self, path: str) -> Any:
        """What a GET answers, which has to be JSON and 200."""
        status, body = self.ask("GET", path)
        assert status == 200, (path, status, body)
        return json.loads(body)

    def put(self, name: str, config: dict[str, Any]) -> None:
        """Create a session, or find it there."""
        status, body = self.ask("PUT", f"/v1/sessions/{name}", json.dumps(config).encode())
        assert status in (200, 201), (name, status, body)

    def metric(self, name: str) -> float:
        """A number from /metrics, of a metric without labels."""
        lines = self.ask("GET", "/metrics")[1].decode().splitlines()
        return next(float(line.split()[1]) for line in lines if line.startswith(name + " "))

    def resident(self) -> int:
        """Bytes of memory it has."""
        words = Path(f"/proc/{self.pid}/statm").read_text().split()
        return int(words[1]) * os.sysconf("SC_PAGESIZE")

    def signal(self, number: int) -> None:
        """Send it a signal, and do not wait."""
        self._process.send_signal(number)

    def ended(self, since: float) -> Ended:
        """Wait for its end."""
        code = self._process.wait(PATIENCE)
        self._close()
        return Ended(code, time.perf_counter() - since)

    def kill(self) -> Ended:
        """End it with SIGKILL, wherever it is."""
        return self._end(signal.SIGKILL)

    def stop(self) -> Ended:
        """Ask it to stop with SIGTERM."""
        return self._end(signal.SIGTERM)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        if self._process.poll() is None:
            self.kill()
        self._close()

    def _end(self, number: int) -> Ended:
        started = time.perf_counter()
        self._process.send_signal(number)
        return self.ended(started)

    def _listening(self) -> str:
        """Wait until it says where it listens."""
        assert self._process.stdout is not None
        ready, _, _ = select.select([self._process.stdout], [], [], PATIENCE)
        line = self._process.stdout.readline() if ready else ""
        if line.startswith(READY):
            return line.removeprefix(READY).strip()
        self._process.kill()
        self._process.wait()
        self._said.seek(0)
        words = self._said.read().decode(errors="replace")
        self._close()
        raise RefusedError(words.strip())

    def _close(self) -> None:
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._said.close()
