"""The program `llr-service`, which `llr serve` starts: one process, one event loop, one store.

`python -m llr_service` is the same program.
"""

import asyncio
import ctypes
import gc
import importlib
import logging
import signal
import sys
from types import FrameType
from typing import NoReturn

import uvicorn

from llr_service import logs
from llr_service.app import App
from llr_service.banner import banner, why_not_listening
from llr_service.http.protocol import Connection
from llr_service.http.websocket import Socket
from llr_service.options import MIB
from llr_service.settings import Settings
from llr_service.stores import open_store
from llr_service.stores.store import StoreError

log = logging.getLogger("llr_service")

COLLECT_EVERY = 20_000
"""New objects after which to look for garbage; a request makes some hundreds, none of it garbage
for long."""
M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_THRESHOLD = -1, -2, -3
"""Parameters of glibc's `mallopt`; their values are bytes."""
GRACE = 0.25
"""Grace period for event streams at shutdown, in seconds."""
SWEEP_SECONDS = 1.0
"""Seconds between two sweeps for overdue connections."""
AT_LAST = 0.8
"""Fraction of the shutdown time after which clients that do not read are disconnected."""


class Server(uvicorn.Server):
    """A server that ends its open streams as soon as it begins to shut down."""

    def __init__(self, config: uvicorn.Config, app: App) -> None:
        super().__init__(config)
        self._app = app

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """SIGTERM or SIGINT: drain, then stop."""
        loop = asyncio.get_running_loop()
        loop.call_soon_threadsafe(self._app.context.drain)
        super().handle_exit(sig, frame)

    async def shutdown(self, sockets: list[object] | None = None) -> None:  # type: ignore[override]
        """Stop, without waiting for clients that do not read."""
        loop, most = asyncio.get_running_loop(), self.config.timeout_graceful_shutdown or 0
        loop.call_later(min(GRACE, most), self._hang_up, True)
        loop.call_later(AT_LAST * most, self._hang_up, False)
        await super().shutdown(sockets)  # type: ignore[arg-type]

    def _hang_up(self, events_only: bool) -> None:
        for connection in list(self.server_state.connections):
            if isinstance(connection, Connection | Socket):
                connection.hang_up(events_only)

    def _sweep(self) -> None:
        """Once a second, close overdue connections."""
        loop = asyncio.get_running_loop()
        loop.call_later(SWEEP_SECONDS, self._sweep)  # first: a failure must not end the sweeps
        for connection in list(self.server_state.connections):
            if isinstance(connection, Connection):
                connection.sweep(loop.time())

    async def startup(self, sockets: list[object] | None = None) -> None:  # type: ignore[override]
        """Listen, and print where."""
        await super().startup(sockets)  # type: ignore[arg-type]
        if self._app.context.settings.api_keys_file:
            keys, loop = self._app.context.keys, asyncio.get_running_loop()
            loop.add_signal_handler(signal.SIGHUP, keys.reload)
        self._sweep()
        _spare_the_collector()
        for server in self.servers if self.started else ():
            for socket in server.sockets:
                host, port = socket.getsockname()[:2]
                log.info("listening", extra={"host": host, "port": port})
                self._announce(host, port)

    def _announce(self, host: str, port: int) -> None:
        """Print a banner on a terminal, and a line that programs can read elsewhere."""
        line = f"llr: listening on http://{host}:{port}\n"
        settings = self._app.context.settings
        sys.stdout.write(banner(settings, host, port) if sys.stdout.isatty() else line)
        sys.stdout.flush()


def _spare_the_collector() -> None:
    """Exempt present objects from garbage collection: scanning them blocks the event loop."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(COLLECT_EVERY)


def _keep_memory() -> None:
    """Let malloc keep freed memory for the next body: a new page costs more than writing to it.

    By default glibc returns large blocks to the system at once.
    Other C libraries are left as they are.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except AttributeError:
        return
    mallopt(M_MMAP_THRESHOLD, 32 * MIB)
    mallopt(M_TRIM_THRESHOLD, 128 * MIB)
    mallopt(M_TOP_PAD, 32 * MIB)


def main(arguments: list[str] | None = None) -> int:
    """Serve until a signal stops it; returns the exit code."""
    settings = Settings.from_cli(arguments, prog="llr serve")
    if reason := why_not_listening(settings.host, settings.port):
        sys.stderr.write(f"llr serve: {reason}\n")
        return 1
    logs.configure(settings.log_level, form=settings.log_format)
    _keep_memory()
    try:
        open_store(settings.store).close()
    except StoreError as failure:
        sys.stderr.write(f"llr serve: {failure}\n")
        return 1
    app = App(settings)
    config = uvicorn.Config(
        app,
        interface="asgi3",
        host=settings.host,
        port=settings.port,
        log_config=None,
        access_log=False,
        proxy_headers=False,
        http=Connection.of(settings.head_timeout, settings.max_unread),
        ws=Socket,
        ws_max_size=settings.max_message,
        ws_per_message_deflate=False,
        lifespan="on",
        timeout_graceful_shutdown=settings.drain_seconds,  # type: ignore[arg-type]
        timeout_keep_alive=75,
        server_header=False,
    )
    server = Server(config, app)
    if settings.api_keys_file:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)  # until the server takes it
    for stop in (signal.SIGINT, signal.SIGTERM):
        signal.signal(stop, lambda *_: None)  # uvicorn raises it again after an orderly end
    server.run()
    return 0 if server.started else 1


TOOLS = ("checkpoint", "doctor", "migrate", "migrate-store", "restore")
"""The programs on a store; each is a module of this package."""


def program() -> NoReturn:
    """Serve, or run the tool that the first argument names."""
    tool = sys.argv[1] if len(sys.argv) > 1 else ""
    if tool in TOOLS:
        module = importlib.import_module(f"llr_service.{tool.replace('-', '_')}")
        sys.exit(module.main(sys.argv[2:]))
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    sys.exit(main())


if __name__ == "__main__":
    program()
