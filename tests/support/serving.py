"""The real service as a process of its own, on a free port of loopback."""

import contextlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from http.client import HTTPResponse
from pathlib import Path
from socket import create_connection
from typing import Any, NamedTuple


@contextlib.contextmanager
def serving(store: str, port: str = "0", **settings: str) -> Iterator[str]:
    """The address of a running service, `127.0.0.1:port`; the service is stopped at the end."""
    environment = os.environ | {f"LLR_{name.upper()}": value for name, value in settings.items()}
    command = [sys.executable, "-m", "llr_service", "--port", port, "--store", store]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603
        try:
            assert process.stdout is not None
            yield process.stdout.readline().rpartition("//")[2].strip()
        finally:
            process.terminate()
            process.wait(timeout=20)


class Server(NamedTuple):
    """A service in a process of its own, with its log."""

    process: "subprocess.Popen[str]"
    port: int
    log: Path

    def say(self, *parts: bytes) -> tuple[int, dict[str, str], Any]:
        """Say something on a connection of its own; status, headers and body of the answer."""
        with create_connection(("127.0.0.1", self.port), timeout=20) as connection:
            try:
                for part in parts:
                    connection.sendall(part)
            except (BrokenPipeError, ConnectionResetError):
                pass  # refused before all was said; the answer may still be there
            answer = HTTPResponse(connection)
            answer.begin()
            return answer.status, {k.lower(): v for k, v in answer.headers.items()}, answer.read()

    def ask(self, method: str, target: bytes, *headers: bytes, body: bytes = b"") -> Any:
        lines = [method.encode() + b" " + target + b" HTTP/1.1", b"host: here", *headers]
        lines += [b"connection: close", b"content-length: %d" % len(body), b"", body]
        return self.say(b"\r\n".join(lines))

    def peak(self) -> int:
        """The most memory it ever had, in bytes."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) * 1024  # type: ignore[index]


@contextlib.contextmanager
def started(
    folder: Path, program: Sequence[str] = ("-m", "llr_service"), **settings: str
) -> Iterator[Server]:
    """A service that keeps its sessions and its log in a folder, until it is stopped."""
    given = {"store": f"sqlite:///{folder}/llr.db", **settings}
    environment = os.environ | {f"LLR_{name.upper()}": value for name, value in given.items()}
    command = [sys.executable, *program, "--port", "0"]
    with (
        (folder / "log").open("w") as log,
        subprocess.Popen(  # noqa: S603
            command, env=environment, stdout=subprocess.PIPE, stderr=log, text=True
        ) as process,
    ):
        assert process.stdout is not None
        port = int(process.stdout.readline().rpartition(":")[2])
        try:
            yield Server(process, port, folder / "log")
        finally:
            process.terminate()
            process.wait(timeout=20)
