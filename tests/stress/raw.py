"""A service with small limits that is spoken to over raw sockets, and logs all there is to log."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from support.serving import Server, started

from .hostile import JSON, strictly

LIMITS = {"max_body": "1MiB", "max_line": "64KiB", "block_bytes": "64KiB", "body_timeout": "5"}
SESSION = b"/v1/sessions/demo"
IS_JSON = b"content-type: " + JSON.encode()


@contextmanager
def listening(folder: Path, log_level: str = "debug") -> Iterator[Server]:
    """The service, with a session that has learnt nothing yet."""
    with started(folder, log_level=log_level, allowed_hosts="here", **LIMITS) as server:
        config = b'{"model": "linear", "dim": 2}'
        assert server.ask("PUT", SESSION, IS_JSON, body=config)[0] == 201
        yield server


def chunked(parts: Iterable[bytes]) -> Iterator[bytes]:
    """A body in pieces, whose length nobody tells."""
    for part in parts:
        yield b"%x\r\n%s\r\n" % (len(part), part)
    yield b"0\r\n\r\n"


def head(kind: str, *headers: bytes) -> bytes:
    """The first lines of samples on their way to the session."""
    lines = [b"POST %s/samples HTTP/1.1" % SESSION, b"host: here", b"connection: close"]
    return b"\r\n".join([*lines, b"content-type: " + kind.encode(), *headers, b"", b""])


def learnt(server: Server) -> int:
    """How many samples the session has learnt, with every number in its state finite."""
    strictly(server.ask("GET", SESSION + b"/snapshot")[2])
    return int(strictly(server.ask("GET", SESSION)[2])["t"])
